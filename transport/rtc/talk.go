package rtc

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/voicegw/voicegw/transport"
)

// Dialect encodes and decodes the events of one call in a protocol other than the gateway's own: the
// text messages of the data channel. Its methods are called one at a time. The endpoint
// sends the messages that they return as out, in order; an error, a *transport.Ended, ends the call.
type Dialect interface {
	// Greet takes a message of the greeting, and reports whether the greeting is over with it.
	Greet(data []byte) (out [][]byte, over bool, err error)
	// Ready accepts the call, after the greeting.
	Ready(r transport.Ready) (out [][]byte)
	// Read takes a later message and returns its events, which have no audio.
	Read(data []byte) (events []transport.Event, out [][]byte, err error)
	// Message encodes m for the far end.
	Message(m *transport.Message) (out [][]byte)
	// Bye returns the last messages.
	Bye(e *transport.Ended) (out [][]byte)
}

// Configurer is a Dialect whose client configures the call over the data channel: the endpoint checks
// the hello when the greeting is over. Read also takes the message with which the greeting was over,
// as the first one of the call.
type Configurer interface {
	Dialect
	// Welcome returns the first messages to the client.
	Welcome() (out [][]byte)
	// Settle returns how long the client may be silent on the open data channel before the greeting
	// counts as over.
	Settle() time.Duration
	// Begin puts the client's settings into the hello, except the rates. The greeting is over.
	Begin(h *transport.Hello)
}

// Mixer is a Dialect that decides what audio passes, in either direction.
type Mixer interface {
	Dialect
	// Caller takes the caller's audio, at the input rate of the hello. It reports whether it keeps
	// the audio from the call, and returns events that go before it.
	Caller(pcm []int16) (kept bool, events []transport.Event, out [][]byte)
	// Frame is called before a frame of the reply is sent. It reports whether the caller hears it;
	// otherwise silence takes its place.
	Frame(generation uint64) (audible bool, out [][]byte)
	// Silent reports whether the caller must hear no more of a generation.
	Silent(generation uint64) bool
	// Acked takes an acknowledgement of the playout.
	Acked(ack *transport.Event) (out [][]byte)
}

// talk is the events of a call in a dialect, which is used with the peer's mu held.
type talk struct {
	dialect Dialect
	config  Configurer    // the dialect, or nil
	mixer   Mixer         // the dialect, or nil
	met     bool          // the greeting is over
	greeted chan struct{} // closed with met
	news    chan struct{} // of size 1: the greeting goes on
	silence []int16       // a silent frame, reused
}

func newTalk(d Dialect) *talk {
	t := &talk{dialect: d, greeted: make(chan struct{}), news: make(chan struct{}, 1)}
	t.config, _ = d.(Configurer)
	t.mixer, _ = d.(Mixer)
	return t
}

// read takes a message of the far end: one of the greeting, or of the call.
func (t *talk) read(h *transport.Hello, data []byte) (events []transport.Event, out [][]byte, err error) {
	if t.met {
		return t.dialect.Read(data)
	}
	out, over, err := t.dialect.Greet(data)
	signal(t.news)
	if !over || err != nil {
		return nil, out, err
	}
	t.over(h)
	if t.config == nil {
		return nil, out, nil
	}
	events, more, err := t.dialect.Read(data)
	return events, append(out, more...), err
}

// over ends the greeting, once.
func (t *talk) over(h *transport.Hello) {
	if t.met {
		return
	}
	if t.config != nil {
		t.config.Begin(h)
	}
	t.met = true
	close(t.greeted)
}

// late reports whether the settings of the call come over the data channel.
func (p *peer) late() bool { return p.talk != nil && p.talk.config != nil }

// greets waits until the far end has configured the call, for which it has ConnectTimeout.
func (p *peer) greets(ctx context.Context) error {
	if p.channel.none { // nothing more comes than the request
		p.mu.Lock()
		defer p.mu.Unlock()
		p.talk.over(&p.hello)
		return nil
	}
	deadline := time.NewTimer(p.cfg.ConnectTimeout)
	defer deadline.Stop()
	open := p.channel.open
	var settled <-chan time.Time
	for {
		select {
		case <-p.talk.greeted:
			return nil
		case <-open:
			open = nil
			settled = time.After(p.settle())
		case <-p.talk.news:
			settled = time.After(p.settle())
		case <-settled:
			p.mu.Lock()
			p.talk.over(&p.hello)
			p.mu.Unlock()
		case <-deadline.C:
			return transport.End(transport.ReasonHelloTimeout, "", nil)
		case <-p.inbox.over:
			return p.inbox.why()
		case <-ctx.Done():
			return transport.GivenUp(ctx)
		}
	}
}

func (p *peer) settle() time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.talk.config.Settle()
}

// hear takes a message of the data channel, and hands its events on. When the inbox is full it
// waits, and so does the far end.
func (p *peer) hear(data []byte) {
	p.mu.Lock()
	events, out, err := p.talk.read(&p.hello, data)
	if sent := p.sendAll(context.Background(), out); err == nil {
		err = sent
	}
	p.hush()
	p.mu.Unlock()
	if err != nil {
		p.failWith(err)
		return
	}
	for i := range events {
		p.inbox.wait(&events[i])
	}
}

// failWith ends the call with an error of the dialect or of the data channel.
func (p *peer) failWith(err error) {
	var e *transport.Ended
	if !errors.As(err, &e) {
		e = transport.End(transport.ReasonPeerLost, "", err)
	}
	p.fail(e)
}

// hush silences the frames that wait if the caller must not hear them; the caller holds mu.
func (p *peer) hush() {
	if m := p.talk.mixer; m != nil && p.announced && m.Silent(p.generation) {
		p.playout.silence()
	}
}

// keep offers the caller's audio to the dialect, and reports whether that kept it.
func (p *peer) keep(pcm []int16) bool {
	p.mu.Lock()
	kept, events, out := p.talk.mixer.Caller(pcm)
	if len(out) > 0 {
		if err := p.sendAll(context.Background(), out); err != nil {
			p.failWith(err)
		}
		p.hush()
	}
	p.mu.Unlock()
	for i := range events {
		p.inbox.wait(&events[i])
	}
	return kept
}

// mixed returns what the caller hears of a frame; the caller holds mu.
func (p *peer) mixed(ctx context.Context, generation uint64, pcm []int16) ([]int16, error) {
	audible, out := p.talk.mixer.Frame(generation)
	if !audible {
		t := p.talk
		if len(t.silence) < len(pcm) {
			t.silence = make([]int16, len(pcm))
		}
		pcm = t.silence[:len(pcm)]
	}
	return pcm, p.sendAll(ctx, out)
}

// acked tells the dialect of an acknowledgement.
func (p *peer) acked(ev *transport.Event) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := p.sendAll(context.Background(), p.talk.mixer.Acked(ev)); err != nil {
		p.failWith(err)
	}
}

// sendAll sends messages; the caller holds mu.
func (p *peer) sendAll(ctx context.Context, out [][]byte) error {
	for _, b := range out {
		if err := p.channel.send(ctx, b, p.cfg.WriteTimeout); err != nil {
			return err
		}
	}
	return nil
}

// readyInDialect accepts the call when audio can flow and the greeting is over, for which the far
// end has ConnectTimeout.
func (p *peer) readyInDialect(ctx context.Context, r transport.Ready) error {
	timer := time.NewTimer(p.cfg.ConnectTimeout)
	defer timer.Stop()
	select {
	case <-p.talk.greeted:
	case <-timer.C:
		p.fail(transport.End(transport.ReasonHelloTimeout, "", nil))
		return fmt.Errorf("transport/rtc: ready: %w", p.inbox.why())
	case <-p.inbox.over:
		return fmt.Errorf("transport/rtc: ready: %w", p.inbox.why())
	case <-ctx.Done():
		return ctx.Err()
	}
	if err := p.connects(ctx); err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := p.sendAll(ctx, p.talk.dialect.Ready(r)); err != nil {
		return fmt.Errorf("transport/rtc: ready: %w", err)
	}
	return nil
}

// sendInDialect is Send; the caller holds mu.
func (p *peer) sendInDialect(ctx context.Context, m *transport.Message) error {
	err := p.play(m)
	if err == nil {
		err = p.sendAll(ctx, p.talk.dialect.Message(m))
		p.hush()
	}
	if err != nil {
		return fmt.Errorf("transport/rtc: send %s: %w", m.Kind, err)
	}
	return nil
}

// byeInDialect returns the last messages.
func (p *peer) byeInDialect(e *transport.Ended) [][]byte {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.talk.dialect.Bye(e)
}

package rtc

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pion/webrtc/v4"
	"go.uber.org/zap"

	"github.com/voicegw/voicegw/transport"
	"github.com/voicegw/voicegw/transport/ws"
)

// peer is the far end of one call, a [transport.Peer]. An audio frame allocates nothing in this
// package in either direction; the WebRTC library has its own allocations.
type peer struct {
	cfg      Config
	hello    transport.Hello
	pc       *webrtc.PeerConnection
	inbox    *inbox
	playout  *playout
	sender   *audioSender
	channel  *channel
	talk     *talk // nil: events are the gateway's own JSON
	receiver *audioReceiver

	connected chan struct{} // closed when audio can flow
	connect   sync.Once
	deadline  *time.Timer // the connection must be up before it
	ready     atomic.Bool

	mu         sync.Mutex
	announced  bool   // a turn was announced
	generation uint64 // of the last announced turn
	out        []byte // protected by mu

	tasks    tasks
	ended    atomic.Pointer[transport.Ended]
	done     chan struct{} // closed when the call has ended: the goroutines stop
	closed   chan struct{} // closed when everything has stopped
	ignored  atomic.Uint64 // events of the far end that have no meaning here
	channels int           // data channels that the far end opened; owned by offered
	ways     *ways         // owned by wire, and then by the session
}

var _ transport.Peer = (*peer)(nil)

// tasks counts the goroutines that a call waits for, and lets none begin once it waits.
type tasks struct {
	mu   sync.Mutex
	over bool
	wg   sync.WaitGroup
}

// begin reports whether a goroutine may begin; if so, wg.Done must follow.
func (t *tasks) begin() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.over {
		return false
	}
	t.wg.Add(1)
	return true
}

// wait waits for all goroutines that began.
func (t *tasks) wait() {
	t.mu.Lock()
	t.over = true
	t.mu.Unlock()
	t.wg.Wait()
}

// Hello returns the settings that the far end asked for.
func (p *peer) Hello() transport.Hello { return p.hello }

// Ready accepts the call: it sends ready, and waits until audio can flow.
func (p *peer) Ready(ctx context.Context, r transport.Ready) error {
	if p.ready.Load() {
		return errors.New("transport/rtc: ready: the call was accepted already")
	}
	r.Complete(&p.hello, EventBytesMax)
	if p.talk != nil {
		return p.readyInDialect(ctx, r)
	}
	p.mu.Lock()
	p.out = ws.AppendReady(p.out[:0], r)
	err := p.channel.send(ctx, p.out, p.cfg.WriteTimeout)
	p.mu.Unlock()
	if err != nil {
		return fmt.Errorf("transport/rtc: ready: %w", err)
	}
	return p.connects(ctx)
}

// connects waits until audio can flow.
func (p *peer) connects(ctx context.Context) error {
	select {
	case <-p.connected:
		p.ready.Store(true)
		return nil
	case <-p.inbox.over:
		return fmt.Errorf("transport/rtc: ready: %w", p.inbox.why())
	case <-ctx.Done():
		return ctx.Err()
	}
}

// SendAudio queues one frame, to be sent at its time. It refuses a generation other than that of
// the last announced turn. It returns [transport.ErrStalled] when seconds of audio wait.
func (p *peer) SendAudio(ctx context.Context, generation uint64, pcm []int16) (err error) {
	p.mu.Lock()
	right := p.announced && generation == p.generation
	if right && p.talk != nil && p.talk.mixer != nil {
		pcm, err = p.mixed(ctx, generation, pcm)
	}
	p.mu.Unlock()
	if e := p.ended.Load(); e != nil {
		return e
	}
	if !right {
		return fmt.Errorf("transport/rtc: send audio of generation %d: its turn is not the one that was started last",
			generation)
	}
	if err == nil {
		err = p.playout.push(generation, pcm)
	}
	if err != nil {
		return fmt.Errorf("transport/rtc: send audio: %w", err)
	}
	return nil
}

// Send sends a message. It applies the message to the playout, and sends it over the data channel,
// if there is one. It refuses a bye (use Close) and audio (use SendAudio).
func (p *peer) Send(ctx context.Context, m *transport.Message) error {
	if e := p.ended.Load(); e != nil {
		return e
	}
	if !p.ready.Load() {
		return fmt.Errorf("transport/rtc: send %s: the call was not accepted yet", m.Kind)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.talk != nil {
		return p.sendInDialect(ctx, m)
	}
	b, err := appendEvent(p.out[:0], m)
	if err != nil {
		return fmt.Errorf("transport/rtc: send: %w", err)
	}
	p.out = b
	if err := p.play(m); err != nil {
		return fmt.Errorf("transport/rtc: send %s: %w", m.Kind, err)
	}
	if err := p.channel.send(ctx, b, p.cfg.WriteTimeout); err != nil {
		return fmt.Errorf("transport/rtc: send %s: %w", m.Kind, err)
	}
	return nil
}

// appendEvent appends the event for m.
func appendEvent(dst []byte, m *transport.Message) ([]byte, error) {
	if m.Kind == transport.MessageNetGraph {
		return appendDrawing(dst, m.Text)
	}
	return ws.AppendMessage(dst, m)
}

// play applies a message to the playout; the caller holds mu.
func (p *peer) play(m *transport.Message) error {
	switch m.Kind {
	case transport.MessageTurn:
		if m.State == transport.StateStart {
			p.announced, p.generation = true, m.Generation
		}
	case transport.MessageClear:
		p.playout.clear(m.Generation)
	case transport.MessageMark:
		return p.playout.pushMark(m.Generation, m.ID)
	}
	return nil
}

// Recv waits for the next event. A far end that breaks the protocol, leaves or is lost ends the
// call: Recv closes it and the error is a *transport.Ended. When ctx is done the error is ctx.Err()
// and only Close may follow.
func (p *peer) Recv(ctx context.Context, ev *transport.Event) error {
	err := p.inbox.get(ctx, ev)
	if err == nil && ev.Kind == transport.EventAck && p.talk != nil && p.talk.mixer != nil {
		p.acked(ev)
	}
	var e *transport.Ended
	if errors.As(err, &e) {
		_ = p.finish(e)
		return p.ended.Load()
	}
	return err
}

// Close sends the reason over the data channel, and ends the call within CloseTimeout plus a little
// for the library.
func (p *peer) Close(reason transport.Reason, message string) error {
	if reason == transport.ReasonNone {
		reason = transport.ReasonDone
	}
	return p.finish(transport.End(reason, message, nil))
}

// finish ends the call, once; later callers wait.
func (p *peer) finish(e *transport.Ended) error {
	if !p.ended.CompareAndSwap(nil, e) {
		<-p.closed
		return nil
	}
	defer close(p.closed)
	p.inbox.end(e)
	p.deadline.Stop()
	if e.Reason != transport.ReasonPeerLost && p.pc.ConnectionState() == webrtc.PeerConnectionStateConnected {
		p.channel.farewell(p.lastWords(e), p.cfg.CloseTimeout)
	}
	close(p.done)
	err := p.pc.GracefulClose()
	p.tasks.wait()
	p.sender.encoder.close()
	if err != nil {
		p.cfg.Log.Debug("close", zap.Error(err))
	}
	return nil
}

// lastWords returns the last events, with the reason of the end.
func (p *peer) lastWords(e *transport.Ended) (events [][]byte) {
	if p.talk != nil {
		return p.byeInDialect(e)
	}
	if e.Reason.Failure() {
		b, err := ws.AppendMessage(nil, &transport.Message{
			Kind: transport.MessageError, Code: e.Reason.String(), Text: e.Message, Fatal: true})
		if err == nil {
			events = append(events, b)
		}
	}
	return append(events, ws.AppendBye(nil, e.Reason, e.Message))
}

// fail makes Recv end the call with e. The library's callbacks may call it; it never waits.
func (p *peer) fail(e *transport.Ended) { p.inbox.end(e) }

// hangUp ends the call as if the far end had sent bye.
func (p *peer) hangUp() {
	if !p.inbox.put(&transport.Event{Kind: transport.EventBye}, inboxMax) {
		p.fail(transport.End(transport.ReasonCallerHungUp, "", nil))
	}
}

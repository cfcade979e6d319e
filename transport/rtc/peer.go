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

// peer is the far end of one call, a [transport.Peer]. A frame of sound allocates nothing here in either direction; the
// WebRTC library has its own allocations.
type peer struct {
	cfg     Config
	hello   transport.Hello
	pc      *webrtc.PeerConnection
	inbox   *inbox
	playout *playout
	speaker *speaker
	channel *channel
	ear     *ear

	connected chan struct{} // closed when sound can flow
	connect   sync.Once
	deadline  *time.Timer // of the connection
	ready     atomic.Bool

	mu         sync.Mutex
	announced  bool   // a turn was announced
	generation uint64 // of the turn announced last
	out        []byte // guarded by mu

	tasks    tasks
	ended    atomic.Pointer[transport.Ended]
	done     chan struct{} // closed when the call is over: what runs stops
	closed   chan struct{} // closed when everything has stopped
	ignored  atomic.Uint64 // events of the far end that mean nothing here
	channels int           // data channels that it opened; owned by offered
	ways     *ways         // owned by wire, and then by the session
}

var _ transport.Peer = (*peer)(nil)

// tasks counts goroutines that a call waits for, and lets none begin once it waits.
type tasks struct {
	mu   sync.Mutex
	over bool
	wg   sync.WaitGroup
}

// begin reports whether a goroutine may begin; wg.Done must follow when it may.
func (t *tasks) begin() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.over {
		return false
	}
	t.wg.Add(1)
	return true
}

// wait waits for all that began.
func (t *tasks) wait() {
	t.mu.Lock()
	t.over = true
	t.mu.Unlock()
	t.wg.Wait()
}

// Hello returns the settings that were asked for.
func (p *peer) Hello() transport.Hello { return p.hello }

// Ready accepts the call: it tells the far end, and waits until sound can flow.
func (p *peer) Ready(ctx context.Context, r transport.Ready) error {
	if p.ready.Load() {
		return errors.New("transport/rtc: ready: the call was accepted already")
	}
	r.Complete(&p.hello, EventBytesMax)
	p.mu.Lock()
	p.out = ws.AppendReady(p.out[:0], r)
	err := p.channel.send(ctx, p.out, p.cfg.WriteTimeout)
	p.mu.Unlock()
	if err != nil {
		return fmt.Errorf("transport/rtc: ready: %w", err)
	}
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

// SendAudio queues one frame, to be sent when it is its time. A generation whose turn was not announced last is
// refused. It returns [transport.ErrStalled] when seconds of sound wait.
func (p *peer) SendAudio(_ context.Context, generation uint64, pcm []int16) error {
	p.mu.Lock()
	right := p.announced && generation == p.generation
	p.mu.Unlock()
	if e := p.ended.Load(); e != nil {
		return e
	}
	if !right {
		return fmt.Errorf("transport/rtc: send audio of generation %d: its turn is not the one that was started last",
			generation)
	}
	if err := p.playout.push(generation, pcm); err != nil {
		return fmt.Errorf("transport/rtc: send audio: %w", err)
	}
	return nil
}

// Send hands over a message: what concerns the playout is done here, and all is told over the data channel, if there is
// one. A bye goes by Close, audio by SendAudio; both are refused here.
func (p *peer) Send(ctx context.Context, m *transport.Message) error {
	if e := p.ended.Load(); e != nil {
		return e
	}
	if !p.ready.Load() {
		return fmt.Errorf("transport/rtc: send %s: the call was not accepted yet", m.Kind)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
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

// appendEvent appends the event that tells m.
func appendEvent(dst []byte, m *transport.Message) ([]byte, error) {
	if m.Kind == transport.MessageNetGraph {
		return appendDrawing(dst, m.Text)
	}
	return ws.AppendMessage(dst, m)
}

// play does what a message means for the playout; mu is held.
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

// Recv waits for the next event. A far end that breaks the protocol, leaves or is lost ends the call: it is closed and
// the error is a *transport.Ended. When ctx is done the error is ctx.Err() and only Close may follow.
func (p *peer) Recv(ctx context.Context, ev *transport.Event) error {
	err := p.inbox.get(ctx, ev)
	var e *transport.Ended
	if errors.As(err, &e) {
		_ = p.finish(e)
		return p.ended.Load()
	}
	return err
}

// Close says why, over the data channel, and ends the call within CloseTimeout, and a little for what the library does.
func (p *peer) Close(reason transport.Reason, message string) error {
	if reason == transport.ReasonNone {
		reason = transport.ReasonDone
	}
	return p.finish(ended(reason, message, nil))
}

// finish ends the call, once; who comes later waits.
func (p *peer) finish(e *transport.Ended) error {
	if !p.ended.CompareAndSwap(nil, e) {
		<-p.closed
		return nil
	}
	defer close(p.closed)
	p.inbox.end(e)
	p.deadline.Stop()
	if e.Reason != transport.ReasonPeerLost && p.pc.ConnectionState() == webrtc.PeerConnectionStateConnected {
		p.channel.farewell(lastWords(e), p.cfg.CloseTimeout)
	}
	close(p.done)
	err := p.pc.GracefulClose()
	p.tasks.wait()
	p.speaker.encoder.close()
	if err != nil {
		p.cfg.Log.Debug("close", zap.Error(err))
	}
	return nil
}

// lastWords tell the far end why the call ends.
func lastWords(e *transport.Ended) (events [][]byte) {
	if e.Reason.Failure() {
		b, err := ws.AppendMessage(nil, &transport.Message{
			Kind: transport.MessageError, Code: e.Reason.String(), Text: e.Message, Fatal: true})
		if err == nil {
			events = append(events, b)
		}
	}
	return append(events, ws.AppendBye(nil, e.Reason, e.Message))
}

// fail lets Recv end the call for e. It may be called from where the library calls us, and never waits.
func (p *peer) fail(e *transport.Ended) { p.inbox.end(e) }

// hangUp ends the call as if the far end had said bye.
func (p *peer) hangUp() {
	if !p.inbox.put(&transport.Event{Kind: transport.EventBye}, inboxMax) {
		p.fail(ended(transport.ReasonCallerHungUp, "", nil))
	}
}

// ended makes the error of a call that is over; an empty message means the reason's own.
func ended(r transport.Reason, message string, err error) *transport.Ended {
	if message == "" {
		message = r.Message()
	}
	return &transport.Ended{Reason: r, Message: message, Err: err}
}

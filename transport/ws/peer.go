package ws

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/coder/websocket"

	"github.com/voicegw/voicegw/audio"
	"github.com/voicegw/voicegw/transport"
	"github.com/voicegw/voicegw/transport/httpdoor"
)

// Peer is the far end of one call, a [transport.Peer]. An audio frame allocates nothing here in either direction when
// the caller passes the same context each time; the WebSocket library has its own allocations.
type Peer struct {
	wire
	cfg        Config
	hello      transport.Hello
	pinger     httpdoor.Pinger
	ready      atomic.Bool
	announced  bool   // a turn was announced
	generation uint64 // of the turn announced last
	closed     chan struct{}
}

var _ transport.Peer = (*Peer)(nil)

// Hello returns the settings that were asked for.
func (p *Peer) Hello() transport.Hello { return p.hello }

// Counters returns what went over the connection so far. Safe for concurrent use.
func (p *Peer) Counters() Counters { return p.counters.snapshot() }

// Ready accepts the call. From here on audio may come.
func (p *Peer) Ready(ctx context.Context, r transport.Ready) error {
	if p.ready.Swap(true) { // before the write: the answer may be faster than its return
		return errors.New("transport/ws: ready: the call was accepted already")
	}
	r.Complete(&p.hello, p.cfg.MessageBytesMax)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.out = appendReady(p.out[:0], r)
	return p.sendText(ctx, "ready")
}

// SendAudio hands over one frame of the reply. It returns [transport.ErrStalled] when the far end did not take it
// within the write timeout, and an error for a generation whose turn was not announced last: the far end has no other
// way to know to which turn audio belongs.
func (p *Peer) SendAudio(ctx context.Context, generation uint64, pcm []int16) error {
	if !p.announced || generation != p.generation {
		return fmt.Errorf("transport/ws: send audio of generation %d: its turn is not the one that was started last",
			generation)
	}
	if err := p.sendAudio(ctx, pcm); err != nil {
		return fmt.Errorf("transport/ws: send audio: %w", err)
	}
	return nil
}

// Send hands over a message. It returns [transport.ErrStalled] when the far end did not take it within the write
// timeout. A bye goes by Close, audio by SendAudio; both are refused here.
func (p *Peer) Send(ctx context.Context, m *transport.Message) error {
	if !p.ready.Load() {
		return fmt.Errorf("transport/ws: send %s: the call was not accepted yet", m.Kind)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	b, err := appendMessage(p.out[:0], m)
	if err != nil {
		return fmt.Errorf("transport/ws: send: %w", err)
	}
	p.out = b
	if m.Kind == transport.MessageTurn && m.State == transport.StateStart {
		p.announced, p.generation = true, m.Generation
	}
	return p.sendText(ctx, m.Kind.String())
}

// sendText writes p.out as a text frame; the caller holds mu.
func (p *Peer) sendText(ctx context.Context, what string) error {
	if err := p.write(ctx, websocket.MessageText, p.out); err != nil {
		return fmt.Errorf("transport/ws: send %s: %w", what, err)
	}
	p.counters.eventsOut.Add(1)
	return nil
}

// Recv waits for the next event. A far end that breaks the protocol, is silent for IdleTimeout or leaves ends the call:
// it is closed with the code of docs/protocol.md and the error is a *transport.Ended. When ctx is done the error is
// ctx.Err() and only Close may follow.
func (p *Peer) Recv(ctx context.Context, ev *transport.Event) error {
	for {
		typ, b, err := p.read(ctx, p.cfg.IdleTimeout)
		switch {
		case err != nil:
			return p.recvFailed(ctx, err)
		case p.ended.Load() != nil:
			continue // a close is under way; what still comes is dropped until its answer, or its time is over
		}
		ev.Reset()
		known, e := p.take(typ, b, ev)
		if e != nil {
			return p.fail(e)
		}
		if known {
			return nil
		}
	}
}

// recvFailed ends the call because nothing more can be read, unless it was only the caller who gave up.
func (p *Peer) recvFailed(ctx context.Context, err error) error {
	if p.ended.Load() == nil && ctx.Err() != nil {
		return ctx.Err()
	}
	return p.fail(p.lost(ctx, err))
}

// lost says why nothing more can be read. A far end that closes in good order has hung up, whatever it calls that.
func (p *Peer) lost(ctx context.Context, err error) *transport.Ended {
	e, ok := p.readFailed(ctx, err).(*transport.Ended)
	switch {
	case !ok:
		return ended(transport.ReasonPeerLost, "", err)
	case e == p.ended.Load():
		return e
	}
	switch websocket.CloseStatus(err) {
	case -1:
		return e
	case websocket.StatusNormalClosure, websocket.StatusGoingAway, websocket.StatusNoStatusRcvd:
		return ended(transport.ReasonCallerHungUp, "", nil)
	}
	return ended(transport.ReasonPeerLost, "", err)
}

// take reads one message into ev. It reports false for an event to be ignored, and why the call ends for a wrong one.
func (p *Peer) take(typ websocket.MessageType, b []byte, ev *transport.Event) (bool, *transport.Ended) {
	if typ == websocket.MessageBinary {
		return p.takeAudio(b, ev)
	}
	p.counters.eventsIn.Add(1)
	switch err := decodeEvent(b, ev); {
	case err == nil:
		return true, nil
	case errors.Is(err, errUnknown):
		p.counters.unknownIn.Add(1)
		return false, nil
	case errors.Is(err, errHello):
		return false, ended(transport.ReasonSecondHello, "", nil)
	default:
		return false, ended(transport.ReasonBadJSON, err.Error(), err)
	}
}

func (p *Peer) takeAudio(b []byte, ev *transport.Event) (bool, *transport.Ended) {
	switch {
	case !p.ready.Load():
		return false, ended(transport.ReasonAudioBeforeReady, "", nil)
	case len(b)%2 != 0:
		return false, ended(transport.ReasonBadAudio,
			fmt.Sprintf("An audio message has %d bytes; 16-bit samples come in pairs of bytes.", len(b)), nil)
	case len(b)/2 > p.hello.InputRateHz*transport.AudioMSMax/1000:
		return false, ended(transport.ReasonBadAudio, fmt.Sprintf(
			"An audio message has %d samples, more than 1 s at %d Hz.", len(b)/2, p.hello.InputRateHz), nil)
	case len(b) == 0:
		return false, nil
	}
	ev.Kind, ev.PCM = transport.EventAudio, audio.AppendSamples(ev.PCM, b)
	p.counters.audioIn.Add(1)
	p.counters.samplesIn.Add(uint64(len(ev.PCM)))
	return true, nil
}

// fail closes the call for e, unless it was closed before, and returns why it was closed.
func (p *Peer) fail(e *transport.Ended) error {
	_ = p.finish(e)
	return p.ended.Load()
}

// Close ends the call within CloseTimeout: an `error` event where reason is a failure, `bye`, and the close frame with
// the reason's code and name. It returns [transport.ErrStalled] when the far end did not take them.
func (p *Peer) Close(reason transport.Reason, message string) error {
	if reason == transport.ReasonNone {
		reason = transport.ReasonDone
	}
	return p.finish(ended(reason, message, nil))
}

// finish closes the call, once; who comes later waits.
func (p *Peer) finish(e *transport.Ended) error {
	if !p.ended.CompareAndSwap(nil, e) {
		<-p.closed
		return nil
	}
	defer close(p.closed)
	p.shut(p.cfg.CloseTimeout, e, func() { p.sayBye(e) })
	p.pinger.Stop()
	if p.link.stalled.Load() {
		return fmt.Errorf("transport/ws: close: %w", transport.ErrStalled)
	}
	return nil
}

// sayBye tells the far end why the call ends; wire.mu is held.
func (p *Peer) sayBye(e *transport.Ended) {
	if e.Reason.Failure() {
		b, err := appendMessage(nil, &transport.Message{
			Kind: transport.MessageError, Code: e.Reason.String(), Text: e.Message, Fatal: true})
		if err != nil || p.farewell(b) != nil {
			return
		}
	}
	_ = p.farewell(appendBye(nil, e.Reason.String(), e.Message))
}

// ping keeps what lies between the two ends from forgetting the connection, and measures the round trip.
func (p *Peer) ping() {
	if p.link.stalled.Load() || p.ended.Load() != nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), p.cfg.PingInterval)
	defer cancel()
	start := time.Now()
	if p.conn.Ping(ctx) == nil {
		p.counters.pingRTT.Store(int64(time.Since(start)))
	}
}

package ws

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/voicegw/voicegw/audio"
	"github.com/voicegw/voicegw/transport"
	"github.com/voicegw/voicegw/transport/wsconn"
)

// Peer is the far end of one call, a [transport.Peer]. An audio frame allocates nothing in this
// package in either direction when the caller passes the same context each time; the WebSocket
// library has its own allocations.
type Peer struct {
	wire
	cfg        Config
	hello      transport.Hello
	ready      atomic.Bool
	announced  bool   // a turn was announced
	generation uint64 // of the last announced turn
}

var _ transport.Peer = (*Peer)(nil)

// Hello returns the settings that the far end asked for.
func (p *Peer) Hello() transport.Hello { return p.hello }

// Ready accepts the call. From here on audio may come.
func (p *Peer) Ready(ctx context.Context, r transport.Ready) error {
	if p.ready.Swap(true) { // before the write: the answer may arrive before the write returns
		return errors.New("transport/ws: ready: the call was accepted already")
	}
	r.Complete(&p.hello, p.cfg.MessageBytesMax)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.out = appendReady(p.out[:0], r)
	if err := p.sendText(ctx); err != nil {
		return fmt.Errorf("transport/ws: send ready: %w", err)
	}
	return nil
}

// SendAudio sends one frame of the reply. It returns [transport.ErrStalled] when the far end did
// not take the frame within the write timeout. It returns an error for a generation other than that
// of the last announced turn: the far end assigns audio to that turn.
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

// Send sends a message. It returns [transport.ErrStalled] when the far end did not take the message
// within the write timeout. It refuses a bye (use Close) and audio (use SendAudio).
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
	if m.Kind == transport.MessageTurn && (m.State == transport.StateStart || m.State == transport.StateResume) {
		p.announced, p.generation = true, m.Generation
	}
	if err := p.sendText(ctx); err != nil {
		return fmt.Errorf("transport/ws: send %s: %w", m.Kind, err)
	}
	return nil
}

// Received returns how many events the far end has sent since its hello, without audio. Safe for
// concurrent use.
func (p *Peer) Received() uint64 { return p.counters.eventsIn.Load() - 1 }

// Recv waits for the next event. A far end that breaks the protocol, is silent for IdleTimeout or
// leaves ends the call: Recv closes it with the code of docs/protocol.md and the error is a
// *transport.Ended. When ctx is done the error is ctx.Err() and only Close may follow.
func (p *Peer) Recv(ctx context.Context, ev *transport.Event) error {
	for {
		m, err := p.conn.Read(ctx, p.cfg.IdleTimeout)
		if err != nil {
			return p.conn.Fail(err, p.farewell)
		}
		ev.Reset()
		known, e := p.take(m, ev)
		if e != nil {
			return p.conn.Fail(e, p.farewell)
		}
		if known {
			return nil
		}
	}
}

// take reads one message into ev. It reports false for an event to ignore, and returns why the call
// ends for an invalid one.
func (p *Peer) take(m wsconn.Message, ev *transport.Event) (bool, *transport.Ended) {
	if m.Binary {
		return p.takeAudio(m.Data, ev)
	}
	p.counters.eventsIn.Add(1)
	switch err := decodeEvent(m.Data, ev); {
	case err == nil:
		return true, nil
	case errors.Is(err, errUnknown):
		p.counters.unknownIn.Add(1)
		return false, nil
	case errors.Is(err, errHello):
		return false, transport.End(transport.ReasonSecondHello, "", nil)
	default:
		return false, transport.End(transport.ReasonBadJSON, err.Error(), err)
	}
}

func (p *Peer) takeAudio(b []byte, ev *transport.Event) (bool, *transport.Ended) {
	switch {
	case !p.ready.Load():
		return false, transport.End(transport.ReasonAudioBeforeReady, "", nil)
	case len(b)%2 != 0:
		return false, transport.End(transport.ReasonBadAudio,
			fmt.Sprintf("An audio message has %d bytes; 16-bit samples come in pairs of bytes.", len(b)), nil)
	case len(b)/2 > p.hello.InputRateHz*transport.AudioMSMax/1000:
		return false, transport.End(transport.ReasonBadAudio, fmt.Sprintf(
			"An audio message has %d samples, more than 1 s at %d Hz.", len(b)/2, p.hello.InputRateHz), nil)
	case len(b) == 0:
		return false, nil
	}
	ev.Kind, ev.PCM = transport.EventAudio, audio.AppendSamples(ev.PCM, b)
	p.counters.audioIn.Add(1)
	p.counters.samplesIn.Add(uint64(len(ev.PCM)))
	return true, nil
}

// Close ends the call within CloseTimeout. It sends an `error` event if reason is a failure, then
// `bye`, then the close frame with the reason's code and name. It returns [transport.ErrStalled]
// when the far end did not take them.
func (p *Peer) Close(reason transport.Reason, message string) error {
	return p.conn.Close(transport.End(reason, message, nil), p.farewell)
}

// farewell sends the far end the reason of the end.
func (p *Peer) farewell() (f wsconn.Farewell) {
	e := p.conn.Ended()
	if e.Reason.Failure() {
		b, err := appendMessage(nil, &transport.Message{
			Kind: transport.MessageError, Code: e.Reason.String(), Text: e.Message, Fatal: true})
		if err != nil {
			return f
		}
		f.Messages = append(f.Messages, wsconn.Message{Data: b})
	}
	f.Messages = append(f.Messages, wsconn.Message{Data: appendBye(nil, e.Reason.String(), e.Message)})
	return f
}

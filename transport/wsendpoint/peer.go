package wsendpoint

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/voicegw/voicegw/transport"
	"github.com/voicegw/voicegw/transport/wsconn"
)

// Peer is the far end of one call, a [transport.Peer]. An audio frame allocates nothing in this
// package in either direction, beyond what its codec allocates; the WebSocket library has its own
// allocations.
type Peer struct {
	cfg    Config
	proto  *Protocol
	conn   *wsconn.Conn
	reader *reader
	hello  transport.Hello
	ready  atomic.Bool
	wake   chan struct{} // signals a change that Recv waits for

	in    Inbox // owned by Recv
	timer *time.Timer
	first *wsconn.Message // last message of the greeting, if Read must still read it; else nil

	wire   sync.Mutex // held while writing; taken before state
	out    []byte     // protected by wire
	before Outbox     // what goes before a frame; protected by wire

	state      sync.Mutex // protects the fields below; never held while writing
	codec      Codec
	playout    playout
	announced  bool   // a turn was announced
	generation uint64 // of the last announced turn
	paced      pacer
	handle     string // of the call, "" if it cannot be resumed
	received   uint64 // messages of the call that the far end has got with what was sent
	told       uint64 // those of the last handle
}

var _ transport.Peer = (*Peer)(nil)

func newPeer(cfg Config, proto *Protocol, codec Codec, conn *wsconn.Conn) *Peer {
	p := &Peer{cfg: cfg, proto: proto, codec: codec, conn: conn, reader: newReader(conn),
		wake: make(chan struct{}, 1), timer: time.NewTimer(time.Hour)}
	p.timer.Stop()
	p.playout = playout{Delay: cfg.PlayoutDelay, Keeps: proto.Lead > 0}
	p.paced.wake = make(chan struct{}, 1)
	return p
}

// Hello returns the settings that the far end asked for.
func (p *Peer) Hello() transport.Hello { return p.hello }

// greet lets the codec read the first messages of the far end.
func (p *Peer) greet(ctx context.Context, hello transport.Hello) error {
	var out Outbox
	var last wsconn.Message
	next := func() (wsconn.Message, error) {
		if err := p.send(ctx, out.Take()); err != nil {
			return wsconn.Message{}, err
		}
		p.reader.release()
		var settled <-chan time.Time
		if s, ok := p.codec.(settler); ok && s.Settle() > 0 {
			p.timer.Reset(s.Settle())
			defer p.timer.Stop()
			settled = p.timer.C
		}
		select {
		case m := <-p.reader.inbound:
			p.reader.holding, last = m.err == nil, m.Message
			return last, m.err
		case <-settled:
			return wsconn.Message{}, ErrSettled
		case <-ctx.Done():
			return wsconn.Message{}, ctx.Err()
		}
	}
	switch err := p.codec.Greet(&hello, next, &out); {
	case errors.Is(err, ErrUnread):
		p.first = &last
	case err != nil:
		p.reader.release()
		return p.conn.Fail(greetFailed(ctx, err), p.sayBye)
	default:
		p.reader.release()
	}
	p.hello, p.in.rateHz = hello, hello.InputRateHz
	if err := p.send(ctx, out.Take()); err != nil {
		return p.conn.Fail(greetFailed(ctx, err), p.sayBye)
	}
	return nil
}

// greetFailed returns why the greeting failed.
func greetFailed(ctx context.Context, err error) error {
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return transport.End(transport.ReasonHelloTimeout, "", nil)
	case ctx.Err() != nil:
		return transport.GivenUp(ctx)
	}
	return err
}

// Ready accepts the call.
func (p *Peer) Ready(ctx context.Context, r transport.Ready) error {
	if p.ready.Load() {
		return fmt.Errorf("%s: ready: the call was accepted already", p.proto.Name)
	}
	r.Complete(&p.hello, p.cfg.MessageBytesMax)
	var out Outbox
	p.wire.Lock()
	defer p.wire.Unlock()
	p.state.Lock()
	p.codec.Ready(r, &out)
	if p.handle = r.Resume.Handle; p.handle != "" {
		p.putHandle(&out)
	}
	p.state.Unlock()
	p.ready.Store(true)
	defer p.awake()
	if err := p.writeAll(ctx, out.Take()); err != nil {
		return fmt.Errorf("%s: ready: %w", p.proto.Name, err)
	}
	return nil
}

// SendAudio sends one frame of the reply. It returns [transport.ErrStalled] when the far end did
// not take the frame within the write timeout, and an error for a generation other than that of the
// last announced turn.
func (p *Peer) SendAudio(ctx context.Context, generation uint64, pcm []int16) error {
	p.wire.Lock()
	defer p.wire.Unlock()
	p.state.Lock()
	if !p.announced || generation != p.generation {
		p.state.Unlock()
		return fmt.Errorf("%s: send audio of generation %d: its turn is not the one that was started last", p.proto.Name,
			generation)
	}
	if p.proto.Lead > 0 {
		defer p.state.Unlock()
		if e := p.conn.Ended(); e != nil {
			return fmt.Errorf("%s: send audio: %w", p.proto.Name, e)
		}
		if p.conn.Stalled() || !p.paced.put(generation, pcm) {
			return fmt.Errorf("%s: send audio: %w", p.proto.Name, transport.ErrStalled)
		}
		return nil
	}
	if a, ok := p.codec.(audioAnnouncer); ok {
		a.Announce(generation, &p.before)
	}
	p.encode(generation, pcm)
	p.state.Unlock()
	err := p.writeAll(ctx, p.before.Take())
	if err == nil && len(p.out) > 0 {
		err = p.write(ctx, p.out)
	}
	if err != nil {
		return fmt.Errorf("%s: send audio: %w", p.proto.Name, err)
	}
	return nil
}

// encode puts a frame into p.out and into the playout clock; the caller holds both locks.
func (p *Peer) encode(generation uint64, pcm []int16) {
	now := time.Now()
	first := p.playout.Ahead(now) == 0
	p.out = p.codec.Audio(p.out[:0], generation, pcm)
	p.playout.Sent(now, generation)
	if first {
		p.awake()
	}
}

// Send sends a message. It returns [transport.ErrStalled] when the far end did not take the message
// within the write timeout. It refuses a bye (use Close) and audio (use SendAudio).
func (p *Peer) Send(ctx context.Context, m *transport.Message) error {
	if !p.ready.Load() || m.Kind == transport.MessageBye || m.Kind == transport.MessageAudio {
		return fmt.Errorf("%s: send %s: not in this way, or not yet", p.proto.Name, m.Kind)
	}
	var out Outbox
	p.wire.Lock()
	defer p.wire.Unlock()
	p.state.Lock()
	p.note(m)
	p.codec.Message(m, &out)
	p.count(m, &out)
	p.state.Unlock()
	if err := p.writeAll(ctx, out.Take()); err != nil {
		return fmt.Errorf("%s: send %s: %w", p.proto.Name, m.Kind, err)
	}
	return nil
}

// note updates the playout for a message; the caller holds state.
func (p *Peer) note(m *transport.Message) {
	switch m.Kind {
	case transport.MessageTurn:
		if m.State == transport.StateStart || m.State == transport.StateResume {
			p.announced, p.generation = true, m.Generation
		}
	case transport.MessageClear:
		p.paced.clear()
		p.playout.Clear(time.Now(), m.Generation, p.proto.ClearWait)
		p.awake()
	case transport.MessageMark:
		p.playout.Mark(time.Now(), m.Generation, m.ID, p.paced.len())
		p.awake()
	}
}

// awake wakes Recv.
func (p *Peer) awake() {
	select {
	case p.wake <- struct{}{}:
	default:
	}
}

// send writes messages.
func (p *Peer) send(ctx context.Context, messages [][]byte) error {
	if len(messages) == 0 {
		return nil
	}
	p.wire.Lock()
	defer p.wire.Unlock()
	return p.writeAll(ctx, messages)
}

func (p *Peer) writeAll(ctx context.Context, messages [][]byte) error {
	for _, b := range messages {
		if err := p.write(ctx, b); err != nil {
			return err
		}
	}
	return nil
}

// write writes one message within the write timeout; the caller holds wire.
func (p *Peer) write(ctx context.Context, b []byte) error {
	return p.conn.Write(ctx, wsconn.Message{Binary: p.proto.Binary, Data: b})
}

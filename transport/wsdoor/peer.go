package wsdoor

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/coder/websocket"

	"github.com/voicegw/voicegw/transport"
	"github.com/voicegw/voicegw/transport/httpdoor"
)

// Peer is the far end of one call, a [transport.Peer]. An audio frame allocates nothing here in either direction,
// beyond what its codec does; the WebSocket library has its own allocations.
type Peer struct {
	cfg    Config
	proto  *Protocol
	socket *socket
	hello  transport.Hello
	pinger httpdoor.Pinger
	ready  atomic.Bool
	ended  atomic.Pointer[transport.Ended]
	closed chan struct{} // closed when finish is over
	wake   chan struct{} // something changed that Recv waits for

	in    Inbox // of Recv
	timer *time.Timer
	first *Inbound // of the greeting, not read yet; nil for none

	wire sync.Mutex // of writing; taken before state
	out  []byte     // guarded by wire

	state      sync.Mutex // of what follows; never held while something is written
	codec      Codec
	playout    Playout
	announced  bool   // a turn was announced
	generation uint64 // of the turn announced last
	paced      pacer
}

var _ transport.Peer = (*Peer)(nil)

func newPeer(cfg Config, proto *Protocol, codec Codec, conn *websocket.Conn, l *link) *Peer {
	p := &Peer{cfg: cfg, proto: proto, codec: codec, socket: newSocket(conn, l, cfg.MessageBytesMax),
		closed: make(chan struct{}), wake: make(chan struct{}, 1), timer: time.NewTimer(time.Hour)}
	p.timer.Stop()
	p.playout = Playout{Delay: cfg.PlayoutDelay, Keeps: proto.Lead > 0}
	p.paced.wake = make(chan struct{}, 1)
	return p
}

// Hello returns the settings that were asked for.
func (p *Peer) Hello() transport.Hello { return p.hello }

// greet lets the codec read what the far end says first.
func (p *Peer) greet(ctx context.Context, hello transport.Hello) error {
	var out Outbox
	var last Inbound
	next := func() (Inbound, error) {
		if err := p.send(ctx, out.Take()); err != nil {
			return Inbound{}, err
		}
		p.socket.release()
		select {
		case m := <-p.socket.inbound:
			p.socket.holding, last = m.err == nil, m.Inbound
			return last, m.err
		case <-ctx.Done():
			return Inbound{}, ctx.Err()
		}
	}
	switch err := p.codec.Greet(&hello, next, &out); {
	case errors.Is(err, ErrUnread):
		p.first = &last
	case err != nil:
		p.socket.release()
		return p.fail(p.greetFailed(ctx, err))
	default:
		p.socket.release()
	}
	p.hello, p.in.rateHz = hello, hello.InputRateHz
	if err := p.send(ctx, out.Take()); err != nil {
		return p.fail(p.lost(err))
	}
	return nil
}

// greetFailed says why there was no greeting.
func (p *Peer) greetFailed(ctx context.Context, err error) *transport.Ended {
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return End(transport.ReasonHelloTimeout, "", nil)
	case ctx.Err() != nil:
		return transport.GivenUp(ctx)
	}
	return p.lost(err)
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
	p.state.Unlock()
	p.ready.Store(true)
	defer p.awake()
	if err := p.writeAll(ctx, out.Take()); err != nil {
		return fmt.Errorf("%s: ready: %w", p.proto.Name, err)
	}
	return nil
}

// SendAudio hands over one frame of the reply. It returns [transport.ErrStalled] when the far end did not take it
// within the write timeout, and an error for a generation whose turn was not announced last.
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
		if e := p.ended.Load(); e != nil {
			return fmt.Errorf("%s: send audio: %w", p.proto.Name, e)
		}
		if p.socket.link.Stalled() || !p.paced.put(generation, pcm) {
			return fmt.Errorf("%s: send audio: %w", p.proto.Name, transport.ErrStalled)
		}
		return nil
	}
	p.encode(generation, pcm)
	p.state.Unlock()
	if len(p.out) == 0 {
		return nil
	}
	if err := p.write(ctx, p.out); err != nil {
		return fmt.Errorf("%s: send audio: %w", p.proto.Name, err)
	}
	return nil
}

// encode puts a frame into p.out, and into the clock; both locks are held.
func (p *Peer) encode(generation uint64, pcm []int16) {
	now := time.Now()
	first := p.playout.Ahead(now) == 0
	p.out = p.codec.Audio(p.out[:0], generation, pcm)
	p.playout.Sent(now, generation)
	if first {
		p.awake()
	}
}

// Send hands over a message. It returns [transport.ErrStalled] when the far end did not take it within the write
// timeout. A bye goes by Close, audio by SendAudio; both are refused here.
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
	p.state.Unlock()
	if err := p.writeAll(ctx, out.Take()); err != nil {
		return fmt.Errorf("%s: send %s: %w", p.proto.Name, m.Kind, err)
	}
	return nil
}

// note keeps what a message means for audio; the caller holds state.
func (p *Peer) note(m *transport.Message) {
	switch m.Kind {
	case transport.MessageTurn:
		if m.State == transport.StateStart {
			p.announced, p.generation = true, m.Generation
		}
	case transport.MessageClear:
		p.paced.clear()
		p.playout.Clear(time.Now(), m.Generation, p.proto.ClearWait)
		p.awake()
	case transport.MessageMark:
		p.playout.MarkAfter(time.Now(), m.Generation, m.ID, p.paced.len())
		p.awake()
	}
}

// awake lets Recv look again.
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

// write writes one message within the write timeout; the caller holds wire. A context that is done does not interrupt
// it: half a message would end the call.
func (p *Peer) write(ctx context.Context, b []byte) error {
	if e := p.ended.Load(); e != nil {
		return e
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	err := p.writeFrame(b)
	switch e := p.ended.Load(); {
	case err == nil:
		return nil
	case e != nil:
		return e
	case p.socket.link.Stalled() || errors.Is(err, os.ErrDeadlineExceeded):
		return transport.ErrStalled
	}
	return End(transport.ReasonPeerLost, "", err)
}

func (p *Peer) writeFrame(b []byte) error {
	typ := websocket.MessageText
	if p.proto.Binary {
		typ = websocket.MessageBinary
	}
	return p.socket.conn.Write(context.Background(), typ, b)
}

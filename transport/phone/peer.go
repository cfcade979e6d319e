package phone

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

const (
	inboxMax   = 16 // events read and not yet received; at this limit the reader waits
	answersMax = 16 // answers to clears not yet received; at this limit the oldest is lost
)

// Line is a call as its endpoint sees it.
type Line struct {
	Hello    transport.Hello
	Protocol Protocol
	// BinaryAudio says that audio is sent in binary messages.
	BinaryAudio bool
	// ChunkFrames is the number of 20 ms frames in one sent message, 1 to 5; 0 means 1. Silence
	// fills the last chunk of a reply.
	ChunkFrames int
	// Transfer receives the target of a transfer before the connection is closed; nil means that
	// transfers are ignored.
	Transfer func(ctx context.Context, to string) error
}

// Peer is the far end of one call, a [transport.Peer].
type Peer struct {
	line   Line
	conn   *wsconn.Conn
	limits Limits

	inbox   chan *transport.Event // from the reader
	free    chan *transport.Event // back to the reader
	answers chan transport.Event  // to clears
	gone    chan struct{}         // closed when the reader has ended
	readEnd error                 // why the reader ended; read after gone is closed

	announced  bool // a turn was announced
	accepted   atomic.Bool
	generation uint64 // of the last announced turn
	counters   counters

	mu      sync.Mutex // protects the fields below; not held while writing
	playout Playout
	acks    []Ack
	flows   chan struct{} // not nil while the far end's queue is full; closed when it has room again

	out   []byte // owned by the sender, like all fields below
	name  []byte
	chunk []int16
}

var _ transport.Peer = (*Peer)(nil)

// newPeer makes a Peer of a started stream, and starts its reader. Close must follow.
func newPeer(conn *wsconn.Conn, limits Limits, line Line) *Peer {
	line.ChunkFrames = max(1, min(line.ChunkFrames, markEvery))
	p := &Peer{line: line, conn: conn, limits: limits,
		inbox: make(chan *transport.Event, inboxMax), free: make(chan *transport.Event, inboxMax),
		answers: make(chan transport.Event, answersMax), gone: make(chan struct{})}
	for range inboxMax {
		p.free <- new(transport.Event)
	}
	go p.read()
	return p
}

func (p *Peer) now() time.Time { return time.Now() }

// Hello returns the settings of the call.
func (p *Peer) Hello() transport.Hello { return p.line.Hello }

// Counters returns the traffic of the connection so far. Safe for concurrent use.
func (p *Peer) Counters() Counters { return p.counters.snapshot() }

// read reads until the connection ends. It is the only goroutine of the Peer.
func (p *Peer) read() {
	defer close(p.gone)
	in := &Inlet{p: p}
	for p.readEnd == nil {
		m, err := p.conn.Read(context.Background(), p.limits.IdleTimeout)
		if err != nil {
			p.readEnd = err
		} else if e := p.take(m, in); e != nil {
			p.readEnd = e
		}
	}
}

// take reads one message. It returns why the call ends, or nil while it goes on.
func (p *Peer) take(m wsconn.Message, in *Inlet) *transport.Ended {
	err := p.line.Protocol.Take(m.Data, !m.Binary, in)
	if err == nil {
		return nil
	}
	var e *transport.Ended
	if errors.As(err, &e) {
		return e
	}
	if n := p.counters.faults[FaultMalformed].Add(1); n > uint64(p.limits.FaultsMax) {
		return transport.End(transport.ReasonBadJSON,
			"Too many messages could not be read. The last one: "+err.Error()+".", err)
	}
	return nil
}

// slot waits for the memory of an event; it returns nil when the call has ended.
func (p *Peer) slot() *transport.Event {
	select {
	case ev := <-p.free:
		ev.Reset()
		return ev
	case <-p.conn.Leaving():
		return nil
	}
}

// Recv waits for the next event. A far end that breaks the protocol, is silent for IdleTimeout or
// leaves ends the call, and the error is a *transport.Ended. When ctx is done the error is
// ctx.Err().
func (p *Peer) Recv(ctx context.Context, ev *transport.Event) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	select {
	case *ev = <-p.answers:
		return nil
	case <-p.conn.Leaving():
		return p.fail(p.conn.Ended())
	case in := <-p.inbox:
		p.hand(ev, in)
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-p.gone:
	}
	select {
	case in := <-p.inbox: // events read before the end come first
		p.hand(ev, in)
		return nil
	default:
		return p.fail(p.readEnd)
	}
}

// hand gives an event to the receiver and takes back the memory of the last one.
func (p *Peer) hand(ev, in *transport.Event) {
	*ev, in.PCM = *in, ev.PCM
	p.free <- in
}

// Ready accepts the call. It sends nothing: a carrier has no message for it.
func (p *Peer) Ready(context.Context, transport.Ready) error {
	if p.accepted.Swap(true) {
		return errors.New("phone: ready: the call was accepted already")
	}
	return nil
}

// SendAudio sends one frame of the reply. It returns [transport.ErrStalled] when the far end did
// not take the frame within the write timeout, and an error for a generation other than that of the
// last announced turn.
func (p *Peer) SendAudio(ctx context.Context, generation uint64, pcm []int16) error {
	switch e := p.conn.Ended(); {
	case e != nil:
		return e
	case ctx.Err() != nil:
		return ctx.Err()
	case !p.announced || generation != p.generation:
		return fmt.Errorf("phone: send audio of generation %d: its turn is not the one that was started last", generation)
	}
	p.chunk = append(p.chunk, pcm...)
	p.mu.Lock()
	due := p.playout.Sent(p.now())
	flows := p.flows
	p.mu.Unlock()
	p.counters.audioOut.Add(1)
	if flows != nil {
		if err := p.waitFlow(ctx, flows); err != nil {
			return err
		}
	}
	if len(p.chunk) < p.line.ChunkFrames*p.frame() {
		return nil
	}
	if err := p.sendChunk(); err != nil || !due && p.line.ChunkFrames == 1 {
		return err
	}
	return p.sendMark("")
}

// frame returns the number of samples of a sent frame.
func (p *Peer) frame() int { return p.line.Hello.OutputRateHz * transport.FrameMS / 1000 }

// waitFlow waits until the far end's queue has room again.
func (p *Peer) waitFlow(ctx context.Context, flows <-chan struct{}) error {
	t := time.NewTimer(p.limits.WriteTimeout)
	defer t.Stop()
	select {
	case <-flows:
		return nil
	case <-p.conn.Leaving():
		return p.conn.Ended()
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return fmt.Errorf("phone: send audio: %w", transport.ErrStalled)
	}
}

// sendChunk writes the gathered audio.
func (p *Peer) sendChunk() error {
	p.out = p.line.Protocol.AppendAudio(p.out[:0], p.chunk)
	p.chunk = p.chunk[:0]
	return p.send("audio", !p.line.BinaryAudio)
}

// sendRest fills the gathered part of a chunk up with silence and writes it.
func (p *Peer) sendRest() error {
	if len(p.chunk) == 0 {
		return nil
	}
	for len(p.chunk) < p.line.ChunkFrames*p.frame() {
		p.chunk = append(p.chunk, 0)
	}
	return p.sendChunk()
}

// sendMark sets a mark. A non-empty id names the gateway's mark that it reports.
func (p *Peer) sendMark(id string) error {
	p.mu.Lock()
	p.name = p.playout.AppendMark(p.name[:0], id)
	p.mu.Unlock()
	p.out = p.line.Protocol.AppendMark(p.out[:0], p.name)
	p.counters.marksOut.Add(1)
	return p.send("mark", true)
}

// send writes p.out.
func (p *Peer) send(what string, text bool) error {
	err := p.conn.Write(context.Background(), wsconn.Message{Binary: !text, Data: p.out})
	if err == nil {
		return nil
	}
	if e := p.conn.Ended(); e != nil {
		return e
	}
	return fmt.Errorf("phone: send %s: %w", what, err)
}

// Send sends a message. A carrier understands turns, clears, marks and transfers; Send drops the
// others. It returns [transport.ErrStalled] when the far end did not take the message within the
// write timeout.
func (p *Peer) Send(ctx context.Context, m *transport.Message) error {
	switch e := p.conn.Ended(); {
	case !p.accepted.Load():
		return fmt.Errorf("phone: send %s: the call was not accepted yet", m.Kind)
	case e != nil:
		return e
	case ctx.Err() != nil:
		return ctx.Err()
	}
	switch m.Kind {
	case transport.MessageTurn:
		return p.turn(m)
	case transport.MessageClear:
		return p.clear(m.Generation)
	case transport.MessageMark:
		if err := p.sendRest(); err != nil {
			return err
		}
		return p.sendMark(m.ID)
	case transport.MessageTransfer:
		if p.line.Transfer != nil {
			return p.line.Transfer(ctx, m.Text)
		}
	case transport.MessageNone, transport.MessageBye, transport.MessageAudio:
		return fmt.Errorf("phone: send: %s does not go by Send", m.Kind)
	}
	return nil
}

// turn notes the generation of the audio that follows. At the end of a turn it sends what is
// gathered.
func (p *Peer) turn(m *transport.Message) error {
	switch m.State {
	case transport.StateStart:
		err := p.sendRest()
		p.announced, p.generation = true, m.Generation
		p.mu.Lock()
		p.playout.Start(m.Generation)
		p.mu.Unlock()
		return err
	case transport.StateEnd:
		return p.sendRest()
	}
	return nil
}

// clear makes the far end drop what it has not played, and answers the clear for it.
func (p *Peer) clear(generation uint64) error {
	p.chunk = p.chunk[:0]
	p.out = p.line.Protocol.AppendClear(p.out[:0])
	if err := p.send("clear", true); err != nil {
		return err
	}
	p.mu.Lock()
	ms := p.playout.Clear(generation, p.now())
	p.mu.Unlock()
	answer := transport.Event{Kind: transport.EventAck, Generation: generation, PlayedMS: ms, Cleared: true}
	for {
		select {
		case p.answers <- answer:
			return nil
		default:
		}
		select {
		case <-p.answers:
		default:
		}
	}
}

// fail closes the call because of err, unless it is closed already, and returns why it was closed.
func (p *Peer) fail(err error) error {
	defer func() { <-p.gone }()
	return p.conn.Fail(err, p.farewell)
}

// Close ends the call within CloseTimeout. It returns [transport.ErrStalled] when the far end did
// not take the last messages.
func (p *Peer) Close(reason transport.Reason, message string) error {
	defer func() { <-p.gone }()
	return p.conn.Close(transport.End(reason, message, nil), p.farewell)
}

func (p *Peer) farewell() (f wsconn.Farewell) {
	if b := p.line.Protocol.AppendBye(nil); len(b) > 0 {
		f.Messages = []wsconn.Message{{Data: b}}
	}
	return f
}

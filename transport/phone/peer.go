package phone

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/voicegw/voicegw/transport"
)

const (
	inboxMax   = 16 // events that were read and not received; then the far end waits
	answersMax = 16 // answers to clears that were not received; the oldest is lost then
)

// Line is a call as its door sees it.
type Line struct {
	Hello    transport.Hello
	Protocol Protocol
	// BinaryAudio says that audio goes out in binary messages.
	BinaryAudio bool
	// ChunkFrames is how many frames of 20 ms go out in one message, 1 to 5; 0 means 1. What is left of a reply is
	// filled up with silence.
	ChunkFrames int
	// Transfer is told who takes the call over, before it is closed; nil means that it is not told.
	Transfer func(ctx context.Context, to string) error
}

// Peer is the far end of one call, a [transport.Peer].
type Peer struct {
	line   Line
	socket *Socket
	limits Limits

	inbox   chan *transport.Event // from the reader
	free    chan *transport.Event // back to it
	answers chan transport.Event  // to clears
	leaving chan struct{}         // closed when the call ends here
	gone    chan struct{}         // closed when the reader is over
	closed  chan struct{}         // closed when Close is over
	readEnd *transport.Ended      // why the reader is over; read behind gone
	ended   atomic.Pointer[transport.Ended]

	announced  bool // a turn was announced
	accepted   atomic.Bool
	generation uint64 // of the turn announced last
	counters   counters

	mu      sync.Mutex // guards what follows; not held while writing
	playout Playout
	acks    []Ack
	flows   chan struct{} // not nil while the far end is full; closed when it is not any more

	out   []byte // owned by the sender, as all below
	name  []byte
	chunk []int16
}

var _ transport.Peer = (*Peer)(nil)

// NewPeer makes a Peer of a stream that was started, and starts its reader. Close must follow.
func NewPeer(s *Socket, line Line) *Peer {
	line.ChunkFrames = max(1, min(line.ChunkFrames, markEvery))
	p := &Peer{line: line, socket: s, limits: s.limits,
		inbox: make(chan *transport.Event, inboxMax), free: make(chan *transport.Event, inboxMax),
		answers: make(chan transport.Event, answersMax), leaving: make(chan struct{}), gone: make(chan struct{}),
		closed: make(chan struct{})}
	for range inboxMax {
		p.free <- new(transport.Event)
	}
	go p.read()
	return p
}

func (p *Peer) now() time.Time { return time.Now() }

// Hello returns the settings of the call.
func (p *Peer) Hello() transport.Hello { return p.line.Hello }

// Counters returns what went over the connection so far. Safe for concurrent use.
func (p *Peer) Counters() Counters { return p.counters.snapshot() }

// read reads until the connection is over. It is the Peer's one goroutine.
func (p *Peer) read() {
	defer close(p.gone)
	in := &Inlet{p: p}
	for p.readEnd == nil {
		b, text, err := p.socket.read(p.limits.IdleTimeout)
		switch {
		case err != nil:
			p.readEnd = lost(err)
		case p.ended.Load() == nil:
			p.readEnd = p.take(b, text, in)
		}
	}
}

// take reads one message and returns why the call ends, if it does.
func (p *Peer) take(b []byte, text bool, in *Inlet) *transport.Ended {
	err := p.line.Protocol.Take(b, text, in)
	if err == nil {
		return nil
	}
	var e *transport.Ended
	if errors.As(err, &e) {
		return e
	}
	if n := p.counters.faults[FaultMalformed].Add(1); n > uint64(p.limits.FaultsMax) {
		return Ended(transport.ReasonBadJSON, "Too many messages could not be read. The last one: "+err.Error()+".", err)
	}
	return nil
}

// slot waits for room for an event; nil when the call has ended.
func (p *Peer) slot() *transport.Event {
	select {
	case ev := <-p.free:
		ev.Reset()
		return ev
	case <-p.leaving:
		return nil
	}
}

// Recv waits for the next event. A far end that breaks the protocol, is silent for IdleTimeout or leaves ends the call,
// and the error is a *transport.Ended. When ctx is done the error is ctx.Err().
func (p *Peer) Recv(ctx context.Context, ev *transport.Event) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	select {
	case *ev = <-p.answers:
		return nil
	case <-p.leaving:
		<-p.closed
		return p.ended.Load()
	case in := <-p.inbox:
		p.hand(ev, in)
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-p.gone:
	}
	select {
	case in := <-p.inbox: // what was read before the end
		p.hand(ev, in)
		return nil
	default:
		return p.fail(p.readEnd)
	}
}

// hand gives an event to the receiver, in exchange for the memory of its last one.
func (p *Peer) hand(ev, in *transport.Event) {
	*ev, in.PCM = *in, ev.PCM
	p.free <- in
}

// Ready accepts the call. A carrier is told nothing: it hears the caller be spoken to.
func (p *Peer) Ready(context.Context, transport.Ready) error {
	if p.accepted.Swap(true) {
		return errors.New("phone: ready: the call was accepted already")
	}
	return nil
}

// SendAudio hands over one frame of the reply. It returns [transport.ErrStalled] when the far end did not take it
// within the write timeout, and an error for a generation whose turn was not announced last.
func (p *Peer) SendAudio(ctx context.Context, generation uint64, pcm []int16) error {
	switch e := p.ended.Load(); {
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

// frame is the number of samples of a frame that goes out.
func (p *Peer) frame() int { return p.line.Hello.OutputRateHz * transport.FrameMS / 1000 }

// waitFlow waits until the far end has room again.
func (p *Peer) waitFlow(ctx context.Context, flows <-chan struct{}) error {
	t := time.NewTimer(p.limits.WriteTimeout)
	defer t.Stop()
	select {
	case <-flows:
		return nil
	case <-p.leaving:
		return p.ended.Load()
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return fmt.Errorf("phone: send audio: %w", transport.ErrStalled)
	}
}

// sendChunk writes the audio that is gathered.
func (p *Peer) sendChunk() error {
	p.out = p.line.Protocol.AppendAudio(p.out[:0], p.chunk)
	p.chunk = p.chunk[:0]
	return p.send("audio", !p.line.BinaryAudio)
}

// sendRest writes what is gathered of a chunk, filled up with silence.
func (p *Peer) sendRest() error {
	if len(p.chunk) == 0 {
		return nil
	}
	for len(p.chunk) < p.line.ChunkFrames*p.frame() {
		p.chunk = append(p.chunk, 0)
	}
	return p.sendChunk()
}

// sendMark sets a mark, for the gateway's if id is not empty.
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
	err := p.socket.write(text, p.out)
	if err == nil {
		return nil
	}
	if e := p.ended.Load(); e != nil {
		return e
	}
	if !errors.Is(err, transport.ErrStalled) {
		err = Ended(transport.ReasonPeerLost, "", err)
	}
	return fmt.Errorf("phone: send %s: %w", what, err)
}

// Send hands over a message. A carrier understands turns, clears, marks and transfers; the others mean nothing to a
// telephone and are dropped. It returns [transport.ErrStalled] when the far end did not take it within the write
// timeout.
func (p *Peer) Send(ctx context.Context, m *transport.Message) error {
	switch e := p.ended.Load(); {
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

// turn notes which generation audio belongs to. Behind the end of a turn nothing is kept back.
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

// clear has the far end drop what it has not played, and answers for it.
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

// fail closes the call for e, unless it was closed before, and returns why it was closed.
func (p *Peer) fail(e *transport.Ended) error {
	p.finish(e)
	return p.ended.Load()
}

// Close ends the call within CloseTimeout. It returns [transport.ErrStalled] when the far end did not take what was
// sent to it.
func (p *Peer) Close(reason transport.Reason, message string) error {
	if reason == transport.ReasonNone {
		reason = transport.ReasonDone
	}
	if p.finish(Ended(reason, message, nil)) && p.socket.link.Stalled() {
		return fmt.Errorf("phone: close: %w", transport.ErrStalled)
	}
	return nil
}

// finish closes the call, once, and reports whether it was this time; who comes later waits.
func (p *Peer) finish(e *transport.Ended) bool {
	if !p.ended.CompareAndSwap(nil, e) {
		<-p.closed
		return false
	}
	defer close(p.closed)
	close(p.leaving)
	p.socket.shut(e, p.line.Protocol.AppendBye(nil))
	<-p.gone
	return true
}

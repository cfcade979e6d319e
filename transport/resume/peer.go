package resume

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/voicegw/voicegw/transport"
)

// Conn is one connection of a far end.
type Conn interface {
	transport.Peer
	// Received returns how many events the far end has sent since its hello, without audio. It is
	// called when nothing receives any more.
	Received() uint64
}

// clocked is a Conn whose far end does not report what it has played.
type clocked interface {
	// Played returns the last generation that was announced, and how much of it was played. It is
	// called when the connection is over.
	Played() (generation uint64, playedMS int64)
	// GoOn says where the reply stands that goes on over this connection. It is called before Ready.
	GoOn(generation uint64, playedMS int64)
}

// parkWait is how long a far end that is back waits at most until the call is on hold. It only
// matters for a call that was on hold before.
const parkWait = 250 * time.Millisecond

// Peer is a transport.Peer whose connection may break and be replaced.
type Peer struct {
	calls  *Calls
	first  Conn
	hello  transport.Hello
	handle string
	token  [32]byte // hash of the token
	wait   Wait
	wake   chan struct{} // signals a change that Recv waits for

	// owned by Recv
	reading   Conn // the connection that Recv has read last, until it is over
	told      bool // that the far end is away
	awaySince time.Time
	received  uint64 // of connections that are over

	sending   sync.Mutex // held while sending; taken before mu
	log       sentLog    // guarded by sending
	ready     transport.Ready
	announced bool // guarded by sending: a turn was announced on this connection

	mu      sync.Mutex // guards what follows
	conn    Conn       // nil while the far end is away
	up      bool       // the call was accepted
	parked  bool       // since the far end is away the call has stopped its playout
	waiting *attach    // nil: no connection waits to be the next
	last    Conn       // the last connection that was lost
	lostBy  error      // how it was lost
	ended   *transport.Ended
}

var _ transport.Peer = (*Peer)(nil)

// attach is a connection that shall go on with the call.
type attach struct {
	conn Conn
	told transport.Resume
	done chan error // of size 1
}

// Hello returns the settings of the first connection.
func (p *Peer) Hello() transport.Hello { return p.hello }

// First returns the connection that the call began on.
func (p *Peer) First() Conn { return p.first }

// Ready accepts the call, and tells the far end how to resume it.
func (p *Peer) Ready(ctx context.Context, r transport.Ready) error {
	p.sending.Lock()
	defer p.sending.Unlock()
	r.Resume = transport.Resumable{Handle: p.handle, Within: p.wait.Broken}
	p.ready = r
	conn, _ := p.connected()
	if conn == nil {
		return p.gone()
	}
	if err := conn.Ready(ctx, r); err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.up = true
	return nil
}

// connected returns the connection, nil while the far end is away, and why the call ended.
func (p *Peer) connected() (Conn, *transport.Ended) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.conn, p.ended
}

// gone returns why a call has no connection.
func (p *Peer) gone() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ended != nil {
		return p.ended
	}
	return p.lostBy
}

// SendAudio sends one frame of the reply. While the far end is away it drops the frame: the call
// keeps what was not acknowledged and sends it again.
func (p *Peer) SendAudio(ctx context.Context, generation uint64, pcm []int16) error {
	p.sending.Lock()
	defer p.sending.Unlock()
	conn, ended := p.connected()
	switch {
	case ended != nil:
		return ended
	case conn == nil || !p.announced:
		return nil
	}
	return p.lost(conn, conn.SendAudio(ctx, generation, pcm))
}

// Send sends a message. While the far end is away it keeps the message, at most 1,024 and 1 MiB of
// them; one more returns transport.ErrStalled.
func (p *Peer) Send(ctx context.Context, m *transport.Message) error {
	p.sending.Lock()
	defer p.sending.Unlock()
	conn, ended := p.connected()
	if ended != nil {
		return ended
	}
	if Counts(m) && !p.log.add(m, conn == nil) {
		return transport.ErrStalled
	}
	if conn == nil {
		p.note(m)
		return nil
	}
	p.announce(m)
	return p.lost(conn, conn.Send(ctx, m))
}

// announce notes that a turn was announced on the connection; the caller holds sending.
func (p *Peer) announce(m *transport.Message) {
	if m.Kind == transport.MessageTurn && (m.State == transport.StateStart || m.State == transport.StateResume) {
		p.announced = true
	}
}

// note notes that the call has stopped its playout for a far end that is away.
func (p *Peer) note(m *transport.Message) {
	if m.Kind != transport.MessageHold || m.State != transport.StateStart {
		return
	}
	p.mu.Lock()
	p.parked = true
	p.mu.Unlock()
	p.awake()
}

// lost returns the error of a connection, or nil if the call waits for another one.
func (p *Peer) lost(conn Conn, err error) error {
	if err == nil {
		return nil
	}
	left := p.wait.Closed > 0 && transport.ReasonOf(err) == transport.ReasonCallerHungUp
	p.mu.Lock()
	waits := p.up && p.ended == nil && (left || breaks(err))
	if waits && p.conn == conn {
		p.conn, p.last, p.parked, p.lostBy = nil, conn, false, err
		if !left {
			p.lostBy = transport.End(transport.ReasonPeerLost, "", err)
		}
	}
	p.mu.Unlock()
	if !waits {
		return err
	}
	_ = conn.Close(transport.ReasonPeerLost, "") // in case that it was the writing that failed
	p.awake()
	return nil
}

// breaks reports whether a connection broke with err, or was superseded. Every other end is the end
// of the call.
func breaks(err error) bool {
	var e *transport.Ended
	switch {
	case errors.Is(err, transport.ErrStalled):
		return true
	case !errors.As(err, &e): // what was to be sent was wrong, or a context is done
		return false
	}
	return e.Reason == transport.ReasonPeerLost || e.Reason == transport.ReasonSuperseded
}

// awake wakes Recv.
func (p *Peer) awake() {
	select {
	case p.wake <- struct{}{}:
	default:
	}
}

// Recv waits for the next event, which may be EventAway or EventBack.
func (p *Peer) Recv(ctx context.Context, ev *transport.Event) error {
	for {
		conn, ended := p.connected()
		switch {
		case ended != nil:
			return ended
		case conn == nil && !p.told:
			p.told, p.awaySince = true, time.Now()
			if p.reading != nil { // nil: it was lost before anything was read
				p.received += p.reading.Received()
			}
			ev.Reset()
			ev.Kind = transport.EventAway
			return nil
		case conn == nil: // told
			back, err := p.await(ctx)
			if err != nil {
				return err
			}
			if back != nil {
				ev.Reset()
				ev.Kind, ev.Generation, ev.PlayedMS = transport.EventBack, back.Generation, back.PlayedMS
				return nil
			}
		default:
			p.reading = conn
			err := conn.Recv(ctx, ev)
			if err == nil {
				return nil
			}
			if err := p.lost(conn, err); err != nil {
				return err
			}
		}
	}
}

// await waits until the far end is back, or something has changed. The error is how the call ends
// if it does not come back.
func (p *Peer) await(ctx context.Context) (*transport.Resume, error) {
	p.mu.Lock()
	next, parked, lostBy := p.waiting, p.parked, p.lostBy
	p.mu.Unlock()
	within := p.wait.Broken
	if transport.ReasonOf(lostBy) == transport.ReasonCallerHungUp {
		within = p.wait.Closed
	}
	left := time.Until(p.awaySince.Add(within))
	if next != nil {
		if !parked {
			left = time.Until(p.awaySince.Add(parkWait))
		}
		if parked || left <= 0 {
			return p.takeOver(ctx, next), ctx.Err()
		}
	}
	if left <= 0 {
		return nil, lostBy
	}
	timer := time.NewTimer(left)
	defer timer.Stop()
	select {
	case <-p.wake:
	case <-timer.C:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	return nil, nil
}

// takeOver makes a connection the one of the call, and sends the far end what it has missed. It
// returns nil if it could not.
func (p *Peer) takeOver(ctx context.Context, next *attach) *transport.Resume {
	p.sending.Lock()
	defer p.sending.Unlock()
	missed, ok := p.log.after(next.told.Received)
	p.mu.Lock()
	if p.waiting != next || p.ended != nil {
		p.mu.Unlock()
		return nil
	}
	p.waiting = nil
	last := p.last
	p.mu.Unlock()
	if !ok {
		next.done <- refused()
		return nil
	}
	r := p.ready
	r.Resume.Received = p.received
	p.announced = false
	if last, ok := last.(clocked); ok {
		next.told.Generation, next.told.PlayedMS = last.Played()
		next.conn.(clocked).GoOn(next.told.Generation, next.told.PlayedMS) // the connections of an endpoint are of one type
	}
	if err := p.replay(ctx, next.conn, r, missed); err != nil {
		next.done <- err
		return nil
	}
	p.mu.Lock()
	if ended := p.ended; ended != nil { // Close did not know the connection
		p.mu.Unlock()
		next.done <- ended
		return nil
	}
	p.conn = next.conn
	p.mu.Unlock()
	p.told = false
	next.done <- nil
	return &next.told
}

// replay sends ready and what was missed.
func (p *Peer) replay(ctx context.Context, conn Conn, r transport.Ready, missed []transport.Message) error {
	if err := conn.Ready(ctx, r); err != nil {
		return err
	}
	for i := range missed {
		p.announce(&missed[i])
		if err := conn.Send(ctx, &missed[i]); err != nil {
			return err
		}
	}
	return nil
}

// Attach makes conn, whose hello said what the far end has got, the connection of the call. It
// closes an older one that is still open. It returns when the call goes on over conn, which then
// belongs to the Peer. After an error conn must be closed.
func (p *Peer) Attach(ctx context.Context, conn Conn) error {
	a := &attach{conn: conn, told: conn.Hello().Resume, done: make(chan error, 1)}
	p.mu.Lock()
	old, before := p.conn, p.waiting
	if p.ended != nil || !p.up {
		p.mu.Unlock()
		return refused()
	}
	p.waiting = a
	p.mu.Unlock()
	if before != nil {
		before.done <- transport.End(transport.ReasonSuperseded, "", nil)
	}
	if old != nil {
		_ = old.Close(transport.ReasonSuperseded, "")
	}
	p.awake()
	select {
	case err := <-a.done:
		return err
	case <-ctx.Done():
		return p.withdraw(ctx, a)
	}
}

// withdraw gives up a connection that waits to be the next, unless it has become that.
func (p *Peer) withdraw(ctx context.Context, a *attach) error {
	p.mu.Lock()
	if p.waiting == a {
		p.waiting = nil
		p.mu.Unlock()
		return ctx.Err()
	}
	p.mu.Unlock()
	return <-a.done
}

// Close ends the call.
func (p *Peer) Close(reason transport.Reason, message string) error {
	p.calls.remove(p)
	p.mu.Lock()
	if conn := p.conn; p.ended != nil {
		p.mu.Unlock()
		if conn != nil {
			_ = conn.Close(reason, message) // waits for the first
		}
		return nil
	}
	p.ended = transport.End(reason, message, nil)
	conn, next := p.conn, p.waiting
	p.waiting = nil
	p.mu.Unlock()
	p.awake()
	if next != nil {
		next.done <- refused()
	}
	if conn == nil {
		return nil
	}
	return conn.Close(reason, message)
}

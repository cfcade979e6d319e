package wsdoor

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/coder/websocket"

	"github.com/voicegw/voicegw/transport"
	"github.com/voicegw/voicegw/transport/httpdoor"
)

// Recv waits for the next event, which may be an acknowledgement of the playout clock. A far end that breaks the
// protocol, is silent for IdleTimeout or leaves ends the call: it is closed and the error is a *transport.Ended. When
// ctx is done the error is ctx.Err() and only Close may follow. What comes before Ready is kept for later, but for a
// good-bye.
func (p *Peer) Recv(ctx context.Context, ev *transport.Event) error {
	for {
		if e := p.ended.Load(); e != nil {
			return e
		}
		ready := p.ready.Load()
		if p.in.next(ev, ready) {
			return nil
		}
		wait, timed, acked := p.nextAck(ev)
		if acked {
			return nil
		}
		if err := p.await(ctx, wait, timed); err != nil {
			return err
		}
	}
}

// nextAck takes an acknowledgement, or says how long to wait for one.
func (p *Peer) nextAck(ev *transport.Event) (wait time.Duration, timed, acked bool) {
	p.state.Lock()
	defer p.state.Unlock()
	now := time.Now()
	a, ok := p.playout.Next(now)
	if !ok {
		wait, timed = p.playout.Wait(now)
		return wait, timed, false
	}
	ev.Reset()
	ev.Kind, ev.Generation, ev.PlayedMS = transport.EventAck, a.Generation, a.PlayedMS
	ev.Mark, ev.Cleared = a.Mark, a.Cleared
	p.paced.awake() // what was heard makes room
	if w, ok := p.codec.(ClearWatcher); ok && a.Cleared {
		w.Cleared(a.Generation, a.PlayedMS)
	}
	return 0, false, true
}

// await waits until there may be something to return.
func (p *Peer) await(ctx context.Context, wait time.Duration, timed bool) error {
	if m := p.first; m != nil {
		p.first = nil
		return p.take(ctx, inbound{Inbound: *m})
	}
	var due <-chan time.Time
	if timed {
		p.timer.Reset(wait)
		defer p.timer.Stop()
		due = p.timer.C
	}
	select {
	case m, ok := <-p.socket.inbound:
		if !ok {
			m.err = errors.New("nothing more can be read")
		}
		return p.take(ctx, m)
	case <-due:
	case <-p.wake:
	case <-p.socket.shut:
		return p.ended.Load()
	case <-ctx.Done():
		return ctx.Err()
	}
	return nil
}

// take reads a message.
func (p *Peer) take(ctx context.Context, m inbound) error {
	if m.err != nil {
		return p.fail(p.lost(m.err))
	}
	p.socket.holding = true
	var out Outbox
	p.state.Lock()
	err := p.codec.Read(m.Inbound, &p.in, &out)
	now := time.Now()
	for _, h := range p.in.heard {
		p.playout.Heard(now, h.generation, h.ms)
	}
	p.in.heard = p.in.heard[:0]
	p.state.Unlock()
	p.socket.release()
	if sendErr := p.send(ctx, out.Take()); err == nil {
		err = sendErr
	}
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	}
	return p.fail(p.lost(err))
}

// lost says why the call cannot go on. A far end that closes in good order has hung up, whatever it calls that.
func (p *Peer) lost(err error) *transport.Ended {
	var e *transport.Ended
	switch {
	case errors.As(err, &e):
		return e
	case errors.Is(err, transport.ErrStalled):
		return End(transport.ReasonPeerStalled, "", nil)
	case errors.Is(err, errTooBig):
		return End(transport.ReasonMessageTooBig, "", nil)
	case errors.Is(err, os.ErrDeadlineExceeded):
		return End(transport.ReasonIdleTimeout, "", nil)
	}
	switch websocket.CloseStatus(err) {
	case websocket.StatusNormalClosure, websocket.StatusGoingAway, websocket.StatusNoStatusRcvd:
		return End(transport.ReasonCallerHungUp, "", nil)
	}
	return End(transport.ReasonPeerLost, "", httpdoor.Broken(err))
}

// fail closes the call for e, unless it was closed before, and returns why it was closed.
func (p *Peer) fail(e *transport.Ended) error {
	_ = p.finish(e)
	return p.ended.Load()
}

// Close ends the call within CloseTimeout, with the last words of the protocol and a close frame. It returns
// [transport.ErrStalled] when the far end did not take them.
func (p *Peer) Close(reason transport.Reason, message string) error {
	if reason == transport.ReasonNone {
		reason = transport.ReasonDone
	}
	return p.finish(End(reason, message, nil))
}

// finish closes the call, once; who comes later waits.
func (p *Peer) finish(e *transport.Ended) error {
	if !p.ended.CompareAndSwap(nil, e) {
		<-p.closed
		return nil
	}
	defer close(p.closed)
	p.socket.link.Hurry(time.Now().Add(p.cfg.CloseTimeout))
	close(p.socket.shut)
	if e.Reason == transport.ReasonPeerLost || p.socket.link.Stalled() {
		_ = p.socket.conn.CloseNow()
	} else {
		code, reason := p.sayBye(e)
		_ = p.socket.conn.Close(websocket.StatusCode(code), reason)
	}
	p.pinger.Stop()
	if p.socket.link.Stalled() {
		return fmt.Errorf("%s: close: %w", p.proto.Name, transport.ErrStalled)
	}
	return nil
}

// sayBye tells the far end why the call ends.
func (p *Peer) sayBye(e *transport.Ended) (code int, reason string) {
	p.wire.Lock()
	defer p.wire.Unlock()
	var out Outbox
	p.state.Lock()
	code, reason = p.codec.Bye(e, &out)
	p.state.Unlock()
	for _, b := range out.Take() {
		if p.writeFrame(b) != nil {
			break
		}
	}
	return code, reason
}

// ping keeps what lies between the two ends from forgetting the connection, and lets a far end that is there answer.
func (p *Peer) ping() {
	if p.socket.link.Stalled() || p.ended.Load() != nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), p.cfg.PingInterval)
	defer cancel()
	_ = p.socket.conn.Ping(ctx)
}

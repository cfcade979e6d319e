package wsendpoint

import (
	"context"
	"errors"
	"time"

	"github.com/voicegw/voicegw/transport"
	"github.com/voicegw/voicegw/transport/wsconn"
)

// Recv waits for the next event, which may be an acknowledgement of the playout clock. A far end
// that breaks the protocol, is silent for IdleTimeout or leaves ends the call: Recv closes it and
// the error is a *transport.Ended. When ctx is done the error is ctx.Err() and only Close may
// follow. Before Ready, Recv returns only a bye and keeps other events for later.
func (p *Peer) Recv(ctx context.Context, ev *transport.Event) error {
	for {
		if e := p.conn.Ended(); e != nil {
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

// nextAck takes an acknowledgement, or returns how long to wait for one.
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
	p.paced.awake() // played frames make room
	if w, ok := p.codec.(clearWatcher); ok && a.Cleared {
		w.Cleared(a.Generation, a.PlayedMS)
	}
	return 0, false, true
}

// await waits until Recv may have something to return.
func (p *Peer) await(ctx context.Context, wait time.Duration, timed bool) error {
	if m := p.first; m != nil {
		p.first = nil
		return p.take(ctx, inbound{Message: *m})
	}
	var due <-chan time.Time
	if timed {
		p.timer.Reset(wait)
		defer p.timer.Stop()
		due = p.timer.C
	}
	select {
	case m, ok := <-p.reader.inbound:
		if !ok {
			m.err = errors.New("nothing more can be read")
		}
		return p.take(ctx, m)
	case <-due:
	case <-p.wake:
	case <-p.conn.Leaving():
		return p.conn.Ended()
	case <-ctx.Done():
		return ctx.Err()
	}
	return nil
}

// take reads a message.
func (p *Peer) take(ctx context.Context, m inbound) error {
	if m.err != nil {
		return p.conn.Fail(m.err, p.sayBye)
	}
	p.reader.holding = true
	var out Outbox
	p.state.Lock()
	err := p.codec.Read(m.Message, &p.in, &out)
	now := time.Now()
	for _, h := range p.in.heard {
		p.playout.Heard(now, h.generation, h.ms)
	}
	p.in.heard = p.in.heard[:0]
	p.state.Unlock()
	p.reader.release()
	if sendErr := p.send(ctx, out.Take()); err == nil {
		err = sendErr
	}
	if err != nil {
		return p.conn.Fail(err, p.sayBye)
	}
	return nil
}

// Close ends the call within CloseTimeout, with the last messages of the protocol and a close
// frame. It returns [transport.ErrStalled] when the far end did not take them.
func (p *Peer) Close(reason transport.Reason, message string) error {
	return p.conn.Close(transport.End(reason, message, nil), p.sayBye)
}

// sayBye sends the far end the reason of the end.
func (p *Peer) sayBye() (f wsconn.Farewell) {
	p.wire.Lock()
	defer p.wire.Unlock()
	var out Outbox
	p.state.Lock()
	f.Code, f.Reason = p.codec.Bye(p.conn.Ended(), &out)
	p.state.Unlock()
	for _, b := range out.Take() {
		f.Messages = append(f.Messages, wsconn.Message{Binary: p.proto.Binary, Data: b})
	}
	return f
}

package voicegw

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/voicegw/voicegw/transport"
	"github.com/voicegw/voicegw/transport/admission"
	"github.com/voicegw/voicegw/voicenets"
)

// lines are a gateway's lines without Config.Guard. A Gateway has no Take method, so that no
// endpoint gets lines without the guard.
type lines struct{ g *Gateway }

// line is one call, from the first byte of its handshake to its end. It takes one of the CallsMax
// lines when the gateway accepts its hello.
type line struct {
	g         *Gateway
	handshake transport.Handshake
	place     *admission.Place // in the backlog; nil for a proven handshake
	plan      *Plan            // of a call that is about to begin
	released  sync.Once

	// guarded by g.mu
	taken bool  // it holds a line
	call  *call // nil before it
}

// retryAfter is how long a caller who found all lines in use should wait.
const retryAfter = 5 * time.Second

var errPushedOut = errors.New("voicegw: a newer handshake took the place of this one")

// room returns nil while a line is free; mu is held.
func (g *Gateway) room() error {
	switch {
	case g.stage > stageOpen:
		return ErrClosed
	case g.taken >= g.cfg.CallsMax:
		return ErrBusy
	}
	return nil
}

// Take begins a handshake; see transport.Lines. The error is a *transport.Refused that wraps
// ErrClosed or ErrBusy.
func (s lines) Take(h transport.Handshake) (transport.Line, error) {
	l := &line{g: s.g, handshake: h}
	if err := s.g.begin(l); err != nil {
		return nil, s.g.refused(err)
	}
	if !h.Proven {
		l.place = s.g.handshakes.Enter(transport.Network(h.Remote), func() { l.giveUp(asPushedOut()) })
	}
	return l, nil
}

// begin notes a handshake.
func (g *Gateway) begin(l *line) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if err := g.room(); err != nil {
		return err
	}
	if l.handshake.Proven {
		l.taken = true
		g.taken++
	}
	g.lines[l] = struct{}{}
	g.released.Add(1)
	return nil
}

// refused counts a refusal.
func (g *Gateway) refused(err error) error {
	refused := asNoLine(err)
	g.metrics.refused.WithLabelValues(refused.Reason.String()).Inc()
	return refused
}

// asNoLine returns ErrClosed or ErrBusy as a refusal.
func asNoLine(err error) *transport.Refused {
	refused := &transport.Refused{Reason: transport.ReasonBusy, RetryAfter: retryAfter, Err: err}
	if errors.Is(err, ErrClosed) {
		refused.Reason = transport.ReasonGoingAway
	}
	return refused
}

// asPushedOut is the refusal of a handshake that lost its place to a newer one.
func asPushedOut() *transport.Refused {
	return &transport.Refused{Reason: transport.ReasonBusy, RetryAfter: time.Second, Err: errPushedOut,
		Message: "Too many calls are being set up. Say hello at once."}
}

// giveUp asks the endpoint to end the handshake.
func (l *line) giveUp(cause error) {
	if l.handshake.GiveUp != nil {
		l.handshake.GiveUp(cause)
	}
}

// take takes one of the CallsMax lines if the handshake still has its place.
func (l *line) take() error {
	g := l.g
	g.mu.Lock()
	defer g.mu.Unlock()
	if l.taken {
		return nil
	}
	if err := g.room(); err != nil {
		return g.refused(err)
	}
	if l.place != nil && !l.place.Leave() {
		return asPushedOut()
	}
	l.place = nil
	l.taken = true
	g.taken++
	return nil
}

// Release returns the line, or the place of the handshake.
func (l *line) Release() {
	l.released.Do(func() {
		g := l.g
		if l.plan != nil {
			l.plan.release()
		}
		if l.place != nil {
			l.place.Leave()
		}
		l.free()
		g.mu.Lock()
		delete(g.lines, l)
		if l.call != nil {
			g.calls--
		}
		if g.freed != nil {
			close(g.freed)
			g.freed = nil
		}
		g.mu.Unlock()
		g.released.Done()
	})
}

// free returns the line, if one was taken.
func (l *line) free() {
	l.g.mu.Lock()
	defer l.g.mu.Unlock()
	if l.taken {
		l.taken = false
		l.g.taken--
	}
}

// Check decides whether to accept a call with this hello, plans it, and takes its line. With a
// guard, which has admitted the call, the line is taken before Hooks.Begin runs. Without one,
// Hooks.Begin may check the token, and the line is taken when it accepts the call.
func (l *line) Check(ctx context.Context, hello *transport.Hello) error {
	if l.plan != nil {
		return nil
	}
	if l.g.closing() { // since the handshake began
		return asNoLine(ErrClosed)
	}
	if hello.Version == 0 { // from a peer without a wire protocol
		hello.Version = transport.Version
	}
	if err := hello.Check(l.g.cfg.WS.Offer); err != nil {
		return err
	}
	if l.g.cfg.Guard != nil {
		if err := l.take(); err != nil {
			return err
		}
	}
	plan, err := l.g.plan(ctx, hello)
	if err == nil {
		err = l.take()
	}
	if err != nil {
		l.free()
		if plan != nil {
			plan.release()
		}
		return err
	}
	l.plan = plan
	return nil
}

// Call runs a call on the line.
func (l *line) Call(ctx context.Context, peer transport.Peer) error {
	g, hello := l.g, peer.Hello()
	if err := l.Check(ctx, &hello); err != nil {
		refusal := transport.Refusal(ctx, err)
		_ = peer.Close(refusal.Reason, refusal.Message)
		return fmt.Errorf("voicegw: call: %w", err)
	}
	hello.Version = transport.Version
	plan := l.plan
	l.plan = nil // the call owns it now
	c := newCall(g, peer, hello, plan)
	switch g.connected(l, c) {
	case stageLeaving:
		c.end.drain()
	case stageClosed:
		c.end.askFor(voicenets.GoingAway)
	}
	return c.run(ctx)
}

// connected notes the call of a line and returns the stage of the gateway: Drain or Close may have
// found the line in its handshake.
func (g *Gateway) connected(l *line, c *call) stage {
	g.mu.Lock()
	defer g.mu.Unlock()
	l.call = c
	g.calls++
	return g.stage
}

// handshaking returns the lines without a call; mu is held.
func (g *Gateway) handshaking() []*line {
	var list []*line
	for l := range g.lines {
		if l.call == nil {
			list = append(list, l)
		}
	}
	return list
}

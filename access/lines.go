package access

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/voicegw/voicegw/transport"
)

// Lines are the lines of a gateway behind a guard. Endpoints use them in place of the gateway's
// own. A call begins if the machine is not overloaded, the guard grants the call and the gateway
// accepts it. It ends early when Grant.CallMax is over, or when its address, tenant or subject has
// no bytes left. GrantOf returns the grant in the gateway's hooks. Lines are safe for concurrent
// use.
type Lines struct {
	inner transport.Lines
	guard *Guard
}

// NewLines returns inner behind a guard.
func NewLines(inner transport.Lines, g *Guard) *Lines { return &Lines{inner: inner, guard: g} }

// Take begins a handshake, or returns a *transport.Refused while Guard.Ready does.
func (l *Lines) Take(h transport.Handshake) (transport.Line, error) {
	if err := l.guard.Ready(); err != nil {
		return nil, err
	}
	inner, err := l.inner.Take(h)
	if err != nil {
		return nil, err
	}
	return &line{inner: inner, guard: l.guard}, nil
}

// line is one line behind a guard.
type line struct {
	inner transport.Line
	guard *Guard

	mu       sync.Mutex
	grant    *Grant          // nil until Check or Admit has succeeded
	admitted *Claims         // of a grant that only Admit gave; nil after Check
	hello    transport.Hello // as Check left it
}

// Admit checks the hello with the guard alone: see [transport.Admit]. Check with the same hello, then
// with all its settings, must follow.
func (l *line) Admit(ctx context.Context, h *transport.Hello) (until time.Time, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.grant != nil {
		return time.Time{}, errHasGrant
	}
	grant, claims, err := l.guard.check(ctx, h)
	if err != nil {
		return time.Time{}, err
	}
	l.grant, l.admitted = grant, claims
	return claims.Expiry, nil
}

var errHasGrant = errors.New("access: check: the line already has a grant")

// Check checks the hello with the guard, then with the gateway. If the gateway refuses the call,
// its token stays unused.
func (l *line) Check(ctx context.Context, h *transport.Hello) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	grant, err := l.grant, error(nil)
	switch {
	case l.admitted != nil:
		h.Token = ""
		l.admitted.prescribe(h)
		l.grant, l.admitted = nil, nil
	case grant != nil:
		return errHasGrant
	default:
		if grant, err = l.guard.Check(ctx, h); err != nil {
			return err
		}
	}
	if err := l.inner.Check(context.WithValue(ctx, grantKey{}, grant), h); err != nil {
		grant.unuse()
		grant.Release()
		return err
	}
	l.grant, l.hello = grant, *h
	return nil
}

// granted returns the grant and its hello. It calls Check if the endpoint did not.
func (l *line) granted(ctx context.Context, h transport.Hello) (*Grant, transport.Hello, error) {
	l.mu.Lock()
	checked := l.grant != nil && l.admitted == nil
	l.mu.Unlock()
	if !checked {
		if err := l.Check(ctx, &h); err != nil {
			return nil, h, err
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.grant, l.hello, nil
}

// Call runs the call with the hello and the limits of its grant.
func (l *line) Call(ctx context.Context, p transport.Peer) error {
	grant, hello, err := l.granted(ctx, p.Hello())
	if err != nil {
		refusal := transport.Refusal(ctx, err)
		_ = p.Close(refusal.Reason, refusal.Message)
		return fmt.Errorf("access: call: %w", err)
	}
	defer grant.Release()
	if grant.CallMax > 0 {
		timer := time.AfterFunc(grant.CallMax, func() { _ = p.Close(transport.ReasonMaxDuration, "") })
		defer timer.Stop()
	}
	return l.inner.Call(context.WithValue(ctx, grantKey{}, grant), &peer{Peer: p, hello: hello, grant: grant})
}

// Release gives back the line and the grant.
func (l *line) Release() {
	l.inner.Release()
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.admitted != nil { // no call began with the token
		l.grant.unuse()
	}
	if l.grant != nil {
		l.grant.Release()
	}
}

type grantKey struct{}

// GrantOf returns the grant of the call that ctx belongs to, nil if the call did not pass a guard.
func GrantOf(ctx context.Context) *Grant {
	g, _ := ctx.Value(grantKey{}).(*Grant)
	return g
}

// peer is the peer of a granted call. It counts the audio that passes.
type peer struct {
	transport.Peer
	hello transport.Hello
	grant *Grant
}

// Hello returns the hello as Check left it, without the token.
func (p *peer) Hello() transport.Hello { return p.hello }

// Recv counts audio from the peer.
func (p *peer) Recv(ctx context.Context, ev *transport.Event) error {
	err := p.Peer.Recv(ctx, ev)
	if err == nil && ev.Kind == transport.EventAudio {
		p.spend(len(ev.PCM))
	}
	return err
}

// SendAudio counts audio to the peer.
func (p *peer) SendAudio(ctx context.Context, generation uint64, pcm []int16) error {
	p.spend(len(pcm))
	return p.Peer.SendAudio(ctx, generation, pcm)
}

// spend counts samples as 16-bit PCM, whatever codec carries them, and ends the call at the limit.
func (p *peer) spend(samples int) {
	if !p.grant.Spend(2 * samples) {
		_ = p.Peer.Close(transport.ReasonLimit, "The bytes of this minute are used up.")
	}
}

package access

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/voicegw/voicegw/transport"
)

// Lines are a gateway's lines behind a guard: what any door is given in place of the gateway itself. A call is taken
// when the machine has room, the guard grants it and the gateway agrees; it ends when the time of its token is over, or
// the bytes of its address, tenant or subject are spent. The gateway's hooks find the grant with GrantOf.
type Lines struct {
	inner transport.Lines
	guard *Guard
}

// NewLines puts a guard before lines.
func NewLines(inner transport.Lines, g *Guard) *Lines { return &Lines{inner: inner, guard: g} }

// Take begins a handshake unless the machine has too much to do.
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

// line is a line behind a guard.
type line struct {
	inner transport.Line
	guard *Guard

	mu    sync.Mutex
	grant *Grant          // nil until a Check went well
	hello transport.Hello // what was granted
}

// Check asks the guard, then the gateway. A token whose call the gateway does not take can be used again.
func (l *line) Check(ctx context.Context, h *transport.Hello) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.grant != nil {
		return errors.New("access: check: this line has its grant")
	}
	grant, err := l.guard.Check(ctx, h)
	if err != nil {
		return err
	}
	if err := l.inner.Check(context.WithValue(ctx, grantKey{}, grant), h); err != nil {
		grant.unuse()
		grant.Release()
		return err
	}
	l.grant, l.hello = grant, *h
	return nil
}

// granted returns what was granted, asking now if nobody did.
func (l *line) granted(ctx context.Context, h transport.Hello) (*Grant, transport.Hello, error) {
	l.mu.Lock()
	grant := l.grant
	l.mu.Unlock()
	if grant == nil {
		if err := l.Check(ctx, &h); err != nil {
			return nil, h, err
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.grant, l.hello, nil
}

// Call runs the call as it was granted.
func (l *line) Call(ctx context.Context, p transport.Peer) error {
	grant, hello, err := l.granted(ctx, p.Hello())
	if err != nil {
		reason, text := transport.ReasonBadHello, err.Error()
		var refused *transport.Refused
		if errors.As(err, &refused) {
			reason, text = refused.Reason, refused.Text()
		}
		_ = p.Close(reason, text)
		return fmt.Errorf("access: call: %w", err)
	}
	defer grant.Release()
	if grant.CallMax > 0 {
		timer := time.AfterFunc(grant.CallMax, func() { _ = p.Close(transport.ReasonMaxDuration, "") })
		defer timer.Stop()
	}
	return l.inner.Call(context.WithValue(ctx, grantKey{}, grant), &peer{Peer: p, hello: hello, grant: grant})
}

// Release gives the line back, and the grant.
func (l *line) Release() {
	l.inner.Release()
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.grant != nil {
		l.grant.Release()
	}
}

type grantKey struct{}

// GrantOf is the grant of the call whose context this is, nil when no guard was asked.
func GrantOf(ctx context.Context) *Grant {
	g, _ := ctx.Value(grantKey{}).(*Grant)
	return g
}

// peer is a far end whose hello is what was granted, and whose audio is counted.
type peer struct {
	transport.Peer
	hello transport.Hello
	grant *Grant
}

// Hello is what was granted, without the token.
func (p *peer) Hello() transport.Hello { return p.hello }

// Recv counts audio from the far end.
func (p *peer) Recv(ctx context.Context, ev *transport.Event) error {
	err := p.Peer.Recv(ctx, ev)
	if err == nil && ev.Kind == transport.EventAudio {
		p.spend(len(ev.PCM))
	}
	return err
}

// SendAudio counts audio for the far end.
func (p *peer) SendAudio(ctx context.Context, generation uint64, pcm []int16) error {
	p.spend(len(pcm))
	return p.Peer.SendAudio(ctx, generation, pcm)
}

// spend counts samples as 16-bit PCM, whatever the wire makes of them, and ends the call when there are none left.
func (p *peer) spend(samples int) {
	if !p.grant.Spend(2 * samples) {
		_ = p.Peer.Close(transport.ReasonLimit, "The bytes of this minute are used up.")
	}
}

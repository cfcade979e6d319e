package admission

import (
	"context"
	"net/http"
	"sync"
	"time"

	"github.com/voicegw/voicegw/transport"
)

// Visits are an endpoint's requests for a call, each from its first byte to the end of its call.
// The zero value is an open endpoint. Safe for concurrent use.
type Visits struct {
	mu     sync.Mutex
	closed bool
	open   map[*visit]struct{}
	over   sync.WaitGroup
}

// Begin begins the visit of r and takes a line for it. proven is [transport.Handshake.Proven]. The
// handshake context is done when the handshake is given up: by the gateway, by the client, or
// because the endpoint closes. The call context is done when the endpoint closes. Release of the
// line ends the visit; it must follow. The error is for [Refuse].
func (v *Visits) Begin(r *http.Request, lines transport.Lines, proven bool) (handshake, call context.Context,
	line transport.Line, err error) {
	call, cancel := context.WithCancel(context.WithoutCancel(r.Context()))
	handshake, giveUp := context.WithCancelCause(call)
	stop := context.AfterFunc(r.Context(), func() { giveUp(nil) })
	own := &visit{visits: v, cancel: cancel, release: func() { stop(); giveUp(nil) }}
	if !v.enter(own) {
		own.release()
		cancel()
		return nil, nil, nil, &transport.Refused{Reason: transport.ReasonGoingAway}
	}
	own.Line, err = lines.Take(transport.Handshake{Remote: Remote(r), Proven: proven, GiveUp: giveUp})
	if err != nil {
		own.Release()
		return nil, nil, nil, err
	}
	return handshake, call, own, nil
}

// Close closes the endpoint: no new visit begins, running ones end, and Close returns when their
// lines are released. It may be called more than once.
func (v *Visits) Close() {
	v.mu.Lock()
	v.closed = true
	for own := range v.open {
		own.cancel()
	}
	v.mu.Unlock()
	v.over.Wait()
}

// enter counts a visit. It reports false when the endpoint is closed.
func (v *Visits) enter(own *visit) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.closed {
		return false
	}
	if v.open == nil {
		v.open = map[*visit]struct{}{}
	}
	v.open[own] = struct{}{}
	v.over.Add(1)
	return true
}

func (v *Visits) leave(own *visit) {
	v.mu.Lock()
	delete(v.open, own)
	v.mu.Unlock()
	v.over.Done()
}

// visit is a line that ends a visit when it is released.
type visit struct {
	transport.Line // nil if no line was free

	visits  *Visits
	cancel  context.CancelFunc // of the call
	release func()             // ends the handshake
	once    sync.Once
}

// Admit admits the caller: see [transport.Admit].
func (v *visit) Admit(ctx context.Context, h *transport.Hello) (until time.Time, err error) {
	return transport.Admit(ctx, v.Line, h)
}

// Release gives back the line and ends the visit. It may be called more than once.
func (v *visit) Release() {
	v.once.Do(func() {
		if v.Line != nil {
			v.Line.Release()
		}
		v.release()
		v.cancel()
		v.visits.leave(v)
	})
}

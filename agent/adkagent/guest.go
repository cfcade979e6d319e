package adkagent

import (
	"context"
	"fmt"
	"iter"
	"sync"

	adk "google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/session"

	"github.com/voicegw/voicegw/agent"
)

// Limits of a guest in one turn: the events that it may store, and those that it may say in all, partial ones
// too. More end the turn.
const (
	guestEventsMax = 1000
	guestSaysMax   = 100_000
)

// guest is an agent of ADK that runs by itself. The net asks it for one event at a time.
type guest struct{ agent adk.Agent }

// visit is one turn of a guest.
type visit struct {
	mu     sync.Mutex // held while the guest works
	next   func() (*session.Event, error, bool)
	stop   func()
	cancel context.CancelFunc
	events int // that are stored
	says   int // all events
	over   bool
}

// next returns the next event of the guest, or nil after its last one.
func (g *guest) next(ctx context.Context, t *agent.Turn) (*session.Event, error) {
	r := runOf(t)
	if r == nil {
		return nil, errOver
	}
	v := r.visit(g)
	v.mu.Lock()
	defer func() {
		v.end(ctx.Err() != nil)
		v.mu.Unlock()
	}()
	release := context.AfterFunc(ctx, v.cancel)
	defer release()
	ev, err, ok := v.next()
	switch {
	case err != nil:
		return nil, err
	case !ok || ev == nil:
		v.over = true
		return nil, nil
	case !ev.Partial:
		v.events++
	}
	if v.says++; v.says > guestSaysMax {
		v.over = true
		return nil, fmt.Errorf("it has said %d events in this turn, which is the limit", guestSaysMax)
	}
	if v.events > guestEventsMax {
		v.over = true
		return nil, fmt.Errorf("it has stored %d events in this turn, which is the limit", guestEventsMax)
	}
	return ev, nil
}

// visit returns the visit of a guest in this turn, which begins with the first call.
func (r *run) visit(g *guest) *visit {
	r.mu.Lock()
	defer r.mu.Unlock()
	if v := r.guests[g]; v != nil && !v.over {
		return v
	}
	ctx, cancel := context.WithCancel(r.ic)
	v := &visit{cancel: cancel}
	v.next, v.stop = pullEvents(g.agent.Run(r.ic.WithContext(ctx)))
	if r.guests == nil {
		r.guests = map[*guest]*visit{}
	}
	r.guests[g] = v
	return v
}

// pullEvents turns an iterator around.
func pullEvents(events iter.Seq2[*session.Event, error]) (func() (*session.Event, error, bool), func()) {
	return iter.Pull2(events)
}

// end stops a guest that is over. The caller holds mu.
func (v *visit) end(stopped bool) {
	if stopped {
		v.over = true
	}
	if v.over {
		v.cancel()
		v.stop()
	}
}

// dismiss ends all guests at the end of the turn. One that still works ends when it returns.
func (r *run) dismiss() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, v := range r.guests {
		v.cancel()
		if v.mu.TryLock() {
			v.end(true)
			v.mu.Unlock()
		}
	}
}

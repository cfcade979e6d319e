package managed

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"
)

// with calls f with a session that this process owns, and brings the session into memory if need be. A
// session that somebody else has claimed meanwhile is claimed again, once.
func (r *Runtime) with(ctx context.Context, id string, f func(*owned) error) error {
	for attempt := 0; ; attempt++ {
		o, err := r.acquire(ctx, id)
		if err != nil {
			return err
		}
		err = f(o)
		r.release(o)
		if attempt == 0 && CodeOf(err) == Storage && ctx.Err() == nil {
			r.drop(o)
			r.lose(id, err) // if it cannot be opened again now, a sweep does so later
			continue
		}
		return err
	}
}

// acquire returns a session in memory. Its caller releases it.
func (r *Runtime) acquire(ctx context.Context, id string) (*owned, error) {
	for {
		if _, err := r.self(ctx); err != nil {
			return nil, err
		}
		r.mu.Lock()
		if r.closed || r.replaced {
			r.mu.Unlock()
			return nil, errStopping()
		}
		if r.joining != nil { // it has been declared dead meanwhile
			r.mu.Unlock()
			continue
		}
		s := r.active[id]
		if s == nil {
			if len(r.active) >= r.cfg.Limits.Active && !r.evict() {
				r.mu.Unlock()
				return nil, &Error{Code: Overloaded, Message: fmt.Sprintf("%d sessions are at work; try again later",
					r.cfg.Limits.Active)}
			}
			s = &slot{ready: make(chan struct{})}
			r.active[id] = s
			me := r.me
			r.mu.Unlock()
			o, err := r.open(context.WithoutCancel(ctx), me, id)
			r.mu.Lock()
			s.o, s.err = o, err // tidy and evict look at them
			if s.err != nil && r.active[id] == s {
				delete(r.active, id)
			}
			close(s.ready)
		}
		r.mu.Unlock()
		select {
		case <-s.ready:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		if s.err != nil {
			return nil, s.err
		}
		r.mu.Lock()
		if r.active[id] == s {
			s.o.uses++
			r.mu.Unlock()
			return s.o, nil
		}
		r.mu.Unlock() // it has left meanwhile
	}
}

func (r *Runtime) release(o *owned) {
	r.mu.Lock()
	defer r.mu.Unlock()
	o.uses--
	o.used = time.Now()
}

// evict makes room by letting go of a session that nobody needs; mu is held. It reports whether there is
// room.
func (r *Runtime) evict() bool {
	for id, s := range r.active {
		if s.o != nil && s.o.uses == 0 && s.o.resting() {
			delete(r.active, id)
			r.ends.Go(func() { s.o.close(context.Background()) })
			return true
		}
	}
	return false
}

// drop lets go of a session, also of one that has just been opened and is not in its slot yet.
func (r *Runtime) drop(o *owned) {
	r.mu.Lock()
	if s := r.active[o.id]; s != nil && s.o == nil {
		r.mu.Unlock()
		<-s.ready
		r.mu.Lock()
	}
	if s := r.active[o.id]; s != nil && s.o == o {
		delete(r.active, o.id)
	}
	r.mu.Unlock()
	o.close(context.Background())
}

// tidy lets go of sessions that have rested for Limits.Idle.
func (r *Runtime) tidy() {
	tick := time.NewTicker(max(r.cfg.Limits.Idle/4, 10*time.Millisecond))
	defer tick.Stop()
	for {
		select {
		case <-r.stop:
			return
		case <-tick.C:
		}
		var rest []*owned
		r.mu.Lock()
		for id, s := range r.active {
			if s.o != nil && s.o.uses == 0 && time.Since(s.o.used) > r.cfg.Limits.Idle && s.o.resting() {
				delete(r.active, id)
				rest = append(rest, s.o)
			}
		}
		r.mu.Unlock()
		for _, o := range rest {
			o.close(context.Background())
		}
	}
}

// Close stops all turns where they are and ends the Runtime. Sessions that rest leave the list of active
// ones; the others go on where they are opened next: with a Cluster, on another process at once. The
// journal stays open.
func (r *Runtime) Close(ctx context.Context) error {
	r.mu.Lock()
	if r.closed {
		r.mu.Unlock()
		return nil
	}
	r.closed = true
	r.mu.Unlock()
	close(r.stop)
	ended := r.empty(ctx)
	select {
	case <-ended:
	case <-time.After(handOver): // the journal takes no results of tools any more
	}
	close(r.left)
	<-ended
	r.ends.Wait()
	r.guard.CloseIdleConnections()
	return ctx.Err()
}

// empty lets go of all sessions at once. It returns a channel that is closed when that is done.
func (r *Runtime) empty(ctx context.Context) <-chan struct{} {
	r.mu.Lock()
	list := slices.Collect(maps.Values(r.active))
	clear(r.active)
	r.mu.Unlock()
	var closing sync.WaitGroup
	for _, s := range list {
		closing.Go(func() {
			<-s.ready
			if s.o != nil {
				s.o.close(ctx)
			}
		})
	}
	ended := make(chan struct{})
	r.ends.Go(func() {
		closing.Wait()
		close(ended)
	})
	return ended
}

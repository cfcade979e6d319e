package managed

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
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
		if CodeOf(err) == Storage {
			r.drop(o)
			r.lose(id, err) // if it cannot be opened again now, a sweep does so later
			if attempt == 0 && ctx.Err() == nil {
				continue
			}
		}
		return err
	}
}

// acquire returns a session in memory. Its caller releases it.
func (r *Runtime) acquire(ctx context.Context, id string) (*owned, error) {
	for {
		s, me, fresh, err := r.place(ctx, id, r.cfg.Limits.Active)
		if err != nil {
			return nil, err
		}
		if fresh {
			o, err := r.open(context.WithoutCancel(ctx), me, id)
			r.fill(id, s, o, err)
		}
		if err := s.wait(ctx); err != nil {
			return nil, err
		}
		if s.err != nil && !errors.Is(s.err, errApart) {
			return nil, s.err
		}
		r.mu.Lock()
		here := r.active[id] == s
		if here {
			s.o.uses++
		}
		r.mu.Unlock()
		if here { // else it has left meanwhile
			return s.o, nil
		}
	}
}

// apart is with for what needs no net, such as the end of a session whose program is gone. A session that is not in
// memory is claimed for as long as f runs; its program is not started.
func (r *Runtime) apart(ctx context.Context, id string, f func(*owned) error) error {
	for {
		s, me, fresh, err := r.place(ctx, id, math.MaxInt)
		if err != nil {
			return err
		}
		if fresh {
			err := r.ownApart(context.WithoutCancel(ctx), me, id, f)
			r.fill(id, s, nil, errApart)
			return err
		}
		if err := s.wait(ctx); err != nil {
			return err
		}
		if s.err == nil {
			return r.with(ctx, id, f)
		}
	}
}

// errApart is the error of a slot whose session was used without its net.
var errApart = errors.New("the session was used apart")

// place returns the slot of a session. fresh says that it is a new one: the caller fills it, as me. There are at most
// most slots then.
func (r *Runtime) place(ctx context.Context, id string, most int) (s *slot, me holder, fresh bool, err error) {
	for {
		if _, err := r.self(ctx); err != nil {
			return nil, holder{}, false, err
		}
		r.mu.Lock()
		s, me, err = r.active[id], r.me, nil
		switch {
		case r.closed || r.replaced:
			err = errStopping()
		case r.joining != nil: // it has been declared dead meanwhile
			r.mu.Unlock()
			continue
		case s == nil && len(r.active) >= most && !r.evict():
			err = crowded(most)
		case s == nil:
			s, fresh = &slot{ready: make(chan struct{})}, true
			r.active[id] = s
		}
		r.mu.Unlock()
		return s, me, fresh, err
	}
}

// fill ends that a session is on its way.
func (r *Runtime) fill(id string, s *slot, o *owned, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	s.o, s.err = o, err // tidy and evict look at them
	switch {
	case err == nil:
		delete(r.lost, id)
	case r.active[id] == s:
		delete(r.active, id)
	}
	close(s.ready)
}

// wait waits until the session is in memory, or is not going to be.
func (s *slot) wait(ctx context.Context) error {
	select {
	case <-s.ready:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// crowded is the error of a process whose memory is full: all of its most sessions are at work.
func crowded(most int) error {
	return &Error{Code: Overloaded, Message: fmt.Sprintf("%d sessions are at work; try again later", most)}
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

// beside is a context for work that no request waits for. It ends with the Runtime. The caller is counted in ends.
func (r *Runtime) beside() (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(context.Background())
	r.ends.Go(func() {
		select {
		case <-r.stop:
			cancel()
		case <-ctx.Done():
		}
	})
	return ctx, cancel
}

// goes runs f in a goroutine of its own, counted in ends. It reports false, and runs nothing, once the Runtime is
// closed.
func (r *Runtime) goes(f func()) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.closed {
		r.ends.Go(f)
	}
	return !r.closed
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

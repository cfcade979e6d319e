package managed

import (
	"context"
	"fmt"
	"time"

	"go.uber.org/zap"

	"github.com/voicegw/voicegw/journal"
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
			continue
		}
		return err
	}
}

// acquire returns a session in memory. Its caller releases it.
func (r *Runtime) acquire(ctx context.Context, id string) (*owned, error) {
	for {
		r.mu.Lock()
		if r.closed {
			r.mu.Unlock()
			return nil, &Error{Code: Overloaded, Message: "the process is stopping; try again"}
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
			r.mu.Unlock()
			o, err := r.open(context.WithoutCancel(ctx), id)
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

// drop lets go of a session.
func (r *Runtime) drop(o *owned) {
	r.mu.Lock()
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

// Close stops all turns where they are and ends the Runtime. Sessions go on where they are opened next.
// The journal stays open.
func (r *Runtime) Close(ctx context.Context) error {
	r.mu.Lock()
	if r.closed {
		r.mu.Unlock()
		return nil
	}
	r.closed = true
	list := make([]*slot, 0, len(r.active))
	for _, s := range r.active {
		list = append(list, s)
	}
	clear(r.active)
	r.mu.Unlock()
	close(r.stop)
	for _, s := range list {
		<-s.ready
		if s.o != nil {
			s.o.close(ctx)
		}
	}
	r.ends.Wait()
	r.guard.CloseIdleConnections()
	return ctx.Err()
}

// Recover brings sessions into memory that were at work when their process stopped, so that they go on
// without a request. It is for the start of a process that shares the journal with no other.
func (r *Runtime) Recover(ctx context.Context) (int, error) {
	n := 0
	q := journal.Query{Prefix: sessionDocs}
	for {
		list, err := r.cfg.Journal.List(ctx, q)
		if err != nil {
			return n, storage("list sessions", err)
		}
		for _, d := range list {
			q.After = d.Key
			id := idOf(d.Key)
			last, err := r.head(ctx, id)
			if err != nil || last.Archived != nil || last.Status == Idle && !last.Waits || last.Status == Terminated {
				continue
			}
			if err := r.with(ctx, id, func(*owned) error { return nil }); err != nil {
				r.cfg.Logger.Warn("a session that was at work cannot go on", zap.String("session", id), zap.Error(err))
				continue
			}
			n++
		}
		if len(list) < journal.ListMax {
			return n, nil
		}
	}
}

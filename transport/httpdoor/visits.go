package httpdoor

import (
	"context"
	"sync"
)

// Visits are a door's requests, each from its first byte to the end of its call. The zero value is an open door. Safe
// for concurrent use.
type Visits struct {
	mu     sync.Mutex
	closed bool
	open   map[*visit]struct{}
	over   sync.WaitGroup
}

type visit struct{ cancel context.CancelFunc }

// Enter notes a visit, which cancel ends; leave must be called when it is over. ok is false when the door is closed.
func (v *Visits) Enter(cancel context.CancelFunc) (leave func(), ok bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.closed {
		return nil, false
	}
	if v.open == nil {
		v.open = map[*visit]struct{}{}
	}
	own := &visit{cancel}
	v.open[own] = struct{}{}
	v.over.Add(1)
	return func() { v.leave(own) }, true
}

func (v *Visits) leave(own *visit) {
	v.mu.Lock()
	delete(v.open, own)
	v.mu.Unlock()
	v.over.Done()
}

// Close closes the door, cancels all visits and returns when they are over. It may be called more than once.
func (v *Visits) Close() {
	v.mu.Lock()
	v.closed = true
	for own := range v.open {
		own.cancel()
	}
	v.mu.Unlock()
	v.over.Wait()
}

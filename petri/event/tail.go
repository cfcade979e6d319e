package event

import (
	"errors"
	"fmt"
	"sync"

	"github.com/voicegw/voicegw/petri"
)

// ErrTailFull says that a tail has as many subscriptions as it allows.
var ErrTailFull = errors.New("event: the tail has no room for another subscription")

// Tail passes events on to whoever watches a run live. It never waits: a
// subscription that falls behind loses the oldest events and learns how many.
// Without subscriptions it costs a lock. It is safe for concurrent use.
type Tail struct {
	mu   sync.Mutex
	max  int
	subs []*Subscription
	seq  uint64
}

// NewTail makes a tail of at most limit subscriptions; 0 means 16.
func NewTail(limit int) *Tail {
	if limit == 0 {
		limit = 16
	}
	return &Tail{max: limit}
}

// Append gives events to every subscription.
func (t *Tail) Append(events []petri.Event) {
	if len(events) == 0 {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.seq = events[len(events)-1].Seq
	for _, s := range t.subs {
		s.ring.Append(events)
		select {
		case s.ready <- struct{}{}:
		default:
		}
	}
}

// Stored is the number of the last event.
func (t *Tail) Stored() uint64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.seq
}

// Subscription is one view of a Tail, from the moment of Subscribe on.
type Subscription struct {
	tail  *Tail
	ring  *Ring
	ready chan struct{}
}

// Subscribe begins a subscription that keeps up to n events, 1 to MaxRing,
// until they are taken. It must be closed. The error is ErrTailFull, or says
// what n may be.
func (t *Tail) Subscribe(n int) (*Subscription, error) {
	if n < 1 || n > MaxRing {
		return nil, fmt.Errorf("event: subscribe: buffer of %d events; 1 to %d is possible", n, MaxRing)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.subs) >= t.max {
		return nil, ErrTailFull
	}
	s := &Subscription{tail: t, ring: NewRing(n), ready: make(chan struct{}, 1)}
	t.subs = append(t.subs, s)
	return s, nil
}

// Ready receives when there is something to take.
func (s *Subscription) Ready() <-chan struct{} { return s.ready }

// Take appends what has come since the last Take to to, and returns how many
// events before it were lost.
func (s *Subscription) Take(to []petri.Event) (events []petri.Event, lost uint64) {
	s.tail.mu.Lock()
	defer s.tail.mu.Unlock()
	lost = s.ring.Lost()
	events = s.ring.Events(to)
	s.ring.reset()
	return events, lost
}

// Close ends the subscription. It may be called more than once.
func (s *Subscription) Close() {
	s.tail.mu.Lock()
	defer s.tail.mu.Unlock()
	for i, have := range s.tail.subs {
		if have == s {
			s.tail.subs = append(s.tail.subs[:i], s.tail.subs[i+1:]...)
			return
		}
	}
}

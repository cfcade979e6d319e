package event

import (
	"fmt"
	"sync"

	"github.com/voicegw/voicegw/petri"
)

// MaxRing is the most events a Ring can keep.
const MaxRing = 1 << 24

// Ring keeps the last events in fixed memory (40 bytes each). Append never
// allocates. It is safe for concurrent use.
type Ring struct {
	mu  sync.Mutex
	buf []petri.Event
	n   uint64 // events ever appended
	seq uint64
}

// NewRing makes a ring of n events, 1 to MaxRing. It panics on any other n.
func NewRing(n int) *Ring {
	if n < 1 || n > MaxRing {
		panic(fmt.Sprintf("event: ring of %d events; 1 to %d is possible", n, MaxRing))
	}
	return &Ring{buf: make([]petri.Event, n)}
}

// Append keeps events in place of the oldest ones.
func (r *Ring) Append(events []petri.Event) {
	if len(events) == 0 {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.seq = events[len(events)-1].Seq
	if over := len(events) - len(r.buf); over > 0 {
		r.n += uint64(over)
		events = events[over:]
	}
	at := int(r.n % uint64(len(r.buf)))
	k := copy(r.buf[at:], events)
	copy(r.buf, events[k:])
	r.n += uint64(len(events))
}

// Stored is the number of the last event appended.
func (r *Ring) Stored() uint64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.seq
}

// Lost is how many events had to make room.
func (r *Ring) Lost() uint64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.n - min(r.n, uint64(len(r.buf)))
}

// Events appends what is kept, oldest first, to to.
func (r *Ring) Events(to []petri.Event) []petri.Event {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.n <= uint64(len(r.buf)) {
		return append(to, r.buf[:r.n]...)
	}
	at := int(r.n % uint64(len(r.buf)))
	return append(append(to, r.buf[at:]...), r.buf[:at]...)
}

// reset forgets what is kept.
func (r *Ring) reset() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.n = 0
}

package event

import (
	"fmt"
	"sync"

	"github.com/voicegw/voicegw/petri"
)

// maxRing limits the events of a Ring.
const maxRing = 1 << 24

// Ring is a Store that keeps the last events in memory of fixed size, 40 bytes for each event.
// Append does not allocate. A Ring is safe for concurrent use.
type Ring struct {
	mu  sync.Mutex
	buf []petri.Event
	n   uint64 // events ever appended
	seq uint64
}

// NewRing returns a ring of n events, 1 to 16,777,216. It panics if n is out of range.
func NewRing(n int) *Ring {
	if n < 1 || n > maxRing {
		panic(fmt.Sprintf("event: ring of %d events; it must have 1 to %d", n, maxRing))
	}
	return &Ring{buf: make([]petri.Event, n)}
}

// Append adds events. If the ring is full, it drops the oldest ones.
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

// Stored returns the number of the last event appended.
func (r *Ring) Stored() uint64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.seq
}

// Events appends the events of the ring to dst, oldest first, and returns the extended slice.
func (r *Ring) Events(dst []petri.Event) []petri.Event {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.n <= uint64(len(r.buf)) {
		return append(dst, r.buf[:r.n]...)
	}
	at := int(r.n % uint64(len(r.buf)))
	return append(append(dst, r.buf[at:]...), r.buf[:at]...)
}

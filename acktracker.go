package voicegw

import (
	"sync"

	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/transport"
)

// clearsMax is how many clears may wait for their answer. A peer that leaves more unanswered never
// answers them.
const clearsMax = 8

// ackTracker counts acknowledged frames. The net's loop notes what is sent, the goroutine that
// reads the peer what is acknowledged. On the wire generations start at 1. The zero value is ready
// to use.
//
// The answer to a clear reports what was played before it; the rest was dropped. The reply may
// continue before the answer arrives, so the tracker remembers how many frames were sent since each
// open clear. Frames that such an answer covers may have been sent again since; they count only
// when they are acknowledged again.
type ackTracker struct {
	mu      sync.Mutex
	counter transport.AckCounter
	latest  uint64
	clears  []openClear // oldest first
}

// openClear is a clear that is not answered yet.
type openClear struct {
	generation uint64
	since      int // frames of the generation sent since
}

// sent notes a frame of generation g.
func (a *ackTracker) sent(g petri.Gen) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.latest = wire(g)
	a.counter.Sent(a.latest, 1)
	for i := range a.clears {
		if a.clears[i].generation == a.latest {
			a.clears[i].since++
		}
	}
}

// cleared notes a clear of generation g.
func (a *ackTracker) cleared(g petri.Gen) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.clears) == clearsMax {
		a.clears = append(a.clears[:0], a.clears[1:]...)
	}
	a.clears = append(a.clears, openClear{generation: wire(g)})
}

// acked returns how many frames ev newly acknowledges as heard. An answer to a clear that was not
// sent drops nothing.
func (a *ackTracker) acked(ev *transport.Event) int {
	a.mu.Lock()
	defer a.mu.Unlock()
	i := len(a.clears)
	if ev.Cleared {
		i = a.find(ev.Generation)
	}
	if i == len(a.clears) {
		return a.counter.Ack(ev.Generation, ev.PlayedMS, false).Played
	}
	since := a.clears[i].since
	a.clears = append(a.clears[:i], a.clears[i+1:]...)
	ack := a.counter.Ack(ev.Generation, ev.PlayedMS, true)
	if since > 0 {
		a.counter.Sent(ev.Generation, min(since, ack.Dropped)) // a false answer may have counted some of them
		return 0
	}
	return ack.Played
}

// returned returns how many frames a peer that is back has newly heard: it has played playedMS of a
// generation and dropped the rest. It will answer no clear that was sent while it was away, and has
// none of the frames that were.
func (a *ackTracker) returned(generation uint64, playedMS int64) int {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.clears = a.clears[:0]
	ack := a.counter.Ack(generation, playedMS, true)
	if generation != a.latest {
		a.counter.Ack(a.latest, 0, true)
	}
	return ack.Played
}

// find returns the index of the oldest open clear of a generation, or len(a.clears) if that
// generation has no open clear.
func (a *ackTracker) find(generation uint64) int {
	for i := range a.clears {
		if a.clears[i].generation == generation {
			return i
		}
	}
	return len(a.clears)
}

// heardMS is how many ms of a generation on the wire were heard so far.
func (a *ackTracker) heardMS(generation uint64) int64 {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.counter.PlayedMS(generation)
}

// allHeard reports whether nothing of the latest generation is still to be heard.
func (a *ackTracker) allHeard() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.counter.Open(a.latest) == 0
}

// giveUp counts everything that was sent as heard.
func (a *ackTracker) giveUp() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.counter.GiveUp(a.latest)
}

package voicegw

import (
	"sync"

	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/transport"
)

// clearsMax is how many clears may wait for their answer; a peer that owes
// more never answers.
const clearsMax = 8

// ackBook counts acknowledgements in frames. The net's loop notes what is
// handed over, the peer's reader what is acknowledged. On the wire generations
// start at 1. The zero value is ready.
//
// The answer to a clear says that what was on its way then was dropped. It may
// come when the reply goes on already; so the book remembers what was handed
// over since each clear that is not answered. What such an answer says was heard
// is handed over once more by then: it is heard when that is.
type ackBook struct {
	mu      sync.Mutex
	counter transport.AckCounter
	latest  uint64
	clears  []openClear // oldest first
}

// openClear is a clear without an answer yet.
type openClear struct {
	generation uint64
	since      int // frames of the generation handed over since
}

// sent notes a frame that is handed over.
func (b *ackBook) sent(g petri.Gen) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.latest = wire(g)
	b.counter.Sent(b.latest, 1)
	for i := range b.clears {
		if b.clears[i].generation == b.latest {
			b.clears[i].since++
		}
	}
}

// cleared notes that a clear is handed over.
func (b *ackBook) cleared(g petri.Gen) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.clears) == clearsMax {
		b.clears = append(b.clears[:0], b.clears[1:]...)
	}
	b.clears = append(b.clears, openClear{generation: wire(g)})
}

// acked returns how many frames the event says were newly heard. An answer to
// a clear that nobody sent drops nothing.
func (b *ackBook) acked(ev *transport.Event) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	i := len(b.clears)
	if ev.Cleared {
		i = b.find(ev.Generation)
	}
	if i == len(b.clears) {
		return b.counter.Ack(ev.Generation, ev.PlayedMS, false).Played
	}
	since := b.clears[i].since
	b.clears = append(b.clears[:i], b.clears[i+1:]...)
	played := b.counter.Ack(ev.Generation, ev.PlayedMS, true).Played
	if since > 0 {
		b.counter.Sent(ev.Generation, since)
		return 0
	}
	return played
}

// find is the index of the oldest open clear of a generation, or how many open
// clears there are.
func (b *ackBook) find(generation uint64) int {
	for i := range b.clears {
		if b.clears[i].generation == generation {
			return i
		}
	}
	return len(b.clears)
}

// heardMS is how much of a generation on the wire was heard so far.
func (b *ackBook) heardMS(generation uint64) int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.counter.PlayedMS(generation)
}

// giveUp counts everything that is handed over as heard.
func (b *ackBook) giveUp() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.counter.GiveUp(b.latest)
}

//go:build !race

package voicegw

import (
	"testing"

	"github.com/voicegw/voicegw/petri"
)

// TestDropsAllocate: counting what a net dropped, which happens for every event, allocates nothing.
func TestDropsAllocate(t *testing.T) {
	ring := newEventRing(&drops{of: []int8{0, -1}, reasons: []string{"stale_chunk"}})
	events := []petri.Event{{Kind: petri.Fired, Index: 0}, {Kind: petri.Fired, Index: 1}, {Kind: petri.Injected}}
	const runs = 100
	if n := testing.AllocsPerRun(runs, func() { ring.Append(events) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
	if got := ring.counts[0].Load(); got != runs+1 {
		t.Errorf("%d were counted, want %d", got, runs+1)
	}
}

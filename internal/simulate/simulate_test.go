//go:build !race

package simulate

import (
	"math/rand/v2"
	"os"
	"runtime"
	"strconv"
	"testing"
)

// TestSimulate runs worlds of calls. VOICEGW_SIM_SEED and VOICEGW_SIM_CALLS are those of `make
// sim`; without them the known seeds run, and a few fresh ones. See docs/development.md.
func TestSimulate(t *testing.T) {
	t.Parallel()
	const fresh = 4 // worlds
	calls, _ := strconv.Atoi(os.Getenv("VOICEGW_SIM_CALLS"))
	seed, err := strconv.ParseUint(os.Getenv("VOICEGW_SIM_SEED"), 10, 64)
	if err != nil {
		seed = rand.Uint64N(1e9)
	}
	ledger := os.Getenv("VOICEGW_SIM_LEDGER")
	summary := newSummary(seed)
	sounds := newSounds()
	if calls > 0 {
		before := heapBytes()
		summary.simulate(t, sounds, func(yield func(uint64) bool) {
			for ; summary.planned < calls && yield(seed); seed++ {
			}
		})
		left := heapBytes() - before
		t.Logf("%d KiB are left of the calls", left>>10)
		if left > heapGrowthMax {
			t.Errorf("that is more than %d KiB", heapGrowthMax>>10)
		}
	} else {
		summary.simulate(t, sounds, func(yield func(uint64) bool) {
			for _, known := range knownSeeds {
				if !yield(known) {
					return
				}
			}
			for i := range uint64(fresh) {
				if !yield(seed + i) {
					return
				}
			}
		})
	}
	summary.report(t)
	if ledger == "" || calls == 0 {
		return
	}
	e := entry{Commit: os.Getenv("VOICEGW_SIM_COMMIT"), At: summary.began.UTC(), First: summary.first, Last: seed - 1,
		Calls: summary.calls.Load(), Worlds: summary.worlds.Load(), Wrong: summary.failed.Load()}
	if err := book(ledger, e); err != nil {
		t.Error(err)
	}
	all, err := sum(ledger)
	if err != nil {
		t.Error(err)
	}
	t.Log(all)
}

// heapGrowthMax is how much memory, in bytes, may be left of all calls together.
const heapGrowthMax = 4 << 20

// heapBytes is the memory in use, in bytes.
func heapBytes() int64 {
	runtime.GC()
	runtime.GC() // what finalizers held
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// knownSeeds are the seeds that always run: some of every kind, and those that found a fault.
var knownSeeds = []uint64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16,
	1000174, 2000029, 2000562, // storms of dials; a late answer to a clear
	2000514, 2000543, // frames that waited when a connection ended
	2000126, 2000733, // faults of the simulation itself
	5013,      // the rest of a reply that typed text interrupted
	19732164,  // a timer that kept a call
	582829595, // a function that worked on while the peer was sent the rest of its call
}

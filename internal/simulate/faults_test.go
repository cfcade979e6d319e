package simulate

import "testing"

// TestFaults: every fault of the table is in some calls, and none in the first call of a world.
func TestFaults(t *testing.T) {
	const worlds = 200
	sounds := newSounds()
	calls := map[string]int{}
	for seed := range uint64(worlds) {
		for _, p := range newWorldPlan(seed, sounds).calls {
			if p.good && len(p.faults) > 0 {
				t.Errorf("seed %d: a call without faults has %v", seed, p.faults)
			}
			for _, name := range p.faults {
				calls[name]++
			}
		}
	}
	for _, f := range faults() {
		if n := calls[f.name]; (n == 0) != (f.name == noFault) {
			t.Errorf("%q is in %d calls of %d worlds", f.name, n, worlds)
		}
		delete(calls, f.name)
	}
	if len(calls) > 0 {
		t.Errorf("the table does not have %v", calls)
	}
}

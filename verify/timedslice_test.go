package verify_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/voicegw/voicegw/verify/netmodel"
	"github.com/voicegw/voicegw/verify/nettest"
	"github.com/voicegw/voicegw/verify/stateclass"
)

// TestSlicesSimulateInTime: of random nets with waits, every marking that some timing reaches is,
// on the places of a slice, one that some timing of the slice reaches. So no bound of a slice is
// exceeded by the whole.
func TestSlicesSimulateInTime(t *testing.T) {
	ctx := context.Background()
	looked, timed, sharper := 0, 0, 0
	for seed := range uint64(1500) {
		p, part := nettest.WovenTimed(t, seed)
		m := netmodel.New(part, netmodel.RunToCompletion)
		if !m.Layered() {
			if _, err := stateclass.Explore(ctx, m, stateclass.Options{}); err == nil {
				t.Fatalf("seed %d: moves in the midst of chains are taken for moves at rest", seed)
			}
			continue
		}
		whole, err := stateclass.Explore(ctx, netmodel.New(p, netmodel.RunToCompletion), stateclass.Options{Max: 3000})
		if err != nil {
			t.Fatal(err)
		}
		g, err := stateclass.Explore(ctx, m, stateclass.Options{Max: 3000})
		if err != nil {
			t.Fatal(err)
		}
		if !g.Complete {
			continue
		}
		looked++
		for _, i := range m.Timed() {
			if m.When(i).Latest < 1<<40 {
				timed++
				break
			}
		}
		if open, err := stateclass.Explore(ctx, m, stateclass.Options{Max: 3000, Relax: true}); err != nil {
			t.Fatal(err)
		} else if open.Markings() > g.Markings() {
			sharper++
		}
		reached := map[string]bool{}
		g.Each(func(_ int, marking []int32) bool {
			reached[fmt.Sprint(marking)] = true
			return true
		})
		whole.Each(func(_ int, marking []int32) bool {
			if at := nettest.Projection(p, part, marking); !reached[fmt.Sprint(at)] {
				t.Fatalf("seed %d: %s is not reached in the slice in time", seed, m.Format(at))
			}
			return true
		})
	}
	t.Logf("%d slices, %d with waits, %d in which waits decide", looked, timed, sharper)
	if looked < 500 || timed < 200 || sharper < 10 {
		t.Errorf("only %d slices, %d with waits, %d in which waits decide", looked, timed, sharper)
	}
}

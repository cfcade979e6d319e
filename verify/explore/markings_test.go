package explore

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestMarkingSet holds the set to a map: while it grows, and when its counts need more room in the
// midst of that.
func TestMarkingSet(t *testing.T) {
	for _, slots := range []int{0, 1, 2, 7, 8, 9, 40, 300} {
		rnd := rand.New(rand.NewPCG(uint64(slots), 1))
		set, known := NewMarkingSet(slots), map[string]int{}
		var all [][]int32
		for i := range 6000 {
			m := make([]int32, slots)
			for range min(slots, 3) {
				m[rnd.IntN(slots)] = int32(rnd.IntN(13))
			}
			if i > 3000 && slots > 0 && rnd.IntN(50) == 0 {
				m[rnd.IntN(slots)] = 255 + rnd.Int32N(2)*1_000_000
			}
			want, old := known[fmt.Sprint(m)]
			if !old {
				want = len(all)
				known[fmt.Sprint(m)], all = want, append(all, m)
				if at, ok := set.Find(m); ok {
					t.Fatalf("%d slots: %v is found at %d before it is added", slots, m, at)
				}
			}
			if have, isNew := set.Add(m); int(have) != want || isNew == old {
				t.Fatalf("%d slots: marking %d is %d, new %t", slots, want, have, isNew)
			}
		}
		if set.Len() != len(all) {
			t.Errorf("%d slots: %d markings of %d", slots, set.Len(), len(all))
		}
		for i, want := range all {
			have := make([]int32, slots)
			set.Get(i, have)
			if at, ok := set.Find(want); !slices.Equal(have, want) || !ok || int(at) != i {
				t.Fatalf("%d slots: marking %d is %v, found %t at %d; want %v", slots, i, have, ok, at, want)
			}
		}
	}
}

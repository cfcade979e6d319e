package workflow

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestState compares states with maps: with and join keep what was written last, and leave the states
// that they begin with alone.
func TestState(t *testing.T) {
	type model map[string]int
	r := rand.New(rand.NewPCG(1, 2))
	states, models := []State{{}}, []model{{}}
	for n := range 2000 {
		i, k := r.IntN(len(states)), r.IntN(len(states))
		s, m := states[i], maps.Clone(models[i])
		if n%3 > 0 {
			key := fmt.Sprint("k", r.IntN(20))
			s, m[key] = s.with(key, n, uint64(n)), n
		} else {
			s = s.join(states[k], State{})
			for key, v := range models[k] {
				m[key] = max(m[key], v)
			}
		}
		states, models = append(states, s), append(models, m)
	}
	for i, s := range states {
		var keys []string
		for key, v := range s.All() {
			keys = append(keys, key)
			if got, ok := s.Get(key); !ok || got != v || v != models[i][key] {
				t.Fatalf("state %d has %s = %v, %v; want %d", i, key, v, got, models[i][key])
			}
		}
		if want := slices.Sorted(maps.Keys(models[i])); !slices.Equal(keys, want) {
			t.Fatalf("state %d has the keys %v, want %v", i, keys, want)
		}
		if v, ok := s.Get("none"); ok {
			t.Fatalf("state %d has a key that nobody wrote: %v", i, v)
		}
	}
}

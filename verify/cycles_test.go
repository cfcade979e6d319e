package verify

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/voicegw/voicegw/petri"
)

func TestCycles(t *testing.T) {
	for _, c := range []struct {
		name string
		net  *petri.Net
		want []string
	}{
		{"ring", imported(tokens("a"), classic("ab", arcs("a"), arcs("b")), classic("ba", arcs("b"), arcs("a"))),
			[]string{"ab + ba"}},
		{"weights", imported(many("a", 2), classic("split", arcs("a"), petri.Arcs{unit("b").Exactly(2)}),
			classic("back", arcs("b"), nil), classic("make", nil, arcs("a"))), []string{"split + 2*back + make"}},
		{"reset", imported(tokens("a"), reset(classic("ab", arcs("a"), arcs("b")), "b"), classic("ba", arcs("b"), arcs("a"))),
			nil},
		{"one way", imported(tokens("a"), classic("ab", arcs("a"), arcs("b"))), nil},
	} {
		var have []string
		for _, f := range NewModel(compile(t, c.net), RunToCompletion).Cycles() {
			have = append(have, f.String())
		}
		if !slices.Equal(have, c.want) {
			t.Errorf("%s: %q, want %q", c.name, have, c.want)
		}
	}
}

// TestCyclesChangeNothing: firing a cycle of a random net by its effects alone
// leaves a marking as it was.
func TestCyclesChangeNothing(t *testing.T) {
	found := 0
	for seed := range uint64(400) {
		k := weaver{Rand: rand.New(rand.NewPCG(seed, 6))}
		m := NewModel(k.program(), RunToCompletion)
		for _, c := range m.Cycles() {
			found++
			w := m.NewWalker(func() {}, nil)
			for s := range w.Marking {
				w.Marking[s] = 1000
			}
			for i, s := range c.Steps {
				for range c.Times[i] {
					for _, p := range m.modeOf(s).take {
						w.Marking[p.Slot] -= p.N
					}
					for _, p := range m.modeOf(s).branches[s.Branch].put {
						w.Marking[p.slot] += p.n
					}
				}
			}
			if slices.ContainsFunc(w.Marking, func(n int32) bool { return n != 1000 }) {
				t.Fatalf("seed %d: %v changes something", seed, c)
			}
		}
	}
	if found < 50 {
		t.Errorf("only %d cycles", found)
	}
}

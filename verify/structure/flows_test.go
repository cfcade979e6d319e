package structure_test

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/verify/explore"
	"github.com/voicegw/voicegw/verify/netmodel"
	"github.com/voicegw/voicegw/verify/nettest"
	"github.com/voicegw/voicegw/verify/structure"
)

// TestFlowsHold: on random nets no reachable marking exceeds a flow, and none changes one that is
// said to be constant.
func TestFlowsHold(t *testing.T) {
	flows, constant := 0, 0
	for seed := range uint64(1500) {
		k := nettest.Weaver{Rand: rand.New(rand.NewPCG(seed, 2))}
		p := k.Program()
		g, err := explore.Explore(context.Background(), p, explore.Options{Max: 4000})
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range structure.Flows(g.Model) {
			flows++
			if f.Constant {
				constant++
			}
			g.Each(func(i int, m []int32) bool {
				sum := int64(0)
				for _, c := range f.Sum {
					sum += int64(c.N) * int64(m[c.Slot])
				}
				if sum > f.Start || f.Constant && sum != f.Start {
					t.Fatalf("seed %d: %v is %d\n%s", seed, f, sum, g.Format(g.PathTo(i)))
				}
				return true
			})
		}
	}
	t.Logf("%d flows, %d constant", flows, constant)
	if flows < 3000 || constant < 1000 {
		t.Errorf("only %d flows, %d constant", flows, constant)
	}
}

func TestFlows(t *testing.T) {
	tokens, arcs, imported, classic := nettest.Tokens, nettest.Arcs, nettest.Imported, nettest.Classic
	for _, c := range []struct {
		name string
		net  *petri.Net
		want []string
	}{
		{"ring", imported(tokens("a"), classic("ab", arcs("a"), arcs("b")), classic("ba", arcs("b"), arcs("a"))),
			[]string{"a + b = 1"}},
		{"weights", imported(nettest.Many("a", 2), classic("split", arcs("a"), petri.Arcs{nettest.Unit("b").Exactly(3)}),
			classic("join", petri.Arcs{nettest.Unit("b").Exactly(3)}, arcs("a"))), []string{"3*a + b = 6"}},
		{"reset", imported(tokens("a"), nettest.Reset(classic("ab", arcs("a"), arcs("b")), "b"),
			classic("ba", arcs("b"), arcs("a"))),
			[]string{"a + b <= 1"}},
		{"made", imported(tokens("a"), classic("make", arcs("a"), arcs("a", "b"))), []string{"a = 1"}},
		{"none", imported(tokens("a"), classic("double", arcs("a"), petri.Arcs{nettest.Unit("a").Exactly(2)})), nil},
	} {
		var have []string
		for _, f := range structure.Flows(netmodel.New(nettest.Compile(t, c.net), netmodel.RunToCompletion)) {
			have = append(have, f.String())
		}
		if !slices.Equal(have, c.want) {
			t.Errorf("%s: %q, want %q", c.name, have, c.want)
		}
	}
}

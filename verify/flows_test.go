package verify

import (
	"context"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/voicegw/voicegw/petri"
)

// TestFlowsHold: on random nets no reachable marking exceeds a flow, and none
// changes one that is said to be constant.
func TestFlowsHold(t *testing.T) {
	flows, constant := 0, 0
	for seed := range uint64(1500) {
		k := weaver{Rand: rand.New(rand.NewPCG(seed, 2))}
		p := k.program()
		g, err := Explore(context.Background(), p, Options{Max: woven})
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range g.Model.Flows() {
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
	for _, c := range []struct {
		name string
		net  *petri.Net
		want []string
	}{
		{"ring", imported(tokens("a"), classic("ab", arcs("a"), arcs("b")), classic("ba", arcs("b"), arcs("a"))),
			[]string{"a + b = 1"}},
		{"weights", imported(many("a", 2), classic("split", arcs("a"), petri.Arcs{unit("b").Exactly(3)}),
			classic("join", petri.Arcs{unit("b").Exactly(3)}, arcs("a"))), []string{"3*a + b = 6"}},
		{"reset", imported(tokens("a"), reset(classic("ab", arcs("a"), arcs("b")), "b"), classic("ba", arcs("b"), arcs("a"))),
			[]string{"a + b <= 1"}},
		{"made", imported(tokens("a"), classic("make", arcs("a"), arcs("a", "b"))), []string{"a = 1"}},
		{"none", imported(tokens("a"), classic("double", arcs("a"), petri.Arcs{unit("a").Exactly(2)})), nil},
	} {
		var have []string
		for _, f := range NewModel(compile(t, c.net), RunToCompletion).Flows() {
			have = append(have, f.String())
		}
		if !slices.Equal(have, c.want) {
			t.Errorf("%s: %q, want %q", c.name, have, c.want)
		}
	}
}

func TestConserved(t *testing.T) {
	permits := func(ts ...petri.Transition) *petri.Net { return imported(many("free", 2), ts...) }
	lend, back := classic("lend", arcs("free"), arcs("lent")), classic("give_back", arcs("lent"), arcs("free"))
	for _, c := range []struct {
		name string
		net  *petri.Net
		want string // the reason of a refutation
	}{
		{"kept", permits(lend, back), ""},
		{"lost", permits(lend, back, classic("lose", arcs("lent"), nil)), "lose changes the sum by -1"},
		{"made", permits(lend, back, classic("make", nil, arcs("free"))), "make changes the sum by 1"},
		{"reset", permits(lend, back, reset(classic("forget", arcs("free"), arcs("free")), "lent")),
			"forget may lose tokens of lent"},
		{"all", permits(lend, classic("collect", petri.Arcs{unit("lent").All()}, arcs("free"))),
			"collect may lose tokens of lent"},
	} {
		r, err := Run(context.Background(), compile(t, c.net), Config{}, Conserved("free", "lent"))
		if err != nil {
			t.Fatal(err)
		}
		v := r.Results[0]
		if (c.want == "") != (v.Outcome == Proved) || c.want != "" && !strings.Contains(v.Reason, c.want) {
			t.Errorf("%s: %s, %s; want %q", c.name, v.Outcome, v.Reason, c.want)
		}
	}
	if _, err := Run(context.Background(), compile(t, permits(lend, back)), Config{}, Conserved("fre")); err == nil {
		t.Error("a place that is not there is no error")
	}
}

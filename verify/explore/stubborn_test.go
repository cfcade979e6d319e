package explore

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/verify/netmodel"
	"github.com/voicegw/voicegw/verify/nettest"
)

// woven is how many markings a random net has at most.
const woven = 4000

// TestReducedAgrees: on random nets a reduced search finds the same dead markings and the same
// answers as a full one.
func TestReducedAgrees(t *testing.T) {
	ctx := context.Background()
	looked, reduced, full, kept := 0, 0, 0, 0
	for seed := range uint64(600) {
		k := nettest.Weaver{Rand: rand.New(rand.NewPCG(seed, 4))}
		p := k.Loose()
		m := netmodel.New(p, netmodel.Interleave)
		g, err := ExploreModel(ctx, m, Options{Max: 800})
		if err != nil {
			t.Fatal(err)
		}
		if !g.Complete || len(g.Faults) > 0 {
			continue
		}
		looked++
		expr := k.Expr(p)
		r, err := ExploreModel(ctx, m, Options{Max: woven, Reduce: &Reduction{Exprs: []string{expr}}})
		if err != nil {
			t.Fatal(err)
		}
		if r.Reduced {
			reduced++
		}
		full, kept = full+g.States(), kept+r.States()
		if have, want := deadOf(r), deadOf(g); !slices.Equal(have, want) {
			t.Fatalf("seed %d: dead %q, want %q", seed, have, want)
		}
		if have, want := satisfied(t, r, expr), satisfied(t, g, expr); have != want {
			t.Fatalf("seed %d: %s is satisfied: %t, want %t; %d of %d markings", seed, expr, have, want, r.States(), g.States())
		}
	}
	t.Logf("%d nets, %d reduced, %d of %d markings", looked, reduced, kept, full)
	if looked < 400 || reduced < 120 {
		t.Errorf("only %d nets, %d reduced", looked, reduced)
	}
}

func deadOf(g *Graph) []string {
	var out []string
	for _, i := range g.Dead() {
		out = append(out, g.Model.Format(g.Marking(i, nil)))
	}
	slices.Sort(out)
	return out
}

func satisfied(t *testing.T, g *Graph, expr string) bool {
	t.Helper()
	truth, err := g.Truth(expr)
	if err != nil {
		t.Fatal(err)
	}
	return slices.Contains(truth, true)
}

func TestReducedCounts(t *testing.T) {
	arcs, classic := nettest.Arcs, nettest.Classic
	for _, c := range []struct {
		name       string
		net        *petri.Net
		exprs      []string
		full, most int
		dead       int
	}{
		{"rings", nettest.Rings(6), nil, 729, 13, 1},
		{"rings looked at", nettest.Rings(6), []string{"b0 && b1"}, 729, 30, 1},
		{"something spins", nettest.Imported(nettest.Tokens("a", "x"), classic("ab", arcs("a"), arcs("b")),
			classic("ba", arcs("b"), arcs("a")), classic("xy", arcs("x"), arcs("y")),
			classic("yx", arcs("y"), arcs("z"))), []string{"z"}, 6, 6, 0},
		{"philosophers", philosophers(8), nil, 1154, 300, 1},
	} {
		p := nettest.Compile(t, c.net)
		full := exploreNet(t, c.net, Options{Semantics: netmodel.Interleave})
		g, err := Explore(context.Background(), p, Options{Semantics: netmodel.Interleave,
			Reduce: &Reduction{Exprs: c.exprs}})
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%s: %d of %d markings", c.name, g.States(), full.States())
		for _, expr := range c.exprs {
			if !satisfied(t, g, expr) {
				t.Errorf("%s: %s is lost", c.name, expr)
			}
		}
		if full.States() != c.full || g.States() > c.most || len(g.Dead()) != c.dead {
			t.Errorf("%s: %d markings of %d, %d dead, reduced %t; want %d of %d, %d", c.name, g.States(), full.States(),
				len(g.Dead()), g.Reduced, c.most, c.full, c.dead)
		}
	}
}

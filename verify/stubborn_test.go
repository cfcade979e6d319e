package verify

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/voicegw/voicegw/petri"
)

// loose is a random net without capacities whose transitions interleave: parts
// that share one place.
func (k weaver) loose() *petri.Program {
	for {
		parts := []*petri.Net{k.loosePart("one"), k.loosePart("two")}
		if k.chance(50) {
			parts = append(parts, k.loosePart("three"))
		}
		n, err := petri.Compose("loose", parts...)
		if err != nil {
			continue
		}
		n.Imported, n.Init = true, many("a", k.IntN(3))
		if p, err := petri.Compile(n); err == nil {
			return p
		}
	}
}

func (k weaver) loosePart(name string) *petri.Net {
	n := k.part(name)
	n.Caps, n.Ports = nil, []petri.AnyPlace{unit("a")}
	n.Init = append(n.Init, hue.Token(shade(k.IntN(2))), age.Token(spark{}))
	for i := range n.Transitions {
		t := &n.Transitions[i]
		t.When, t.Priority = petri.Anytime(), 0
		if k.chance(75) {
			t.Bump, t.Reset = false, nil
		}
	}
	if name == "one" && k.chance(20) {
		n.Final = unit("end")
		n.Transitions[0].Out = petri.And(unit("end"))
	}
	return n
}

// expr is a random expression over places of a net.
func (k weaver) expr(p *petri.Program) string {
	some := func() string {
		i := k.IntN(p.Slots())
		return fmt.Sprintf("%q %s %d", p.SlotName(i), []string{">=", "=="}[k.IntN(2)], k.IntN(3))
	}
	switch k.IntN(5) {
	case 0:
		return some() + " && can(" + p.Transitions()[k.IntN(len(p.Transitions()))].Name + ")"
	case 1:
		return some() + " && dead"
	case 2:
		return some()
	case 3:
		return "false"
	default:
		return some() + " && " + some()
	}
}

// TestReducedAgrees: on random nets a reduced search finds the same dead markings
// and the same answers as a full one.
func TestReducedAgrees(t *testing.T) {
	ctx := context.Background()
	looked, reduced, full, kept := 0, 0, 0, 0
	for seed := range uint64(600) {
		k := weaver{Rand: rand.New(rand.NewPCG(seed, 4))}
		p := k.loose()
		m := NewModel(p, Interleave)
		g, err := ExploreModel(ctx, m, Options{Max: 800})
		if err != nil {
			t.Fatal(err)
		}
		if !g.Complete || len(g.Faults) > 0 {
			continue
		}
		looked++
		expr := k.expr(p)
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
	truth, err := g.truth(expr)
	if err != nil {
		t.Fatal(err)
	}
	return slices.Contains(truth, true)
}

// rings are n rings that have nothing to do with each other.
func rings(n int) *petri.Net {
	net := &petri.Net{Name: "rings", Imported: true}
	for i := range n {
		a, b, c := fmt.Sprint("a", i), fmt.Sprint("b", i), fmt.Sprint("c", i)
		net.Init = append(net.Init, tokens(a)...)
		net.Transitions = append(net.Transitions, classic("ab"+a, arcs(a), arcs(b)), classic("bc"+a, arcs(b), arcs(c)))
	}
	return net
}

func TestReducedCounts(t *testing.T) {
	for _, c := range []struct {
		name       string
		net        *petri.Net
		exprs      []string
		full, most int
		dead       int
	}{
		{"rings", rings(6), nil, 729, 13, 1},
		{"rings looked at", rings(6), []string{"b0 && b1"}, 729, 30, 1},
		{"something spins", imported(tokens("a", "x"), classic("ab", arcs("a"), arcs("b")),
			classic("ba", arcs("b"), arcs("a")), classic("xy", arcs("x"), arcs("y")),
			classic("yx", arcs("y"), arcs("z"))), []string{"z"}, 6, 6, 0},
		{"philosophers", philosophers(8), nil, 1154, 300, 1},
	} {
		p := compile(t, c.net)
		full := explore(t, c.net, Options{Semantics: Interleave})
		g, err := Explore(context.Background(), p, Options{Semantics: Interleave, Reduce: &Reduction{Exprs: c.exprs}})
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

// TestReduceRun: verdicts of a reduced run, and what is not reduced.
func TestReduceRun(t *testing.T) {
	ctx := context.Background()
	p := compile(t, rings(4))
	c := Config{Semantics: Interleave, Reduce: true, Certify: true}
	r, err := Run(ctx, p, c, Never("b0 && a0"), Reach("b0 && a1"))
	if err != nil {
		t.Fatal(err)
	}
	if r.Outcome() != Proved || r.Certificate != nil || !strings.HasSuffix(r.Results[0].Reason, "(reduced)") {
		t.Errorf("%v, certificate %v", r, r.Certificate)
	}
	if _, err = r.Graph.Certify(Never("false")); err == nil {
		t.Error("a reduced graph certifies")
	}
	if r, err = Run(ctx, p, c, DeadlockFree()); err != nil || r.Outcome() != Refuted || r.Graph.States() > 10 {
		t.Errorf("%v, %v", r, err)
	}
	if r, err = Run(ctx, p, c, DeadlockFree(), Fires()); err != nil || r.Graph.Reduced {
		t.Errorf("what fires is asked of a reduced graph: %v, %v", r, err)
	}
	atOnce := imported(tokens("a"), atOnce("go", arcs("a"), arcs("b")), classic("back", arcs("b"), arcs("a")))
	_, err = Explore(ctx, compile(t, atOnce), Options{Reduce: &Reduction{}})
	if err == nil || !strings.Contains(err.Error(), "run to completion") {
		t.Errorf("a net that runs to completion is reduced: %v", err)
	}
	if r, err = Run(ctx, compile(t, atOnce), Config{Reduce: true}, DeadlockFree()); err != nil || r.Outcome() != Proved {
		t.Errorf("%v, %v", r, err)
	}
}

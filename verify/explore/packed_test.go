package explore

import (
	"context"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/verify/netmodel"
	"github.com/voicegw/voicegw/verify/nettest"
)

// walked explores with the walker alone.
func walked(t *testing.T, m *netmodel.Model, max int) *Graph {
	t.Helper()
	e := newExplorer(m, Options{})
	e.start()
	for i := 0; i < e.g.set.Len(); i++ {
		if e.g.set.Len() > max {
			return e.g
		}
		e.expand(i)
	}
	e.g.Complete = !e.w.Cut
	return e.g
}

// sameGraph compares all that two explorations found, in order.
func sameGraph(t *testing.T, have, want *Graph) bool {
	t.Helper()
	ok := have.States() == want.States() && have.Complete == want.Complete && have.Chain == want.Chain
	for i := 0; ok && i < want.States(); i++ {
		m := want.Marking(i, nil)
		ok = reflect.DeepEqual(have.Marking(i, nil), m) && have.Find(m) == i
	}
	return ok && reflect.DeepEqual(have.parent, want.parent) && reflect.DeepEqual(have.by, want.by) &&
		reflect.DeepEqual(have.edges, want.edges) && reflect.DeepEqual(have.firstE, want.firstE) &&
		reflect.DeepEqual(have.fired, want.fired) && reflect.DeepEqual(have.roots, want.roots) &&
		reflect.DeepEqual(have.Faults, want.Faults) && reflect.DeepEqual(have.Refusals, want.Refusals)
}

// TestPackedAgrees: on random nets firing packed markings finds what the walker finds: the same
// states in the same order, edges, first firings and faults.
func TestPackedAgrees(t *testing.T) {
	looked, wide, faults, kinds := 0, 0, 0, 0
	agree := func(seed uint64, p *petri.Program) {
		m := netmodel.New(p, netmodel.Interleave)
		g, err := ExploreModel(context.Background(), m, Options{Max: 600})
		if err != nil {
			t.Fatal(err)
		}
		want := walked(t, m, 600)
		if !sameGraph(t, g, want) {
			t.Fatalf("seed %d: %d states, %d edges, %d faults; the walker finds %d, %d, %d", seed, g.States(), g.Edges(),
				len(g.Faults), want.States(), want.Edges(), len(want.Faults))
		}
		if g.States() < 4 {
			return
		}
		looked++
		if g.set.each == 2 {
			wide++
		}
		if len(g.Faults) > 0 {
			faults++
		}
	}
	for seed := range uint64(1500) {
		k := nettest.Weaver{Rand: rand.New(rand.NewPCG(seed, 9))}
		if p, err := petri.Compile(k.Spread()); err == nil {
			agree(seed, p)
		}
		if seed%3 == 0 {
			agree(seed, k.Loose())
			agree(seed, k.Program())
			kinds += 2
		}
	}
	t.Logf("%d nets, %d with large counts, %d with faults, %d of several kinds", looked, wide, faults, kinds)
	if looked < 600 || wide < 60 || faults < 60 {
		t.Errorf("only %d nets, %d with large counts, %d with faults", looked, wide, faults)
	}
}

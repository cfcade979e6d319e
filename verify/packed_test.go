package verify

import (
	"context"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/voicegw/voicegw/petri"
)

// walked explores with the walker alone.
func walked(t *testing.T, m *Model, max int) *Graph {
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

// spread is a random net of units with weights, inhibitors, resets and capacities
// whose transitions may fire at any time.
func (k weaver) spread() *petri.Net {
	n := imported(nil)
	places := 2 + k.IntN(24)
	name := func() unit { return unit("p" + string(rune('a'+k.IntN(places)))) }
	weight := func() int {
		if k.chance(15) {
			return 1 + k.IntN(90)
		}
		return 1
	}
	for range 1 + k.IntN(6) {
		n.Init = append(n.Init, many(string(name()), 1+k.IntN(3))...)
	}
	for i := range 2 + k.IntN(14) {
		t := petri.Transition{Name: "t" + string(rune('a'+i)), When: petri.Anytime()}
		var out []petri.AnyArc
		put := map[unit]bool{}
		for range 1 + k.IntN(3) {
			switch p := name(); {
			case put[p]:
			case k.chance(70):
				out, put[p] = append(out, p.Exactly(weight())), true
			}
		}
		used := map[unit]bool{}
		for range 1 + k.IntN(3) {
			p := name()
			if used[p] {
				continue
			}
			used[p] = true
			switch k.IntN(8) {
			case 0:
				t.Inhibit = append(t.Inhibit, p.Exactly(1+k.IntN(3)))
			case 1:
				t.Reset = append(t.Reset, p)
			case 2:
				t.Read = append(t.Read, p.Exactly(1+k.IntN(2)))
			case 3:
				t.In = append(t.In, p.All())
			default:
				t.In = append(t.In, p.Exactly(1+k.IntN(2)))
			}
		}
		t.Out = petri.And(out...)
		n.Transitions = append(n.Transitions, t)
	}
	for range k.IntN(3) {
		n.Caps = append(n.Caps, petri.Cap{Place: name(), Max: 3 + k.IntN(200)})
	}
	return n
}

// TestPackedAgrees: on random nets firing packed markings finds what the walker
// finds: the same states in the same order, edges, first firings and faults.
func TestPackedAgrees(t *testing.T) {
	looked, wide, faults, kinds := 0, 0, 0, 0
	agree := func(seed uint64, p *petri.Program) {
		m := NewModel(p, Interleave)
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
		k := weaver{Rand: rand.New(rand.NewPCG(seed, 9))}
		if p, err := petri.Compile(k.spread()); err == nil {
			agree(seed, p)
		}
		if seed%3 == 0 {
			agree(seed, k.loose())
			agree(seed, k.program())
			kinds += 2
		}
	}
	t.Logf("%d nets, %d with large counts, %d with faults, %d of several kinds", looked, wide, faults, kinds)
	if looked < 600 || wide < 60 || faults < 60 {
		t.Errorf("only %d nets, %d with large counts, %d with faults", looked, wide, faults)
	}
}

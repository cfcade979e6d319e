package netfile

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/verify/explore"
	"github.com/voicegw/voicegw/verify/netmodel"
)

// turned is a colour with two keys and a generation.
type turned struct{}

func (turned) Key() petri.Key        { return 0 }
func (turned) KeyNames() []string    { return []string{"light", "dark"} }
func (turned) Generation() petri.Gen { return 0 }

// markings are those of a graph in which keep holds, on the places of a program.
func markings(g *explore.Graph, p *petri.Program, keep func([]int32) bool) []string {
	q := g.Model.Program()
	seen := map[string]bool{}
	g.Each(func(_ int, m []int32) bool {
		if !keep(m) {
			return true
		}
		var row []int32
		for s := range p.Slots() {
			row = append(row, m[q.Places()[q.Place(name(p, q, s))].Slot])
		}
		seen[fmt.Sprint(row)] = true
		return true
	})
	return slices.Sorted(maps.Keys(seen))
}

// name is what a file calls a slot.
func name(p, q *petri.Program, slot int) string {
	if n := p.SlotName(slot); q.Place(n) >= 0 {
		return n
	}
	panic("no place " + p.SlotName(slot))
}

// ours are the markings of a program itself.
func ours(g *explore.Graph) []string {
	var out []string
	g.Each(func(_ int, m []int32) bool {
		out = append(out, fmt.Sprint(m[:g.Model.Program().Slots()]))
		return true
	})
	slices.Sort(out)
	return out
}

// writesAndReads compares the markings of a program with those of what is written of it: as TINA's
// net those in which nothing fires at once, as PNML those that are not amid a firing. It reports
// false where there are too many, or capacities matter, which files do not have.
func writesAndReads(t *testing.T, about string, p *petri.Program, most int) bool {
	t.Helper()
	ctx := context.Background()
	want, err := explore.Explore(ctx, p, explore.Options{Max: most})
	if err != nil {
		t.Fatal(err)
	}
	if !want.Complete || len(want.Faults) > 0 || len(want.Refusals) > 0 {
		return false
	}
	text, err := WriteTINA(p, netmodel.RunToCompletion)
	if err != nil {
		t.Fatalf("%s: %v", about, err)
	}
	m := read(t, string(text))
	g, err := explore.ExploreModel(ctx, m, explore.Options{Max: 50 * most})
	if err != nil || !g.Complete {
		t.Fatalf("%s: %v, %d markings\n%s", about, err, g.States(), text)
	}
	rests := func(marking []int32) bool {
		for _, u := range m.Timed() {
			if m.When(u) == (petri.Interval{}) && m.Enabled(u, marking) {
				return false
			}
		}
		return true
	}
	if have := markings(g, p, rests); !slices.Equal(have, ours(want)) {
		t.Errorf("%s: %d markings, %d in the file\n%s", about, want.States(), len(have), text)
		return true
	}
	free, err := explore.Explore(ctx, p, explore.Options{Max: most, Semantics: netmodel.Interleave})
	if err != nil {
		t.Fatal(err)
	}
	if !free.Complete || len(free.Faults) > 0 || len(free.Refusals) > 0 {
		return true
	}
	if text, err = WritePNML(p); err != nil {
		t.Fatalf("%s: %v", about, err)
	}
	g, err = explore.ExploreModel(ctx, read(t, string(text)), explore.Options{Max: 50 * most})
	if err != nil || !g.Complete {
		t.Fatalf("%s: %v, %d markings\n%s", about, err, g.States(), text)
	}
	lock := g.Model.Program().Place("amid a firing")
	whole := func(marking []int32) bool {
		return lock < 0 || marking[g.Model.Program().Places()[lock].Slot] == 0
	}
	if have := markings(g, p, whole); !slices.Equal(have, ours(free)) {
		t.Errorf("%s: %d markings, %d in the PNML file\n%s", about, free.States(), len(have), text)
	}
	return true
}

// random is a net with colours, generations, resets, drains and sums.
func random(r *rand.Rand) *petri.Net {
	units := []petri.Place[petri.Unit]{"a", "b", "c"}
	colours := []petri.Place[turned]{"x", "y"}
	arc := func() petri.Arc {
		if r.IntN(2) == 0 {
			return units[r.IntN(3)].One()
		}
		a := colours[r.IntN(2)].One()
		if r.IntN(2) == 0 {
			a = a.Is(petri.Key(r.IntN(2)))
		}
		return [](func() petri.Arc){a.Fresh, a.Stale, func() petri.Arc { return a }}[r.IntN(3)]()
	}
	few := func(arcs ...petri.AnyArc) petri.Arcs { return arcs[:r.IntN(len(arcs)+1)] }
	made := func() petri.AnyArc {
		if r.IntN(2) == 0 {
			return units[r.IntN(3)]
		}
		return colours[r.IntN(2)].Is(petri.Key(r.IntN(2))).Fresh()
	}
	n := &petri.Net{Name: "random", Imported: true, Init: []petri.Token{units[0].Token(petri.Unit{}),
		units[1].Token(petri.Unit{}), colours[0].Token(turned{}), colours[0].Token(turned{}), colours[1].Token(turned{})}}
	for i := range 5 {
		t := petri.Transition{Name: fmt.Sprint("t", i), In: append(few(arc()), arc()), Read: few(arc()),
			Inhibit: few(arc().AtLeast(1+r.IntN(3)), colours[r.IntN(2)].AtLeast(2)), Reset: few(arc()), Bump: r.IntN(3) == 0,
			Out: petri.And(few(made(), made())...)}
		if r.IntN(3) == 0 {
			t.In = append(t.In, arc().All())
		}
		if r.IntN(2) == 0 {
			t.When = petri.After(time.Second)
		}
		n.Transitions = append(n.Transitions, t)
	}
	return n
}

// TestExpand: of random nets, what is written has the markings of the net.
func TestExpand(t *testing.T) {
	done := 0
	for seed := uint64(1); done < 100 && seed < 20000 && !t.Failed(); seed++ {
		p, err := petri.Compile(random(rand.New(rand.NewPCG(seed, 29))))
		if err == nil && writesAndReads(t, fmt.Sprint("seed ", seed), p, 300) {
			done++
		}
	}
	if done < 100 {
		t.Errorf("only %d nets", done)
	}
}

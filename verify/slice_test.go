package verify

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/voicegw/voicegw/petri"
)

// shade is a colour with keys, spark one with a generation.
type (
	shade uint8
	spark struct{ at petri.Gen }
)

func (s shade) Key() petri.Key        { return petri.Key(s) }
func (shade) KeyNames() []string      { return []string{"light", "dark"} }
func (s spark) Generation() petri.Gen { return s.at }

// weaver makes random composed nets: parts that share ports and have places of
// their own.
type weaver struct {
	*rand.Rand
	waits func(t *petri.Transition) // changes waits; may be nil
}

const (
	hue petri.Place[shade] = "hue" // shared
	age petri.Place[spark] = "age"
	ink petri.Place[shade] = "ink" // private
	dew petri.Place[spark] = "dew"
)

func (k weaver) chance(percent int) bool { return k.IntN(100) < percent }

// arc is an arc to a shared or a private place.
func (k weaver) arc(in bool) petri.AnyArc {
	n := 1 + k.IntN(8)/7
	switch i := k.IntN(10); i {
	case 0, 1:
		p := []petri.Place[shade]{hue, ink}[i]
		if !in || k.chance(50) {
			return p.Is(shade(k.IntN(2))).Exactly(n)
		}
		return p.Exactly(n)
	case 2, 3:
		p := []petri.Place[spark]{age, dew}[i-2]
		switch {
		case !in || k.chance(50):
			return p.Fresh().Exactly(n)
		case k.chance(30):
			return p.Stale().Exactly(n)
		}
		return p.Exactly(n)
	default:
		p := unit([]string{"a", "b", "c", "x", "y", "z"}[i-4])
		if in && k.chance(10) {
			return p.AtLeast(n)
		}
		return p.Exactly(n)
	}
}

func (k weaver) some(in bool, most int) petri.Arcs {
	var out petri.Arcs
	seen := map[string]bool{}
	for range k.IntN(most + 1) {
		a := k.arc(in)
		if name := petri.ArcPlace(a).String(); !seen[name] {
			seen[name] = true
			out = append(out, a)
		}
	}
	return out
}

func (k weaver) transition(name string) petri.Transition {
	t := petri.Transition{Name: name, In: k.some(true, 2), Read: k.some(true, 1), Inhibit: k.some(true, 1),
		Bump: k.chance(15), When: petri.Anytime(), Action: func(*petri.Firing) { panic("nobody fires it") }}
	if len(t.In) == 0 {
		t.In = petri.Arcs{k.arc(true)}
	}
	if k.chance(20) {
		t.Reset = k.some(true, 1)
	}
	if k.chance(60) {
		t.When, t.Priority = petri.Interval{}, k.IntN(3)
	}
	t.Out = petri.And(k.some(false, 3)...)
	switch {
	case k.chance(15):
		t.Out = petri.Free(k.some(false, 2), k.some(false, 1))
	case k.chance(20):
		k.relate(&t)
	}
	if k.waits != nil {
		k.waits(&t)
	}
	return t
}

// relate makes what a transition does depend on the key of what it takes.
func (k weaver) relate(t *petri.Transition) {
	from := []petri.Place[shade]{hue, ink}
	if k.chance(50) {
		slices.Reverse(from)
	}
	t.In, t.Read = petri.Arcs{from[0], unit("a")}, nil
	switch k.IntN(4) {
	case 0:
		t.Out = petri.Xor(petri.Arcs{unit("b")}, petri.Arcs{unit("x")}).By(func(keys *petri.Keys) int {
			return int(from[0].Key(keys))
		})
	case 1:
		t.Out = petri.And(from[1].KeyBy(func(keys *petri.Keys) petri.Key { return 1 - from[0].Key(keys) }))
	case 2:
		t.Out = petri.And(from[1].Passing(from[0]))
	default:
		t.In = petri.Arcs{from[0], from[1]}
		t.Guard = func(keys *petri.Keys) bool { return from[0].Key(keys) == from[1].Key(keys) }
		t.Out = petri.And(unit("a"))
	}
}

// part is a subnet with places of its own: ink, dew, x, y and z.
func (k weaver) part(name string) *petri.Net {
	n := &petri.Net{Name: name, Imported: true,
		Init: append(many("x", k.IntN(3)), ink.Token(shade(k.IntN(2))), dew.Token(spark{}))}
	for i := range 2 + k.IntN(4) {
		n.Transitions = append(n.Transitions, k.transition(fmt.Sprint("t", i)))
	}
	used := map[string]petri.AnyPlace{}
	for _, p := range []petri.AnyPlace{hue, age, ink, dew} {
		used[p.String()] = p
	}
	for _, p := range []string{"a", "b", "c", "x", "y", "z"} {
		used[p] = unit(p)
	}
	for _, p := range []string{"hue", "age", "a", "b", "c"} {
		n.Ports = append(n.Ports, used[p])
	}
	for _, p := range []string{"hue", "age", "a", "b", "c", "ink", "dew", "x", "y", "z"} {
		n.Caps = append(n.Caps, petri.Cap{Place: used[p], Max: 2})
	}
	return n
}

// program is a random composed net that compiles.
func (k weaver) program() *petri.Program {
	for {
		parts := []*petri.Net{k.part("one"), k.part("two")}
		if k.chance(50) {
			parts = append(parts, k.part("three"))
		}
		join := petri.Compose
		if k.chance(40) {
			join = func(name string, list ...*petri.Net) (*petri.Net, error) {
				return petri.Close(name, list[0], list[1:]...)
			}
			parts[0].Env = []petri.Env{{Place: unit("c"), Capacity: 2}, {Place: hue, Capacity: 2}}
		}
		n, err := join("woven", parts...)
		if err != nil {
			continue
		}
		n.Imported = true
		n.Init = append(many("a", 1+k.IntN(2)), hue.Token(shade(k.IntN(2))), age.Token(spark{}))
		if k.chance(30) {
			parts[0].Final = unit("end")
			parts[0].Transitions[0].Out = petri.And(unit("end"))
		}
		if p, err := petri.Compile(n); err == nil {
			return p
		}
	}
}

// cut is a random slice: some subnets, transitions or places.
func (k weaver) slice(tb testing.TB, p *petri.Program) *petri.Program {
	s := Slice{Name: "part"}
	switch k.IntN(3) {
	case 0:
		s.Keep = []string{[]string{"one", "two"}[k.IntN(2)]}
	case 1:
		for range 1 + k.IntN(3) {
			s.Keep = append(s.Keep, p.Transitions()[k.IntN(len(p.Transitions()))].Name)
		}
	default:
		for range 1 + k.IntN(4) {
			s.Places = append(s.Places, p.Places()[k.IntN(len(p.Places()))].Name)
		}
	}
	c, err := s.Of(p)
	if err != nil {
		tb.Fatal(err)
	}
	return c
}

// projection is a marking of the whole on the places of a slice.
func projection(whole, part *petri.Program, marking []int32) []int32 {
	out := make([]int32, part.Slots())
	for s := range out {
		pl := &part.Places()[part.SlotPlace(s)]
		w := &whole.Places()[whole.Place(pl.Name)]
		out[s] = marking[w.Slot+s-pl.Slot]
	}
	return out
}

const woven = 4000 // markings of a whole net, and of its slices, at most

// TestSlicesSimulate: of random nets, every marking at which the whole rests is,
// on the places of a slice, one at which the slice rests.
func TestSlicesSimulate(t *testing.T) {
	ctx := context.Background()
	looked, interrupted, smaller := 0, 0, 0
	for seed := range uint64(3000) {
		k := weaver{Rand: rand.New(rand.NewPCG(seed, 1))}
		p := k.program()
		whole, err := Explore(ctx, p, Options{Max: woven})
		if err != nil {
			t.Fatal(err)
		}
		part := k.slice(t, p)
		g, err := Explore(ctx, part, Options{Max: 4 * woven})
		if err != nil {
			t.Fatal(err)
		}
		if !g.Complete {
			continue
		}
		looked++
		if !g.Model.Layered() {
			interrupted++
		}
		if g.States() < whole.States() {
			smaller++
		}
		whole.Each(func(i int, m []int32) bool {
			at := projection(p, part, m)
			if j := g.Find(at); j < 0 || g.amidst != nil && g.amidst[j] {
				t.Errorf("seed %d: %s is not reached in the slice %v\n%s", seed, g.Model.Format(at), transitionsOf(part),
					whole.Format(whole.PathTo(i)))
				return false
			}
			return true
		})
		if t.Failed() {
			return
		}
		if seed%10 == 0 {
			certifySlice(t, g)
		}
	}
	t.Logf("%d slices, %d with moves in the midst of chains, %d smaller than the whole", looked, interrupted, smaller)
	if looked < 1000 || interrupted < 300 || smaller < 200 {
		t.Errorf("only %d slices, %d with moves in the midst of chains, %d smaller", looked, interrupted, smaller)
	}
}

func transitionsOf(p *petri.Program) string {
	var out []string
	for _, t := range p.Transitions() {
		out = append(out, t.Name)
	}
	return strings.Join(out, " ")
}

// certifySlice: the checker agrees with the graph of a slice, and misses each
// marking that is not listed.
func certifySlice(t *testing.T, g *Graph) {
	t.Helper()
	prop := Never("false")
	c, err := g.Certify(prop)
	if err != nil {
		t.Fatal(err)
	}
	if err = c.Check(context.Background(), g.Model, prop); err != nil && len(g.Faults) == 0 {
		t.Fatal(err)
	}
	if len(g.Faults) > 0 || g.States() < 2 {
		return
	}
	skip := 1 + g.States()/2
	short := *g
	short.set = NewMarkingSet(g.set.slots)
	g.all(func(i int, m []int32) bool {
		if i != skip%g.States() {
			short.set.Add(m)
		}
		return true
	})
	if c, err = short.Certify(prop); err == nil {
		err = c.Check(context.Background(), g.Model, prop)
	}
	if !errors.Is(err, ErrCertificate) {
		t.Fatalf("a list without one marking: %v", err)
	}
}

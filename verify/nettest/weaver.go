package nettest

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/verify/slice"
)

// Spread is a random net of units with weights, inhibitors, resets and capacities whose transitions
// may fire at any time.
func (k Weaver) Spread() *petri.Net {
	n := Imported(nil)
	places := 2 + k.IntN(24)
	name := func() Unit { return Unit("p" + string(rune('a'+k.IntN(places)))) }
	weight := func() int {
		if k.chance(15) {
			return 1 + k.IntN(90)
		}
		return 1
	}
	for range 1 + k.IntN(6) {
		n.Init = append(n.Init, Many(string(name()), 1+k.IntN(3))...)
	}
	for i := range 2 + k.IntN(14) {
		t := petri.Transition{Name: "t" + string(rune('a'+i)), When: petri.Anytime()}
		var out []petri.AnyArc
		put := map[Unit]bool{}
		for range 1 + k.IntN(3) {
			switch p := name(); {
			case put[p]:
			case k.chance(70):
				out, put[p] = append(out, p.Exactly(weight())), true
			}
		}
		used := map[Unit]bool{}
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

// shade is a colour with keys, spark one with a generation.
type (
	shade uint8
	spark struct{ at petri.Gen }
)

func (s shade) Key() petri.Key { return petri.Key(s) }

func (shade) KeyNames() []string { return []string{"light", "dark"} }

func (s spark) Generation() petri.Gen { return s.at }

// Weaver makes random composed nets: parts that share ports and have places of their own.
type Weaver struct {
	*rand.Rand
	waits func(t *petri.Transition) // changes waits; may be nil
}

const (
	Hue petri.Place[shade] = "hue" // shared
	age petri.Place[spark] = "age"
	ink petri.Place[shade] = "ink" // private
	dew petri.Place[spark] = "dew"
)

func (k Weaver) chance(percent int) bool { return k.IntN(100) < percent }

// arc is an arc to a shared or a private place.
func (k Weaver) arc(in bool) petri.AnyArc {
	n := 1 + k.IntN(8)/7
	switch i := k.IntN(10); i {
	case 0, 1:
		p := []petri.Place[shade]{Hue, ink}[i]
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
		p := Unit([]string{"a", "b", "c", "x", "y", "z"}[i-4])
		if in && k.chance(10) {
			return p.AtLeast(n)
		}
		return p.Exactly(n)
	}
}

func (k Weaver) some(in bool, most int) petri.Arcs {
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

func (k Weaver) transition(name string) petri.Transition {
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
func (k Weaver) relate(t *petri.Transition) {
	from := []petri.Place[shade]{Hue, ink}
	if k.chance(50) {
		slices.Reverse(from)
	}
	t.In, t.Read = petri.Arcs{from[0], Unit("a")}, nil
	switch k.IntN(4) {
	case 0:
		t.Out = petri.Xor(petri.Arcs{Unit("b")}, petri.Arcs{Unit("x")}).By(func(keys *petri.Keys) int {
			return int(from[0].Key(keys))
		})
	case 1:
		t.Out = petri.And(from[1].KeyBy(func(keys *petri.Keys) petri.Key { return 1 - from[0].Key(keys) }))
	case 2:
		t.Out = petri.And(from[1].Passing(from[0]))
	default:
		t.In = petri.Arcs{from[0], from[1]}
		t.Guard = func(keys *petri.Keys) bool { return from[0].Key(keys) == from[1].Key(keys) }
		t.Out = petri.And(Unit("a"))
	}
}

// part is a subnet with places of its own: ink, dew, x, y and z.
func (k Weaver) part(name string) *petri.Net {
	n := &petri.Net{Name: name, Imported: true,
		Init: append(Many("x", k.IntN(3)), ink.Token(shade(k.IntN(2))), dew.Token(spark{}))}
	for i := range 2 + k.IntN(4) {
		n.Transitions = append(n.Transitions, k.transition(fmt.Sprint("t", i)))
	}
	used := map[string]petri.AnyPlace{}
	for _, p := range []petri.AnyPlace{Hue, age, ink, dew} {
		used[p.String()] = p
	}
	for _, p := range []string{"a", "b", "c", "x", "y", "z"} {
		used[p] = Unit(p)
	}
	for _, p := range []string{"hue", "age", "a", "b", "c"} {
		n.Ports = append(n.Ports, used[p])
	}
	for _, p := range []string{"hue", "age", "a", "b", "c", "ink", "dew", "x", "y", "z"} {
		n.Caps = append(n.Caps, petri.Cap{Place: used[p], Max: 2})
	}
	return n
}

// Program is a random composed net that compiles.
func (k Weaver) Program() *petri.Program {
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
			parts[0].Env = []petri.Env{{Place: Unit("c"), Capacity: 2}, {Place: Hue, Capacity: 2}}
		}
		n, err := join("woven", parts...)
		if err != nil {
			continue
		}
		n.Imported = true
		n.Init = append(Many("a", 1+k.IntN(2)), Hue.Token(shade(k.IntN(2))), age.Token(spark{}))
		if k.chance(30) {
			parts[0].Final = Unit("end")
			parts[0].Transitions[0].Out = petri.And(Unit("end"))
		}
		if p, err := petri.Compile(n); err == nil {
			return p
		}
	}
}

// cut is a random slice: some subnets, transitions or places.
func (k Weaver) Slice(tb testing.TB, p *petri.Program) *petri.Program {
	s := slice.Slice{Name: "part"}
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

// Projection is a marking of the whole on the places of a slice.
func Projection(whole, part *petri.Program, marking []int32) []int32 {
	out := make([]int32, part.Slots())
	for s := range out {
		pl := &part.Places()[part.SlotPlace(s)]
		w := &whole.Places()[whole.Place(pl.Name)]
		out[s] = marking[w.Slot+s-pl.Slot]
	}
	return out
}

// Loose is a random net without capacities whose transitions interleave: parts that share one
// place.
func (k Weaver) Loose() *petri.Program {
	for {
		parts := []*petri.Net{k.loosePart("one"), k.loosePart("two")}
		if k.chance(50) {
			parts = append(parts, k.loosePart("three"))
		}
		n, err := petri.Compose("loose", parts...)
		if err != nil {
			continue
		}
		n.Imported, n.Init = true, Many("a", k.IntN(3))
		if p, err := petri.Compile(n); err == nil {
			return p
		}
	}
}

func (k Weaver) loosePart(name string) *petri.Net {
	n := k.part(name)
	n.Caps, n.Ports = nil, []petri.AnyPlace{Unit("a")}
	n.Init = append(n.Init, Hue.Token(shade(k.IntN(2))), age.Token(spark{}))
	for i := range n.Transitions {
		t := &n.Transitions[i]
		t.When, t.Priority = petri.Anytime(), 0
		if k.chance(75) {
			t.Bump, t.Reset = false, nil
		}
	}
	if name == "one" && k.chance(20) {
		n.Final = Unit("end")
		n.Transitions[0].Out = petri.And(Unit("end"))
	}
	return n
}

// Expr is a random expression over places of a net.
func (k Weaver) Expr(p *petri.Program) string {
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

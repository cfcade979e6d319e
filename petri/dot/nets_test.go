package dot

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/voicegw/voicegw/petri"
)

type unit = petri.Unit

type side uint8

func (s side) Key() petri.Key     { return petri.Key(s) }
func (s side) KeyNames() []string { return []string{"left", "right"} }

// everything has every kind of place, transition and arc, in two subnets.
func everything(t testing.TB) *petri.Program {
	const (
		press  = petri.Place[side]("press")
		frames = petri.Place[[]int16]("frames")
		sent   = petri.Place[[]int16]("sent")
		idle   = petri.Place[unit]("idle")
		busy   = petri.Place[unit]("busy")
		credit = petri.Place[unit]("credit")
		spent  = petri.Place[unit]("spent")
		said   = petri.Place[unit](`said "<hello> & goodbye"`)
		over   = petri.Place[unit]("over")
	)
	gate := &petri.Net{
		Name: "gate", Ports: []petri.AnyPlace{press, frames, sent, idle, busy, credit},
		Env:  []petri.Env{{Place: press, Capacity: 4}, {Place: frames, Capacity: 50, Policy: petri.DropOldest}},
		Out:  []petri.Output{{Place: sent}},
		Init: []petri.Token{idle.Token(unit{}), credit.Token(unit{}), credit.Token(unit{})},
		Caps: []petri.Cap{{Place: credit, Max: 3}},
		Transitions: []petri.Transition{
			{Name: "begin", In: petri.Arcs{press.Is(side(0)), idle}, Out: petri.And(busy), Bump: true},
			{Name: "ignore", In: petri.Arcs{press}, Read: petri.Arcs{busy}, Priority: -1},
			{Name: "pass", In: petri.Arcs{frames}, Read: petri.Arcs{busy}, Out: petri.And(sent)},
			{Name: "drop", In: petri.Arcs{frames}, Inhibit: petri.Arcs{busy}},
		},
	}
	tally := &petri.Net{
		Name: "tally", Ports: []petri.AnyPlace{busy, idle, credit, said, over},
		Out: []petri.Output{{Place: said, Durable: true}},
		Transitions: []petri.Transition{
			{Name: "spend", In: petri.Arcs{credit.Exactly(2)}, Read: petri.Arcs{busy}, Out: petri.And(spent.Exactly(3))},
			{Name: "tell", In: petri.Arcs{spent.AtLeast(2)}, When: petri.After(2 * time.Minute),
				Out: petri.Free(petri.Arcs{said}, petri.Arcs{said.Exactly(2)}), Action: func(f *petri.Firing) { f.Choose(0) }},
			{Name: "refill", In: petri.Arcs{busy}, Inhibit: petri.Arcs{spent}, Reset: petri.Arcs{credit},
				Out: petri.And(idle, credit), When: petri.After(300 * time.Millisecond)},
			{Name: "give_up_for_good", In: petri.Arcs{busy}, When: petri.After(time.Hour), Out: petri.And(over)},
		},
		Final: over,
	}
	n, err := petri.Compose("all", gate, tally)
	if err != nil {
		t.Fatal(err)
	}
	return compile(t, n)
}

func compile(t testing.TB, n *petri.Net) *petri.Program {
	t.Helper()
	p, err := petri.Compile(n)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// chain is a flat net of n places in a ring.
func chain(t testing.TB, n int) *petri.Program {
	net := &petri.Net{Name: "ring", Init: []petri.Token{ringPlace(0).Token(unit{})}}
	for i := range n {
		net.Transitions = append(net.Transitions, petri.Transition{
			Name: fmt.Sprintf("step_%d", i), When: petri.After(1),
			In: petri.Arcs{ringPlace(i)}, Out: petri.And(ringPlace((i + 1) % n)),
		})
	}
	return compile(t, net)
}

func ringPlace(i int) petri.Place[unit] { return petri.Place[unit](fmt.Sprintf("at_%d", i)) }

// wild is a random net without a meaning.
func wild(t testing.TB, seed uint64) *petri.Program {
	r := rand.New(rand.NewPCG(7, seed))
	part := func(name string) *petri.Net {
		n := &petri.Net{Name: name, Imported: true}
		places := 1 + r.IntN(8)
		at := func() petri.Place[unit] { return petri.Place[unit](fmt.Sprintf("p%d", r.IntN(places))) }
		for i := range 1 + r.IntN(10) {
			tr := petri.Transition{Name: fmt.Sprintf("t%d", i), When: petri.After(time.Duration(r.IntN(3)) * time.Second)}
			tr.In = petri.Arcs{at().Exactly(1 + r.IntN(3))}
			for _, list := range []*petri.Arcs{&tr.Read, &tr.Inhibit, &tr.Reset} {
				if r.IntN(3) == 0 {
					*list = petri.Arcs{at()}
				}
			}
			if r.IntN(4) > 0 {
				tr.Out = petri.And(at())
			}
			n.Transitions = append(n.Transitions, tr)
		}
		for i := range places {
			if r.IntN(3) == 0 {
				n.Ports = append(n.Ports, petri.Place[unit](fmt.Sprintf("p%d", i)))
			}
		}
		return n
	}
	n := part("wild")
	n.Ports = nil
	for i := range r.IntN(4) {
		sub := part(fmt.Sprintf("sub%d", i))
		sub.Ports = used(sub)
		n.Nets = append(n.Nets, sub)
	}
	return compile(t, n)
}

// used removes the ports that the net does not use.
func used(n *petri.Net) []petri.AnyPlace {
	have := map[string]bool{}
	p, err := petri.Compile(&petri.Net{Name: "x", Imported: true, Transitions: n.Transitions})
	if err != nil {
		return nil
	}
	for _, pl := range p.Places() {
		have[pl.Name] = true
	}
	var out []petri.AnyPlace
	for _, pl := range n.Ports {
		if have[pl.String()] {
			out = append(out, pl)
		}
	}
	return out
}

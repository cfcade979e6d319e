package stateclass

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/verify/explore"
	"github.com/voicegw/voicegw/verify/netmodel"
)

// shade is a colour with two keys and a generation.
type shade struct{}

func (shade) Key() petri.Key        { return 0 }
func (shade) KeyNames() []string    { return []string{"light", "dark"} }
func (shade) Generation() petri.Gen { return 0 }

type shadePlace = petri.Place[shade]

// shadeArc is an arc on a coloured place, narrowed in some way.
func (k maker) shadeArc(name string) petri.Arc {
	a := shadePlace(name).One()
	if k.r.IntN(2) == 0 {
		a = a.Is(petri.Key(k.r.IntN(2)))
	}
	switch k.r.IntN(4) {
	case 0:
		a = a.Stale()
	case 1:
		a = a.Fresh()
	}
	return a
}

// coloured is a random net with unit and coloured places, bumps, choices by key, free choices,
// frames and sometimes a final place.
func (k maker) coloured() *petri.Net {
	n := k.net(true)
	n.Env = []petri.Env{{Place: unit("a"), Capacity: 12}, {Place: shadePlace("x"), Capacity: 12},
		{Place: unit("frame"), Capacity: 2, Policy: petri.DropOldest}}
	n.Ports = []petri.AnyPlace{unit("a"), shadePlace("x")}
	for i := range n.Transitions {
		t := &n.Transitions[i]
		switch k.r.IntN(5) {
		case 0:
			t.In = append(t.In, k.shadeArc([]string{"x", "y"}[k.r.IntN(2)]))
		case 1:
			t.Read = append(t.Read, k.shadeArc([]string{"x", "y"}[k.r.IntN(2)]))
		case 2:
			t.Inhibit = append(t.Inhibit, k.shadeArc("y"))
		}
		t.Bump = k.r.IntN(6) == 0
	}
	n.Transitions = append(n.Transitions,
		petri.Transition{Name: "take_x", In: petri.Arcs{shadePlace("x")}, Out: k.answer(), Action: func(*petri.Firing) {}},
		petri.Transition{Name: "drop_y", In: petri.Arcs{k.shadeArc("y")}, When: k.wait(true)},
		petri.Transition{Name: "send", In: petri.Arcs{unit("frame")}, Read: petri.Arcs{unit("b")}})
	if k.r.IntN(4) == 0 {
		n.Final = unit("c")
	}
	return n
}

// answer is what taking a coloured token produces: by its key or freely.
func (k maker) answer() petri.Split {
	keep := petri.Arcs{shadePlace("y").Is(petri.Key(k.r.IntN(2))).Fresh()}
	other := petri.Arcs{unit("b")}
	if k.r.IntN(2) == 0 {
		return petri.Free(keep, other)
	}
	return petri.Xor(keep, other).By(func(keys *petri.Keys) int { return int(shadePlace("x").Key(keys)) })
}

// hand injects units and fresh coloured tokens.
func hand() *petri.Net {
	return &petri.Net{Name: "driver", Ports: []petri.AnyPlace{unit("a"), shadePlace("x")},
		Init: tokens(fmt.Sprintf("credit*%d", injections)), Transitions: []petri.Transition{
			tr("inject", petri.Anytime(), "credit -> a"),
			{Name: "light", In: arcs("credit"), Out: petri.And(shadePlace("x").Is(petri.Key(0)).Fresh()), When: petri.Anytime()},
			{Name: "dark", In: arcs("credit"), Out: petri.And(shadePlace("x").Is(petri.Key(1)).Fresh()), When: petri.Anytime()},
		}}
}

// TestMachineWithColours: machines of nets with keys, generations, bumps, free choices, frames and
// final places rest only where the closed graphs have been, with and without time.
func TestMachineWithColours(t *testing.T) {
	runs, stops := 0, 0
	for seed := uint64(1); runs < 150 && seed < 20000; seed++ {
		k := maker{rand.New(rand.NewPCG(seed, 13))}
		core := k.coloured()
		open, err := petri.Compile(core)
		if err != nil || open.Runnable() != nil {
			continue
		}
		g, u := closedGraphs(t, core, 1500)
		if g == nil {
			continue
		}
		runs++
		for try := range 4 {
			w := &world{t: t, seed: seed, open: open, r: rand.New(rand.NewPCG(seed, uint64(try)))}
			w.allow(g, u)
			stops += w.run()
		}
		if t.Failed() {
			return
		}
	}
	if runs < 150 || stops < 1000 {
		t.Errorf("only %d nets, %d stops", runs, stops)
	}
}

// closedGraphs are the graphs with and without time of a net closed with a hand; nil if it has more
// than max classes, or faults.
func closedGraphs(t testing.TB, core *petri.Net, max int) (*Graph, *explore.Graph) {
	t.Helper()
	p, err := closeWith(core, hand())
	if err != nil {
		return nil, nil
	}
	m := netmodel.New(p, netmodel.RunToCompletion)
	g, err := Explore(context.Background(), m, Options{Max: max})
	if err != nil || !g.Complete || len(g.Faults) > 0 {
		return nil, nil
	}
	u, err := explore.ExploreModel(context.Background(), m, explore.Options{Max: 4 * max})
	if err != nil {
		t.Fatal(err)
	}
	return g, u
}

func closeWith(core, automaton *petri.Net) (*petri.Program, error) {
	n, err := petri.Close("closed", core, automaton)
	if err != nil {
		return nil, err
	}
	return petri.Compile(n)
}

// world drives one machine at random.
type world struct {
	t     *testing.T
	seed  uint64
	open  *petri.Program
	r     *rand.Rand
	timed map[string]bool
	loose map[string]bool // nil if the graph without time is not complete
}

func (w *world) allow(g *Graph, u *explore.Graph) {
	p := g.Model.Program()
	w.timed = map[string]bool{}
	g.Each(func(_ int, m []int32) bool {
		w.timed[w.key(project(w.open, p, m))] = true
		return true
	})
	if !u.Complete {
		return
	}
	w.loose = map[string]bool{}
	u.Each(func(_ int, m []int32) bool {
		w.loose[w.key(project(w.open, p, m))] = true
		return true
	})
}

// key is a marking without the frames that wait, which proofs leave out.
func (w *world) key(m []int32) string {
	for _, p := range w.open.Places() {
		if p.Payload {
			m[p.Slot] = 0
		}
	}
	return fmt.Sprint(m)
}

func (w *world) run() (stops int) {
	m := w.open.Shadow(func(uint64) int { return w.r.IntN(2) }).Start()
	at := time.Duration(0)
	for left := injections; stops < 25; stops++ {
		key := w.key(m.Marking(nil))
		if !w.timed[key] || w.loose != nil && !w.loose[key] {
			w.t.Errorf("seed %d: the machine rests at %s after %v: in the graph with time %v, without %v",
				w.seed, key, at, w.timed[key], w.loose == nil || w.loose[key])
			return stops
		}
		wake := m.Wake()
		if at = min(at+time.Duration(w.r.IntN(4)), wake); at == wake && wake != petri.Forever {
			m.Advance(at)
			continue
		}
		if left == 0 && wake == petri.Forever || m.Ended() {
			return stops
		}
		left -= w.inject(m, at, left)
	}
	return stops
}

// inject injects something, and returns how many of the allowed injections that used up: frames are
// free.
func (w *world) inject(m *petri.Machine, at time.Duration, left int) int {
	place, slot, cost := "frame", int32(0), 0
	if left > 0 && w.r.IntN(3) > 0 {
		place, cost = "a", 1
		if w.r.IntN(2) == 0 {
			place, slot = "x", 2*int32(w.r.IntN(2))
		}
	}
	e := petri.Event{Kind: petri.Injected, Index: int32(w.open.Place(place)), Slot: slot}
	if err := m.Inject(at, m.Program().ShadowToken(e, m.Gen())); err != nil {
		w.t.Fatalf("seed %d: %v", w.seed, err)
	}
	m.Advance(at)
	return cost
}

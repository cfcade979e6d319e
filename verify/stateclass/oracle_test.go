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
	"github.com/voicegw/voicegw/verify/walk"
)

// oracle explores a net by brute force, on integer time: a state is a marking and a clock for each
// enabled timed transition, a move is a tick or a firing. With closed integer bounds it reaches the
// markings of dense time exactly. It shares no code with the graph; it reads the tables of the
// program.
type oracle struct {
	p        *petri.Program
	once     bool // [0,0] runs to completion
	max      int
	states   map[string]bool
	markings map[string]bool
	queue    []simState
	fault    bool
	firings  int
}

type simState struct {
	m      []int32
	clocks []int32 // by transition; -1: not enabled
}

func (s simState) key() string { return fmt.Sprint(s.m, s.clocks) }

func (o *oracle) run() bool {
	o.states, o.markings = map[string]bool{}, map[string]bool{}
	s := simState{m: o.p.Initial(), clocks: make([]int32, len(o.p.Transitions()))}
	for t := range s.clocks {
		s.clocks[t] = -1
	}
	o.review(&s)
	o.settle(s, 0)
	for len(o.queue) > 0 {
		if len(o.states) > o.max || o.fault || o.firings > 100_000 {
			return false
		}
		s := o.queue[0]
		o.queue = o.queue[1:]
		o.tick(s)
		for t := range o.p.Transitions() {
			w := o.p.Transitions()[t].When
			if s.clocks[t] >= 0 && !o.atOnce(t) && int64(s.clocks[t]) >= int64(w.Earliest) {
				o.fire(s, t, func(n simState) { o.settle(n, 0) })
			}
		}
	}
	return !o.fault
}

func (o *oracle) atOnce(t int) bool { return o.once && o.p.Transitions()[t].When.AtOnce() }

// tick lets one unit of time pass, if no clock forbids it. A clock of an interval without end stops
// at its earliest time.
func (o *oracle) tick(s simState) {
	n := simState{m: s.m, clocks: append([]int32(nil), s.clocks...)}
	for t, c := range s.clocks {
		if c < 0 {
			continue
		}
		w := o.p.Transitions()[t].When
		switch {
		case w.Latest == petri.Forever:
			n.clocks[t] = int32(min(int64(c)+1, int64(w.Earliest)))
		case int64(c) >= int64(w.Latest):
			return
		default:
			n.clocks[t]++
		}
	}
	o.add(n)
}

func (o *oracle) add(s simState) {
	if k := s.key(); !o.states[k] {
		o.states[k] = true
		o.markings[fmt.Sprint(s.m)] = true
		o.queue = append(o.queue, s)
	}
}

// settle fires what is due at once, the first in order of priority and declaration, with every mode
// and branch.
func (o *oracle) settle(s simState, depth int) {
	best := -1
	for t := range o.p.Transitions() {
		if s.clocks[t] < 0 || !o.atOnce(t) {
			continue
		}
		if best < 0 || o.p.Transitions()[t].Priority > o.p.Transitions()[best].Priority {
			best = t
		}
	}
	switch {
	case best < 0:
		o.add(s)
	case depth > 60 || o.firings > 100_000:
		o.fault = true
	default:
		o.fire(s, best, func(n simState) { o.settle(n, depth+1) })
	}
}

func (o *oracle) fire(s simState, t int, then func(simState)) {
	info := &o.p.Transitions()[t]
	o.firings++
	for k := range info.Modes {
		md := &info.Modes[k]
		if !o.holds(md.Conds, s.m) {
			continue
		}
		for b := range md.Branches {
			if md.Choice() < 0 || md.Choice() == b {
				then(o.after(s, t, md, b))
			}
		}
	}
}

func (o *oracle) after(s simState, t int, md *petri.Mode, b int) simState {
	n := simState{m: append([]int32(nil), s.m...), clocks: append([]int32(nil), s.clocks...)}
	for _, k := range md.Take {
		n.m[k.Slot] -= k.N
	}
	for _, list := range [][]int32{md.Drain, md.Reset} {
		for _, slot := range list {
			n.m[slot] = 0
		}
	}
	if o.p.Transitions()[t].Bump {
		for _, pl := range o.p.Places() {
			for i := 0; pl.Gen && i < pl.Slots; i += 2 {
				n.m[pl.Slot+i+1] += n.m[pl.Slot+i]
				n.m[pl.Slot+i] = 0
			}
		}
	}
	n.clocks[t] = -1
	for u := range n.clocks {
		if n.clocks[u] >= 0 && !o.fed(u, n.m) {
			n.clocks[u] = -1
		}
	}
	for _, k := range md.Branches[b].Put {
		n.m[k.Slot] += k.N
	}
	o.review(&n)
	return n
}

// fed reports whether what a transition needs is there, inhibitors aside: they are looked at before
// and after a firing only. Keys can make the needed token another one; then some mode is fed.
func (o *oracle) fed(t int, m []int32) bool {
	for k := range o.p.Transitions()[t].Modes {
		ok := true
		for _, c := range o.p.Transitions()[t].Modes[k].Conds {
			c.Max = 0
			ok = ok && c.Holds(m)
		}
		if ok {
			return true
		}
	}
	return false
}

func (o *oracle) holds(conds []petri.Cond, m []int32) bool {
	for _, c := range conds {
		if !c.Holds(m) {
			return false
		}
	}
	return true
}

// review starts and stops clocks by what is enabled now.
func (o *oracle) review(s *simState) {
	final := o.p.FinalSlot()
	for t := range s.clocks {
		on := false
		for k := range o.p.Transitions()[t].Modes {
			on = on || o.holds(o.p.Transitions()[t].Modes[k].Conds, s.m)
		}
		if final >= 0 && s.m[final] > 0 {
			on = false
		}
		switch {
		case !on:
			s.clocks[t] = -1
		case s.clocks[t] < 0:
			s.clocks[t] = 0
		}
	}
	for _, n := range s.m {
		o.fault = o.fault || n > 12
	}
}

// maker makes random nets.
type maker struct{ r *rand.Rand }

func (k maker) some(places []string, max int, weights bool) petri.Arcs {
	var out petri.Arcs
	seen := map[string]bool{}
	for range k.r.IntN(max + 1) {
		p := places[k.r.IntN(len(places))]
		if seen[p] {
			continue
		}
		seen[p] = true
		a := unit(p).One()
		if weights && k.r.IntN(4) == 0 {
			a = a.Exactly(2)
		}
		out = append(out, a)
	}
	return out
}

func (k maker) wait(points bool) petri.Interval {
	a := time.Duration(k.r.IntN(4))
	switch k.r.IntN(6) {
	case 0:
		return petri.Interval{}
	case 1:
		if points {
			return petri.Interval{}
		}
		return petri.Interval{Earliest: a, Latest: petri.Forever}
	case 2:
		return petri.After(a)
	default:
		if points {
			return petri.After(a + 1)
		}
		return petri.Between(a, a+time.Duration(k.r.IntN(4)))
	}
}

func (k maker) transition(name string, places []string, points bool) petri.Transition {
	t := petri.Transition{Name: name, In: k.some(places, 2, true), Read: k.some(places, 1, true), When: k.wait(points)}
	if len(t.In) == 0 {
		t.In = petri.Arcs{unit(places[k.r.IntN(len(places))])}
	}
	if k.r.IntN(3) == 0 {
		t.Inhibit = k.some(places, 1, true)
	}
	if k.r.IntN(4) == 0 {
		t.Reset = k.some(places, 1, false)
	}
	if k.r.IntN(8) == 0 {
		t.In[0] = unit(places[k.r.IntN(len(places))]).All()
		t.In = t.In[:1]
	}
	if t.When.AtOnce() {
		t.Priority = k.r.IntN(3)
	}
	t.Out = k.out(places)
	return t
}

func (k maker) out(places []string) petri.Split {
	branch := func() []petri.AnyArc {
		var out []petri.AnyArc
		return append(out, k.some(places, 2, true)...)
	}
	if k.r.IntN(6) == 0 {
		return petri.Free(branch(), branch())
	}
	return petri.And(branch()...)
}

func (k maker) net(points bool) *petri.Net {
	places := []string{"a", "b", "c", "d", "e"}[:3+k.r.IntN(3)]
	n := &petri.Net{Name: "random", Imported: true}
	for _, p := range places {
		for range k.r.IntN(3) {
			n.Init = append(n.Init, unit(p).Token(petri.Unit{}))
		}
	}
	for i := range 3 + k.r.IntN(4) {
		n.Transitions = append(n.Transitions, k.transition(fmt.Sprint("t", i), places, points))
	}
	var used []petri.Token
	for _, tok := range n.Init {
		if _, err := petri.Compile(&petri.Net{Name: "random", Imported: true, Init: []petri.Token{tok},
			Transitions: n.Transitions}); err == nil {
			used = append(used, tok)
		}
	}
	n.Init = used
	return n
}

// TestOracle: on random nets the markings of the class graph, merged either way and in either
// reading of [0,0], are those of the brute-force simulation, and the graph without time holds them
// all.
func TestOracle(t *testing.T) {
	nets, deep := 0, 0
	for seed := uint64(1); nets < 1000 && seed < 20000; seed++ {
		n := maker{rand.New(rand.NewPCG(seed, 7))}.net(false)
		p, err := petri.Compile(n)
		if err != nil {
			continue
		}
		for _, sem := range []netmodel.Semantics{netmodel.RunToCompletion, netmodel.Interleave} {
			o := &oracle{p: p, once: sem == netmodel.RunToCompletion, max: 1000}
			if !o.run() {
				continue
			}
			nets++
			if len(o.markings) > 3 {
				deep++
			}
			compare(t, seed, p, sem, o)
			if t.Failed() {
				return
			}
		}
	}
	if nets < 1000 || deep < 150 {
		t.Errorf("only %d nets, %d with more than 3 markings", nets, deep)
	}
}

func compare(t *testing.T, seed uint64, p *petri.Program, sem netmodel.Semantics, o *oracle) {
	t.Helper()
	m := netmodel.New(p, sem)
	for _, merge := range []Merge{Inclusion, Equality} {
		g, err := Explore(context.Background(), m, Options{Merge: merge, Max: 50_000})
		if err != nil || !g.Complete {
			t.Fatalf("seed %d: complete %v, %v", seed, g != nil && g.Complete, err)
		}
		if g.Markings() != len(o.markings) {
			t.Errorf("seed %d %v merge %d: %d markings, %d by simulation", seed, sem, merge, g.Markings(), len(o.markings))
		}
		g.Each(func(c int, marking []int32) bool {
			if !o.markings[fmt.Sprint(marking)] {
				t.Errorf("seed %d %v merge %d: %v is not reachable", seed, sem, merge, marking)
			}
			if steps := g.PathTo(c); len(steps) < 200 {
				if _, ok := walk.Schedule(m, steps); !ok {
					t.Errorf("seed %d %v merge %d: no schedule for the way to %v", seed, sem, merge, marking)
				}
			}
			return !t.Failed()
		})
	}
	u, err := explore.Explore(context.Background(), p, explore.Options{Semantics: sem, Max: 3000})
	if err != nil {
		t.Fatal(err)
	}
	g, _ := Explore(context.Background(), m, Options{})
	g.Each(func(_ int, marking []int32) bool {
		if u.Complete && u.Find(marking) < 0 {
			t.Errorf("seed %d %v: the graph without time lacks %v", seed, sem, marking)
		}
		return true
	})
}

// TestMachine: wherever a machine comes to rest, the class graph of the net, closed with an
// automaton that may inject as often as the test does, has been.
func TestMachine(t *testing.T) {
	runs, stops := 0, 0
	for seed := uint64(1); runs < 60 && seed < 20000; seed++ {
		k := maker{rand.New(rand.NewPCG(seed, 11))}
		core := k.net(true)
		core.Env = []petri.Env{{Place: unit("a"), Capacity: 12}}
		core.Ports = []petri.AnyPlace{unit("a")}
		open, err := petri.Compile(core)
		if err != nil || open.Runnable() != nil {
			continue
		}
		g := closedGraph(core)
		if g == nil || len(g.Faults) > 0 {
			continue
		}
		runs++
		for try := range 3 {
			stops += drive(t, seed, open, g, maker{rand.New(rand.NewPCG(seed, uint64(try)))})
		}
		if t.Failed() {
			return
		}
	}
	if runs < 60 || stops < 300 {
		t.Errorf("only %d nets, %d stops", runs, stops)
	}
}

// injections is how often the automaton of closedGraph may inject.
const injections = 3

func closedGraph(core *petri.Net) *Graph {
	driver := &petri.Net{Name: "driver", Ports: []petri.AnyPlace{unit("a")},
		Init:        tokens(fmt.Sprintf("credit*%d", injections)),
		Transitions: []petri.Transition{tr("inject", petri.Anytime(), "credit -> a")}}
	n, err := petri.Close("closed", core, driver)
	if err != nil {
		return nil
	}
	p, err := petri.Compile(n)
	if err != nil {
		return nil
	}
	g, err := Explore(context.Background(), netmodel.New(p, netmodel.RunToCompletion), Options{Max: 1000})
	if err != nil || !g.Complete {
		return nil
	}
	return g
}

// drive runs a machine with random injections and looks at every rest.
func drive(t *testing.T, seed uint64, open *petri.Program, g *Graph, k maker) (stops int) {
	t.Helper()
	seen := map[string]bool{}
	p := g.Model.Program()
	g.Each(func(_ int, marking []int32) bool {
		seen[fmt.Sprint(project(open, p, marking))] = true
		return true
	})
	m := open.Shadow(func(uint64) int { return k.r.IntN(2) }).Start()
	at := time.Duration(0)
	for n := 0; stops < 30; stops++ {
		if have := fmt.Sprint(m.Marking(nil)); !seen[have] {
			t.Errorf("seed %d: the machine rests at %s after %v, which the graph lacks", seed, have, at)
			return stops
		}
		wake := m.Wake()
		if n < injections && k.r.IntN(2) == 0 {
			if at = min(at+time.Duration(k.r.IntN(5)), wake); at == wake {
				m.Advance(at)
				continue
			}
			n++
			if err := m.Inject(at, unit("a").Token(petri.Unit{})); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if wake == petri.Forever {
			return stops
		}
		at = wake
		m.Advance(at)
	}
	return stops
}

// project is a closed marking as the open net has it.
func project(open, closed *petri.Program, marking []int32) []int32 {
	out := make([]int32, open.Slots())
	for _, pl := range open.Places() {
		i := closed.Place("random/" + pl.Name)
		if i < 0 {
			i = closed.Place(pl.Name)
		}
		for s := range pl.Slots {
			out[pl.Slot+s] = marking[closed.Places()[i].Slot+s]
		}
	}
	return out
}

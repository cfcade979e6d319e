package explore

import (
	"slices"

	"github.com/voicegw/voicegw/verify/netmodel"
	"github.com/voicegw/voicegw/verify/walk"
)

// PathToRefusal returns a path to a refusal that continues until the net rests.
func (g *Graph) PathToRefusal(r RefusalAt) Path {
	p := Path{State: -1}
	if r.From >= 0 {
		p.Steps = g.PathTo(r.From).Steps
	}
	var chain []netmodel.Step
	w := walk.NewWalker(g.Model, func() {}, nil)
	w.Turned = func(have walk.Refusal) {
		if chain == nil && have == r.Refusal {
			chain = append([]netmodel.Step{}, w.Chain...)
		}
	}
	w.Record = true
	if r.From < 0 {
		w.Start()
	} else {
		w.Fire(g.Marking(r.From, nil), r.First)
	}
	p.Steps = walk.Settled(g.Model, append(p.Steps, chain...))
	return p
}

// timelyTries limits the firings of a transition for which Timely computes a schedule.
const timelyTries = 256

// Timely reports whether a transition that fires without time also fires with time: whether the
// path to one of its first firings has a schedule.
func (g *Graph) Timely(t int32) bool {
	if g.Model.Timeless() {
		return true
	}
	for _, o := range g.origins(t) {
		if !o.seen {
			continue
		}
		if _, ok := walk.Schedule(g.Model, g.wayTo(o)); ok {
			return true
		}
	}
	return g.timelyLater(t)
}

// timelyLater looks for firings other than those that were seen first: the shortest path to a state may
// leave out a timer that must fire on the way.
func (g *Graph) timelyLater(t int32) bool {
	fires := false
	var w *walk.Walker
	w = walk.NewWalker(g.Model, func() {
		fires = fires || slices.ContainsFunc(w.Chain, func(s netmodel.Step) bool { return s.Transition == t })
	}, func(walk.Fault) {})
	w.Record = true
	tries := 0
	for i := range g.firstE {
		var last netmodel.Step
		for k, e := range g.From(i) {
			if k > 0 && e.Step == last { // another branch of a chain that was walked already
				continue
			}
			last, fires = e.Step, false
			if w.Fire(g.Marking(i, nil), e.Step); !fires {
				continue
			}
			if _, ok := walk.Schedule(g.Model, append(g.PathTo(i).Steps, e.Step)); ok {
				return true
			}
			if tries++; tries == timelyTries {
				return false
			}
		}
	}
	return false
}

func (g *Graph) wayTo(o origin) []netmodel.Step {
	var steps []netmodel.Step
	if o.from >= 0 {
		steps = g.PathTo(int(o.from)).Steps
		if !o.frame {
			steps = append(steps, o.first)
		}
	}
	return steps
}

// Path is a firing sequence from the start of the net to a state: the choices at the start, then
// each timed step with what follows it at once. It is a run of the net without time; some timing
// may or may not allow it.
type Path struct {
	Steps []netmodel.Step
	State int // where it ends; -1 if it ends in a fault
}

// PathTo returns the path to a state with the fewest timed steps.
func (g *Graph) PathTo(state int) Path {
	hops := g.hops(state)
	p := Path{State: state}
	chain, ok := g.chain(-1, netmodel.Step{}, hops[0])
	for i := 1; ok && i < len(hops); i++ {
		p.Steps = append(p.Steps, chain...)
		chain, ok = g.chain(int(hops[i-1]), g.by[hops[i]], hops[i])
	}
	if !ok {
		panic("verify: path: a state is not reached by the step that found it")
	}
	p.Steps = append(p.Steps, chain...)
	return p
}

// hops lists the states on the path from a root to a state.
func (g *Graph) hops(state int) []uint32 {
	var hops []uint32
	i := uint32(state)
	for ; g.parent[i] != i; i = g.parent[i] {
		hops = append(hops, i)
	}
	hops = append(hops, i)
	slices.Reverse(hops)
	return hops
}

// chain finds the firings that lead from one state by a step to another; from -1 means from the
// start.
func (g *Graph) chain(from int, first netmodel.Step, to uint32) ([]netmodel.Step, bool) {
	var found []netmodel.Step
	ok := false
	want := g.Marking(int(to), nil)
	var w *walk.Walker
	w = walk.NewWalker(g.Model, func() {
		if !ok && slices.Equal(w.Marking, want) {
			found, ok = append([]netmodel.Step(nil), w.Chain...), true
		}
	}, nil)
	w.Record = true
	if from < 0 {
		w.Start()
	} else {
		w.Fire(g.Marking(from, nil), first)
	}
	return found, ok
}

// PathToFault returns a path to a fault, including the faulting firing.
func (g *Graph) PathToFault(f FaultAt) Path {
	p := Path{State: -1}
	if f.From >= 0 {
		p.Steps = g.PathTo(f.From).Steps
	}
	p.Steps = append(p.Steps, f.Steps()...)
	if f.Kind == walk.Endless {
		p.Steps = walk.Unroll(g.Model, p.Steps)
	}
	return p
}

// Format renders a path, one firing per line, with the markings of the net after each step.
func (g *Graph) Format(p Path) string { return walk.Story(g.Model, p.Steps) }

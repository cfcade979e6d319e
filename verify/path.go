package verify

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/voicegw/voicegw/petri"
)

// Path is a firing sequence from the start of the net to a state: the choices
// at the start, then for each timed step what follows it at once. It is a run
// of the net without time; whether some timing allows it is another question.
type Path struct {
	Steps []Step
	State int // where it ends; -1 if it ends in a fault
}

// PathTo returns the shortest way to a state, in timed steps.
func (g *Graph) PathTo(state int) Path {
	hops := g.hops(state)
	p := Path{State: state}
	chain, ok := g.chain(-1, Step{}, hops[0])
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

// hops lists the states on the way to a state, from a root.
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

// chain finds the firings that lead from one state by a step to another; from
// -1 means from the start.
func (g *Graph) chain(from int, first Step, to uint32) ([]Step, bool) {
	var found []Step
	ok := false
	want := g.Marking(int(to), nil)
	var w *Walker
	w = g.Model.NewWalker(func() {
		if !ok && slices.Equal(w.Marking, want) {
			found, ok = append([]Step(nil), w.Chain...), true
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

// PathToFault returns a way to a fault, the faulting firing included.
func (g *Graph) PathToFault(f FaultAt) Path {
	p := Path{State: -1}
	if f.From >= 0 {
		p.Steps = g.PathTo(f.From).Steps
	}
	p.Steps = append(p.Steps, f.steps()...)
	if f.Kind == Endless {
		p.Steps = g.Model.Unroll(p.Steps)
	}
	return p
}

// steps are the firings that end in the fault.
func (f *Fault) steps() []Step {
	if len(f.Chain) > 0 {
		return f.Chain
	}
	return []Step{f.Step}
}

// Unroll repeats the loop that a firing sequence ends with, if it does, until it
// is longer than any chain may be.
func (m *Model) Unroll(steps []Step) []Step {
	if len(steps) == 0 {
		return steps
	}
	w := m.NewWalker(func() {}, nil)
	copy(w.Marking, m.initial)
	var seen [][]int32
	for _, s := range steps {
		seen = append(seen, slices.Clone(w.Marking))
		w.apply(s)
	}
	for i := len(seen) - 1; i >= 0; i-- {
		if !slices.Equal(seen[i], w.Marking) {
			continue
		}
		out := slices.Clone(steps)
		for k := i; len(out) <= len(steps)+petri.MaxChain; k++ {
			out = append(out, steps[i+(k-i)%(len(steps)-i)])
		}
		return out
	}
	return steps
}

// Settled appends firings to a sequence from the start until the net rests: what
// fires at once, each the first way it can.
func (m *Model) Settled(steps []Step) []Step {
	w := m.NewWalker(func() {}, nil)
	copy(w.Marking, m.initial)
	alive := true
	for _, s := range steps {
		alive = w.apply(s)
	}
	for n := 0; alive && n < petri.MaxChain && !m.Ended(w.Marking); n++ {
		i := slices.IndexFunc(m.order, func(t int32) bool { return m.enabled(t, w.Marking) })
		if i < 0 {
			break
		}
		s := m.Steps(m.order[i], w.Marking, nil)[0]
		steps, alive = append(steps, s), w.apply(s)
	}
	return steps
}

// PathToEdge returns a way to a state and by an edge on to the next.
func (g *Graph) PathToEdge(from int, e Edge) Path {
	p := g.PathTo(from)
	chain, _ := g.chain(from, e.Step, e.To)
	p.Steps, p.State = append(p.Steps, chain...), int(e.To)
	return p
}

// Format renders a path, one firing a line, with the markings of the net after
// each step.
func (g *Graph) Format(p Path) string { return g.Model.Story(p.Steps) }

// Along calls fn after each firing of a sequence from the start of the net, with
// the marking it leaves, which fn must not keep.
func (m *Model) Along(steps []Step, fn func(i int, marking []int32)) {
	w := m.NewWalker(func() {}, nil)
	copy(w.Marking, m.initial)
	for i, s := range steps {
		w.apply(s)
		fn(i, w.Marking)
	}
}

// storyMax is the most firings a story tells.
const storyMax = 200

// Story renders firings from the start of the net, one a line, each with the
// marking it leaves.
func (m *Model) Story(steps []Step) string { return m.story(steps, nil) }

// tell makes the story of the first firings of a witness. The times of a slice,
// which may move at any time, say nothing.
func (w *Witness) tell(firings int) {
	var at []time.Duration
	for _, f := range w.Firings {
		if w.Timed && !w.model.timeless() && w.model.prog.Whole() == nil {
			at = append(at, f.At)
		}
	}
	w.Story = w.model.story(w.Steps()[:firings], at)
}

// story is Story with a column of times, if there are any.
func (m *Model) story(steps []Step, at []time.Duration) string {
	var b strings.Builder
	w := m.NewWalker(func() {}, func(Fault) {})
	copy(w.Marking, m.initial)
	fmt.Fprintf(&b, "start: %s\n", m.Format(w.Marking))
	for i, s := range steps {
		if i == storyMax {
			fmt.Fprintf(&b, "... and %d firings more\n", len(steps)-i)
			break
		}
		ok := w.apply(s)
		name, clock := m.Name(s), ""
		if int(s.Transition) >= len(m.prog.Transitions()) {
			name = "the limit has passed" // an observer's
		}
		if at != nil {
			clock = fmt.Sprintf("%10v ", at[i])
		}
		fmt.Fprintf(&b, "%3d %s%s: %s", i+1, clock, name, m.Format(w.Marking))
		if !ok {
			b.WriteString(" (beyond capacity)")
		}
		for _, r := range w.Refused {
			fmt.Fprintf(&b, " (%s refused)", m.places[r.Place].Name)
		}
		w.Refused = w.Refused[:0]
		b.WriteByte('\n')
	}
	return b.String()
}

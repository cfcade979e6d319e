package explore

import (
	"github.com/voicegw/voicegw/verify/netmodel"
)

// States is the number of tangible markings found. In a slice it includes the markings in the
// middle of a chain at which the chain was interrupted.
func (g *Graph) States() int { return g.set.Len() }

// Edges is the number of edges found.
func (g *Graph) Edges() int { return len(g.edges) }

// Marking writes the marking of a state to m and returns it. If m is too short, it makes a new
// slice.
func (g *Graph) Marking(state int, m []int32) []int32 {
	if len(m) < g.set.slots {
		m = make([]int32, g.set.slots)
	}
	m = m[:g.set.slots]
	g.set.Get(state, m)
	return m
}

// Find returns the state with a marking, or -1.
func (g *Graph) Find(marking []int32) int {
	if i, ok := g.set.Find(marking); ok {
		return int(i)
	}
	return -1
}

// From returns the edges that leave a state; none for a state that was found and not expanded
// because of the cap. The caller must not change the slice.
func (g *Graph) From(state int) []Edge {
	if state >= len(g.firstE) {
		return nil
	}
	end := len(g.edges)
	if state+1 < len(g.firstE) {
		end = g.firstE[state+1]
	}
	return g.edges[g.firstE[state]:end]
}

// Each calls fn for every state with its marking until fn returns false. fn must not keep the
// marking. In a slice, Each skips states in the middle of a chain.
func (g *Graph) Each(fn func(state int, marking []int32) bool) {
	g.all(func(i int, m []int32) bool { return g.amidst != nil && g.amidst[i] || fn(i, m) })
}

// all is Each for all states.
func (g *Graph) all(fn func(state int, marking []int32) bool) {
	m := make([]int32, g.set.slots)
	for i := range g.set.Len() {
		g.set.Get(i, m)
		if !fn(i, m) {
			return
		}
	}
}

// Dead returns the states in which nothing is enabled, except the end of the run (the final place
// is marked).
func (g *Graph) Dead() []int {
	var out []int
	m := make([]int32, g.set.slots)
	for i := range g.firstE {
		if len(g.From(i)) > 0 {
			continue
		}
		if g.set.Get(i, m); g.Model.Dead(m) {
			out = append(out, i)
		}
	}
	return out
}

// Deadlocks returns the dead states that are not a proper rest: those with a token outside the
// declared sinks, or with no token at all.
func (g *Graph) Deadlocks() []int {
	var out []int
	m := make([]int32, g.set.slots)
	for _, i := range g.Dead() {
		g.set.Get(i, m)
		if !g.Model.AtRest(m) {
			out = append(out, i)
		}
	}
	return out
}

// Bounds returns, by place, the most tokens it holds in any state. Output places have 0.
func (g *Graph) Bounds() []int {
	places := g.Model.Places
	out := make([]int, len(places))
	g.Each(func(_ int, m []int32) bool {
		for i := range places {
			p := &places[i]
			n := 0
			for s := p.Slot; s < p.Slot+p.Slots; s++ {
				n += int(m[s])
			}
			out[i] = max(out[i], n)
		}
		return true
	})
	return out
}

// Fires reports whether a transition fires from some state, or would fire for a frame if one
// arrived.
func (g *Graph) Fires(t int32) bool {
	for _, o := range g.origins(t) {
		if o.seen {
			return true
		}
	}
	return false
}

// origins is where each step of a transition was first seen.
func (g *Graph) origins(t int32) []origin {
	m := g.Model
	from, to := m.StepsOf(t)
	return g.fired[from:to]
}

// FiresStep reports whether a mode fires and produces on a branch somewhere.
func (g *Graph) FiresStep(s netmodel.Step) bool { return g.fired[g.Model.StepIndex(s)].seen }

// Idle lists the transitions that fire nowhere.
func (g *Graph) Idle() []int32 {
	var out []int32
	for t := range g.Model.Transitions {
		if !g.Fires(int32(t)) {
			out = append(out, int32(t))
		}
	}
	return out
}

// NeverFires lists the transitions that fire in none of several graphs of one net closed in
// different ways. A transition that fires only if waits are ignored counts as one that does not
// fire. The transitions of the environments are left out. If the list is not empty, every proof
// about the net is partly empty.
func NeverFires(graphs ...*Graph) []string {
	fires := map[string]bool{}
	var names []string
	for _, g := range graphs {
		for t := range g.Model.Transitions {
			info := &g.Model.Transitions[t]
			if info.Outside {
				continue
			}
			if _, known := fires[info.Name]; !known {
				names = append(names, info.Name)
			}
			fires[info.Name] = fires[info.Name] || g.Fires(int32(t)) && g.Timely(int32(t))
		}
	}
	var out []string
	for _, n := range names {
		if !fires[n] {
			out = append(out, n)
		}
	}
	return out
}

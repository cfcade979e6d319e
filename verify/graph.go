package verify

import (
	"fmt"
	"strings"
)

// States is the number of tangible markings found, and in a slice of those in
// the midst of a chain at which it was interrupted.
func (g *Graph) States() int { return g.set.Len() }

// Edges is the number of edges found.
func (g *Graph) Edges() int { return len(g.edges) }

// Marking writes the marking of a state to m, which is made if it is too
// short, and returns it.
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

// Roots are the states the net can start in: several if it has a free choice
// at once.
func (g *Graph) Roots() []uint32 { return g.roots }

// From returns the edges that leave a state; none for a state at the cap that
// was found and not expanded. The caller must not change the slice.
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

// Each calls fn for every state with its marking, which fn must not keep, until
// fn returns false. In a slice, states in the midst of a chain are left out.
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

// Dead returns the states in which nothing is enabled, the end of the run (the
// final place is marked) excepted.
func (g *Graph) Dead() []int {
	var out []int
	m := make([]int32, g.set.slots)
	for i := range g.firstE {
		if len(g.From(i)) > 0 {
			continue
		}
		if g.set.Get(i, m); g.Model.dead(m) {
			out = append(out, i)
		}
	}
	return out
}

// dead reports that nothing is enabled in a tangible marking and the run has
// not ended. (A state may lack edges because all its steps fault.)
func (m *Model) dead(marking []int32) bool {
	if m.Ended(marking) {
		return false
	}
	for _, t := range m.timed {
		if m.enabled(t, marking) {
			return false
		}
	}
	return true
}

// Stranded lists the places outside sinks and the final place that hold tokens
// in a marking.
func (m *Model) Stranded(marking []int32) []int {
	var out []int
	for i, p := range m.places {
		if !p.Sink && !p.Final && !p.Out && m.Marked(i, marking) > 0 {
			out = append(out, i)
		}
	}
	return out
}

// Deadlocks returns the dead states that are not a proper rest: those with a
// token outside the declared sinks, or with no token at all.
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

// AtRest reports whether a dead marking is a proper rest: it has tokens, all of
// them in declared sinks.
func (m *Model) AtRest(marking []int32) bool { return len(m.Stranded(marking)) == 0 && !empty(marking) }

func empty(m []int32) bool {
	for _, n := range m {
		if n != 0 {
			return false
		}
	}
	return true
}

// Bounds returns, by place, the most tokens it holds in any state. Output
// places have 0.
func (g *Graph) Bounds() []int {
	places := g.Model.places
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

// Fires reports whether a transition fires from some state, or as a frame would
// fire if one arrived.
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
func (g *Graph) FiresStep(s Step) bool { return g.fired[g.Model.StepIndex(s)].seen }

// Idle lists the transitions that fire nowhere.
func (g *Graph) Idle() []int32 {
	var out []int32
	for t := range g.Model.transitions {
		if !g.Fires(int32(t)) {
			out = append(out, int32(t))
		}
	}
	return out
}

// NeverFires lists the transitions that fire in none of several graphs of one net
// closed in different ways, or fire only if waits are ignored, those of its
// environments left out. A proof about a net that has any is empty in part.
func NeverFires(graphs ...*Graph) []string {
	fires := map[string]bool{}
	var names []string
	for _, g := range graphs {
		for t := range g.Model.transitions {
			info := &g.Model.transitions[t]
			if info.Outside {
				continue
			}
			if _, known := fires[info.Name]; !known {
				names = append(names, info.Name)
			}
			fires[info.Name] = fires[info.Name] || g.Fires(int32(t)) && g.timely(int32(t))
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

// Format renders a marking: places with their counts, by declaration, without
// those of an observer.
func (m *Model) Format(marking []int32) string {
	var b strings.Builder
	for s, n := range marking[:min(len(marking), m.prog.Slots())] {
		if n == 0 {
			continue
		}
		if b.Len() > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(m.slotName[s])
		if n > 1 {
			fmt.Fprintf(&b, "*%d", n)
		}
	}
	if b.Len() == 0 {
		return "empty"
	}
	return b.String()
}

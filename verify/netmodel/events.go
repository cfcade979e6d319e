package netmodel

import (
	"slices"
	"strings"
	"sync"

	"github.com/voicegw/voicegw/petri"
)

// eachStep calls fn for every step.
func (m *Model) eachStep(fn func(s Step)) {
	for i := range m.Modes {
		for b := range m.Modes[i].Branches {
			fn(Step{Transition: m.Modes[i].Transition, Mode: m.Modes[i].Index, Branch: int32(b)})
		}
	}
}

// Happens marks, by step index, the steps that are one of the events (separated by "|").
func (m *Model) Happens(events string) []bool {
	out := make([]bool, m.StepCount())
	for _, e := range strings.Split(events, "|") {
		place, puts := strings.CutPrefix(e, "+")
		if !puts {
			for _, t := range m.endings().transitions[e] {
				from, to := m.StepsOf(t)
				for i := from; i < to; i++ {
					out[i] = true
				}
			}
			continue
		}
		base, kind, _ := strings.Cut(strings.TrimSuffix(place, "]"), "[")
		for _, d := range m.endings().puts[base] {
			if kind == "" || d.label == "" || isKind(d.label, kind) {
				out[d.step] = true
			}
		}
	}
	return out
}

// endings indexes transitions, places and the steps that put tokens into places, by full names and
// by all their last parts.
type endings struct {
	transitions map[string][]int32
	places      map[string][]int
	puts        map[string][]production
}

// place finds the place that a name means: the place with that full name, or else the only place
// with that last part.
func (e *endings) place(m *Model, name string) (int, bool) {
	list := e.places[name]
	i := slices.IndexFunc(list, func(i int) bool { return m.Places[i].Name == name })
	switch {
	case i >= 0:
		return list[i], true
	case len(list) == 1:
		return list[0], true
	}
	return -1, false
}

// production is a step and the kind of token it puts into a place; "" means any kind.
type production struct {
	step  int
	label string
}

// eachEnding calls fn for a name and all its last parts.
func eachEnding(name string, fn func(string)) {
	for fn(name); ; fn(name) {
		_, rest, found := strings.Cut(name, "/")
		if !found {
			return
		}
		name = rest
	}
}

// endings builds the index on its first use.
func (m *Model) endings() *endings {
	m.ends.once.Do(func() {
		e := &endings{map[string][]int32{}, map[string][]int{}, map[string][]production{}}
		for t := range m.Transitions {
			eachEnding(m.Transitions[t].Name, func(n string) { e.transitions[n] = append(e.transitions[n], int32(t)) })
		}
		for i := range m.Places {
			eachEnding(m.Places[i].Name, func(n string) { e.places[n] = append(e.places[n], i) })
		}
		m.eachStep(func(s Step) {
			m.eachPut(s, func(place int, label string) {
				put := production{m.StepIndex(s), label}
				eachEnding(m.Places[place].Name, func(n string) { e.puts[n] = append(e.puts[n], put) })
			})
		})
		m.ends.found = e
	})
	return m.ends.found
}

// lazyEndings is shared by copies of a model with observers, which only add places.
type lazyEndings struct {
	once  sync.Once
	found *endings
}

// eachPut calls fn for the tokens that a step puts into places or sends out of the net.
func (m *Model) eachPut(s Step, fn func(place int, label string)) {
	for _, p := range m.branchOf(s).Put {
		if int(p.Place) < len(m.Places) {
			fn(int(p.Place), m.SlotName[p.Slot][len(m.Places[p.Place].Name):])
		}
	}
	for _, a := range m.Transitions[s.Transition].Arcs {
		if a.Kind == petri.OutArc && a.Branch == int(s.Branch) && m.Places[a.Place].Out {
			fn(a.Place, a.Label)
		}
	}
}

// Touching marks, by step index, the steps that put tokens into some slots or take some out.
func (m *Model) Touching(slots []int) []bool {
	out := make([]bool, m.StepCount())
	m.eachStep(func(s Step) {
		md := m.ModeOf(s)
		has := func(slot int32) bool { return slices.Contains(slots, int(slot)) }
		out[m.StepIndex(s)] = md.Bump || slices.ContainsFunc(md.Empty, has) ||
			slices.ContainsFunc(md.Take, func(c petri.Count) bool { return has(c.Slot) }) ||
			slices.ContainsFunc(m.branchOf(s).Put, func(p Put) bool { return has(p.Slot) })
	})
	return out
}

// ModeOf is the mode that a step fires.
func (m *Model) ModeOf(s Step) *Mode { return &m.Modes[m.First[s.Transition]+s.Mode] }

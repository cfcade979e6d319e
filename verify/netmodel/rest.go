package netmodel

import (
	"fmt"
	"slices"
	"strings"

	"github.com/voicegw/voicegw/petri"
)

// Dead reports that nothing is enabled in a tangible marking and the run has not ended. (A state
// may lack edges because all its steps fault.)
func (m *Model) Dead(marking []int32) bool {
	if m.Ended(marking) {
		return false
	}
	for _, t := range m.timed {
		if m.Ready(t, marking) {
			return false
		}
	}
	return true
}

// stranded lists the places that hold tokens in a marking, except sinks and the final place.
func (m *Model) stranded(marking []int32) []int {
	var out []int
	for i, p := range m.Places {
		if !p.Sink && !p.Final && !p.Out && m.Marked(i, marking) > 0 {
			out = append(out, i)
		}
	}
	return out
}

// AtRest reports whether a dead marking is a proper rest: it has tokens, and all of them are in
// declared sinks.
func (m *Model) AtRest(marking []int32) bool { return len(m.stranded(marking)) == 0 && !empty(marking) }

func empty(m []int32) bool {
	for _, n := range m {
		if n != 0 {
			return false
		}
	}
	return true
}

// Format renders a marking: places with their counts, in declaration order, without those of an
// observer.
func (m *Model) Format(marking []int32) string {
	var b strings.Builder
	for s, n := range marking[:min(len(marking), m.prog.Slots())] {
		if n == 0 {
			continue
		}
		if b.Len() > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(m.SlotName[s])
		if n > 1 {
			fmt.Fprintf(&b, "*%d", n)
		}
	}
	if b.Len() == 0 {
		return "empty"
	}
	return b.String()
}

// Tangible reports whether no transition that fires at once is enabled, or the run has ended.
func (m *Model) Tangible(marking []int32) bool {
	return m.Ended(marking) || !slices.ContainsFunc(m.Order, func(t int32) bool { return m.Ready(t, marking) })
}

// Timeless reports whether every wait of the net is [0,inf), so that a run without time is a run.
func (m *Model) Timeless() bool {
	for _, t := range m.timed {
		if w := m.Transitions[t].When; w.Earliest != 0 || w.Latest != petri.Forever {
			return false
		}
	}
	return true
}

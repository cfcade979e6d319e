package netmodel

import (
	"slices"

	"github.com/voicegw/voicegw/petri"
)

// Layered reports whether every projected move of a slice fires only at rest, never in the middle
// of a chain of firings at one instant. It is true of every net that is not a slice.
func (m *Model) Layered() bool { return len(m.Amidst) == 0 }

// slice lays out what only slices have.
func (m *Model) slice() {
	for t := range m.Transitions {
		if info := &m.Transitions[t]; info.Projected && info.Yields < len(m.Order) {
			m.Amidst = append(m.Amidst, int32(t))
		}
	}
	m.Limits = m.prog.Limits()
	if len(m.Limits) == 0 {
		return
	}
	for i := range m.Modes {
		for j := range m.Modes[i].Branches {
			b := &m.Modes[i].Branches[j]
			b.Limits = m.limitsOn(b.Put)
		}
	}
}

// limitsOn lists the limits with slots that the puts fill.
func (m *Model) limitsOn(puts []Put) []int32 {
	var out []int32
	for l := range m.Limits {
		if slices.ContainsFunc(m.Limits[l].Sum, func(c petri.Count) bool {
			return slices.ContainsFunc(puts, func(p Put) bool { return p.Slot == c.Slot })
		}) {
			out = append(out, int32(l))
		}
	}
	return out
}

// Interrupted reports whether a projected move may fire before the transition of a rank, which is
// the first one enabled at once.
func (m *Model) Interrupted(rank int32, marking []int32) bool {
	for _, t := range m.Amidst {
		if int(rank) >= m.Transitions[t].Yields && m.Ready(t, marking) {
			return true
		}
	}
	return false
}

// EachAmidst calls fn for the transitions that may fire in a marking in the middle of a chain: the
// first one enabled at once, and the projected moves that may come before it.
func (m *Model) EachAmidst(marking []int32, fn func(t int32)) {
	r := slices.IndexFunc(m.Order, func(t int32) bool { return m.Ready(t, marking) })
	fn(m.Order[r])
	for _, t := range m.Amidst {
		if r >= m.Transitions[t].Yields && m.Ready(t, marking) {
			fn(t)
		}
	}
}

package verify

import (
	"fmt"
	"math"
	"slices"

	"github.com/voicegw/voicegw/petri"
)

// stubborn chooses, in each marking, which of the enabled transitions a reduced
// search fires: those of a strong stubborn set (Valmari 1991). The others can be
// put off, because whatever they do before the set's own firings they could do
// after. A set is one that
//
//   - has, with a transition and for each mode of it that is disabled, all
//     transitions that could make good one condition that fails;
//   - has, with an enabled transition, all that could disable it, that it could
//     disable, or whose effect depends on which fires first;
//   - has an enabled transition if there is any; and
//   - has, with an enabled transition that is visible, all visible ones.
//
// The first three preserve dead markings, all four with the proviso that a state
// is searched in full if all that follows it was searched already (Bosnacki and
// Holzmann 2005) every sequence of visible firings, and so every combination of
// counts at the places that are looked at.
type stubborn struct {
	m       *Model
	raises  [][]int32 // by slot: transitions that may add there
	lowers  [][]int32 // that may remove
	against [][]int32 // by transition: those that must come with it when it is enabled
	visible []bool    // by transition
	watch   []int32   // the visible ones

	in       []int32 // by transition: stamp of the set it was last put into
	stamp    int32
	queue    []int32
	live     []int32 // enabled transitions of the set
	best     []int32
	enabled  []bool
	remedies [][]int32 // what could make good the condition that fewest could
	fewest   int
}

// newStubborn prepares a reduction that preserves dead markings, and what can
// be told from the tokens of some places. It is an error if the model is not one
// of nets whose firings are single and unbounded: no run to completion, no
// priorities, no capacities.
func newStubborn(m *Model, looked []int32) (*stubborn, error) {
	if err := m.Reducible(); err != nil {
		return nil, err
	}
	s := &stubborn{m: m, raises: make([][]int32, m.slots), lowers: make([][]int32, m.slots)}
	n := len(m.transitions)
	s.in, s.enabled, s.visible = make([]int32, n), make([]bool, n), make([]bool, n)
	for i := range m.modes {
		s.index(&m.modes[i])
	}
	for slot := range m.slots {
		s.raises[slot], s.lowers[slot] = unique(s.raises[slot]), unique(s.lowers[slot])
	}
	for t := range n {
		s.against = append(s.against, s.dependents(int32(t)))
	}
	for _, slot := range looked {
		for _, t := range slices.Concat(s.raises[slot], s.lowers[slot]) {
			s.visible[t] = true
		}
	}
	for t, is := range s.visible {
		if is {
			s.watch = append(s.watch, int32(t))
		}
	}
	return s, nil
}

// Reducible is nil if a search of the model may leave markings out (see
// Reduction), else it says why not.
func (m *Model) Reducible() error {
	why := ""
	switch {
	case len(m.order) > 0:
		why = "transitions run to completion"
	case m.above != nil:
		why = "transitions have priorities"
	case m.prog.Whole() != nil || len(m.given) > 0:
		why = "it is a slice, or something is given"
	}
	for i := range m.places {
		if p := &m.places[i]; !p.Out && p.Max < petri.MaxTokens {
			why = "place " + p.Name + " has a capacity"
		}
	}
	if why == "" {
		return nil
	}
	return fmt.Errorf("verify: reduce %s: %s", m.prog.Name(), why)
}

// index notes what a mode may add and remove.
func (s *stubborn) index(md *mode) {
	for _, k := range md.take {
		s.lowers[k.Slot] = append(s.lowers[k.Slot], md.t)
	}
	for _, slot := range md.empty {
		s.lowers[slot] = append(s.lowers[slot], md.t)
	}
	for j := range md.branches {
		for _, p := range md.branches[j].put {
			s.raises[p.slot] = append(s.raises[p.slot], md.t)
		}
	}
	if md.bump {
		for _, slot := range s.m.fresh {
			s.lowers[slot], s.raises[slot+1] = append(s.lowers[slot], md.t), append(s.raises[slot+1], md.t)
		}
	}
}

// dependents lists the transitions that must come with an enabled one.
func (s *stubborn) dependents(t int32) []int32 {
	var out []int32
	add := func(by [][]int32, slot int32) { out = append(out, by[slot]...) }
	for i := s.m.first[t]; i < s.m.first[t+1]; i++ {
		s.eachBound(i, func(slot int32, lower, upper bool) {
			if lower { // those that may disable t
				add(s.lowers, slot)
			}
			if upper {
				add(s.raises, slot)
			}
		})
	}
	for u := range s.m.transitions {
		if s.disturbs(t, int32(u)) {
			out = append(out, int32(u))
		}
	}
	if f := s.m.final; f >= 0 && slices.Contains(s.raises[f], t) {
		for u := range s.m.transitions { // the end disables everything
			out = append(out, int32(u))
		}
	}
	return unique(out)
}

// eachBound calls fn for each slot that a mode looks at.
func (s *stubborn) eachBound(mode int32, fn func(slot int32, lower, upper bool)) {
	md := &s.m.modes[mode]
	for _, b := range md.needs.Bounds {
		fn(b.Slot, b.Min > 0, b.Max < math.MaxInt32)
	}
	for _, c := range md.needs.Sums {
		for _, slot := range c.Slots {
			fn(slot, c.Min > 0, c.Max > 0)
		}
	}
}

// disturbs reports whether t may disable u, or whether it matters which of them
// fires first.
func (s *stubborn) disturbs(t, u int32) bool {
	found := false
	for i := s.m.first[u]; i < s.m.first[u+1]; i++ {
		s.eachBound(i, func(slot int32, lower, upper bool) {
			found = found || lower && slices.Contains(s.lowers[slot], t) || upper && slices.Contains(s.raises[slot], t)
		})
	}
	return found || s.overwrites(t, u) || s.overwrites(u, t)
}

// overwrites reports whether t empties or ages what u adds or removes.
func (s *stubborn) overwrites(t, u int32) bool {
	touches := func(slot int32) bool {
		return slices.Contains(s.raises[slot], u) || slices.Contains(s.lowers[slot], u)
	}
	for i := s.m.first[t]; i < s.m.first[t+1]; i++ {
		md := &s.m.modes[i]
		if slices.ContainsFunc(md.empty, touches) || md.bump && slices.ContainsFunc(s.m.fresh, func(f int32) bool {
			return touches(f) || touches(f+1)
		}) {
			return true
		}
	}
	return false
}

// choose returns the enabled transitions of a small stubborn set, and whether it
// leaves any enabled transition out. The slice is valid until the next call.
func (s *stubborn) choose(marking []int32) (fire []int32, reduced bool) {
	all := 0
	s.best = s.best[:0]
	for t := range s.enabled {
		if s.enabled[t] = s.m.enabled(int32(t), marking); s.enabled[t] {
			all++
		}
	}
	for t := range s.enabled {
		if s.enabled[t] && s.close(int32(t), marking) && (len(s.best) == 0 || len(s.live) < len(s.best)) {
			s.best = append(s.best[:0], s.live...)
			if len(s.best) == 1 {
				break
			}
		}
	}
	slices.Sort(s.best)
	return s.best, len(s.best) < all
}

// close makes the smallest set that has one transition. It gives up, with false,
// when the set has as many enabled transitions as the best one.
func (s *stubborn) close(t int32, marking []int32) bool {
	s.stamp++
	s.queue, s.live = s.queue[:0], s.live[:0]
	s.put(t)
	for len(s.queue) > 0 {
		t := s.queue[len(s.queue)-1]
		s.queue = s.queue[:len(s.queue)-1]
		s.enablers(t, marking)
		if !s.enabled[t] {
			continue
		}
		if s.live = append(s.live, t); len(s.best) > 0 && len(s.live) >= len(s.best) {
			return false
		}
		s.putAll(s.against[t])
		if s.visible[t] {
			s.putAll(s.watch)
		}
	}
	return true
}

func (s *stubborn) put(t int32) {
	if s.in[t] != s.stamp {
		s.in[t] = s.stamp
		s.queue = append(s.queue, t)
	}
}

func (s *stubborn) putAll(ts []int32) {
	for _, t := range ts {
		s.put(t)
	}
}

// enablers puts in what could enable the disabled modes of a transition: for each
// of them what could make good one condition that fails, the one for which
// fewest can.
func (s *stubborn) enablers(t int32, marking []int32) {
	for i := s.m.first[t]; i < s.m.first[t+1]; i++ {
		md := &s.m.modes[i]
		if md.enabled(marking) {
			continue
		}
		s.fewest = math.MaxInt
		for _, b := range md.needs.Bounds {
			s.offer(marking[b.Slot], b.Min, b.Max, b.Slot)
		}
		for _, c := range md.needs.Sums {
			sum, most := int32(0), c.Max
			for _, slot := range c.Slots {
				sum += marking[slot]
			}
			if most == 0 {
				most = math.MaxInt32
			}
			s.offer(sum, c.Min, most, c.Slots...)
		}
		for _, list := range s.remedies {
			s.putAll(list)
		}
	}
}

// offer notes what could make good a condition on a number of tokens, if it
// fails and fewer can than for those before.
func (s *stubborn) offer(n, least, most int32, slots ...int32) {
	by := s.raises
	switch {
	case n >= most:
		by = s.lowers
	case n >= least:
		return
	}
	can := 0
	for _, slot := range slots {
		can += len(by[slot])
	}
	if can >= s.fewest {
		return
	}
	s.fewest, s.remedies = can, s.remedies[:0]
	for _, slot := range slots {
		s.remedies = append(s.remedies, by[slot])
	}
}

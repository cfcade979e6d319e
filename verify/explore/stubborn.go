package explore

import (
	"fmt"
	"math"
	"slices"

	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/verify/netmodel"
)

// stubborn chooses, in each marking, which of the enabled transitions a reduced search fires: those
// of a strong stubborn set (Valmari 1991). The others can be postponed, because whatever they do
// before the set's own firings they could also do after. A stubborn set
//
//   - has, with a transition and for each disabled mode of it, all transitions that could satisfy
//     one condition that fails;
//   - has, with an enabled transition, all that could disable it, that it could disable, or whose
//     effect depends on which fires first;
//   - has an enabled transition if there is any; and
//   - has, with an enabled transition that is visible, all visible ones.
//
// The first three conditions preserve dead markings. All four preserve every sequence of visible
// firings, and so every combination of counts at the watched places, given a proviso: a state is
// searched in full if every state that follows it was already searched (Bosnacki and Holzmann
// 2005).
type stubborn struct {
	m       *netmodel.Model
	raises  [][]int32 // by slot: transitions that may add there
	lowers  [][]int32 // that may remove
	against [][]int32 // by transition: those that must be in the set with it when it is enabled
	visible []bool    // by transition
	watch   []int32   // the visible ones

	in       []int32 // by transition: stamp of the set it was last put into
	stamp    int32
	queue    []int32
	live     []int32 // enabled transitions of the set
	best     []int32
	enabled  []bool
	remedies [][]int32 // what could satisfy the failing condition with the fewest candidates
	fewest   int
}

// newStubborn prepares a reduction that preserves dead markings and what the tokens of some places
// determine. It returns an error unless the firings of the model are single and unbounded: no run
// to completion, no priorities, no capacities.
func newStubborn(m *netmodel.Model, looked []int32) (*stubborn, error) {
	if err := Reducible(m); err != nil {
		return nil, err
	}
	s := &stubborn{m: m, raises: make([][]int32, m.Slots()), lowers: make([][]int32, m.Slots())}
	n := len(m.Transitions)
	s.in, s.enabled, s.visible = make([]int32, n), make([]bool, n), make([]bool, n)
	for i := range m.Modes {
		s.index(&m.Modes[i])
	}
	for slot := range m.Slots() {
		s.raises[slot], s.lowers[slot] = netmodel.Unique(s.raises[slot]), netmodel.Unique(s.lowers[slot])
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

// Reducible is nil if a search of the model may leave markings out (see Reduction); otherwise it is
// an error with the reason.
func Reducible(m *netmodel.Model) error {
	why := ""
	switch {
	case len(m.Order) > 0:
		why = "transitions run to completion"
	case m.Above != nil:
		why = "transitions have priorities"
	case m.Program().Whole() != nil || len(m.Given) > 0:
		why = "it is a slice, or something is given"
	}
	for i := range m.Places {
		if p := &m.Places[i]; !p.Out && p.Max < petri.MaxTokens {
			why = "place " + p.Name + " has a capacity"
		}
	}
	if why == "" {
		return nil
	}
	return fmt.Errorf("verify: reduce %s: %s", m.Program().Name(), why)
}

// index records what a mode may add and remove.
func (s *stubborn) index(md *netmodel.Mode) {
	for _, k := range md.Take {
		s.lowers[k.Slot] = append(s.lowers[k.Slot], md.Transition)
	}
	for _, slot := range md.Empty {
		s.lowers[slot] = append(s.lowers[slot], md.Transition)
	}
	for j := range md.Branches {
		for _, p := range md.Branches[j].Put {
			s.raises[p.Slot] = append(s.raises[p.Slot], md.Transition)
		}
	}
	if md.Bump {
		for _, slot := range s.m.Fresh {
			s.lowers[slot], s.raises[slot+1] = append(s.lowers[slot], md.Transition), append(s.raises[slot+1], md.Transition)
		}
	}
}

// dependents lists the transitions that must be in the set with an enabled one.
func (s *stubborn) dependents(t int32) []int32 {
	var out []int32
	add := func(by [][]int32, slot int32) { out = append(out, by[slot]...) }
	for i := s.m.First[t]; i < s.m.First[t+1]; i++ {
		s.eachBound(i, func(slot int32, lower, upper bool) {
			if lower { // those that may disable t
				add(s.lowers, slot)
			}
			if upper {
				add(s.raises, slot)
			}
		})
	}
	for u := range s.m.Transitions {
		if s.disturbs(t, int32(u)) {
			out = append(out, int32(u))
		}
	}
	if f := s.m.Final; f >= 0 && slices.Contains(s.raises[f], t) {
		for u := range s.m.Transitions { // the end disables everything
			out = append(out, int32(u))
		}
	}
	return netmodel.Unique(out)
}

// eachBound calls fn for each slot that a mode reads.
func (s *stubborn) eachBound(mode int32, fn func(slot int32, lower, upper bool)) {
	md := &s.m.Modes[mode]
	for _, b := range md.Needs.Bounds {
		fn(b.Slot, b.Min > 0, b.Max < math.MaxInt32)
	}
	for _, c := range md.Needs.Sums {
		for _, slot := range c.Slots {
			fn(slot, c.Min > 0, c.Max > 0)
		}
	}
}

// disturbs reports whether t may disable u, or the effect depends on which of them fires first.
func (s *stubborn) disturbs(t, u int32) bool {
	found := false
	for i := s.m.First[u]; i < s.m.First[u+1]; i++ {
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
	for i := s.m.First[t]; i < s.m.First[t+1]; i++ {
		md := &s.m.Modes[i]
		if slices.ContainsFunc(md.Empty, touches) || md.Bump && slices.ContainsFunc(s.m.Fresh, func(f int32) bool {
			return touches(f) || touches(f+1)
		}) {
			return true
		}
	}
	return false
}

// choose returns the enabled transitions of a small stubborn set, and whether the set leaves any
// enabled transition out. The slice is valid until the next call.
func (s *stubborn) choose(marking []int32) (fire []int32, reduced bool) {
	all := 0
	s.best = s.best[:0]
	for t := range s.enabled {
		if s.enabled[t] = s.m.Ready(int32(t), marking); s.enabled[t] {
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

// close makes the smallest set that has one transition. It stops and returns false when the set has
// as many enabled transitions as the best one.
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

// enablers adds what could enable the disabled modes of a transition. For each mode it adds the
// transitions that could satisfy one failing condition: the condition with the fewest such
// transitions.
func (s *stubborn) enablers(t int32, marking []int32) {
	for i := s.m.First[t]; i < s.m.First[t+1]; i++ {
		md := &s.m.Modes[i]
		if md.Enabled(marking) {
			continue
		}
		s.fewest = math.MaxInt
		for _, b := range md.Needs.Bounds {
			s.offer(marking[b.Slot], b.Min, b.Max, b.Slot)
		}
		for _, c := range md.Needs.Sums {
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

// offer considers a condition on a number of tokens. If it fails and fewer transitions could
// satisfy it than the best condition so far, offer keeps those transitions.
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

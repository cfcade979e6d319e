package structure

import (
	"math"
	"slices"

	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/verify/netmodel"
)

// coverMax limits the number of cases into which one question about a slot is split; beyond that
// the answer is no.
const coverMax = 1 << 12

// cover decides whether, wherever a token lies in a slot, some transition is enabled that needs it
// and fires at once. In that case the slot is empty whenever a transition fires that is tried
// later. cover splits cases by the conditions of those transitions, and drops cases that no flow of
// the net allows. It knows nothing else about what is reachable, so a no may be wrong; a yes never
// is.
type cover struct {
	m     *netmodel.Model
	flows []Flow
	takes [][]petri.Bound // needs of modes that fire at once and need a token in the slot
	cases int
}

// span is a range of counts: lo <= n <= hi.
type span struct{ lo, hi int32 }

// AlwaysEmptied reports whether cover holds for the slots of a place, with transitions that are
// tried before a rank.
func (k *Capacities) AlwaysEmptied(p *petri.PlaceInfo, before int32) bool {
	for s := int32(p.Slot); s < int32(p.Slot+p.Slots); s++ {
		c := &cover{m: k.m, flows: k.flows}
		for i := range k.m.Modes {
			md := &k.m.Modes[i]
			if rank := k.m.Ranks[md.Transition]; rank >= 0 && rank < before {
				c.add(md, s)
			}
		}
		if !c.all(map[int32]span{s: {1, math.MaxInt32}}) {
			return false
		}
	}
	return true
}

// add adds a mode that needs a token of a slot. It skips modes with a condition on a sum of several
// slots, unless the condition is that the slots are empty.
func (c *cover) add(md *netmodel.Mode, slot int32) {
	needs := slices.Clone(md.Needs.Bounds)
	for _, sum := range md.Needs.Sums {
		if sum.Min > 0 || sum.Max != 1 {
			return
		}
		for _, s := range sum.Slots {
			needs = append(needs, petri.Bound{Slot: s, Max: 1})
		}
	}
	if slices.ContainsFunc(needs, func(b petri.Bound) bool { return b.Slot == slot && b.Min > 0 }) {
		c.takes = append(c.takes, needs)
	}
}

// all reports whether each marking of a box that the flows allow enables one of the modes.
func (c *cover) all(box map[int32]span) bool {
	if c.cases++; c.cases > coverMax {
		return false
	}
	if !c.possible(box) {
		return true
	}
	for _, needs := range c.takes {
		open, ok := split(needs, box)
		switch {
		case !ok:
			continue
		case open == nil:
			return true // the whole box enables it
		}
		return c.parts(box, *open)
	}
	return false
}

// split finds a condition that a box satisfies only in part; nil if it satisfies all. It returns
// false if no marking of the box satisfies them all.
func split(needs []petri.Bound, box map[int32]span) (*petri.Bound, bool) {
	var open *petri.Bound
	for i := range needs {
		b := &needs[i]
		s := at(box, b.Slot)
		if s.hi < b.Min || s.lo >= b.Max {
			return nil, false
		}
		if s.lo < b.Min || s.hi >= b.Max && b.Max < math.MaxInt32 {
			open = b
		}
	}
	return open, true
}

func at(box map[int32]span, slot int32) span {
	if s, ok := box[slot]; ok {
		return s
	}
	return span{0, math.MaxInt32}
}

// parts checks the parts of a box below, within and above a bound.
func (c *cover) parts(box map[int32]span, b petri.Bound) bool {
	s := at(box, b.Slot)
	defer func() { box[b.Slot] = s }()
	last := b.Max
	if last < math.MaxInt32 {
		last--
	}
	for _, part := range []span{{s.lo, min(s.hi, b.Min-1)}, {max(s.lo, b.Min), min(s.hi, last)}, {max(s.lo, b.Max),
		s.hi}} {
		if part.lo > part.hi || b.Max == math.MaxInt32 && part.lo == b.Max {
			continue
		}
		if box[b.Slot] = part; !c.all(box) {
			return false
		}
	}
	return true
}

// possible reports whether no flow rules out the whole box.
func (c *cover) possible(box map[int32]span) bool {
	for i := range c.flows {
		f := &c.flows[i]
		least, most := int64(0), int64(0)
		for _, k := range f.Sum {
			s := at(box, k.Slot)
			least += int64(k.N) * int64(s.lo)
			most += int64(k.N) * int64(s.hi)
		}
		if least > f.Start || f.Constant && most < f.Start {
			return false
		}
	}
	return true
}

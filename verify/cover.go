package verify

import (
	"context"
	"math"
	"slices"
	"strings"

	"github.com/voicegw/voicegw/petri"
)

// coverMax limits how many cases one question about a slot is split into;
// beyond that the answer is no.
const coverMax = 1 << 12

// cover decides whether, wherever a token lies in a slot, some transition that
// fires at once and needs it is enabled: then the slot is empty whenever a
// transition fires that is tried later. It splits cases by the conditions of
// those transitions, and drops cases that no flow of the net allows. It knows
// nothing else of what can be reached, so no may be wrong; yes is not.
type cover struct {
	m     *Model
	flows []Flow
	takes [][]petri.Bound // needs of modes that fire at once and need a token in the slot
	cases int
}

// span is a range of counts: lo <= n <= hi.
type span struct{ lo, hi int32 }

// alwaysServed reports that of the slots of a place, by transitions that are
// tried before a rank.
func (r *rooms) alwaysServed(p *petri.PlaceInfo, before int32) bool {
	for s := int32(p.Slot); s < int32(p.Slot+p.Slots); s++ {
		c := &cover{m: r.m, flows: r.flows}
		for i := range r.m.modes {
			md := &r.m.modes[i]
			if rank := r.m.rank[md.t]; rank >= 0 && rank < before {
				c.add(md, s)
			}
		}
		if !c.all(map[int32]span{s: {1, math.MaxInt32}}) {
			return false
		}
	}
	return true
}

// add adds a mode that needs a token of a slot, unless it looks at sums of
// several slots other than that there is nothing.
func (c *cover) add(md *mode, slot int32) {
	needs := slices.Clone(md.needs.Bounds)
	for _, sum := range md.needs.Sums {
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

// all reports whether each marking of a box that flows allow enables one of the
// modes.
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

// split finds a condition that a box keeps in part; nil if it keeps all. It
// returns false if no marking of the box keeps them all.
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

// parts goes through the parts of a box below, within and above a bound.
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

// possible reports whether no flow forbids all of a box.
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

// Answered says that whatever comes to an environment place which decides
// something is answered at once, in whatever state the net is: wherever a token
// lies there, a transition is enabled that needs it and fires at once. The
// places that are excepted, in full or by their last parts, are not looked at.
// It is decided by the structure and the flows of the net, which can show that a
// place always is empty when the net rests; where they do not it is Unknown.
func Answered(except ...string) *Property {
	return &Property{
		Name: "answered", Doc: "whatever comes from outside is answered at once, in every state", OpenWorld: true,
		Check: func(_ context.Context, pass *Pass) (Verdict, error) {
			m := pass.Model()
			var open []string
			r := newRooms(m)
			for i := range m.places {
				p := &m.places[i]
				if p.Env && !p.Payload && !kept(except, p.Name) && !r.alwaysServed(p, int32(len(m.order))) {
					open = append(open, p.Name)
				}
			}
			if len(open) > 0 {
				return unknown(structure, Unsupported, "the structure does not show that a token never stays in %s",
					strings.Join(open, ", ")), nil
			}
			return proved(structure, "nothing found"), nil
		},
	}
}

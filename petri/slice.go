package petri

import (
	"cmp"
	"fmt"
	"slices"
)

// Cut says what a slice has of a program.
type Cut struct {
	// Name of the slice. Proofs are bound to it.
	Name string
	// Keep chooses transitions that the slice has exactly, with every place that
	// they take from or look at; nil: none.
	Keep func(t *TransitionInfo) bool
	// Also chooses further places; nil: none.
	Also func(p *PlaceInfo) bool
	// Limits hold of every marking of the whole program, in slots of that.
	Limits []Limit
}

// Limit is a weighted sum of counts that no reachable marking exceeds: the sum
// of N times the tokens of Slot, N >= 0, is at most Max.
type Limit struct {
	Sum []Count
	Max int64
}

// Holds reports whether a marking keeps the limit.
func (l *Limit) Holds(marking []int32) bool {
	sum := int64(0)
	for _, c := range l.Sum {
		sum += int64(c.N) * int64(marking[c.Slot])
	}
	return sum <= l.Max
}

func negative(l Limit) bool { return slices.ContainsFunc(l.Sum, func(c Count) bool { return c.N < 0 }) }

// Slice returns a program for proofs that has only some places of p, and does
// on them whatever p does, perhaps more: a simulation.
//
// Its places are those that Also chooses and those that the transitions of Keep
// take from or look at. It has these transitions and every other one whose
// inputs, reads and inhibitors lie on its places: they are enabled when they are
// in p, so they must fire when they must in p. What they produce, and empty,
// elsewhere vanishes. Each
// remaining transition that changes the slice becomes a projected move, named
// with a * at its end: it has the modes of the transition cut down to the
// places of the slice and waits for [0,inf). What it looked at elsewhere no
// longer holds it back, and keys that it took over from elsewhere are a choice
// of moves. Moves that change nothing are left out, and equal ones are one. A
// move that stands for an at-once transition may fire in the midst of a chain:
// TransitionInfo.Yields says before whom.
//
// The final place is always part of the slice. Frames that are not moved by a
// transition of the slice are left out. No machine runs a slice, and of a slice
// no slice is made.
func (p *Program) Slice(c Cut) (*Program, error) {
	switch {
	case p.whole != nil:
		return nil, fmt.Errorf("petri: slice %s: %s is a slice already", c.Name, p.name)
	case c.Name == "":
		return nil, fmt.Errorf("petri: slice %s: the slice has no name", p.name)
	case slices.ContainsFunc(c.Limits, negative):
		return nil, fmt.Errorf("petri: slice %s: a limit has a negative weight", p.name)
	}
	s := &slicer{whole: p, cut: c}
	s.out = &Program{
		name: c.Name, byName: map[string]int32{}, final: -1, closed: p.closed, whole: p,
		runnable: fmt.Errorf("petri: net %q is a slice of %q, for proofs only", c.Name, p.name),
	}
	s.choosePlaces()
	if len(s.out.slotPlace) == 0 {
		return nil, fmt.Errorf("petri: slice %s of %s: it has no place", c.Name, p.name)
	}
	s.chooseTransitions()
	s.order()
	s.moves()
	s.limits()
	return s.out, nil
}

// Whole returns the program that this one is a slice of, or nil.
func (p *Program) Whole() *Program { return p.whole }

// Limits are sums that no marking of the whole program exceeds, cut down to a
// slice: what breaks one is no run of the whole. Only slices have limits.
func (p *Program) Limits() []Limit { return p.limits }

// slicer makes a slice.
type slicer struct {
	whole *Program
	cut   Cut
	out   *Program
	place []int32 // by place of the whole: that of the slice, or -1
	slot  []int32 // by slot
	exact []bool  // by transition
	at    []int32 // by exact transition of the whole: that of the slice
	seen  map[string]int
}

// choosePlaces lays out the places of the slice.
func (s *slicer) choosePlaces() {
	w := s.whole
	s.exact = make([]bool, len(w.transitions))
	in := make([]bool, len(w.places))
	for i := range w.transitions {
		t := &w.transitions[i]
		if s.exact[i] = s.cut.Keep != nil && s.cut.Keep(t); !s.exact[i] {
			continue
		}
		for _, a := range t.Arcs {
			in[a.Place] = in[a.Place] || looks(a)
		}
	}
	s.place, s.slot = make([]int32, len(w.places)), make([]int32, len(w.slotPlace))
	for i := range s.slot {
		s.slot[i] = -1
	}
	for i := range w.places {
		pl := &w.places[i]
		s.place[i] = -1
		if in[i] || pl.Final || !pl.Out && s.cut.Also != nil && s.cut.Also(pl) {
			s.addPlace(int32(i))
		}
	}
	for _, t := range w.tasks {
		if s.place[t.Start] >= 0 && s.place[t.InFlight] >= 0 && s.place[t.Done] >= 0 {
			s.out.tasks = append(s.out.tasks,
				TaskInfo{int(s.place[t.Start]), int(s.place[t.InFlight]), int(s.place[t.Done])})
		}
	}
}

func (s *slicer) addPlace(i int32) {
	o, pl := s.out, s.whole.places[i]
	n := int32(len(o.places))
	s.place[i] = n
	old := pl.Slot
	pl.Slot, pl.task = len(o.slotPlace), 0
	for k := range pl.Slots {
		s.slot[old+k] = int32(pl.Slot + k)
		o.slotPlace = append(o.slotPlace, n)
		o.initial = append(o.initial, s.whole.initial[old+k])
	}
	if pl.Gen && pl.Slots > 0 {
		o.genPlaces = append(o.genPlaces, n)
	}
	if pl.Final {
		o.final = int32(pl.Slot)
	}
	o.byName[pl.Name] = n
	o.places = append(o.places, pl)
}

// chooseTransitions finds which transitions the slice has exactly, and makes
// them.
func (s *slicer) chooseTransitions() {
	s.at = make([]int32, len(s.whole.transitions))
	for i := range s.whole.transitions {
		t := &s.whole.transitions[i]
		if s.exact[i] = s.exact[i] || s.decided(t); !s.exact[i] {
			continue
		}
		n := TransitionInfo{
			Name: t.Name, Group: t.Group, When: t.When, Priority: t.Priority, Free: t.Free, Bump: t.Bump, Frame: t.Frame,
			Outside: t.Outside, Arcs: s.arcs(t), branches: t.branches, rank: -1, clock: -1,
		}
		for k := range t.Modes {
			n.Modes = append(n.Modes, s.mode(&t.Modes[k]))
		}
		s.at[i] = int32(len(s.out.transitions))
		s.out.transitions = append(s.out.transitions, n)
	}
}

// looks reports whether an arc decides if its transition is enabled.
func looks(a ArcInfo) bool { return a.Kind != OutArc && a.Kind != ResetArc }

// decided reports whether all that a transition looks at and takes is part of
// the slice, and something that it touches at all.
func (s *slicer) decided(t *TransitionInfo) bool {
	touches := t.Bump && len(s.out.genPlaces) > 0
	for _, a := range t.Arcs {
		here := s.place[a.Place] >= 0
		if looks(a) && !here {
			return false
		}
		touches = touches || here && !s.whole.places[a.Place].Out
	}
	return touches
}

// arcs cuts the arcs of a transition down to the slice.
func (s *slicer) arcs(t *TransitionInfo) []ArcInfo {
	var out []ArcInfo
	for _, a := range t.Arcs {
		if n := s.place[a.Place]; n >= 0 {
			a.Place = int(n)
			out = append(out, a)
		}
	}
	return out
}

// mode cuts a mode down to the slice.
func (s *slicer) mode(m *Mode) Mode {
	n := Mode{Label: m.Label, branch: m.branch, Take: s.counts(m.Take), Drain: s.slots(m.Drain), Reset: s.slots(m.Reset)}
	for _, c := range m.Conds {
		// The slots of a condition are of one arc, and so of one place.
		if here := s.slots(c.Slots); len(here) > 0 {
			n.Conds = append(n.Conds, Cond{Slots: here, Min: c.Min, Max: c.Max})
		}
	}
	for i := range m.Branches {
		b := Branch{Put: s.counts(m.Branches[i].Put)}
		for _, e := range m.Branches[i].Emit {
			if at := s.place[e.Place]; at >= 0 {
				b.Emit = append(b.Emit, Emit{Place: int(at), N: e.N})
			}
		}
		n.Branches = append(n.Branches, b)
	}
	n.needs = needs(n.Conds)
	return n
}

func (s *slicer) counts(list []Count) []Count {
	var out []Count
	for _, c := range list {
		if at := s.slot[c.Slot]; at >= 0 {
			out = append(out, Count{at, c.N})
		}
	}
	return out
}

func (s *slicer) slots(list []int32) []int32 {
	var out []int32
	for _, slot := range list {
		if at := s.slot[slot]; at >= 0 {
			out = append(out, at)
		}
	}
	return out
}

// order ranks the at-once transitions of the slice as the whole ranks them.
func (s *slicer) order() {
	o := s.out
	for _, i := range s.whole.ranks {
		if !s.exact[i] {
			continue
		}
		t := &o.transitions[s.at[i]]
		t.rank = int32(len(o.ranks))
		o.ranks = append(o.ranks, s.at[i])
	}
}

// moves adds the projected moves.
func (s *slicer) moves() {
	s.seen = map[string]int{}
	for _, i := range s.byUrgency() {
		if t := &s.whole.transitions[i]; !s.exact[i] && !t.Frame {
			s.move(t)
		}
	}
	for i := range s.out.transitions {
		if t := &s.out.transitions[i]; t.rank < 0 {
			t.clock = int32(s.out.timed)
			s.out.timed++
		}
	}
}

// byUrgency lists all transitions, those at once first and in order, so that of
// equal moves the one that waits least stays.
func (s *slicer) byUrgency() []int32 {
	out := slices.Clone(s.whole.ranks)
	for i := range s.whole.transitions {
		if s.whole.transitions[i].rank < 0 {
			out = append(out, int32(i))
		}
	}
	return out
}

// move adds the projected move that stands for a transition, if it changes the
// slice in a way that no move before does.
func (s *slicer) move(t *TransitionInfo) {
	n := TransitionInfo{
		Name: t.Name + "*", Group: t.Group, When: Anytime(), Bump: t.Bump && len(s.out.genPlaces) > 0, Outside: t.Outside,
		Projected: true, Yields: s.yields(t), Arcs: s.arcs(t), rank: -1,
	}
	for k := range t.Modes {
		m := s.mode(&t.Modes[k])
		m.Label = t.Modes[k].Label
		s.choices(&m, n.Bump)
		if key := s.effect(&n, &m); len(m.Branches) > 0 && s.seen[key] == 0 {
			s.seen[key] = len(s.out.transitions) + 1
			n.Modes = append(n.Modes, m)
		}
	}
	if len(n.Modes) > 0 {
		n.branches = len(n.Modes[0].Branches)
		s.out.transitions = append(s.out.transitions, n)
	}
}

// yields is how many of the slice's at-once transitions are tried before one of
// the whole.
func (s *slicer) yields(t *TransitionInfo) int {
	if t.rank < 0 {
		return len(s.out.ranks)
	}
	n := 0
	for _, i := range s.whole.ranks[:t.rank] {
		if s.exact[i] {
			n++
		}
	}
	return n
}

// choices leaves a projected mode only branches that can be chosen and that
// differ. One that changes nothing has none left.
func (s *slicer) choices(m *Mode, bump bool) {
	var out []Branch
	for i := range m.Branches {
		b := &m.Branches[i]
		b.Emit = nil
		slices.SortFunc(b.Put, func(x, y Count) int { return cmp.Compare(x.Slot, y.Slot) })
		still := len(m.Take)+len(m.Drain)+len(m.Reset)+len(b.Put) == 0 && !bump
		same := func(o Branch) bool { return slices.Equal(o.Put, b.Put) }
		if m.branch >= 0 && int(m.branch) != i || still || slices.ContainsFunc(out, same) {
			continue
		}
		out = append(out, *b)
	}
	m.Branches, m.branch = out, 0
	if len(out) > 1 {
		m.branch = -1
	}
}

// effect renders what a projected mode needs and does.
func (s *slicer) effect(t *TransitionInfo, m *Mode) string {
	bounds := slices.Clone(m.needs.Bounds)
	slices.SortFunc(bounds, func(x, y Bound) int { return cmp.Compare(x.Slot, y.Slot) })
	return fmt.Sprint(t.Outside, t.Bump, bounds, m.needs.Sums, m.Take, m.Drain, m.Reset, m.Branches)
}

// limits cuts the limits down. A term that is left out is not negative, so what
// remains holds all the more.
func (s *slicer) limits() {
	for _, l := range s.cut.Limits {
		if sum := s.counts(l.Sum); len(sum) > 0 && s.news(sum, l.Max) {
			s.out.limits = append(s.out.limits, Limit{Sum: sum, Max: l.Max})
		}
	}
}

// news reports whether a limit says more than each before it.
func (s *slicer) news(sum []Count, most int64) bool {
	return !slices.ContainsFunc(s.out.limits, func(l Limit) bool { return slices.Equal(l.Sum, sum) && l.Max <= most })
}

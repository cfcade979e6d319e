package petri

import (
	"cmp"
	"fmt"
	"slices"
)

// Cut says which part of a program a slice contains.
type Cut struct {
	// Name is the name of the slice. Certificates contain it.
	Name string
	// Keep selects the transitions that the slice keeps exactly, with every place that they take
	// from or look at. nil selects none.
	Keep func(t *TransitionInfo) bool
	// Also selects further places. nil selects none.
	Also func(p *PlaceInfo) bool
	// Limits hold in every reachable marking of the whole program. They refer to its slots.
	Limits []Limit
}

// Limit bounds a weighted sum of token counts in every reachable marking: the sum of N times the
// tokens of Slot is at most Max. N must not be negative.
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

// Slice returns a program, for proofs only, that has some of the places of p. It simulates p:
// whatever p does on these places, the slice can do too, and perhaps more.
//
// Its places are those that Also selects, those that the transitions of Keep take from or look at,
// and the final place. A transition is kept exactly if Keep selects it, or if its inputs, reads and
// inhibitors all lie on these places. It is enabled whenever it is enabled in p, so it must fire
// when it must in p. What it produces or empties elsewhere is left out.
//
// Each remaining transition that changes the slice becomes a projected move, whose name ends in *.
// The move has the modes of the transition, cut down to the places of the slice, and waits for
// [0,inf). Places outside the slice no longer hold it back. A key that came from outside the slice
// becomes a choice among moves. Moves that change nothing are left out, and equal moves are merged.
// A move that represents an at-once transition may fire within a chain of firings;
// TransitionInfo.Yields says which transitions go first.
//
// Transitions that move payload tokens only are left out unless they are kept exactly. No machine
// runs a slice, and a slice cannot be sliced again.
func (p *Program) Slice(c Cut) (*Program, error) {
	switch {
	case p.whole != nil:
		return nil, fmt.Errorf("petri: slice %s: %s is already a slice", c.Name, p.name)
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

// Whole returns the program of which p is a slice, or nil.
func (p *Program) Whole() *Program { return p.whole }

// Limits returns the limits of Cut.Limits, cut down to the slice. A marking that exceeds one is not
// reachable in the whole program. Only slices have limits.
func (p *Program) Limits() []Limit { return p.limits }

// slicer makes a slice.
type slicer struct {
	whole *Program
	cut   Cut
	out   *Program
	place []int32 // by place of the whole: its index in the slice, or -1
	slot  []int32 // by slot of the whole: its index in the slice, or -1
	exact []bool  // by transition of the whole
	at    []int32 // by exact transition of the whole: its index in the slice
	seen  map[string]int
}

// choosePlaces selects the places of the slice and assigns their slots.
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

// chooseTransitions selects the transitions that the slice keeps exactly, and makes them.
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

// looks reports whether an arc helps to decide that its transition is enabled.
func looks(a ArcInfo) bool { return a.Kind != OutArc && a.Kind != ResetArc }

// decided reports whether the slice contains every place that a transition looks at or takes from,
// and at least one place that the transition changes or looks at.
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
		// All slots of a condition belong to one arc, and so to one place.
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

// order ranks the at-once transitions of the slice as the whole program ranks them.
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

// byUrgency lists all transitions, first those at once in their order, so that of equal moves the
// most urgent one is kept.
func (s *slicer) byUrgency() []int32 {
	out := slices.Clone(s.whole.ranks)
	for i := range s.whole.transitions {
		if s.whole.transitions[i].rank < 0 {
			out = append(out, int32(i))
		}
	}
	return out
}

// move adds the projected move that represents a transition, if it changes the slice in a way that
// no earlier move does.
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

// yields returns how many at-once transitions of the slice are tried before a transition of the
// whole.
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

// choices removes the branches of a projected mode that cannot be chosen, change nothing, or equal
// another.
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

// effect returns a text that is equal for projected modes with the same needs and effects.
func (s *slicer) effect(t *TransitionInfo, m *Mode) string {
	bounds := slices.Clone(m.needs.Bounds)
	slices.SortFunc(bounds, func(x, y Bound) int { return cmp.Compare(x.Slot, y.Slot) })
	return fmt.Sprint(t.Outside, t.Bump, bounds, m.needs.Sums, m.Take, m.Drain, m.Reset, m.Branches)
}

// limits cuts the limits down to the slice. The terms left out are not negative, so the rest keeps
// the bound.
func (s *slicer) limits() {
	for _, l := range s.cut.Limits {
		if sum := s.counts(l.Sum); len(sum) > 0 && s.news(sum, l.Max) {
			s.out.limits = append(s.out.limits, Limit{Sum: sum, Max: l.Max})
		}
	}
}

// news reports whether a limit is stronger than all before it.
func (s *slicer) news(sum []Count, most int64) bool {
	return !slices.ContainsFunc(s.out.limits, func(l Limit) bool { return slices.Equal(l.Sum, sum) && l.Max <= most })
}

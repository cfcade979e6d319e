package netmodel

// PassingCond is a condition on passing markings. Its rank is that of the firing that comes next.
type PassingCond func(marking []int32, rank int32) bool

// Passing returns the part of a condition that concerns moves of frames in passing markings, nil if
// there is none. It is true where the condition is true because a frame moves whose kind waits
// allows.
func (c *Cond) Passing(waits func(slot int32) bool) PassingCond {
	if !c.look.frames {
		return nil
	}
	return func(marking []int32, rank int32) bool {
		if c.m.Ended(marking) {
			return false
		}
		c.look.rank, c.look.waits, c.look.passing = rank, waits, true
		holds := c.Pred(marking)
		c.look.never = true
		without := holds && c.Pred(marking)
		c.look.never, c.look.passing = false, false
		return holds && !without
	}
}

// look defines how to evaluate can() of a frame transition.
type look struct {
	frames  bool // some can() names a frame transition
	passing bool // the marking is a passing marking
	never   bool // no frame moves in it
	rank    int32
	waits   func(slot int32) bool
}

// passes reports whether transition t would take a waiting frame before the firing of a rank.
func (m *Model) passes(l *look, t int32, marking []int32) bool {
	if l.never || m.Ranks[t] >= l.rank {
		return false
	}
	found := false
	for i := range m.Frames {
		f := &m.Frames[i]
		if !l.waits(f.slot) {
			continue
		}
		for _, n := range f.waits {
			m.movesFrom(f, marking, n, func(k int32) { found = found || m.Modes[k].Transition == t })
		}
	}
	return found
}

// Rests calls fn for each kind of frame that may wait in a marking.
func (m *Model) Rests(marking []int32, fn func(slot int32)) {
	m.eachFrameMode(marking, func(int32) {}, fn)
}

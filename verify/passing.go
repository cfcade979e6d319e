package verify

import "slices"

// A frame that finds nobody to take it waits, and may then move in the midst of
// a chain of firings at one instant: in a passing marking, before the firing
// that comes next. So what is said of the moves of frames is asked of passing
// markings too, for frames that wait in some marking in which the net rests.

// passing collects the passing markings of an exploration, each with the rank
// of the transition that fires in it.
type passing struct {
	set  *MarkingSet
	at   []origin
	row  []int32
	from *explorer
}

// note is called before each firing of a chain.
func (p *passing) note(rank int32) {
	w := p.from.w
	if !w.m.FramesMayPass(w.Marking, rank) {
		return
	}
	p.row = append(append(p.row[:0], w.Marking...), rank)
	if _, isNew := p.set.Add(p.row); isNew {
		p.at = append(p.at, origin{seen: true, from: int32(p.from.from), first: p.from.first})
	}
}

// watchPassing makes an exploration collect passing markings, if frames move at
// all.
func (e *explorer) watchPassing() {
	if len(e.g.Model.frames) == 0 {
		return
	}
	e.g.passing = &passing{set: NewMarkingSet(e.g.Model.slots + 1), from: e}
	e.w.Passing = e.g.passing.note
}

// PassingCond is a condition on passing markings, given the rank of the firing
// that comes next.
type PassingCond func(marking []int32, rank int32) bool

// Passing returns the part of a condition that concerns moves of frames in
// passing markings, nil if there is none: it is true where the condition is
// true because a frame moves, of the kinds that waits allows.
func (c *Cond) Passing(waits func(slot int32) bool) PassingCond {
	if !c.look.frames {
		return nil
	}
	return func(marking []int32, rank int32) bool {
		if c.m.Ended(marking) {
			return false
		}
		c.look.rank, c.look.waits, c.look.passing = rank, waits, true
		holds := c.holds(marking)
		c.look.never = true
		without := holds && c.holds(marking)
		c.look.never, c.look.passing = false, false
		return holds && !without
	}
}

// look says how can() of a frame transition is to be read.
type look struct {
	frames  bool // some can() is about frames
	passing bool // a passing marking is looked at
	never   bool // and no frame moves
	rank    int32
	waits   func(slot int32) bool
}

// passes reports whether transition t would take a frame that waits, before
// the firing of a rank.
func (m *Model) passes(l *look, t int32, marking []int32) bool {
	if l.never || m.rank[t] >= l.rank {
		return false
	}
	found := false
	for i := range m.frames {
		f := &m.frames[i]
		if !l.waits(f.slot) {
			continue
		}
		for _, n := range f.waits {
			m.movesFrom(f, marking, n, func(k int32) { found = found || m.modes[k].t == t })
		}
	}
	return found
}

// Rests returns which kinds of frame may wait in a marking.
func (m *Model) Rests(marking []int32, fn func(slot int32)) {
	m.frameMoves(marking, func(int32) {}, fn)
}

// waiting are the kinds of frame that wait in some state.
func (g *Graph) waiting() func(slot int32) bool {
	if g.waits == nil {
		g.waits = map[int32]bool{}
		g.Each(func(_ int, m []int32) bool {
			g.Model.Rests(m, func(slot int32) { g.waits[slot] = true })
			return len(g.waits) < len(g.Model.frames)
		})
	}
	return func(slot int32) bool { return g.waits[slot] }
}

// findPassing is the first passing marking that satisfies a condition, or -1.
func (g *Graph) findPassing(c *Cond) int {
	if g.passing == nil {
		return -1
	}
	bad := c.Passing(g.waiting())
	if bad == nil {
		return -1
	}
	row := make([]int32, g.Model.slots+1)
	for i := range g.passing.set.Len() {
		g.passing.set.Get(i, row)
		if n := len(row) - 1; bad(row[:n], row[n]) {
			return i
		}
	}
	return -1
}

// pathToPassing returns a way through a passing marking, and that marking.
func (g *Graph) pathToPassing(i int) ([]Step, []int32) {
	row := make([]int32, g.Model.slots+1)
	g.passing.set.Get(i, row)
	want := row[:len(row)-1]
	o := g.passing.at[i]
	var steps, chain []Step
	if o.from >= 0 {
		steps = g.PathTo(int(o.from)).Steps
	}
	var w *Walker
	passed := false
	w = g.Model.NewWalker(func() {
		if passed && chain == nil { // the run goes on until the net rests
			chain = append([]Step{}, w.Chain...)
		}
	}, nil)
	w.Record = true
	w.Passing = func(rank int32) {
		passed = passed || rank == row[len(want)] && slices.Equal(w.Marking, want)
	}
	if o.from < 0 {
		w.Start()
	} else {
		w.Fire(g.Marking(int(o.from), nil), o.first)
	}
	return append(steps, chain...), want
}

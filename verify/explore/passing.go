package explore

import (
	"slices"

	"github.com/voicegw/voicegw/verify/netmodel"
	"github.com/voicegw/voicegw/verify/walk"
)

// A frame that no transition takes waits. It may then move in the middle of a chain of firings at
// one instant: in a passing marking, before the firing that comes next. So claims about moves of
// frames are also checked on passing markings, for frames that wait in some marking in which the
// net rests.

// passing collects the passing markings of an exploration, each with the rank of the transition
// that fires in it.
type passing struct {
	set  *MarkingSet
	at   []origin
	row  []int32
	from *explorer
}

// note records the marking before each firing of a chain.
func (p *passing) note(rank int32) {
	w := p.from.w
	if !w.M.FramesMayPass(w.Marking, rank) {
		return
	}
	p.row = append(append(p.row[:0], w.Marking...), rank)
	if _, isNew := p.set.Add(p.row); isNew {
		p.at = append(p.at, origin{seen: true, from: int32(p.from.from), first: p.from.first})
	}
}

// watchPassing makes an exploration collect passing markings, if the net has frames.
func (e *explorer) watchPassing() {
	if len(e.g.Model.Frames) == 0 {
		return
	}
	e.g.passing = &passing{set: NewMarkingSet(e.g.Model.Slots() + 1), from: e}
	e.w.Passing = e.g.passing.note
}

// waiting reports the kinds of frame that wait in some state.
func (g *Graph) waiting() func(slot int32) bool {
	if g.waits == nil {
		g.waits = map[int32]bool{}
		g.Each(func(_ int, m []int32) bool {
			g.Model.Rests(m, func(slot int32) { g.waits[slot] = true })
			return len(g.waits) < len(g.Model.Frames)
		})
	}
	return func(slot int32) bool { return g.waits[slot] }
}

// FindPassing is the first passing marking that satisfies a condition, or -1.
func (g *Graph) FindPassing(c *netmodel.Cond) int {
	if g.passing == nil {
		return -1
	}
	bad := c.Passing(g.waiting())
	if bad == nil {
		return -1
	}
	row := make([]int32, g.Model.Slots()+1)
	for i := range g.passing.set.Len() {
		g.passing.set.Get(i, row)
		if n := len(row) - 1; bad(row[:n], row[n]) {
			return i
		}
	}
	return -1
}

// PathToPassing returns a path through a passing marking, and that marking.
func (g *Graph) PathToPassing(i int) ([]netmodel.Step, []int32) {
	row := make([]int32, g.Model.Slots()+1)
	g.passing.set.Get(i, row)
	want := row[:len(row)-1]
	o := g.passing.at[i]
	var steps, chain []netmodel.Step
	if o.from >= 0 {
		steps = g.PathTo(int(o.from)).Steps
	}
	var w *walk.Walker
	passed := false
	w = walk.NewWalker(g.Model, func() {
		if passed && chain == nil { // the run continues until the net rests
			chain = append([]netmodel.Step{}, w.Chain...)
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

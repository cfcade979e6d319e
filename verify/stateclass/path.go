package stateclass

import (
	"slices"

	"github.com/voicegw/voicegw/verify"
	"github.com/voicegw/voicegw/verify/claim"
	"github.com/voicegw/voicegw/verify/explore"
	"github.com/voicegw/voicegw/verify/netmodel"
	"github.com/voicegw/voicegw/verify/walk"
)

// PathTo returns a firing sequence from the start to a class.
func (g *Graph) PathTo(class int) []netmodel.Step {
	var hops []int
	for i := class; i >= 0; i = int(g.classes[i].parent) {
		hops = append(hops, i)
	}
	slices.Reverse(hops)
	var steps []netmodel.Step
	for _, i := range hops {
		steps = append(steps, g.chain(i)...)
	}
	return steps
}

// chain finds the firings that lead from the parent of a class to it.
func (g *Graph) chain(class int) []netmodel.Step {
	c := &g.classes[class]
	mk := &g.markings[c.marking]
	n := len(mk.clocks) + 1
	want := g.zone(uint32(class), n*n)
	marking := g.Marking(class, nil)
	var found []netmodel.Step
	r := g.replay(int(c.parent), c.by)
	r.visit = func() {
		if found == nil && slices.Equal(r.w.Marking, marking) {
			if r.successor(mk); slices.Equal(r.zone, want) {
				found = append([]netmodel.Step{}, r.w.Chain...)
			}
		}
	}
	r.run()
	if found == nil {
		panic("stateclass: path: a class is not reached by the step that found it")
	}
	return found
}

// replayer fires one step of one class again.
type replayer struct {
	explorer
	visit func()
	from  int
	by    netmodel.Step
}

func (g *Graph) replay(from int, by netmodel.Step) *replayer {
	r := &replayer{explorer: explorer{g: g, from: from, here: make([]int32, g.Model.Slots()), rows: make([]int,
		len(g.of))}, by: by}
	r.from = from
	r.w = walk.NewWalker(g.Model, func() { r.visit() }, nil)
	r.w.Track()
	r.w.Record = true
	return r
}

func (r *replayer) run() {
	r.explorer.from = r.from
	if r.from < 0 {
		r.w.Start()
		return
	}
	c := &r.g.classes[r.from]
	mk := &r.g.markings[c.marking]
	r.g.set.Get(int(c.marking), r.here)
	dim := len(mk.clocks) + 1
	f := 0
	for i, k := range mk.clocks {
		r.rows[k] = i + 1
		if r.g.Model.Timed()[k] == r.by.Transition {
			f = i + 1
		}
	}
	r.fire.gap = r.g.gaps(r.g.Model.Clock(r.by.Transition), mk, r.fire.gap)
	r.fire.begin(r.g.zone(uint32(r.from), dim*dim), dim, f)
	r.w.FireKept(r.here, mk.running, r.by)
}

// pathToFault returns a path to a fault, including the faulting firing.
func (g *Graph) pathToFault(f explore.FaultAt) []netmodel.Step {
	var steps []netmodel.Step
	if f.From >= 0 {
		steps = g.PathTo(f.From)
	}
	if len(f.Chain) > 0 {
		steps = append(steps, f.Chain...)
	} else {
		steps = append(steps, f.Step)
	}
	if f.Kind == walk.Endless {
		return walk.Unroll(g.Model, steps)
	}
	return steps
}

// pathAcross returns a path to a class and across the step that leaves it, on which happens is
// true.
func (g *Graph) pathAcross(from int, first netmodel.Step, happens func(*walk.Walker) bool) []netmodel.Step {
	var steps, chain []netmodel.Step
	if from >= 0 {
		steps = g.PathTo(from)
	}
	r := g.replay(from, first)
	r.visit = func() {
		if chain == nil && happens(r.w) {
			chain = append([]netmodel.Step{}, r.w.Chain...)
		}
	}
	r.run()
	return append(steps, chain...)
}

// pathToRefusal returns a path on which a place refuses a token, continued until the net rests.
func (g *Graph) pathToRefusal(at explore.RefusalAt) []netmodel.Step {
	var steps, chain []netmodel.Step
	if at.From >= 0 {
		steps = g.PathTo(at.From)
	}
	r := g.replay(at.From, at.First)
	r.visit = func() {}
	r.w.Turned = func(have walk.Refusal) {
		if chain == nil && have == at.Refusal {
			chain = append([]netmodel.Step{}, r.w.Chain...)
		}
	}
	r.run()
	return walk.Settled(g.Model, append(steps, chain...))
}

// EachPassing calls fn for every marking in which an immediate transition fires and a frame could
// move before it, with the rank of that transition, until fn returns false. fn must not keep the
// marking.
func (g *Graph) EachPassing(fn func(marking []int32, rank int32) bool) {
	if g.passing == nil {
		return
	}
	row := make([]int32, g.Model.Slots()+1)
	for i := range g.passing.Len() {
		g.passing.Get(i, row)
		if n := len(row) - 1; !fn(row[:n], row[n]) {
			return
		}
	}
}

// findPassing finds a passing marking that breaks a property, and a path to it; nil if there is
// none.
func (g *Graph) findPassing(p *verify.Property) ([]netmodel.Step, []int32, error) {
	if g.passing == nil {
		return nil, nil, nil
	}
	waits := map[int32]bool{}
	g.Each(func(_ int, m []int32) bool {
		g.Model.Rests(m, func(slot int32) { waits[slot] = true })
		return true
	})
	bad, err := claim.BadPassing(p.Claim, g.Model, func(slot int32) bool { return waits[slot] })
	if err != nil || bad == nil {
		return nil, nil, err
	}
	row := make([]int32, g.Model.Slots()+1)
	for i := range g.passing.Len() {
		g.passing.Get(i, row)
		if n := len(row) - 1; bad(row[:n], row[n]) {
			return g.pathToPassing(g.passedBy[i], row), row[:n], nil
		}
	}
	return nil, nil, nil
}

func (g *Graph) pathToPassing(o origin, row []int32) []netmodel.Step {
	var steps, chain []netmodel.Step
	if o.from >= 0 {
		steps = g.PathTo(int(o.from))
	}
	r := g.replay(int(o.from), o.first)
	n, passed := len(row)-1, false
	r.visit = func() {
		if passed && chain == nil { // the run goes on until the net rests
			chain = append([]netmodel.Step{}, r.w.Chain...)
		}
	}
	r.w.Passing = func(rank int32) {
		passed = passed || rank == row[n] && slices.Equal(r.w.Marking, row[:n])
	}
	r.run()
	return append(steps, chain...)
}

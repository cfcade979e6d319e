package mutate

import (
	"slices"
	"strings"

	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/verify/explore"
	"github.com/voicegw/voicegw/verify/netmodel"
	"github.com/voicegw/voicegw/verify/walk"
)

// sites are all markings that a net passes through in a closure, including those between firings at
// one instant and those inside a firing. A mutant of one transition that does what the net does in
// each of them has the net's graph, clocks included; it needs no exploration of its own.
type sites struct {
	set *explore.MarkingSet // a marking and its kind
	but map[int32]string    // by transition: the canonical text of all other transitions
}

// The kind of a marking: inside a firing; at rest; or, from atOnce on, the rank of the transition
// that fires in it at once.
const (
	amid int32 = iota
	atRest
	atOnce
)

// sitesOf explores a net whose markings are known to fit in Max.
func sitesOf(m *netmodel.Model) *sites {
	s := &sites{explore.NewMarkingSet(m.Slots() + 1), map[int32]string{}}
	states := explore.NewMarkingSet(m.Slots())
	row := make([]int32, m.Slots()+1)
	var w *walk.Walker
	add := func(what int32) {
		copy(row, w.Marking)
		row[len(row)-1] = what
		s.set.Add(row)
	}
	w = walk.NewWalker(m, func() {
		states.Add(w.Marking)
		add(atRest)
	}, nil)
	w.Amid = func() { add(amid) }
	w.Passing = func(rank int32) { add(atOnce + rank) }
	w.Start()
	here := make([]int32, m.Slots())
	var steps []netmodel.Step
	for i := 0; i < states.Len(); i++ {
		if states.Get(i, here); m.Ended(here) {
			continue
		}
		for _, t := range m.Timed() {
			steps = m.Steps(t, here, steps[:0])
			for _, step := range steps {
				w.Fire(here, step)
			}
		}
	}
	return s
}

// twin compares a transition of a net with its counterpart in a mutant.
type twin struct {
	a, b       *netmodel.Model
	t, rank    int32
	timed      bool
	sigA, sigB []uint64
	wa, wb     *walk.Walker
	amidA      []int32
	amidB      []int32
	stepsA     []netmodel.Step
	stepsB     []netmodel.Step
}

// same reports that a mutant of a transition behaves as the net does. False means that this is not
// known.
func (v *way) same(k *compiled, transition string, sig signatures) bool {
	if v.sites == nil || v.original.model.Count() != k.model.Count() {
		return false
	}
	t := slices.IndexFunc(v.original.closed.Transitions(), func(i petri.TransitionInfo) bool {
		return strings.HasSuffix("/"+i.Name, "/"+transition)
	})
	if t < 0 || v.original.closed.Transitions()[t].Frame || k.closed.Transitions()[t].Frame {
		return false
	}
	text, ok := v.sites.but[int32(t)]
	if !ok {
		text = v.original.model.CanonicalBut(int32(t))
		v.sites.but[int32(t)] = text
	}
	if k.model.CanonicalBut(int32(t)) != text {
		return false
	}
	w := &twin{a: v.original.model, b: k.model, t: int32(t), rank: v.original.model.Rank(int32(t)),
		sigA: v.steps, sigB: sig.of(k)}
	w.timed = w.a.Clock(w.t) >= 0
	if w.timed && w.a.When(w.t) != w.b.When(w.t) || w.timed != (w.b.Clock(w.t) >= 0) {
		return false
	}
	w.wa, w.wb = walk.NewWalker(w.a, func() {}, nil), walk.NewWalker(w.b, func() {}, nil)
	w.wa.Amid = func() { w.amidA = append(w.amidA[:0], w.wa.Marking...) }
	w.wb.Amid = func() { w.amidB = append(w.amidB[:0], w.wb.Marking...) }
	row := make([]int32, w.a.Slots()+1)
	for i := range v.sites.set.Len() {
		v.sites.set.Get(i, row)
		if !w.at(row[:len(row)-1], row[len(row)-1]) {
			return false
		}
	}
	return true
}

// at reports whether both transitions do the same in a marking.
func (w *twin) at(marking []int32, what int32) bool {
	if !w.timed && (what == amid || what >= atOnce && w.rank > what-atOnce) || what == atRest && w.a.Ended(marking) {
		return true // neither transition is considered here
	}
	can := w.a.Enabled(w.t, marking)
	if can != w.b.Enabled(w.t, marking) {
		return false
	}
	if !can || w.timed != (what == atRest) {
		return true
	}
	w.stepsA, w.stepsB = w.a.Steps(w.t, marking, w.stepsA[:0]), w.b.Steps(w.t, marking, w.stepsB[:0])
	return slices.EqualFunc(w.stepsA, w.stepsB, func(s, o netmodel.Step) bool {
		return s == o && w.sigA[w.a.StepIndex(s)] == w.sigB[w.b.StepIndex(o)] && w.alike(marking, s)
	})
}

// alike reports whether a step has the same effect in both, also on the way.
func (w *twin) alike(marking []int32, s netmodel.Step) bool {
	return w.wa.Once(marking, s) == w.wb.Once(marking, s) && slices.Equal(w.amidA, w.amidB) &&
		slices.Equal(w.wa.Marking, w.wb.Marking) && len(w.wa.Refused) == len(w.wb.Refused)
}

package mutate

import (
	"slices"
	"strings"

	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/verify"
)

// sites are all markings that a net passes through in a closure, those between
// firings at one instant and those amid a firing too. A mutant of one transition
// that does what the net does in each of them has the net's graph, clocks and
// all, without another exploration.
type sites struct {
	set *verify.MarkingSet // a marking and what it is
	but map[int32]string   // by transition: the text of all others
}

// What a marking is: that it is amid a firing, that the net rests in it, or, from
// atOnce on, the rank of what fires in it at once.
const (
	amid int32 = iota
	atRest
	atOnce
)

// sitesOf explores a net that was found to have at most max markings.
func sitesOf(m *verify.Model) *sites {
	s := &sites{verify.NewMarkingSet(m.Slots() + 1), map[int32]string{}}
	states := verify.NewMarkingSet(m.Slots())
	row := make([]int32, m.Slots()+1)
	var w *verify.Walker
	add := func(what int32) {
		copy(row, w.Marking)
		row[len(row)-1] = what
		s.set.Add(row)
	}
	w = m.NewWalker(func() {
		states.Add(w.Marking)
		add(atRest)
	}, nil)
	w.Amid = func() { add(amid) }
	w.Passing = func(rank int32) { add(atOnce + rank) }
	w.Start()
	here := make([]int32, m.Slots())
	var steps []verify.Step
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

// twin compares a transition of a net with what a mutant has in its place.
type twin struct {
	a, b       *verify.Model
	t, rank    int32
	timed      bool
	sigA, sigB []uint64
	wa, wb     *verify.Walker
	amidA      []int32
	amidB      []int32
	stepsA     []verify.Step
	stepsB     []verify.Step
}

// same reports that a mutant of a transition behaves as the net does. No means
// that this is not known.
func (v *way) same(k *compiled, transition string, sig signatures) bool {
	if v.sites == nil || v.original.model.Transitions() != k.model.Transitions() {
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
	w.wa, w.wb = w.a.NewWalker(func() {}, nil), w.b.NewWalker(func() {}, nil)
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

// at reports whether both do the same in a marking.
func (w *twin) at(marking []int32, what int32) bool {
	if !w.timed && (what == amid || what >= atOnce && w.rank > what-atOnce) || what == atRest && w.a.Ended(marking) {
		return true // it is not looked at
	}
	can := w.a.Enabled(w.t, marking)
	if can != w.b.Enabled(w.t, marking) {
		return false
	}
	if !can || w.timed != (what == atRest) {
		return true
	}
	w.stepsA, w.stepsB = w.a.Steps(w.t, marking, w.stepsA[:0]), w.b.Steps(w.t, marking, w.stepsB[:0])
	return slices.EqualFunc(w.stepsA, w.stepsB, func(s, o verify.Step) bool {
		return s == o && w.sigA[w.a.StepIndex(s)] == w.sigB[w.b.StepIndex(o)] && w.alike(marking, s)
	})
}

// alike reports whether a step has the same effect, on the way too.
func (w *twin) alike(marking []int32, s verify.Step) bool {
	return w.wa.Once(marking, s) == w.wb.Once(marking, s) && slices.Equal(w.amidA, w.amidB) &&
		slices.Equal(w.wa.Marking, w.wb.Marking) && len(w.wa.Refused) == len(w.wb.Refused)
}

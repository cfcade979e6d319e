package mutate

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/voicegw/voicegw/verify"
	"github.com/voicegw/voicegw/verify/claim"
	"github.com/voicegw/voicegw/verify/explore"
	"github.com/voicegw/voicegw/verify/netmodel"
	"github.com/voicegw/voicegw/verify/walk"
	"github.com/voicegw/voicegw/verify/witness"
)

// triesMax is how many paths to bad ends of one property the machine tries before an exploration
// with time.
const triesMax = 4

// watch is a property that is checked in every marking while a net is explored without time.
type watch struct {
	prop     *verify.Property
	bad      func([]int32) bool // nil: the property is about capacities, or moves
	move     *claim.BoundMove   // nil: it is not about moves
	basic    bool
	killed   bool
	spurious int // bad ends that the machine did not reach
}

// hunter explores a net without time and stops at the first bad end that the machine reaches.
type hunter struct {
	*compiled
	max     int
	w       *walk.Walker
	set     *explore.MarkingSet
	parent  []int32 // by state: the state it was found from; -1 at the start
	by      []netmodel.Step
	from    int
	first   netmodel.Step
	here    []int32
	steps   []netmodel.Step
	watches []*watch
	onStep  [][]*watch // watches of moves, by the step that triggers them
	onMove  []*watch   // watches of any move
	initial []int32
	fired   []bool // by transition
	sig     []uint64
	trace   *trace
	found   []badEnd   // by the step being fired
	passed  [][]uint64 // frames that could move, since the last rest
	prey    *prey      // the last bad end that the machine reached
	eager   bool       // timers fire before moves of the environment
	// complete reports that every marking was seen.
	complete bool
}

// badEnd is a path to something that a property forbids.
type badEnd struct {
	watch *watch
	from  int
	chain []netmodel.Step
	loop  bool
}

// prey is a bad end that the machine reached.
type prey struct {
	by    string
	moves []string // the timed firings on the path, by name
}

func newHunter(c *compiled, max int, watches []*watch, t *trace, sig []uint64) *hunter {
	h := &hunter{compiled: c, max: max, set: explore.NewMarkingSet(c.model.Slots()), from: -1,
		here: make([]int32, c.model.Slots()), watches: watches, fired: make([]bool, c.model.Count()),
		sig: sig, trace: t, initial: c.model.Initial()}
	h.dispatch()
	h.w = walk.NewWalker(c.model, h.visit, h.fault)
	h.w.Track()
	h.w.Record, h.w.Seen = true, func(s netmodel.Step) { h.fired[s.Transition] = true }
	if c.model.HasFrames() {
		h.w.Passing = h.pass
	}
	return h
}

// dispatch sorts claims about moves by what triggers them.
func (h *hunter) dispatch() {
	h.onStep = make([][]*watch, h.model.StepCount())
	for _, w := range h.watches {
		if w.move == nil {
			continue
		}
		if w.move.Triggers() == nil {
			h.onMove = append(h.onMove, w)
		}
		for i, is := range w.move.Triggers() {
			if is {
				h.onStep[i] = append(h.onStep[i], w)
			}
		}
	}
}

// eachMoved calls fn for each claim that a move breaks.
func (h *hunter) eachMoved(from []int32, chain []netmodel.Step, to []int32, fn func(*watch)) {
	for _, w := range h.onMove {
		if w.open() && w.move.Bad(from, chain, to) {
			fn(w)
		}
	}
	for _, s := range chain {
		for _, w := range h.onStep[h.model.StepIndex(s)] {
			if w.open() && w.move.Bad(from, chain, to) {
				fn(w)
			}
		}
	}
}

// open reports that it is still worth looking for a bad end.
func (w *watch) open() bool { return !w.killed && w.spurious < triesMax }

// watching makes watches of the properties that can be decided marking by marking. some allows it
// to leave out properties that name something absent.
func watching(m *netmodel.Model, props []*verify.Property, basic []string, some bool) ([]*watch, error) {
	var out []*watch
	for _, p := range props {
		w := &watch{prop: p, basic: slices.Contains(basic, p.Name)}
		if !watched(p) {
			continue
		}
		var err error
		if w.bad, err = claim.BadMarkings(p.Claim, m); err == nil {
			w.move, err = claim.BadMoves(p.Claim, m)
		}
		var absent *netmodel.NameError
		if some && errors.As(err, &absent) {
			continue
		}
		if err != nil {
			return nil, err
		}
		out = append(out, w)
	}
	return out, nil
}

// watched reports whether a property can be decided marking by marking.
func watched(p *verify.Property) bool {
	switch p.Claim.(type) {
	case claim.Marking, claim.Moving, claim.Capacity:
		return true
	}
	return false
}

// aboutCapacity reports whether a watch is about capacities.
func (w *watch) aboutCapacity() bool { return w.bad == nil && w.move == nil }

// hunt tries the paths that killed other mutants, then explores everything.
func (h *hunter) hunt(ctx context.Context, known []prey) error {
	for i := len(known) - 1; i >= 0 && !h.done(); i-- {
		h.follow(known[i].moves)
	}
	if h.done() {
		return nil
	}
	return h.explore(ctx)
}

// done reports that a property that is not basic was broken.
func (h *hunter) done() bool {
	return slices.ContainsFunc(h.watches, func(w *watch) bool { return w.killed && !w.basic })
}

func (h *hunter) explore(ctx context.Context) error {
	h.passed = [][]uint64{nil}
	h.w.Start()
	for i := 0; ; i++ {
		if h.try(); h.done() {
			return nil
		}
		if i == h.set.Len() {
			h.complete = !h.w.Cut
			return nil
		}
		if h.set.Len() > h.max {
			return nil
		}
		if i%1024 == 0 {
			if err := ctx.Err(); err != nil {
				return fmt.Errorf("verify/mutate: %w", err)
			}
		}
		h.expand(i)
	}
}

// leave notes the frames that may move where the net rests.
func (h *hunter) leave(marking []int32) {
	if h.w.Passing != nil && !h.trace.differs {
		h.passed = append(h.passed[:0], h.frames(marking, math.MaxInt32))
	}
}

// expand fires everything that is enabled in a state.
func (h *hunter) expand(i int) {
	h.from = i
	h.set.Get(i, h.here)
	h.trace.numbers(uint64(i))
	if h.model.Ended(h.here) {
		return
	}
	h.eachTimed(h.here, func(s netmodel.Step) {
		h.first = s
		h.leave(h.here)
		h.w.Fire(h.here, s)
	})
	h.model.EachFrame(h.here, func(s netmodel.Step) {
		h.fired[s.Transition] = true
		h.trace.numbers(h.sig[h.model.StepIndex(s)])
	})
}

// frames lists the frames that could move in a marking before the next firing.
func (h *hunter) frames(marking []int32, rank int32) []uint64 {
	var list []uint64
	h.model.EachFrame(marking, func(s netmodel.Step) {
		if h.model.Rank(s.Transition) < rank {
			list = append(list, h.sig[h.model.StepIndex(s)])
		}
	})
	return list
}

// tracePassing traces the frames that could move between one rest and the next, but in neither of
// them.
func (h *hunter) tracePassing() {
	if h.w.Passing == nil || h.trace.differs {
		return
	}
	way := h.passed[1:]
	if n := len(way); n > 0 && slices.Equal(way[n-1], h.frames(h.w.Marking, math.MaxInt32)) {
		way = way[:n-1]
	}
	for _, list := range way {
		h.trace.numbers(list...)
	}
	h.trace.numbers(0)
}

// pass notes the frames that could move before the next firing, if they differ from the last ones.
func (h *hunter) pass(rank int32) {
	if h.trace.differs || !h.model.FramesMayPass(h.w.Marking, rank) {
		return
	}
	if list := h.frames(h.w.Marking, rank); !slices.Equal(list, h.passed[len(h.passed)-1]) {
		h.passed = append(h.passed, list)
	}
}

func (h *hunter) visit() {
	id, isNew := h.set.Add(h.w.Marking)
	h.trace.chain(h.model, h.sig, h.w.Chain, h.w.Kept, int(id))
	h.tracePassing()
	if isNew {
		h.trace.marking(h.w.Marking)
		h.parent, h.by = append(h.parent, int32(h.from)), append(h.by, h.first)
	}
	for _, r := range h.w.Refused {
		h.trace.numbers(uint64(r.Place), h.sig[h.model.StepIndex(r.Step)])
	}
	h.look(isNew)
}

// look notes what the reached marking breaks.
func (h *hunter) look(isNew bool) {
	from := h.here
	if h.from < 0 {
		from = h.initial
	}
	h.eachMoved(from, h.w.Chain, h.w.Marking, func(w *watch) { h.note(w, h.w.Chain, false) })
	for _, w := range h.watches {
		switch {
		case !w.open() || w.move != nil:
		case w.bad == nil:
			if refused(h.model, h.w.Refused, w.prop) {
				h.note(w, h.w.Chain, false)
			}
		case isNew && w.bad(h.w.Marking):
			h.note(w, h.w.Chain, false)
		}
	}
}

// refused reports whether the walk refused a token that the property does not allow to be refused.
func refused(m *netmodel.Model, list []walk.Refusal, p *verify.Property) bool {
	claim, _ := p.Claim.(claim.Capacity)
	return slices.ContainsFunc(list, func(r walk.Refusal) bool { return !claim.Allows(m.Place(r.Place)) })
}

func (h *hunter) fault(f walk.Fault) {
	h.trace.numbers(uint64(f.Kind), uint64(f.Place+1), h.sig[h.model.StepIndex(f.Step)])
	chain := f.Chain
	if len(chain) == 0 {
		chain = []netmodel.Step{f.Step}
	}
	for _, w := range h.watches {
		if w.aboutCapacity() && w.open() {
			h.note(w, chain, f.Kind == walk.Endless)
		}
	}
}

func (h *hunter) note(w *watch, chain []netmodel.Step, loop bool) {
	h.found = append(h.found, badEnd{w, h.from, slices.Clone(chain), loop})
}

// try gives the found bad ends to the machine.
func (h *hunter) try() {
	for _, e := range h.found {
		if !e.watch.open() {
			continue
		}
		way := append(h.way(e.from), e.chain...)
		if e.loop {
			way = walk.Unroll(h.model, way)
		}
		if !h.judge(e.watch, way) {
			e.watch.spurious++
		}
	}
	h.found = h.found[:0]
}

// judge replays one path to a bad end, and reports whether the machine took it.
func (h *hunter) judge(w *watch, way []netmodel.Step) bool {
	if !h.takes(verify.Refute(h.model, "explicit", way, h.set.Len(), "%s", w.prop.Name)) {
		return false
	}
	w.killed = true
	h.prey = &prey{by: w.prop.Name}
	for _, s := range way {
		if h.model.Clock(s.Transition) >= 0 {
			h.prey.moves = append(h.prey.moves, h.model.Name(s))
		}
	}
	return true
}

// takes reports whether a verdict is a refutation that the machine replays.
func (c *compiled) takes(v verify.Verdict) bool {
	return v.Outcome == verify.Refuted && v.Witness != nil && witness.Replay(c.model, v.Witness, c.open) == nil
}

// way is a firing sequence from the start to a state.
func (h *hunter) way(state int) []netmodel.Step {
	var hops []int
	for i := state; i >= 0; i = int(h.parent[i]) {
		hops = append(hops, i)
	}
	slices.Reverse(hops)
	var way, chain []netmodel.Step
	want := make([]int32, h.model.Slots())
	var w *walk.Walker
	w = walk.NewWalker(h.model, func() {
		if chain == nil && slices.Equal(w.Marking, want) {
			chain = append([]netmodel.Step{}, w.Chain...)
		}
	}, nil)
	w.Record = true
	from := make([]int32, h.model.Slots())
	for _, i := range hops {
		chain = nil
		h.set.Get(i, want)
		if p := h.parent[i]; p < 0 {
			w.Start()
		} else {
			h.set.Get(int(p), from)
			w.Fire(from, h.by[i])
		}
		way = append(way, chain...)
	}
	return way
}

// names lists the fired transitions of the net that runs.
func (h *hunter) names() map[string]bool {
	out := map[string]bool{}
	p := h.model.Program()
	for t, fired := range h.fired {
		if fired && !h.model.Outside(int32(t)) {
			out[p.Transitions()[t].Name] = true
		}
	}
	return out
}

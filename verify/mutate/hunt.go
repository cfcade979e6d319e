package mutate

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/voicegw/voicegw/verify"
)

// triesMax is how many ways to bad ends of one property are given to the
// machine before time is looked at.
const triesMax = 4

// watch is a property that is looked at in every marking while a net is
// explored without time.
type watch struct {
	prop     *verify.Property
	bad      func([]int32) bool // nil: the property is about capacities, or moves
	move     *verify.MoveClaim  // nil: it is not about moves
	basic    bool
	killed   bool
	spurious int // bad ends that no machine was seen to reach
}

// hunter explores a net without time and stops at the first bad end that the
// machine reaches.
type hunter struct {
	*compiled
	max     int
	w       *verify.Walker
	set     *verify.MarkingSet
	parent  []int32 // by state: where it was found from; -1 at the start
	by      []verify.Step
	from    int
	first   verify.Step
	here    []int32
	steps   []verify.Step
	watches []*watch
	onStep  [][]*watch // about moves, by step that triggers them
	onMove  []*watch   // about any move
	initial []int32
	fired   []bool // by transition
	sig     []uint64
	trace   *trace
	found   []badEnd   // by the step being fired
	passed  [][]uint64 // frames that might move, from the last rest on
	prey    *prey      // the last bad end that a machine reached
	eager   bool       // timers come before what the environment does
	// complete reports that all markings were seen.
	complete bool
}

// badEnd is a way to something a property forbids.
type badEnd struct {
	watch *watch
	from  int
	chain []verify.Step
	loop  bool
}

// prey is a bad end that a machine reached.
type prey struct {
	by    string
	moves []string // the timed firings of the way there, by name
}

func newHunter(c *compiled, max int, watches []*watch, t *trace, sig []uint64) *hunter {
	h := &hunter{compiled: c, max: max, set: verify.NewMarkingSet(c.model.Slots()), from: -1,
		here: make([]int32, c.model.Slots()), watches: watches, fired: make([]bool, c.model.Transitions()),
		sig: sig, trace: t, initial: c.model.Initial()}
	h.dispatch()
	h.w = c.model.NewWalker(h.visit, h.fault)
	h.w.Track()
	h.w.Record, h.w.Seen = true, func(s verify.Step) { h.fired[s.Transition] = true }
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

// eachMoved calls fn for the claims that a move breaks.
func (h *hunter) eachMoved(from []int32, chain []verify.Step, to []int32, fn func(*watch)) {
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

// open reports that it is worth looking for a bad end.
func (w *watch) open() bool { return !w.killed && w.spurious < triesMax }

// watching makes watches of the properties that every marking decides. some says
// that those may be left out which name what is not there.
func watching(m *verify.Model, props []*verify.Property, basic []string, some bool) ([]*watch, error) {
	var out []*watch
	for _, p := range props {
		w := &watch{prop: p, basic: slices.Contains(basic, p.Name)}
		if !watched(p) {
			continue
		}
		var err error
		switch {
		case p.Bad != nil:
			w.bad, err = p.Bad(m)
		case p.Moves != nil:
			w.move, err = p.Moves(m)
		}
		var absent *verify.NameError
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
	return p.Bad != nil || p.Moves != nil || strings.HasPrefix(p.Claim, "capacity")
}

// crowding reports whether a watch is about capacities.
func (w *watch) crowding() bool { return w.bad == nil && w.move == nil }

// hunt tries the ways on which other mutants failed, then everything.
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
	h.eachTimed(h.here, func(s verify.Step) {
		h.first = s
		h.leave(h.here)
		h.w.Fire(h.here, s)
	})
	h.model.EachFrame(h.here, func(s verify.Step) {
		h.fired[s.Transition] = true
		h.trace.numbers(h.sig[h.model.StepIndex(s)])
	})
}

// frames are those that might move in a marking before what fires next.
func (h *hunter) frames(marking []int32, rank int32) []uint64 {
	var list []uint64
	h.model.EachFrame(marking, func(s verify.Step) {
		if h.model.Rank(s.Transition) < rank {
			list = append(list, h.sig[h.model.StepIndex(s)])
		}
	})
	return list
}

// tracePassing traces the frames that might move on the way from one rest to the
// next, and not in either of them.
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

// pass notes the frames that might move before what fires next, if they are others
// than before.
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

// look notes what the marking reached breaks.
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

// refused reports whether a token was turned away that must not be.
func refused(m *verify.Model, list []verify.Refusal, p *verify.Property) bool {
	return slices.ContainsFunc(list, func(r verify.Refusal) bool {
		name := m.Place(r.Place)
		return !slices.ContainsFunc(p.MayRefuse, func(k string) bool { return name == k || strings.HasSuffix(name, "/"+k) })
	})
}

func (h *hunter) fault(f verify.Fault) {
	h.trace.numbers(uint64(f.Kind), uint64(f.Place+1), h.sig[h.model.StepIndex(f.Step)])
	chain := f.Chain
	if len(chain) == 0 {
		chain = []verify.Step{f.Step}
	}
	for _, w := range h.watches {
		if w.crowding() && w.open() {
			h.note(w, chain, f.Kind == verify.Endless)
		}
	}
}

func (h *hunter) note(w *watch, chain []verify.Step, loop bool) {
	h.found = append(h.found, badEnd{w, h.from, slices.Clone(chain), loop})
}

// try gives the bad ends that were found to the machine.
func (h *hunter) try() {
	for _, e := range h.found {
		if !e.watch.open() {
			continue
		}
		way := append(h.way(e.from), e.chain...)
		if e.loop {
			way = h.model.Unroll(way)
		}
		if !h.judge(e.watch, way) {
			e.watch.spurious++
		}
	}
	h.found = h.found[:0]
}

// judge replays one way to a bad end, and reports whether the machine took it.
func (h *hunter) judge(w *watch, way []verify.Step) bool {
	if !h.takes(h.model.Refute("explicit", way, h.set.Len(), "%s", w.prop.Name)) {
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
	return v.Outcome == verify.Refuted && v.Witness != nil && c.model.Replay(v.Witness, c.open) == nil
}

// way is a firing sequence from the start to a state.
func (h *hunter) way(state int) []verify.Step {
	var hops []int
	for i := state; i >= 0; i = int(h.parent[i]) {
		hops = append(hops, i)
	}
	slices.Reverse(hops)
	var way, chain []verify.Step
	want := make([]int32, h.model.Slots())
	var w *verify.Walker
	w = h.model.NewWalker(func() {
		if chain == nil && slices.Equal(w.Marking, want) {
			chain = append([]verify.Step{}, w.Chain...)
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

// names are the transitions of the net that runs that fired.
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

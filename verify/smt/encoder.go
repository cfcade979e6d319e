package smt

import (
	"fmt"
	"slices"

	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/verify/netmodel"
)

// encoder writes a program as formulas over its counts: all of it, or a slice, which is some places
// with everything else left open. The net never reaches what a slice never reaches.
type encoder struct {
	naming
	marks
	params []Param
	order  []int32 // immediate transitions, first to last; nil: they interleave
	keep   []bool  // by place: the slice has it
	needs  []bool  // by place: the written formulas look at it
}

func newEncoder(m *netmodel.Model, sem netmodel.Semantics, params []Param) (*encoder, error) {
	prog := m.Program()
	e := &encoder{naming: naming{prog: prog, model: m}, params: params}
	if sem == netmodel.RunToCompletion {
		e.order = prog.Order()
	}
	marked, err := e.mark(params)
	if err != nil {
		return nil, err
	}
	e.marks = *marked
	e.keep = make([]bool, len(prog.Places()))
	e.needs = make([]bool, len(prog.Places()))
	return e, nil
}

func slotVar(slot int32) term { return sym(fmt.Sprintf("m%d", slot)) }

func paramVar(i int) term { return sym(fmt.Sprintf("k%d", i)) }

// use is the count of a slot; it notes that its place matters.
func (e *encoder) use(slot int32) term {
	e.needs[e.prog.SlotPlace(int(slot))] = true
	return slotVar(slot)
}

// marking maps slots to their counts. All are variables unless a frame is assumed to wait
// somewhere.
type marking struct {
	slot  int32
	count int64
}

func everywhere() marking { return marking{slot: -1} }

// enabled lists the conditions of a mode. whole is false if it left out conditions that look at
// places outside the slice.
func (e *encoder) enabled(t, k int, at marking) (conds []term, whole bool) {
	whole = true
	for i, c := range e.prog.Transitions()[t].Modes[k].Conds {
		if !e.keep[e.prog.SlotPlace(int(c.Slots[0]))] {
			e.needs[e.prog.SlotPlace(int(c.Slots[0]))] = true
			whole = false
			continue
		}
		sum := e.sum(c.Slots, at)
		limit := func(n int32) term {
			if p, ok := e.cond[condAt{t, k, i}]; ok {
				return paramVar(p)
			}
			return num(int64(n))
		}
		if c.Max > 0 {
			conds = append(conds, app("<", sum, limit(c.Max)))
		}
		if c.Min > 0 {
			conds = append(conds, app(">=", sum, limit(c.Min)))
		}
	}
	return conds, whole
}

func (e *encoder) sum(slots []int32, at marking) term {
	var ts []term
	for _, s := range slots {
		if s == at.slot {
			ts = append(ts, num(at.count))
			continue
		}
		ts = append(ts, e.use(s))
	}
	return plus(ts...)
}

// idle states that no mode of a transition is enabled; it is true if the slice cannot decide that.
func (e *encoder) idle(t int, at marking) term {
	var ts []term
	for k := range e.prog.Transitions()[t].Modes {
		if conds, whole := e.enabled(t, k, at); whole {
			ts = append(ts, negate(conj(conds...)))
		}
	}
	return conj(ts...)
}

// running states that the final place is not marked.
func (e *encoder) running() term { return negate(e.ended()) }

func (e *encoder) ended() term {
	if s := e.prog.FinalSlot(); s >= 0 {
		return app(">=", e.use(int32(s)), num(1))
	}
	return sym("false")
}

// rests states that no immediate transition is enabled.
func (e *encoder) rests() term {
	var ts []term
	for _, t := range e.order {
		ts = append(ts, e.idle(int(t), everywhere()))
	}
	return disj(e.ended(), conj(ts...))
}

// timed lists the transitions that do not run to completion.
func (e *encoder) timed() []int {
	var out []int
	for t := range e.prog.Transitions() {
		if !slices.Contains(e.order, int32(t)) {
			out = append(out, t)
		}
	}
	return out
}

// dead states that nothing is enabled in a resting marking and the run has not ended.
func (e *encoder) dead() term {
	ts := []term{e.running()}
	for _, t := range e.timed() {
		ts = append(ts, e.exactly(func() term { return e.idle(t, everywhere()) }))
	}
	return conj(ts...)
}

// can states that a timed transition is enabled, or that a frame transition would fire if a frame
// arrived.
func (e *encoder) can(t int) term {
	return e.exactly(func() term {
		info := &e.prog.Transitions()[t]
		if info.Frame {
			return conj(e.running(), e.frameMoves(t))
		}
		var ts []term
		for k := range info.Modes {
			conds, _ := e.enabled(t, k, everywhere())
			ts = append(ts, conj(conds...))
		}
		return conj(e.running(), disj(ts...))
	})
}

// exactly lets write look at every place that it needs, beyond the slice. The slice must then
// include what write looked at.
func (e *encoder) exactly(write func() term) term {
	keep := e.keep
	defer func() { e.keep = keep }()
	e.keep = slices.Repeat([]bool{true}, len(keep))
	return write()
}

// frameMoves assumes that one frame waits, or as many as its place holds, and states that this
// transition is the first that takes one.
func (e *encoder) frameMoves(t int) term {
	rank := slices.Index(e.order, int32(t))
	if rank < 0 {
		return sym("false")
	}
	var ts []term
	for k := range e.prog.Transitions()[t].Modes {
		slot := e.payload(t, k)
		if slot < 0 {
			continue
		}
		for _, n := range e.waiting(slot) {
			at := marking{slot, n}
			conds, _ := e.enabled(t, k, at)
			for _, u := range e.order[:rank] {
				conds = append(conds, e.leaves(int(u), at))
			}
			ts = append(ts, conj(conds...))
		}
	}
	return disj(ts...)
}

// leaves states that a frame transition does not take the waiting frame.
func (e *encoder) leaves(t int, at marking) term {
	info := &e.prog.Transitions()[t]
	var ts []term
	for k := range info.Modes {
		if info.Frame && e.payload(t, k) == at.slot {
			conds, _ := e.enabled(t, k, at)
			ts = append(ts, negate(conj(conds...)))
		}
	}
	return conj(ts...)
}

// payload is the slot that a mode takes its frame from, or -1.
func (e *encoder) payload(t, k int) int32 {
	for _, c := range e.prog.Transitions()[t].Modes[k].Take {
		if e.prog.Places()[e.prog.SlotPlace(int(c.Slot))].Payload {
			return c.Slot
		}
	}
	return -1
}

// waiting lists the numbers of frames to assume: 1, and the capacity if some transition that takes
// them depends on their number.
func (e *encoder) waiting(slot int32) []int64 {
	most := int64(e.prog.Places()[e.prog.SlotPlace(int(slot))].Max)
	if most > 1 && e.framesCounted(slot) {
		return []int64{1, most}
	}
	return []int64{1}
}

func (e *encoder) framesCounted(slot int32) bool {
	for _, t := range e.order {
		info := &e.prog.Transitions()[t]
		for k := range info.Modes {
			if info.Frame && e.payload(int(t), k) == slot && countsFrames(&info.Modes[k], slot) {
				return true
			}
		}
	}
	return false
}

func countsFrames(m *petri.Mode, slot int32) bool {
	for _, c := range m.Conds {
		if slices.Contains(c.Slots, slot) && (c.Min > 1 || c.Max > 0) {
			return true
		}
	}
	return false
}

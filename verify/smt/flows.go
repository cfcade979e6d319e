package smt

import (
	"slices"

	"github.com/voicegw/voicegw/verify/farkas"
)

// flowsMax is how many flows the solver gets at most.
const flowsMax = 40

// flows are sums of counts that no firing increases (sub-invariants): y >= 0 with y*(post-pre) <=
// 0. They hold even with resets and inhibitors, which only remove tokens or forbid firings. They
// help the solver, which proves them again. The search may find none.
func (e *encoder) flows(s *system) []term {
	var out []term
	for _, f := range below(s.effects(e)) {
		if t, ok := e.flowTerm(s, f); ok && len(out) < flowsMax {
			out = append(out, t)
		}
	}
	return out
}

// effects is the matrix of what each rule adds, by slot. A bump moves tokens from fresh to stale,
// one at a time.
func (s *system) effects(e *encoder) [][]int64 {
	rows := make([][]int64, len(s.slots))
	column := func(at func(slot int32) int64) {
		for i, slot := range s.slots {
			rows[i] = append(rows[i], at(slot))
		}
	}
	bumps := false
	for _, r := range s.rules {
		bumps = bumps || r.bump
		column(func(slot int32) int64 { return r.delta[slot] })
	}
	for _, p := range e.prog.Places() {
		for fresh := int32(p.Slot); bumps && p.Gen && fresh < int32(p.Slot+p.Slots); fresh += 2 {
			column(func(slot int32) int64 {
				switch slot {
				case fresh:
					return -1
				case fresh + 1:
					return 1
				}
				return 0
			})
		}
	}
	return rows
}

// below finds minimal weights y >= 0 of the rows of a matrix with y*A <= 0: flows of the matrix
// with one more slack row for each column.
func below(matrix [][]int64) [][]int64 {
	if len(matrix) == 0 {
		return nil
	}
	rows := slices.Clone(matrix)
	for c := range matrix[0] {
		slack := make([]int64, len(matrix[0]))
		slack[c] = 1
		rows = append(rows, slack)
	}
	var out [][]int64
	for _, y := range farkas.Flows(rows) {
		if y = y[:len(matrix)]; slices.ContainsFunc(y, func(w int64) bool { return w > 0 }) {
			out = append(out, y)
		}
	}
	return out
}

// flowTerm writes a flow: the weighted sum never exceeds its value at the start.
func (e *encoder) flowTerm(s *system, weights []int64) (term, bool) {
	start := e.prog.Initial()
	var left, right []term
	most := int64(0)
	for i, slot := range s.slots {
		w := weights[i]
		if w == 0 {
			continue
		}
		left = append(left, times(w, slotVar(slot)))
		if p, ok := e.marks.initial[slot]; ok {
			right = append(right, times(w, paramVar(p)))
			continue
		}
		most += w * int64(start[slot])
	}
	return app("<=", plus(left...), plus(append(right, num(most))...)), len(left) > 0
}

func times(w int64, t term) term {
	if w == 1 {
		return t
	}
	return app("*", num(w), t)
}

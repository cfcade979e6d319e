package smt

import "slices"

// Limits of the search for flows: where one is exceeded there are none.
const (
	flowRowsMax   = 1500
	flowPairsMax  = 20_000
	flowWeightMax = 1 << 30
	flowsMax      = 40
)

// flow is a row of the search: weights of slots, and what remains of each
// firing's effect on their sum.
type flow struct{ weights, effects []int64 }

// flows are sums of counts that no firing increases (sub-invariants): y >= 0
// with y*(post-pre) <= 0. They hold even with resets and inhibitors, which only
// remove more or forbid, and help the solver, which proves them again. The
// search is Farkas' algorithm on integers; it may find none.
func (e *encoder) flows(s *system) []term {
	var out []term
	for _, f := range farkas(s.effects(e)) {
		if t, ok := e.flowTerm(s, f); ok && len(out) < flowsMax {
			out = append(out, t)
		}
	}
	return out
}

// effects is the matrix: by slot, what each rule adds. Bumping moves tokens
// from fresh to stale, one at a time.
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

// farkas finds the minimal flows of a matrix. Each column is turned to <= 0 by
// one slack row and then cancelled exactly.
func farkas(matrix [][]int64) []flow {
	if len(matrix) == 0 {
		return nil
	}
	columns := len(matrix[0])
	var rows []flow
	for i, effects := range matrix {
		f := flow{make([]int64, len(matrix)+columns), slices.Clone(effects)}
		f.weights[i] = 1
		rows = append(rows, f)
	}
	for c := range columns {
		f := flow{make([]int64, len(matrix)+columns), make([]int64, columns)}
		f.weights[len(matrix)+c], f.effects[c] = 1, 1
		rows = append(rows, f)
	}
	for range columns {
		var ok bool
		if rows, ok = cancel(rows, cheapest(rows, columns)); !ok {
			return nil
		}
	}
	return slices.DeleteFunc(rows, func(f flow) bool { return isZero(f.weights[:len(matrix)]) })
}

func isZero(v []int64) bool {
	for _, x := range v {
		if x != 0 {
			return false
		}
	}
	return true
}

// cheapest is the column whose cancelling makes the fewest rows.
func cheapest(rows []flow, columns int) int {
	best, least := 0, -1
	for c := range columns {
		up, down := 0, 0
		for _, r := range rows {
			switch {
			case r.effects[c] > 0:
				up++
			case r.effects[c] < 0:
				down++
			}
		}
		// A column that is done has neither.
		if up+down > 0 && (least < 0 || up*down < least) {
			best, least = c, up*down
		}
	}
	return best
}

// cancel combines the rows so that nothing remains of one column.
func cancel(rows []flow, c int) ([]flow, bool) {
	var out, up, down []flow
	for _, r := range rows {
		switch {
		case r.effects[c] == 0:
			out = append(out, r)
		case r.effects[c] > 0:
			up = append(up, r)
		default:
			down = append(down, r)
		}
	}
	if len(up)*len(down) > flowPairsMax {
		return nil, false
	}
	for _, a := range up {
		for _, b := range down {
			f, ok := combine(a, b, c)
			if !ok || len(out) > flowRowsMax {
				return nil, false
			}
			out = addMinimal(out, f)
		}
	}
	return out, true
}

// combine adds multiples of two rows so that column c is cancelled.
func combine(a, b flow, c int) (flow, bool) {
	x, y := -b.effects[c], a.effects[c]
	g := int64(0)
	sum := func(p, q []int64) []int64 {
		out := make([]int64, len(p))
		for i := range p {
			out[i] = x*p[i] + y*q[i]
			g = gcd(g, out[i])
		}
		return out
	}
	f := flow{sum(a.weights, b.weights), sum(a.effects, b.effects)}
	ok := true
	for _, v := range [][]int64{f.weights, f.effects} {
		for i := range v {
			v[i] /= max(g, 1)
			ok = ok && v[i] < flowWeightMax && v[i] > -flowWeightMax
		}
	}
	return f, ok
}

func gcd(a, b int64) int64 {
	for b != 0 {
		a, b = b, a%b
	}
	if a < 0 {
		return -a
	}
	return a
}

// addMinimal adds a row unless another's support is part of its own, and drops
// those whose support contains it: over weights and slacks, or flows are lost.
func addMinimal(rows []flow, f flow) []flow {
	for _, r := range rows {
		if within(r.weights, f.weights) {
			return rows
		}
	}
	rows = slices.DeleteFunc(rows, func(r flow) bool { return within(f.weights, r.weights) })
	return append(rows, f)
}

func within(small, large []int64) bool {
	for i := range small {
		if small[i] != 0 && large[i] == 0 {
			return false
		}
	}
	return true
}

// flowTerm writes a flow: the weighted sum never exceeds what it was at the
// start.
func (e *encoder) flowTerm(s *system, f flow) (term, bool) {
	start := e.prog.Initial()
	var left, right []term
	most := int64(0)
	for i, slot := range s.slots {
		w := f.weights[i]
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

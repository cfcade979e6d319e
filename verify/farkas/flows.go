package farkas

import "slices"

// Limits of a search. If one is exceeded, the search leaves out flows, so the list may be
// incomplete; each returned vector is a flow.
const (
	rowsMax   = 1500
	pairsMax  = 20_000
	weightMax = 1 << 30
)

// row is a vector of weights y, with its y*A.
type row struct{ weights, left []int64 }

// Flows returns flows of a matrix, by rows, that have minimal support: no other flow has a support
// that is a proper part of theirs. The greatest common divisor of a flow's weights is 1. All rows
// must have the same length. The order depends only on the matrix. A row with an entry of absolute
// value 2^30 or more is in no flow.
//
// This is Farkas' algorithm (Colom and Silva 1991): it cancels each column in turn by adding
// multiples of rows in which the column has opposite signs. Weights of more than 2^30, and columns
// that would need too many rows, lose flows.
func Flows(matrix [][]int64) [][]int64 {
	if len(matrix) == 0 {
		return nil
	}
	var rows []row
	for i, left := range matrix {
		if slices.ContainsFunc(left, func(v int64) bool { return v >= weightMax || v <= -weightMax }) {
			continue // sums of products of larger numbers could overflow
		}
		r := row{make([]int64, len(matrix)), slices.Clone(left)}
		r.weights[i] = 1
		rows = append(rows, r)
	}
	signs := &tally{up: make([]int, len(matrix[0])), down: make([]int, len(matrix[0]))}
	for _, r := range rows {
		signs.count(r, 1)
	}
	for {
		c := signs.cheapest()
		if c < 0 {
			break
		}
		rows = cancel(rows, c, signs)
	}
	var out [][]int64
	for _, r := range rows {
		out = append(out, r.weights)
	}
	return out
}

// tally is how many rows are above and below 0, by column.
type tally struct{ up, down []int }

// count counts a row n times.
func (t *tally) count(r row, n int) {
	for c, v := range r.left {
		switch {
		case v > 0:
			t.up[c] += n
		case v < 0:
			t.down[c] += n
		}
	}
}

// cheapest is the column, among those not cancelled, that makes the fewest rows when cancelled; -1
// if all are cancelled.
func (t *tally) cheapest() int {
	best, least := -1, 0
	for c := range t.up {
		if n := t.up[c] * t.down[c]; t.up[c]+t.down[c] > 0 && (best < 0 || n < least) {
			best, least = c, n
		}
	}
	return best
}

// cancel combines the rows so that nothing remains of one column.
func cancel(rows []row, c int, signs *tally) []row {
	var out, up, down []row
	for _, r := range rows {
		switch {
		case r.left[c] == 0:
			out = append(out, r)
		case r.left[c] > 0:
			up = append(up, r)
		default:
			down = append(down, r)
		}
		if r.left[c] != 0 {
			signs.count(r, -1)
		}
	}
	if len(up)*len(down) > pairsMax {
		return out
	}
	for _, a := range up {
		for _, b := range down {
			if len(out) > rowsMax {
				return out
			}
			if r, ok := combine(a, b, c); ok {
				out = addMinimal(out, r, signs)
			}
		}
	}
	return out
}

// combine adds multiples of two rows so that column c is cancelled. It fails if a number grows
// beyond the limit.
func combine(a, b row, c int) (row, bool) {
	x, y := -b.left[c], a.left[c]
	g := int64(0)
	sum := func(p, q []int64) []int64 {
		out := make([]int64, len(p))
		for i := range p {
			out[i] = x*p[i] + y*q[i]
			g = gcd(g, out[i])
		}
		return out
	}
	r := row{sum(a.weights, b.weights), sum(a.left, b.left)}
	for _, v := range [][]int64{r.weights, r.left} {
		for i := range v {
			if v[i] /= max(g, 1); v[i] >= weightMax || v[i] <= -weightMax {
				return r, false
			}
		}
	}
	return r, true
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

// addMinimal adds a row unless its support contains that of another row, and drops rows whose
// support contains its own.
func addMinimal(rows []row, r row, signs *tally) []row {
	for _, o := range rows {
		if within(o.weights, r.weights) {
			return rows
		}
	}
	rows = slices.DeleteFunc(rows, func(o row) bool {
		covered := within(r.weights, o.weights)
		if covered {
			signs.count(o, -1)
		}
		return covered
	})
	signs.count(r, 1)
	return append(rows, r)
}

func within(small, large []int64) bool {
	for i := range small {
		if small[i] != 0 && large[i] == 0 {
			return false
		}
	}
	return true
}

package check

import (
	"time"

	"github.com/voicegw/voicegw/petri"
)

// zoneCheck is a zone of all clocks that run in a class, including open ones. bounds[i][j] bounds
// x_i - x_j; row 0 is the constant 0.
type zoneCheck struct {
	row    []int // by transition; 0: it does not run
	fired  int
	bounds [][]int64
}

// Limits of the numbers of a zone.
const (
	waitMax  = time.Duration(1) << 56 // the longest finite wait, as stateclass.MaxWait
	boundMax = int64(waitMax)         // the largest bound, either way
	sumMax   = int64(1) << 61         // the largest sum of bounds: no two of them overflow
)

// plus adds bounds. If the sum exceeds sumMax, the result is a weaker bound, which never makes a
// zone smaller.
func plus(a, b int64) int64 {
	if a == noBound || b == noBound || a+b > sumMax {
		return noBound
	}
	return max(a+b, -sumMax)
}

// inRange rejects a list with a number that cannot be a bound of a zone.
func inRange(zone []int64, dim int) error {
	for i, v := range zone {
		switch diagonal := i/dim == i%dim; {
		case diagonal && v != 0:
			return refusal("bound %d of a clock against itself is not 0", v)
		case v != noBound && (v > boundMax || v < -boundMax):
			return refusal("bound %d of a zone is out of range; %d to %d is possible", v, -boundMax, boundMax)
		}
	}
	return nil
}

// countable rejects waits that are too long for zones.
func (k *checker) countable() error {
	for t, w := range k.waits {
		if w.Earliest <= waitMax && (w.Latest == petri.Forever || w.Latest <= waitMax) {
			continue
		}
		name := "the observer"
		if t < len(k.p.Transitions()) {
			name = k.p.Transitions()[t].Name
		}
		return refusal("%s waits %s; zones count waits of at most %v", name, w, waitMax)
	}
	return nil
}

// closeBounds is the algorithm of Floyd and Warshall. It reports whether the zone has a state.
func closeBounds(d [][]int64) bool {
	for k := range d {
		for i := range d {
			for j := range d {
				d[i][j] = min(d[i][j], plus(d[i][k], d[k][j]))
			}
		}
	}
	for i := range d {
		if d[i][i] < 0 {
			return false
		}
	}
	return true
}

// unconstrained makes a matrix of bounds without constraints.
func unconstrained(n int) [][]int64 {
	d := make([][]int64, n)
	for i := range d {
		d[i] = make([]int64, n)
		for j := range d[i] {
			if i != j {
				d[i][j] = noBound
			}
		}
	}
	return d
}

// setInterval bounds a row by an interval.
func setInterval(d [][]int64, row int, w petri.Interval) {
	d[0][row] = -int64(w.Earliest)
	if w.Latest != petri.Forever {
		d[row][0] = int64(w.Latest)
	}
}

// firstToFire is the zone of a listed class in which t fires first; nil if it is empty.
func (k *checker) firstToFire(l *class, t int32) *zoneCheck {
	z := &zoneCheck{row: make([]int, len(k.waits))}
	n := 1
	for u := range z.row {
		if !k.atOnce[u] && k.on(int32(u), l.marking) {
			z.row[u] = n
			n++
		}
	}
	z.bounds = unconstrained(n)
	rows := k.rows(l.marking)
	dim := len(rows) + 1
	at := func(i int) int {
		if i == 0 {
			return 0
		}
		return z.row[rows[i-1]]
	}
	for u, r := range z.row {
		if r > 0 && k.waits[u] == petri.Anytime() {
			setInterval(z.bounds, r, k.waits[u])
		}
	}
	for i := range dim {
		for j := range dim {
			if v := l.zone[i*dim+j]; i != j {
				z.bounds[at(i)][at(j)] = v
			}
		}
	}
	z.fired = z.row[t]
	for i := 1; i < n; i++ {
		if i != z.fired {
			z.bounds[z.fired][i] = min(z.bounds[z.fired][i], 0)
		}
	}
	if !closeBounds(z.bounds) {
		return nil
	}
	return z
}

// successor is the zone after a firing. Clocks that ran on count from the firing, all others from
// their interval.
func (k *checker) successor(o outcome, z *zoneCheck) []int64 {
	rows := k.rows(o.marking)
	d := unconstrained(len(rows) + 1)
	for i, t := range rows {
		if z == nil || !o.run[t] {
			setInterval(d, i+1, k.waits[t])
			continue
		}
		old := z.row[t]
		d[i+1][0], d[0][i+1] = z.bounds[old][z.fired], z.bounds[z.fired][old]
		for j, u := range rows {
			if i != j && o.run[u] {
				d[i+1][j+1] = z.bounds[old][z.row[u]]
			}
		}
	}
	closeBounds(d)
	var out []int64
	for i := range d {
		out = append(out, d[i]...)
	}
	return out
}

package stateclass

import (
	"time"

	"github.com/voicegw/voicegw/petri"
)

// A zone is a difference-bound matrix in canonical form, row by row, of (n+1)*(n+1) entries for n
// clocks. Entry [i][j] is the least upper bound of x_i - x_j, where x_i is the remaining wait of
// clock i and x_0 is 0.

// unbounded is the entry of a difference without a bound.
const unbounded = int64(1) << 60

// MaxWait is the longest finite wait that a net may have: about 800 days. Sums of bounds then stay
// far below unbounded.
const MaxWait = time.Duration(1) << 56

// add adds two bounds.
func add(a, b int64) int64 {
	if a == unbounded || b == unbounded {
		return unbounded
	}
	return a + b
}

// ticks is a firing interval as bounds.
type ticks struct{ earliest, latest int64 }

func ticksOf(i petri.Interval) ticks {
	t := ticks{int64(i.Earliest), int64(i.Latest)}
	if i.Latest == petri.Forever {
		t.latest = unbounded
	}
	return t
}

// open reports whether the interval is [0,inf). Such a clock carries no information, so zones leave
// it out.
func (t ticks) open() bool { return t.earliest == 0 && t.latest == unbounded }

// includes reports whether zone a holds every state of zone b.
func includes(a, b []int64) bool {
	b = b[:len(a)]
	for i, v := range a {
		if v < b[i] {
			return false
		}
	}
	return true
}

func same(a, b []int64) bool {
	b = b[:len(a)]
	for i, v := range a {
		if v != b[i] {
			return false
		}
	}
	return true
}

// hashZone mixes a zone with the index of its marking.
func hashZone(marking uint32, z []int64) uint64 {
	h := uint64(marking)*0x9e3779b97f4a7c15 + 0x243f6a8885a308d3
	for _, v := range z {
		h = (h ^ uint64(v)) * 0x2127599bf4325c37
		h ^= h >> 29
	}
	h *= 0x880355f21e6d1965
	return h ^ h>>32
}

// firer computes the zones that follow from one zone when one clock fires.
type firer struct {
	zone []int64 // the zone before
	dim  int
	f    int     // row of the firing clock; 0 if it is open
	low  []int64 // by row: lower bound of x_i - x_f, negated
	up   []int64 // by row: upper bound of x_i - x_f
	gap  []int64 // by row: how much earlier than i the clock fires at least; nil: not later
}

// begin fires the clock of row f, or an open clock if f is 0. It reports whether the clock can be
// the first to fire.
//
// Firing f first means x_f <= x_i for all i, and less by the gap of i if there are gaps. Since the
// zone is closed, that adds only the path a->f->i->b from a to b, so no closure is needed.
func (r *firer) begin(zone []int64, dim, f int) bool {
	r.zone, r.dim, r.f = zone, dim, f
	if cap(r.low) < dim {
		r.low, r.up = make([]int64, dim), make([]int64, dim)
	}
	r.low, r.up = r.low[:dim], r.up[:dim]
	for i := range dim {
		r.up[i] = zone[i*dim+f]
		if i > 0 && i != f && r.up[i] < r.sooner(i) {
			return false
		}
	}
	for b := range dim {
		m := unbounded
		if f > 0 {
			m = zone[f*dim+b]
		}
		for k := 1; k < dim; k++ {
			v := zone[k*dim+b]
			if r.gap != nil && v != unbounded {
				v -= r.gap[k]
			}
			if v < m && k != f {
				m = v
			}
		}
		r.low[b] = m
	}
	return true
}

// sooner is how much earlier than the clock of row i the firing clock must fire.
func (r *firer) sooner(i int) int64 {
	if r.gap == nil {
		return 0
	}
	return r.gap[i]
}

// zoneAfter writes the zone of clocks with the intervals of[i]. from[i] is the row that clock i had
// before, or 0 if the clock is new.
func (r *firer) zoneAfter(from []int, of []ticks, to []int64) []int64 {
	n := len(from) + 1
	if cap(to) < n*n {
		to = make([]int64, n*n)
	}
	to = to[:n*n]
	to[0] = 0
	for i, old := range from {
		row := (i + 1) * n
		if old > 0 {
			to[row], to[i+1] = r.up[old], r.low[old]
		} else {
			to[row], to[i+1] = of[i].latest, -of[i].earliest
		}
	}
	for i, old := range from {
		row := to[(i+1)*n : (i+2)*n]
		upper := row[0]
		for j, other := range from {
			switch {
			case i == j:
				row[j+1] = 0
			case old > 0 && other > 0:
				row[j+1] = min(r.zone[old*r.dim+other], add(r.up[old], r.low[other]))
			default:
				row[j+1] = add(upper, to[j+1])
			}
		}
	}
	return to
}

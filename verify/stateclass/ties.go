package stateclass

import (
	"math"

	"github.com/voicegw/voicegw/verify/netmodel"
)

// anyPlace is the order of every clock that is no timer of the net that runs: at a tie it comes
// after those timers.
const anyPlace = math.MaxInt32

// places returns the order of each clock at a tie: timers of the net that runs by declaration,
// everything else after them.
func places(m *netmodel.Model) []int32 {
	out := make([]int32, len(m.Timed()))
	for c, t := range m.Timed() {
		out[c] = anyPlace
		if !m.Outside(t) {
			out[c] = t
		}
	}
	return out
}

// gaps writes, by row of a zone of a marking, by how many nanoseconds at least clock c fires before
// the clock of the row. It returns nil if ties may go either way. Instants are whole nanoseconds,
// so "before" means 1 ns before.
func (g *Graph) gaps(c int32, mk *marking, to []int64) []int64 {
	if g.place == nil {
		return nil
	}
	to = append(to[:0], 0)
	for _, other := range mk.clocks {
		gap := int64(0)
		if g.place[other] < g.place[c] {
			gap = 1
		}
		to = append(to, gap)
	}
	return to
}

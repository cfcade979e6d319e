package petri

import "math/bits"

// readySet is the set of enabled at-once transitions, by rank. It is a bit set with summary levels,
// so that first takes a few steps however large the net is.
type readySet struct{ levels [][]uint64 }

func newReadySet(n int) readySet {
	var s readySet
	for {
		n = (n + 63) / 64
		s.levels = append(s.levels, make([]uint64, max(n, 1)))
		if n <= 1 {
			return s
		}
	}
}

func (s *readySet) add(i int32) {
	for l := range s.levels {
		w := s.levels[l]
		old := w[i>>6]
		w[i>>6] = old | 1<<(i&63)
		if old != 0 {
			return
		}
		i >>= 6
	}
}

func (s *readySet) remove(i int32) {
	for l := range s.levels {
		w := s.levels[l]
		w[i>>6] &^= 1 << (i & 63)
		if w[i>>6] != 0 {
			return
		}
		i >>= 6
	}
}

// first returns the smallest member, or -1 if the set is empty.
func (s *readySet) first() int32 {
	top := len(s.levels) - 1
	if s.levels[top][0] == 0 {
		return -1
	}
	var i int32
	for l := top; l >= 0; l-- {
		i = i<<6 + int32(bits.TrailingZeros64(s.levels[l][i]))
	}
	return i
}

package check

import (
	"errors"
)

// In a slice, projected moves may interrupt a chain of firings at one instant. A certificate then
// lists the markings at which a chain is interrupted, in addition to those at which the net rests.

// errElsewhere reports that a firing leads to a marking that the whole net never reaches.
var errElsewhere = errors.New("verify: no firing of the whole net")

// rankMoves records the position of each transition among those that fire at once, and which
// projected moves may interrupt a chain.
func (k *checker) rankMoves() {
	k.rank = make([]int, len(k.p.Transitions()))
	for i, t := range k.order {
		k.rank[t] = i
	}
	for u, info := range k.p.Transitions() {
		if info.Projected && info.Yields < len(k.order) {
			k.moves = append(k.moves, int32(u))
		}
	}
}

// interrupted reports whether a projected move may come before t, which is the first one enabled at
// once.
func (k *checker) interrupted(marking []int32, t int32) bool {
	for _, u := range k.moves {
		if k.before(u, t) && k.on(u, marking) {
			return true
		}
	}
	return false
}

// before reports whether projected move u may fire while t is enabled at once and nothing tried
// before t is: u replaces a transition that is tried before t.
func (k *checker) before(u, t int32) bool { return k.rank[t] >= k.p.Transitions()[u].Yields }

// amidst checks a listed marking in which the net does not rest: where the next firing of the chain
// leads, and each move that may come before it.
func (k *checker) amidst(l *class, first int) error {
	next := k.order[first]
	before := outcome{marking: l.marking}
	if err := k.fire(before, next, 0, nil); err != nil {
		return err
	}
	for _, u := range k.moves {
		if k.before(u, next) && k.on(u, l.marking) {
			if err := k.fire(before, u, 0, nil); err != nil {
				return err
			}
		}
	}
	return nil
}

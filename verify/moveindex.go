package verify

import (
	"github.com/voicegw/voicegw/verify/claim"
	"github.com/voicegw/voicegw/verify/netmodel"
)

// moveIndex finds, among many claims about moves, those that a move may violate. The checker of certificates has one of
// its own: an error in this one must not pass there too.
type moveIndex struct {
	m      *netmodel.Model
	claims []*claim.BoundMove // nil: dropped
	open   int                // claims that were not dropped
	any    []int              // claims about every move
	by     [][]int            // by step: claims about moves with that step
	looked []int              // by claim: the last move for which it was checked
	move   int
}

// newMoveIndex makes an index of claims that are bound to a model.
func newMoveIndex(m *netmodel.Model, claims []*claim.BoundMove) *moveIndex {
	x := &moveIndex{m: m, claims: claims, open: len(claims), by: make([][]int, m.StepCount()),
		looked: make([]int, len(claims))}
	for i, c := range claims {
		if c.Triggers() == nil {
			x.any = append(x.any, i)
			continue
		}
		for step, on := range c.Triggers() {
			if on {
				x.by[step] = append(x.by[step], i)
			}
		}
	}
	return x
}

// drop removes a claim.
func (x *moveIndex) drop(i int) {
	if x.claims[i] != nil {
		x.claims[i] = nil
		x.open--
	}
}

// broken calls fn for each claim that a move violates.
func (x *moveIndex) broken(from []int32, chain []netmodel.Step, to []int32, fn func(claim int)) {
	x.move++
	for _, i := range x.any {
		x.look(i, from, chain, to, fn)
	}
	for _, s := range chain {
		for _, i := range x.by[x.m.StepIndex(s)] {
			x.look(i, from, chain, to, fn)
		}
	}
}

// look checks a claim at most once for each move.
func (x *moveIndex) look(i int, from []int32, chain []netmodel.Step, to []int32, fn func(int)) {
	if x.claims[i] == nil || x.looked[i] == x.move {
		return
	}
	x.looked[i] = x.move
	if x.claims[i].Bad(from, chain, to) {
		fn(i)
	}
}

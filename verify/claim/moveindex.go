package claim

import (
	"slices"

	"github.com/voicegw/voicegw/verify/netmodel"
)

// MoveIndex finds, among many claims about moves, those that a move may violate.
type MoveIndex struct {
	m       *netmodel.Model
	claims  []*BoundMove // nil: dropped
	Open    int          // claims that were not dropped
	any     []int        // claims about every move
	by      [][]int      // by step: claims about moves with that step
	looked  []int        // by claim: the last move for which it was checked
	Applied []bool       // by claim: it applied to some move
	move    int
}

// NewMoveIndex makes an index of claims that are bound to a model.
func NewMoveIndex(m *netmodel.Model, claims []*BoundMove) *MoveIndex {
	x := &MoveIndex{m: m, claims: slices.Clone(claims), Open: len(claims), by: make([][]int, m.StepCount()),
		looked: make([]int, len(claims)), Applied: make([]bool, len(claims))}
	for i, c := range claims {
		if c.on == nil {
			x.any = append(x.any, i)
			continue
		}
		for step, on := range c.on {
			if on {
				x.by[step] = append(x.by[step], i)
			}
		}
	}
	return x
}

// Drop removes a claim.
func (x *MoveIndex) Drop(i int) {
	if x.claims[i] != nil {
		x.claims[i] = nil
		x.Open--
	}
}

// Broken calls fn for each claim that a move violates.
func (x *MoveIndex) Broken(from []int32, chain []netmodel.Step, to []int32, fn func(claim int)) {
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
func (x *MoveIndex) look(i int, from []int32, chain []netmodel.Step, to []int32, fn func(int)) {
	if x.claims[i] == nil || x.looked[i] == x.move {
		return
	}
	x.looked[i] = x.move
	if !x.claims[i].Applies(from, chain, to) {
		return
	}
	if x.Applied[i] = true; x.claims[i].breaks(from, chain, to) {
		fn(i)
	}
}

package verify

import "slices"

// moveIndex finds, of many claims about moves, those that a move may break.
type moveIndex struct {
	m      *Model
	claims []*MoveClaim // nil: dropped
	open   int          // claims that were not dropped
	any    []int        // claims about every move
	by     [][]int      // by step: claims about moves with that step
	looked []int        // by claim: the last move at which it was looked at
	says   []bool       // by claim: it was about some move
	move   int
}

func newMoveIndex(m *Model, claims []*MoveClaim) *moveIndex {
	x := &moveIndex{m: m, claims: slices.Clone(claims), open: len(claims), by: make([][]int, m.StepCount()),
		looked: make([]int, len(claims)), says: make([]bool, len(claims))}
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

// drop forgets a claim.
func (x *moveIndex) drop(i int) {
	if x.claims[i] != nil {
		x.claims[i] = nil
		x.open--
	}
}

// broken calls fn for each claim that a move breaks.
func (x *moveIndex) broken(from []int32, chain []Step, to []int32, fn func(claim int)) {
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

// look looks at a claim once for each move.
func (x *moveIndex) look(i int, from []int32, chain []Step, to []int32, fn func(int)) {
	if x.claims[i] == nil || x.looked[i] == x.move {
		return
	}
	x.looked[i] = x.move
	if !x.claims[i].Applies(from, chain, to) {
		return
	}
	if x.says[i] = true; x.claims[i].breaks(from, chain, to) {
		fn(i)
	}
}

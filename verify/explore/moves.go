package explore

import (
	"context"
	"fmt"

	"github.com/voicegw/voicegw/verify/netmodel"
	"github.com/voicegw/voicegw/verify/walk"
)

// EachMove calls fn for every move of a graph until fn returns false. from is -1 for the start of
// the net. fn must not keep its arguments.
func (g *Graph) EachMove(ctx context.Context,
	fn func(state int, from []int32, chain []netmodel.Step, to []int32) bool) error {
	state, from, going := -1, g.Model.Initial(), true
	var w *walk.Walker
	w = walk.NewWalker(g.Model, func() { going = going && fn(state, from, w.Chain, w.Marking) }, nil)
	w.Record = true
	w.Start()
	var steps []netmodel.Step
	for state = 0; state < len(g.firstE) && going; state++ {
		if state%progressEvery == 0 && ctx.Err() != nil {
			return fmt.Errorf("verify: moves: %w", ctx.Err())
		}
		if from = g.Marking(state, from); g.Model.Ended(from) {
			continue
		}
		for _, t := range g.Model.Timed() {
			steps = g.Model.Steps(t, from, steps[:0])
			for _, s := range steps {
				w.Fire(from, s)
			}
		}
	}
	return nil
}

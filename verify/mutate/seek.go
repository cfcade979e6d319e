package mutate

import (
	"context"
	"fmt"

	"github.com/voicegw/voicegw/verify"
	"github.com/voicegw/voicegw/verify/claim"
	"github.com/voicegw/voicegw/verify/netmodel"
	"github.com/voicegw/voicegw/verify/walk"
)

// waysMax is how many paths to bad ends of one claim about moves the machine tries in the end, for
// each of the two orders of exploration.
const waysMax = 1000

// seek looks for a move that breaks a claim and that the machine takes, among all moves that the
// net makes without time.
func (t *try) seek(ctx context.Context, p *verify.Property) error {
	claim, err := claim.BadMoves(p.Claim, t.model)
	if err != nil {
		t.because("%s: %v", p.Name, err)
		return nil
	}
	for i, eager := range []bool{false, true} {
		if t.moves[i] == nil {
			t.moves[i] = newHunter(t.compiled, t.Max, nil, &trace{compare: true, differs: true}, t.sig.of(t.compiled))
			t.moves[i].eager = eager
			if err := t.moves[i].explore(ctx); err != nil {
				return err
			}
		}
		if done, err := t.seekIn(ctx, t.moves[i], claim, p); done || err != nil {
			return err
		}
	}
	return nil
}

// seekIn looks for such a move on the paths that one exploration found. It reports whether that
// decides the claim.
func (t *try) seekIn(ctx context.Context, h *hunter, claim *claim.BoundMove, p *verify.Property) (bool, error) {
	tries, killed := 0, false
	err := h.eachMove(ctx, func(state int, from []int32, chain []netmodel.Step, to []int32) bool {
		if !claim.Bad(from, chain, to) {
			return true
		}
		tries++
		killed = t.takes(verify.Refute(t.model, "explicit", append(h.way(state), chain...), h.set.Len(), "%s", p.Name))
		return !killed && tries < waysMax
	})
	switch {
	case killed:
		t.killed(p.Name)
	case tries > 0:
		t.because("%s: no machine takes the ways to moves that break it, as far as they were tried", p.Name)
	case !h.complete:
		t.because("%s: more than %d markings in closure %s", p.Name, t.Max, t.Name)
	}
	return killed || tries == 0, err
}

// eachMove calls fn for every explored move until fn returns false; state is -1 for the start of
// the net. fn must not keep its arguments.
func (h *hunter) eachMove(ctx context.Context, fn func(state int, from []int32, chain []netmodel.Step, to []int32) bool,
) error {
	state, from, going := -1, h.model.Initial(), true
	var w *walk.Walker
	w = walk.NewWalker(h.model, func() { going = going && fn(state, from, w.Chain, w.Marking) }, nil)
	w.Record = true
	w.Start()
	for state = 0; state < h.set.Len() && going; state++ {
		if state%1024 == 0 && ctx.Err() != nil {
			return fmt.Errorf("verify/mutate: %w", ctx.Err())
		}
		if h.set.Get(state, from); h.model.Ended(from) {
			continue
		}
		h.eachTimed(from, func(s netmodel.Step) { w.Fire(from, s) })
	}
	return nil
}

// eachTimed calls fn for the steps that may fire where a net rests. Moves of the environment come
// first, because time mostly allows paths without waits; if h.eager is set, they come last.
func (h *hunter) eachTimed(marking []int32, fn func(netmodel.Step)) {
	for _, outside := range []bool{!h.eager, h.eager} {
		for _, t := range h.model.Timed() {
			if h.model.Outside(t) != outside {
				continue
			}
			h.steps = h.model.Steps(t, marking, h.steps[:0])
			for _, s := range h.steps {
				fn(s)
			}
		}
	}
}

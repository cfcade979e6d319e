package mutate

import (
	"slices"

	"github.com/voicegw/voicegw/verify/netmodel"
	"github.com/voicegw/voicegw/verify/walk"
)

// knownMax is how many paths that killed mutants are tried on the next mutant.
const knownMax = 16

// follow moves a net along a path that killed another mutant. It skips moves that the net cannot
// make, and gives every bad end on the path to the machine.
func (h *hunter) follow(moves []string) {
	f := &follower{hunter: h, marking: h.model.Initial()}
	f.w = walk.NewWalker(h.model, f.visit, f.fault)
	f.w.Record = true
	f.w.Start()
	for _, name := range moves {
		if !f.rested || h.done() {
			return
		}
		if s, ok := f.step(name); ok {
			f.rested = false
			f.w.Fire(slices.Clone(f.marking), s)
		}
	}
}

// follower is a walk along given moves.
type follower struct {
	*hunter
	w       *walk.Walker
	marking []int32 // where the walk is
	way     []netmodel.Step
	rested  bool
}

// step finds a timed firing by name.
func (f *follower) step(name string) (netmodel.Step, bool) {
	for _, t := range f.model.Timed() {
		for _, s := range f.model.Steps(t, f.marking, nil) {
			if f.model.Name(s) == name {
				return s, !f.model.Ended(f.marking)
			}
		}
	}
	return netmodel.Step{}, false
}

// visit continues from the first resting marking that a move reaches.
func (f *follower) visit() {
	if f.rested {
		return
	}
	f.rested = true
	f.way = append(f.way, f.w.Chain...)
	f.eachMoved(f.marking, f.w.Chain, f.w.Marking, func(w *watch) { f.judge(w, f.way) })
	copy(f.marking, f.w.Marking)
	for _, w := range f.watches {
		if !w.killed && (w.bad != nil && w.bad(f.w.Marking) || w.aboutCapacity() && refused(f.model, f.w.Refused, w.prop)) {
			f.judge(w, f.way)
		}
	}
}

func (f *follower) fault(v walk.Fault) {
	if f.rested || v.Kind == walk.Endless {
		return
	}
	chain := v.Chain
	if len(chain) == 0 {
		chain = []netmodel.Step{v.Step}
	}
	for _, w := range f.watches {
		if w.aboutCapacity() && !w.killed {
			f.judge(w, append(slices.Clone(f.way), chain...))
		}
	}
}

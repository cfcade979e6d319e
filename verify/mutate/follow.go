package mutate

import (
	"slices"

	"github.com/voicegw/voicegw/verify"
)

// knownMax is how many ways on which mutants failed are tried on the next.
const knownMax = 16

// follow takes a net along moves that led another one astray, leaves out those
// that it cannot make, and gives every bad end on the way to the machine.
func (h *hunter) follow(moves []string) {
	f := &follower{hunter: h, marking: h.model.Initial()}
	f.w = h.model.NewWalker(f.visit, f.fault)
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
	w       *verify.Walker
	marking []int32 // where the walk has come to
	way     []verify.Step
	rested  bool
}

// step finds a timed firing by name.
func (f *follower) step(name string) (verify.Step, bool) {
	for _, t := range f.model.Timed() {
		for _, s := range f.model.Steps(t, f.marking, nil) {
			if f.model.Name(s) == name {
				return s, !f.model.Ended(f.marking)
			}
		}
	}
	return verify.Step{}, false
}

// visit goes on from the first marking that a move leads to.
func (f *follower) visit() {
	if f.rested {
		return
	}
	f.rested = true
	f.way = append(f.way, f.w.Chain...)
	f.eachMoved(f.marking, f.w.Chain, f.w.Marking, func(w *watch) { f.judge(w, f.way) })
	copy(f.marking, f.w.Marking)
	for _, w := range f.watches {
		if !w.killed && (w.bad != nil && w.bad(f.w.Marking) || w.crowding() && refused(f.model, f.w.Refused, w.prop)) {
			f.judge(w, f.way)
		}
	}
}

func (f *follower) fault(v verify.Fault) {
	if f.rested || v.Kind == verify.Endless {
		return
	}
	chain := v.Chain
	if len(chain) == 0 {
		chain = []verify.Step{v.Step}
	}
	for _, w := range f.watches {
		if w.crowding() && !w.killed {
			f.judge(w, append(slices.Clone(f.way), chain...))
		}
	}
}

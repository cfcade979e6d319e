package witness

import (
	"fmt"

	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/verify/netmodel"
	"github.com/voicegw/voicegw/verify/walk"
)

// replayDriven runs a copy of a net in which each transition with a clock waits for a trigger from
// outside instead. It injects the trigger at the time at which the witness fires the transition.
// Schedule checked that the waits allow those times; the machine checks everything else.
func replayDriven(m *netmodel.Model, w *Witness) error {
	net, err := driven(m)
	if err != nil {
		return err
	}
	p, err := petri.Compile(net)
	if err != nil {
		return fmt.Errorf("verify: replay of %s: %w", w.Net, err)
	}
	return drive(m, w, p)
}

// drive triggers the clocked firings of a witness one by one. What runs to completion after each
// must follow by itself.
func drive(m *netmodel.Model, w *Witness, p *petri.Program) (err error) {
	want, faults := after(m, w.Steps())
	defer func() {
		if r := recover(); r != nil {
			if f, ok := r.(*petri.Fault); !ok {
				panic(r)
			} else if !faults {
				err = fmt.Errorf("verify: replay of %s: %w", w.Net, f)
			}
		}
	}()
	choices := freeChoices(m, w.Firings)
	machine := p.Shadow(func(uint64) int {
		if len(choices) == 0 {
			return 0
		}
		c := choices[0]
		choices = choices[1:]
		return c
	}).Start()
	for i, f := range w.Firings {
		if m.Clocks[f.Step.Transition] < 0 || int(f.Step.Transition) >= len(m.Program().Transitions()) {
			continue
		}
		choices = append(choicesOf(m, f), freeChoices(m, w.Firings[i+1:])...)
		if err := trigger(m, machine, f); err != nil {
			return fmt.Errorf("verify: replay of %s: firing %d, %s: %w", w.Net, i+1, f.Name, err)
		}
	}
	return sameMarking(m, w, p, machine, want)
}

// after is the marking that firings lead to, and whether the last one faults.
func after(m *netmodel.Model, steps []netmodel.Step) (marking []int32, faults bool) {
	w := walk.NewWalker(m, func() {}, nil)
	copy(w.Marking, m.Initial())
	for _, s := range steps {
		faults = !w.Apply(s)
	}
	return w.Marking, faults || len(steps) > petri.MaxChain
}

// freeChoices are the branches of the free outputs that fire before the next clock.
func freeChoices(m *netmodel.Model, firings []Firing) []int {
	var out []int
	for _, f := range firings {
		if m.Clocks[f.Step.Transition] >= 0 {
			break
		}
		out = append(out, choicesOf(m, f)...)
	}
	return out
}

func choicesOf(m *netmodel.Model, f Firing) []int {
	if m.ModeOf(f.Step).Choice >= 0 {
		return nil
	}
	return []int{int(f.Step.Branch)}
}

// trigger triggers one transition with a clock, and checks that it fires.
func trigger(m *netmodel.Model, machine *petri.Machine, f Firing) error {
	at := max(f.At, machine.Now())
	place := petri.Place[petri.Unit](triggerOf(m.Transitions[f.Step.Transition].Name))
	if err := machine.Inject(at, place.Token(petri.Unit{})); err != nil {
		return err
	}
	for _, e := range machine.Advance(at).Events {
		if e.Kind == petri.Fired && e.Index == f.Step.Transition {
			return nil
		}
	}
	return fmt.Errorf("it is not enabled at %v", at)
}

func sameMarking(m *netmodel.Model, w *Witness, p *petri.Program, machine *petri.Machine, want []int32) error {
	have := machine.Marking(nil)
	for i := range m.Program().Places() {
		pl := &m.Places[i]
		j := p.Place(pl.Name)
		if pl.Slots == 0 || j < 0 {
			continue
		}
		if is, should := have[p.Places()[j].Slot], want[pl.Slot]; is != should {
			return fmt.Errorf("verify: replay of %s: %s holds %d tokens at the end, not %d", w.Net, pl.Name, is, should)
		}
	}
	return nil
}

func triggerOf(transition string) string { return "trigger of " + transition }

// driven makes that copy. If no place distinguishes tokens, the arcs determine everything in it.
func driven(m *netmodel.Model) (*petri.Net, error) {
	n := &petri.Net{Name: m.Program().Name(), Imported: true}
	for i := range m.Program().Places() {
		p := &m.Places[i]
		if p.Slots > 1 || p.Keys != nil || p.Gen || p.Payload {
			return nil, ErrNoMachine
		}
		if p.Slots == 0 {
			continue
		}
		place := petri.Place[petri.Unit](p.Name)
		n.Caps = append(n.Caps, petri.Cap{Place: place, Max: p.Max})
		for range m.Initial()[p.Slot] {
			n.Init = append(n.Init, place.Token(petri.Unit{}))
		}
		if p.Final {
			n.Final = place
		}
	}
	for t := range m.Program().Transitions() {
		n.Transitions = append(n.Transitions, drivenTransition(m, int32(t), n))
	}
	return n, nil
}

func drivenTransition(m *netmodel.Model, t int32, n *petri.Net) petri.Transition {
	info := &m.Transitions[t]
	pt := petri.Transition{Name: info.Name, Priority: info.Priority}
	var branches []petri.Arcs
	for i := range info.Modes[0].Branches {
		branches = append(branches, outArcs(m, info, i))
	}
	for _, a := range info.Arcs {
		arc := petri.Place[petri.Unit](m.Places[a.Place].Name).Exactly(a.Count)
		if a.All {
			arc = arc.AtLeast(a.Count)
		}
		switch a.Kind {
		case petri.InArc:
			pt.In = append(pt.In, arc)
		case petri.ReadArc:
			pt.Read = append(pt.Read, arc)
		case petri.InhibitArc:
			pt.Inhibit = append(pt.Inhibit, arc)
		case petri.ResetArc:
			pt.Reset = append(pt.Reset, arc)
		}
	}
	switch choice := info.Modes[0].Choice(); {
	case choice >= 0:
		pt.Out = petri.And(branches[choice]...)
	default:
		pt.Out = petri.Free(branches...)
	}
	if m.Clocks[t] >= 0 {
		trigger := petri.Place[petri.Unit](triggerOf(info.Name))
		n.Env = append(n.Env, petri.Env{Place: trigger})
		pt.In = append(pt.In, trigger)
		pt.Priority = 0
	}
	return pt
}

// outArcs are the arcs of a branch that produce in the net.
func outArcs(m *netmodel.Model, info *petri.TransitionInfo, branch int) petri.Arcs {
	var out petri.Arcs
	for _, a := range info.Arcs {
		if a.Kind == petri.OutArc && a.Branch == branch && m.Places[a.Place].Slots > 0 {
			out = append(out, petri.Place[petri.Unit](m.Places[a.Place].Name).Exactly(a.Count))
		}
	}
	return out
}

package verify

import (
	"fmt"

	"github.com/voicegw/voicegw/petri"
)

// replayDriven runs a copy of a net in which each transition with a clock waits
// for a trigger from outside instead, which is injected at the time at which
// the witness fires it. That the waits allow those times is what Schedule
// checked; the machine checks all else.
func (m *Model) replayDriven(w *Witness) error {
	net, err := m.driven()
	if err != nil {
		return err
	}
	p, err := petri.Compile(net)
	if err != nil {
		return fmt.Errorf("verify: replay of %s: %w", w.Net, err)
	}
	return m.drive(w, p)
}

// drive triggers the clocked firings of a witness one by one; what runs to
// completion after each is expected to come by itself.
func (m *Model) drive(w *Witness, p *petri.Program) (err error) {
	want, faults := m.after(w.Steps())
	defer func() {
		if r := recover(); r != nil {
			if f, ok := r.(*petri.Fault); !ok {
				panic(r)
			} else if !faults {
				err = fmt.Errorf("verify: replay of %s: %w", w.Net, f)
			}
		}
	}()
	choices := m.choices(w.Firings)
	machine := p.Shadow(func(uint64) int {
		if len(choices) == 0 {
			return 0
		}
		c := choices[0]
		choices = choices[1:]
		return c
	}).Start()
	for i, f := range w.Firings {
		if m.clock[f.Step.Transition] < 0 || int(f.Step.Transition) >= len(m.prog.Transitions()) {
			continue
		}
		choices = append(m.choicesOf(f), m.choices(w.Firings[i+1:])...)
		if err := m.trigger(machine, f); err != nil {
			return fmt.Errorf("verify: replay of %s: firing %d, %s: %w", w.Net, i+1, f.Name, err)
		}
	}
	return m.sameMarking(w, p, machine, want)
}

// after is the marking that firings leave, and whether the last one faults.
func (m *Model) after(steps []Step) (marking []int32, faults bool) {
	w := m.NewWalker(func() {}, nil)
	copy(w.Marking, m.initial)
	for _, s := range steps {
		faults = !w.apply(s)
	}
	return w.Marking, faults || len(steps) > petri.MaxChain
}

// choices are the branches of the free outputs that fire before the next clock.
func (m *Model) choices(firings []Firing) []int {
	var out []int
	for _, f := range firings {
		if m.clock[f.Step.Transition] >= 0 {
			break
		}
		out = append(out, m.choicesOf(f)...)
	}
	return out
}

func (m *Model) choicesOf(f Firing) []int {
	if m.modeOf(f.Step).choice >= 0 {
		return nil
	}
	return []int{int(f.Step.Branch)}
}

// trigger lets one transition with a clock fire, and expects it to.
func (m *Model) trigger(machine *petri.Machine, f Firing) error {
	at := max(f.At, machine.Now())
	place := petri.Place[petri.Unit](triggerOf(m.transitions[f.Step.Transition].Name))
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

func (m *Model) sameMarking(w *Witness, p *petri.Program, machine *petri.Machine, want []int32) error {
	have := machine.Marking(nil)
	for i := range m.prog.Places() {
		pl := &m.places[i]
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

// driven is the copy. Everything in it can be told from the arcs if no place
// tells tokens apart.
func (m *Model) driven() (*petri.Net, error) {
	n := &petri.Net{Name: m.prog.Name(), Imported: true}
	for i := range m.prog.Places() {
		p := &m.places[i]
		if p.Slots > 1 || p.Keys != nil || p.Gen || p.Payload {
			return nil, errNoMachine
		}
		if p.Slots == 0 {
			continue
		}
		place := petri.Place[petri.Unit](p.Name)
		n.Caps = append(n.Caps, petri.Cap{Place: place, Max: p.Max})
		for range m.initial[p.Slot] {
			n.Init = append(n.Init, place.Token(petri.Unit{}))
		}
		if p.Final {
			n.Final = place
		}
	}
	for t := range m.prog.Transitions() {
		n.Transitions = append(n.Transitions, m.drivenTransition(int32(t), n))
	}
	return n, nil
}

func (m *Model) drivenTransition(t int32, n *petri.Net) petri.Transition {
	info := &m.transitions[t]
	pt := petri.Transition{Name: info.Name, Priority: info.Priority}
	var branches []petri.Arcs
	for i := range info.Modes[0].Branches {
		branches = append(branches, m.outArcs(info, i))
	}
	for _, a := range info.Arcs {
		arc := petri.Place[petri.Unit](m.places[a.Place].Name).Exactly(a.Count)
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
	if m.clock[t] >= 0 {
		trigger := petri.Place[petri.Unit](triggerOf(info.Name))
		n.Env = append(n.Env, petri.Env{Place: trigger})
		pt.In = append(pt.In, trigger)
		pt.Priority = 0
	}
	return pt
}

// outArcs are the arcs of a branch that produce in the net.
func (m *Model) outArcs(info *petri.TransitionInfo, branch int) petri.Arcs {
	var out petri.Arcs
	for _, a := range info.Arcs {
		if a.Kind == petri.OutArc && a.Branch == branch && m.places[a.Place].Slots > 0 {
			out = append(out, petri.Place[petri.Unit](m.places[a.Place].Name).Exactly(a.Count))
		}
	}
	return out
}

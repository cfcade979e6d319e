package verify

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/voicegw/voicegw/petri"
)

// errNoMachine says that no machine can run a net: it has keys or generations
// and waits that only an environment has, and its open net was not given.
var errNoMachine = errors.New("verify: replay: no machine can run the net; give Config.Open")

// Replay takes a timed witness through a petri.Machine on a virtual clock, and
// reports where the machine differs: in a firing, its mode or branch, its time,
// or the marking at the end.
//
// open is the net that runs, compiled alone, if the witness is of that net
// closed with automata: what automata produce is injected. Without it the
// machine runs the net itself, if all its waits are points, or else, if its
// tokens carry nothing, a copy in which each wait is a trigger from outside.
func (m *Model) Replay(w *Witness, open *petri.Program) error {
	if !w.Timed {
		return fmt.Errorf("verify: replay of %s: the witness has no times", w.Net)
	}
	if w.model != nil && w.model.prog == m.prog {
		m = w.model
	}
	switch {
	case open == nil && m.refuses(w.Steps()):
		return errNoMachine
	case open != nil && open.Runnable() != nil:
		return fmt.Errorf("verify: replay of %s: %w", w.Net, open.Runnable())
	case open != nil:
		return m.replayOpen(w, open)
	case m.semantics == RunToCompletion && m.prog.Runnable() == nil:
		return m.replayOpen(w, m.prog)
	default:
		return m.replayDriven(w)
	}
}

// refuses reports whether a full place turns a token away on the way, which
// happens only to tokens that come from outside.
func (m *Model) refuses(steps []Step) bool {
	w := m.NewWalker(func() {}, nil)
	copy(w.Marking, m.initial)
	for _, s := range steps {
		w.apply(s)
	}
	return len(w.Refused) > 0
}

// tape is what a machine is expected to do.
type tape struct {
	m       *Model
	open    *petri.Program
	machine *petri.Machine
	shadow  *petri.Program
	prefix  string
	fired   []petri.Event // so far
	choices []int         // of free outputs, in order
	refused int
}

// replayOpen runs the open net: its own firings are expected, the automata's
// are injections. The times of the witness are worked out again, because a
// machine fires a timer before an injection of the same instant.
func (m *Model) replayOpen(w *Witness, open *petri.Program) error {
	steps := w.Steps()
	own := m.ownership(open)
	at, ok := m.schedule(steps, own)
	if !ok {
		return fmt.Errorf("verify: replay of %s: a machine fires timers first, and no timing allows that", w.Net)
	}
	t := &tape{m: m, open: open, prefix: m.prefixFor(open)}
	for _, s := range steps {
		if own[s.Transition] >= 0 && m.modeOf(s).choice < 0 {
			t.choices = append(t.choices, int(s.Branch))
		}
	}
	t.shadow = open.Shadow(func(uint64) int {
		if len(t.choices) == 0 {
			return 0
		}
		c := t.choices[0]
		t.choices = t.choices[1:]
		return c
	})
	return t.play(w, steps, at, own)
}

func (m *Model) modeOf(s Step) *mode { return &m.modes[m.first[s.Transition]+s.Mode] }

// Inside is what names of the closed net have before those of the open one.
func (m *Model) Inside(open *petri.Program) string { return m.prefixFor(open) }

// prefixFor is what the names of the closed net have before those of the open
// one.
func (m *Model) prefixFor(open *petri.Program) string {
	if open == m.prog || len(m.transitions) == 0 {
		return ""
	}
	return topGroup(m.transitions[0].Group) + "/"
}

// ownership maps transitions of the model to those of the open net; -1 for the
// environment's.
func (m *Model) ownership(open *petri.Program) []int32 {
	own := fill(len(m.transitions), -1)
	index := map[string]int32{}
	for i, t := range open.Transitions() {
		index[t.Name] = int32(i)
	}
	prefix := m.prefixFor(open)
	for t := range m.transitions {
		name, inside := strings.CutPrefix(m.transitions[t].Name, prefix)
		if i, ok := index[name]; ok && inside {
			own[t] = i
		}
	}
	return own
}

// play runs the machine along the steps.
func (t *tape) play(w *Witness, steps []Step, at []time.Duration, own []int32) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = t.fault(w, steps, r)
		}
	}()
	t.machine = t.shadow.Start()
	t.collect(t.machine.Advance(0))
	for i, s := range steps {
		if own[s.Transition] >= 0 {
			continue
		}
		t.collect(t.machine.Advance(at[i]))
		if err := t.inject(s, at[i]); err != nil {
			return fmt.Errorf("verify: replay of %s: firing %d, %s: %w", w.Net, i+1, t.m.Name(s), err)
		}
	}
	end := time.Duration(0)
	if len(at) > 0 {
		end = at[len(at)-1]
	}
	t.collect(t.machine.Advance(end))
	if err := t.same(steps, at, own); err != nil {
		return fmt.Errorf("verify: replay of %s: %w", w.Net, err)
	}
	return nil
}

// same holds the machine to the steps: its firings, and its marking at the end.
func (t *tape) same(steps []Step, at []time.Duration, own []int32) error {
	more, err := t.compare(steps, at, own)
	if err != nil {
		return err
	}
	return t.marking(append(steps, more...))
}

// fault is no difference if the witness ends in one.
func (t *tape) fault(w *Witness, steps []Step, r any) error {
	f, ok := r.(*petri.Fault)
	if !ok {
		panic(r)
	}
	if _, faults := t.m.after(steps); faults {
		return nil
	}
	return fmt.Errorf("verify: replay of %s: %w", w.Net, f)
}

func (t *tape) collect(r petri.Ready) {
	for _, e := range r.Events {
		switch e.Kind {
		case petri.Fired:
			t.fired = append(t.fired, e)
		case petri.Refused:
			t.refused++
		}
	}
}

// inject hands the machine what an automaton's firing puts into the open net.
func (t *tape) inject(s Step, at time.Duration) error {
	b := &t.m.modeOf(s).branches[s.Branch]
	for i := range b.put {
		p := &b.put[i]
		place := t.open.Place(t.m.places[p.place].Name)
		if place < 0 || !t.open.Places()[place].Env {
			continue
		}
		e := petri.Event{Kind: petri.Injected, Index: int32(place), Slot: p.slot - p.first}
		for range p.n {
			err := t.machine.Inject(at, t.shadow.ShadowToken(e, t.machine.Gen()))
			if err != nil && !errors.Is(err, petri.ErrFull) {
				return err
			}
			t.collect(t.machine.Advance(at))
		}
	}
	return nil
}

// compare holds the machine's firings to the witness's own. It returns what the
// machine fires after those at the same instant: timers that are due together
// with the last one of a witness that ends between them.
func (t *tape) compare(steps []Step, at []time.Duration, own []int32) ([]Step, error) {
	n := 0
	for i, s := range steps {
		u := own[s.Transition]
		if u < 0 {
			continue
		}
		name := t.m.Name(s)
		if n == len(t.fired) {
			return nil, fmt.Errorf("firing %d, %s at %v, did not happen", i+1, name, at[i])
		}
		e := t.fired[n]
		n++
		if e.Index != u || int32(e.Mode) != s.Mode || int32(e.Branch) != s.Branch || e.At != at[i] {
			return nil, fmt.Errorf("firing %d is %s at %v, not %s at %v", i+1, t.open.FiringName(e), e.At, name, at[i])
		}
	}
	var more []Step
	for _, e := range t.fired[n:] {
		s := Step{Transition: int32(slices.Index(own, e.Index)), Mode: int32(e.Mode), Branch: int32(e.Branch)}
		if len(more) == 0 && t.m.clock[s.Transition] < 0 || len(at) > 0 && e.At != at[len(at)-1] {
			return nil, fmt.Errorf("after the last firing %s fires at %v", t.open.FiringName(e), e.At)
		}
		more = append(more, s)
	}
	return more, nil
}

// marking compares the machine's marking with the witness's last.
func (t *tape) marking(steps []Step) error {
	want, _ := t.m.after(steps)
	have := t.machine.Marking(nil)
	for i := range t.m.places {
		p := &t.m.places[i]
		j := t.open.Place(strings.TrimPrefix(p.Name, t.prefix))
		if p.Slots == 0 || j < 0 || t.open.Places()[j].Out {
			continue
		}
		for k := range p.Slots {
			is, should := have[t.open.Places()[j].Slot+k], want[p.Slot+k]
			if is != should {
				return fmt.Errorf("%s holds %d tokens at the end, not %d", t.m.slotName[p.Slot+k], is, should)
			}
		}
	}
	return nil
}

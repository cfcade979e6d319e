package witness

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/verify/netmodel"
	"github.com/voicegw/voicegw/verify/walk"
)

// ErrNoMachine reports that no machine can run a net: it has keys or generations and waits that
// only an environment has, and its open net is missing.
var ErrNoMachine = errors.New("verify: replay: no machine can run the net; give Config.Open")

// Replay takes a timed witness through a petri.Machine on a virtual clock, and reports where the
// machine differs: in a firing, its mode or branch, its time, or the marking at the end.
//
// open is the net that runs, compiled alone, if the witness is of that net closed with automata:
// Replay injects what the automata produce. Without open the machine runs the net itself if all its
// waits are points. Otherwise, if its tokens carry nothing, it runs a copy in which each wait is a
// trigger from outside.
func Replay(m *netmodel.Model, w *Witness, open *petri.Program) error {
	if !w.Timed {
		return fmt.Errorf("verify: replay of %s: the witness has no times", w.Net)
	}
	if w.model != nil && w.model.Program() == m.Program() {
		m = w.model
	}
	switch {
	case open == nil && refuses(m, w.Steps()):
		return ErrNoMachine
	case open != nil && open.Runnable() != nil:
		return fmt.Errorf("verify: replay of %s: %w", w.Net, open.Runnable())
	case open != nil:
		return replayOpen(m, w, open)
	case m.Semantics == netmodel.RunToCompletion && m.Program().Runnable() == nil:
		return replayOpen(m, w, m.Program())
	default:
		return replayDriven(m, w)
	}
}

// refuses reports whether a full place turns a token away on the way. This happens only to tokens
// from outside.
func refuses(m *netmodel.Model, steps []netmodel.Step) bool {
	w := walk.NewWalker(m, func() {}, nil)
	copy(w.Marking, m.Initial())
	for _, s := range steps {
		w.Apply(s)
	}
	return len(w.Refused) > 0
}

// tape drives a machine along expected firings and collects what it does.
type tape struct {
	m       *netmodel.Model
	open    *petri.Program
	machine *petri.Machine
	shadow  *petri.Program
	prefix  string
	fired   []petri.Event // so far
	choices []int         // of free outputs, in order
	refused int
}

// replayOpen runs the open net: it expects the net's own firings and injects those of the automata.
// It computes the times of the witness again, because a machine fires a timer before an injection
// at the same instant.
func replayOpen(m *netmodel.Model, w *Witness, open *petri.Program) error {
	steps := w.Steps()
	own := ownership(m, open)
	at, ok := walk.ScheduleFor(m, steps, own)
	if !ok {
		return fmt.Errorf("verify: replay of %s: a machine fires timers first, and no timing allows that", w.Net)
	}
	t := &tape{m: m, open: open, prefix: prefixFor(m, open)}
	for _, s := range steps {
		if own[s.Transition] >= 0 && m.ModeOf(s).Choice < 0 {
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

// Inside is the prefix of the names of the open net in the closed net.
func Inside(m *netmodel.Model, open *petri.Program) string { return prefixFor(m, open) }

// prefixFor is the prefix of the names of the open net in the closed net.
func prefixFor(m *netmodel.Model, open *petri.Program) string {
	if open == m.Program() || len(m.Transitions) == 0 {
		return ""
	}
	return netmodel.TopGroup(m.Transitions[0].Group) + "/"
}

// ownership maps transitions of the model to those of the open net; -1 for those of the
// environment.
func ownership(m *netmodel.Model, open *petri.Program) []int32 {
	own := netmodel.Fill(len(m.Transitions), -1)
	index := map[string]int32{}
	for i, t := range open.Transitions() {
		index[t.Name] = int32(i)
	}
	prefix := prefixFor(m, open)
	for t := range m.Transitions {
		name, inside := strings.CutPrefix(m.Transitions[t].Name, prefix)
		if i, ok := index[name]; ok && inside {
			own[t] = i
		}
	}
	return own
}

// play runs the machine along the steps.
func (t *tape) play(w *Witness, steps []netmodel.Step, at []time.Duration, own []int32) (err error) {
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

// same compares the machine with the steps: its firings, and its marking at the end.
func (t *tape) same(steps []netmodel.Step, at []time.Duration, own []int32) error {
	more, err := t.compare(steps, at, own)
	if err != nil {
		return err
	}
	return t.marking(append(steps, more...))
}

// fault ignores a fault of the machine if the witness ends in a fault.
func (t *tape) fault(w *Witness, steps []netmodel.Step, r any) error {
	f, ok := r.(*petri.Fault)
	if !ok {
		panic(r)
	}
	if _, faults := after(t.m, steps); faults {
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

// inject injects into the machine what an automaton's firing puts into the open net.
func (t *tape) inject(s netmodel.Step, at time.Duration) error {
	b := &t.m.ModeOf(s).Branches[s.Branch]
	for i := range b.Put {
		p := &b.Put[i]
		place := t.open.Place(t.m.Places[p.Place].Name)
		if place < 0 || !t.open.Places()[place].Env {
			continue
		}
		e := petri.Event{Kind: petri.Injected, Index: int32(place), Slot: p.Slot - p.First}
		for range p.N {
			err := t.machine.Inject(at, t.shadow.ShadowToken(e, t.machine.Gen()))
			if err != nil && !errors.Is(err, petri.ErrFull) {
				return err
			}
			t.collect(t.machine.Advance(at))
		}
	}
	return nil
}

// compare compares the machine's firings with the witness's own. It returns what the machine fires
// after them at the same instant: timers that are due together with the last one of a witness that
// ends between them.
func (t *tape) compare(steps []netmodel.Step, at []time.Duration, own []int32) ([]netmodel.Step, error) {
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
	var more []netmodel.Step
	for _, e := range t.fired[n:] {
		s := netmodel.Step{Transition: int32(slices.Index(own, e.Index)), Mode: int32(e.Mode), Branch: int32(e.Branch)}
		if len(more) == 0 && t.m.Clocks[s.Transition] < 0 || len(at) > 0 && e.At != at[len(at)-1] {
			return nil, fmt.Errorf("after the last firing %s fires at %v", t.open.FiringName(e), e.At)
		}
		more = append(more, s)
	}
	return more, nil
}

// marking compares the machine's marking with the last marking of the witness.
func (t *tape) marking(steps []netmodel.Step) error {
	want, _ := after(t.m, steps)
	have := t.machine.Marking(nil)
	for i := range t.m.Places {
		p := &t.m.Places[i]
		j := t.open.Place(strings.TrimPrefix(p.Name, t.prefix))
		if p.Slots == 0 || j < 0 || t.open.Places()[j].Out {
			continue
		}
		for k := range p.Slots {
			is, should := have[t.open.Places()[j].Slot+k], want[p.Slot+k]
			if is != should {
				return fmt.Errorf("%s holds %d tokens at the end, not %d", t.m.SlotName[p.Slot+k], is, should)
			}
		}
	}
	return nil
}

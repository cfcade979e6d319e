package witness

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/verify/netmodel"
	"github.com/voicegw/voicegw/verify/walk"
)

// Script renders a replayed witness as a petritest script with its traces, to be committed as a
// test, and returns the program that the script runs.
//
// If the witness is of a net closed with automata, that program is open, the net that runs: the
// script injects what the automata produce. Without open it is the net of the witness, which only
// time moves; or, if that net waits for intervals, its Triggered copy. The recorded machine has the
// net's own actions. If it deviates from the witness, for example because a payload chooses another
// branch, Script returns an error.
func (w *Witness) Script(open *petri.Program) (string, *petri.Program, error) {
	m := w.model
	switch {
	case m == nil || !w.Timed || !w.Replayed:
		return "", nil, fmt.Errorf("verify: script of %s: no machine has replayed the witness", w.Net)
	case open != nil:
		return recordOpen(m, w, open)
	case m.Semantics == netmodel.RunToCompletion && m.Program().Runnable() == nil:
		return recordOpen(m, w, m.Program())
	}
	return recordTriggered(m, w)
}

// recording is a script in progress: a machine does what its steps say.
type recording struct {
	tape
	b   strings.Builder
	err error // the first error
}

func newRecording(m *netmodel.Model, w *Witness, open *petri.Program, about string) *recording {
	r := &recording{tape: tape{m: m, open: open, machine: open.Start(), prefix: prefixFor(m, open)}}
	fmt.Fprintf(&r.b, "# %s\n# %s\n", oneLine(w.Net+": "+w.Ends), about)
	return r
}

// oneLine joins the lines of a comment.
func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// recordOpen records a machine of a net that runs as it is.
func recordOpen(m *netmodel.Model, w *Witness, open *petri.Program) (string, *petri.Program, error) {
	steps, own := w.Steps(), ownership(m, open)
	at, ok := walk.ScheduleFor(m, steps, own)
	if !ok {
		return "", nil, fmt.Errorf("verify: script of %s: no machine takes the run", w.Net)
	}
	r := newRecording(m, w, open, "Plays on the net "+oneLine(open.Name())+".")
	end := time.Duration(0)
	for i, f := range w.Firings {
		end = at[i]
		if own[f.Step.Transition] < 0 {
			r.environment(f, end)
		}
	}
	_, faults := after(m, steps)
	r.finish(end, faults)
	if r.err == nil && !faults {
		r.err = r.same(steps, at, own)
	}
	return r.result(w)
}

// recordTriggered records a machine of the Triggered copy.
func recordTriggered(m *netmodel.Model, w *Witness) (string, *petri.Program, error) {
	p, err := Triggered(m)
	if err != nil {
		return "", nil, fmt.Errorf("verify: script of %s: %w", w.Net, err)
	}
	r := newRecording(m, w, p, "Plays on the net "+oneLine(p.Name())+" as verify.Model.Triggered copies it.")
	var want []int32
	for _, f := range w.Firings {
		t := f.Step.Transition
		if int(t) >= len(m.Program().Transitions()) {
			continue // the transition of an observer
		}
		want = append(want, t)
		if m.Clocks[t] >= 0 {
			r.inject(f.Name, triggerPlace(m, t), "", max(f.At, r.machine.Now()))
		}
	}
	marking, faults := after(m, w.Steps())
	r.finish(r.machine.Now(), faults)
	if r.err == nil && !faults {
		if r.err = r.inOrder(want); r.err == nil {
			r.err = sameMarking(m, w, p, r.machine, marking)
		}
	}
	return r.result(w)
}

// inOrder checks that the machine's firings are those of the witness.
func (r *recording) inOrder(want []int32) error {
	for i, e := range r.fired {
		if i >= len(want) || e.Index != want[i] {
			return fmt.Errorf("firing %d is %s", i+1, r.open.FiringName(e))
		}
	}
	if len(r.fired) < len(want) {
		return fmt.Errorf("only %d of %d transitions fire", len(r.fired), len(want))
	}
	return nil
}

func (r *recording) result(w *Witness) (string, *petri.Program, error) {
	if r.err != nil {
		return "", nil, fmt.Errorf("verify: script of %s: the machine strays: %w", w.Net, r.err)
	}
	return r.b.String(), r.open, nil
}

// environment records what one firing of an automaton injects.
func (r *recording) environment(f Firing, at time.Duration) {
	br := &r.m.ModeOf(f.Step).Branches[f.Step.Branch]
	for i := range br.Put {
		p := &br.Put[i]
		place := r.open.Place(r.m.Places[p.Place].Name)
		if place < 0 || !r.open.Places()[place].Env {
			continue
		}
		for range p.N {
			text, err := r.text(&r.open.Places()[place], int(p.Slot-p.First), at)
			if err != nil {
				r.fail(err)
				return
			}
			r.inject(f.Name, r.open.Places()[place].Name, text, at)
		}
	}
}

func (r *recording) fail(err error) {
	if r.err == nil {
		r.err = err
	}
}

// inject records one injection. JSON goes on its own line.
func (r *recording) inject(why, place, text string, at time.Duration) {
	if r.err != nil {
		return
	}
	head, input := "inject "+place, ""
	switch {
	case text != "" && plainWord(text):
		head += " " + text
	case text != "":
		input = text + "\n"
	}
	tok, err := r.open.ParseToken(place, text)
	if err != nil {
		r.fail(err)
		return
	}
	fmt.Fprintf(&r.b, "\n# %s\n%s @%v\n%s----\n", oneLine(why), head, at, input)
	r.happen(at, func() error { return r.machine.Inject(at, tok) })
}

// finish lets time pass until the end, and records the marking there. A net that has faulted no
// longer moves.
func (r *recording) finish(end time.Duration, faults bool) {
	if r.err != nil {
		return
	}
	r.advance(end)
	if faults {
		return
	}
	r.b.WriteString("\nmarking\n----\n")
	empty := true
	for slot, n := range r.machine.Marking(nil) {
		if n > 0 {
			fmt.Fprintf(&r.b, "%s %d\n", r.open.SlotName(slot), n)
			empty = false
		}
	}
	if empty {
		r.b.WriteString("empty\n")
	}
}

// advance records that time passes.
func (r *recording) advance(to time.Duration) {
	fmt.Fprintf(&r.b, "\nadvance %v\n----\n", to)
	r.happen(to, func() error { return nil })
}

// recordedMax is the most events of one step, as in petritest.
const recordedMax = 10_000

// happen does something at a time and records what happens until then.
func (r *recording) happen(at time.Duration, do func() error) {
	defer func() {
		if v := recover(); v != nil {
			r.print(r.machine.Fault())
			fmt.Fprintf(&r.b, "fault: %v\n", v)
		}
	}()
	for n := 0; r.machine.Wake() < at; {
		ready := r.machine.Advance(r.machine.Wake())
		r.print(ready)
		if n += len(ready.Events); n > recordedMax {
			r.fail(fmt.Errorf("more than %d events until %v", recordedMax, at))
			return
		}
	}
	err := do()
	r.print(r.machine.Advance(at))
	if err != nil {
		fmt.Fprintf(&r.b, "error: %v\n", err)
		if !errors.Is(err, petri.ErrFull) {
			r.fail(err)
		}
	}
}

func (r *recording) print(ready petri.Ready) {
	r.collect(ready)
	for _, e := range ready.Events {
		r.b.WriteString(r.open.Describe(e) + "\n")
	}
	for _, t := range ready.Out {
		r.b.WriteString("out " + outputText(t) + "\n")
	}
}

// outputMax is the most bytes of a value that a trace shows.
const outputMax = 120

// outputText renders a token with its value, as petritest does.
func outputText(t petri.Token) string {
	s := t.String()
	if t.Cancel() {
		return s + " cancel"
	}
	if _, unit := t.Value().(petri.Unit); unit || s != t.Place() {
		return s
	}
	v, err := json.Marshal(t.Value())
	switch {
	case err != nil:
		return s
	case len(v) > outputMax:
		return fmt.Sprintf("%s=%s... (%d bytes)", s, v[:outputMax], len(v))
	}
	return s + "=" + string(v)
}

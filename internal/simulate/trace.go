package simulate

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/verify/monitor"
)

// trace is what the net of a call did, by its events. The judges read it when the call is over. It
// is an event.Store; its methods are for the net's loop.
type trace struct {
	prog     *petri.Program
	monitor  *monitor.Monitor
	broken   *monitor.Violation // nil: none
	delivery delivery
	end      netEnd
	privacy  privacy
	turns    []time.Time // when a turn of the caller's began
	opens    []bool      // by transition: it begins a turn of the caller's

	inputs  map[string]bool // the tokens that the environment of the proofs may inject
	foreign string          // a token that was injected and is none of them; empty: none

	archived bool
	archive  bytes.Buffer
	stored   atomic.Uint64
}

func newTrace(prog *petri.Program) *trace {
	t := &trace{prog: prog, delivery: newDelivery(prog), end: newNetEnd(prog), privacy: newPrivacy(prog)}
	for _, tr := range prog.Transitions() {
		t.opens = append(t.opens, strings.HasPrefix(tr.Name, "turns/") && slices.ContainsFunc(
			[]string{"start_turn", "cut_in_before_reply", "cut_in_for_reply", "barge_in"},
			func(name string) bool { return strings.Contains(tr.Name, name) }))
	}
	return t
}

// Append implements event.Store.
func (t *trace) Append(events []petri.Event) {
	if t.monitor != nil && t.broken == nil {
		var v *monitor.Violation
		if errors.As(t.monitor.Append(events), &v) {
			t.broken = v
		}
	}
	for _, e := range events {
		if t.broken == nil {
			t.note(e)
		}
		t.stored.Store(e.Seq)
	}
}

func (t *trace) note(e petri.Event) {
	t.delivery.note(e)
	t.end.note(e)
	t.privacy.note(e)
	switch {
	case e.Kind == petri.Injected:
		if token := t.prog.Places()[e.Index].SlotName(int(e.Slot)); !t.inputs[token] {
			t.foreign = token
		}
	case e.Kind == petri.Fired && t.opens[e.Index]:
		t.turns = append(t.turns, time.Now())
	}
}

// Stored implements event.Store.
func (t *trace) Stored() uint64 { return t.stored.Load() }

// transitionNames are the names of the transitions, without the part.
func transitionNames(prog *petri.Program) (names []string) {
	for _, t := range prog.Transitions() {
		names = append(names, t.Name[strings.LastIndexByte(t.Name, '/')+1:])
	}
	return names
}

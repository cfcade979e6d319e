package agent

import (
	"fmt"
	"slices"
	"time"

	"github.com/voicegw/voicegw/petri"
)

// worker is one slot of work: a task with a time-out, whose result keeps what the task was asked. The
// slot is free again only when the goroutine of the work has returned, so that a late result is never
// taken for that of another job.
type worker[I, O any] struct {
	name         string
	job          petri.Place[I]
	task         petri.Task[I, O]
	result       petri.Place[*Done[I, O]]
	limit        time.Duration // 0: none; the pattern around the worker has one
	failed, late Code
	discards     []petri.AnyPlace // emptied when the turn is to end, because nobody else does it
}

const idle petri.Place[petri.Unit] = "idle"

func (w worker[I, O]) net() *petri.Net {
	busy := petri.Place[I]("busy")
	t := w.task
	fail := func(f *petri.Firing, in I, code Code, text string) {
		w.result.Put(f, &Done[I, O]{In: in, Fault: &Fault{Code: code, Text: text}})
	}
	deliver := func(f *petri.Firing) {
		in, r := busy.Get(f), t.Done.Get(f)
		if r.Outcome != petri.Succeeded {
			fail(f, in, w.failed, r.Reason)
			return
		}
		w.result.Put(f, &Done[I, O]{In: in, Out: r.Value})
	}
	n := guarded(&petri.Net{
		Name:  w.name,
		Ports: []petri.AnyPlace{w.job, w.result, t.Start, t.InFlight, t.Done},
		Tasks: []petri.AnyTask{t},
		Init:  []petri.Token{idle.Token(petri.Unit{})},
		Caps:  []petri.Cap{{Place: idle, Max: 1}, {Place: busy, Max: 1}},
		Transitions: []petri.Transition{
			{Name: "begin", In: petri.Arcs{w.job, idle}, Out: petri.And(t.Start, t.InFlight, busy)},
			{Name: "deliver", In: petri.Arcs{t.Done, t.InFlight, busy}, Out: petri.And(idle, w.result.KeyBy(w.outcome)),
				Action: deliver},
		},
	})
	if w.limit > 0 {
		n.Transitions = append(n.Transitions, petri.Transition{Name: "time_out", In: petri.Arcs{t.InFlight},
			Read: petri.Arcs{busy}, Inhibit: petri.Arcs{EndInvocation}, When: petri.After(w.limit),
			Out: petri.And(w.result.Is(failedKey)), Action: func(f *petri.Firing) {
				fail(f, busy.Get(f), w.late, fmt.Sprintf("it took longer than %v", w.limit))
			}})
	}
	n.Transitions = append(n.Transitions, petri.Transition{Name: "forget", In: petri.Arcs{t.Done, busy},
		Inhibit: petri.Arcs{t.InFlight}, Out: petri.And(idle)})
	n.Transitions = append(n.Transitions, atEnd(w.discards...)...)
	return n
}

// own returns the worker as one whose work nobody else stops: it discards it when the turn is to end.
func (w worker[I, O]) own() worker[I, O] {
	w.discards = []petri.AnyPlace{w.task.InFlight, w.job}
	return w
}

func (w worker[I, O]) outcome(k *petri.Keys) petri.Key {
	if w.task.Done.Key(k) == petri.Succeeded.Key() {
		return okKey
	}
	return failedKey
}

// refuse fails a job that has waited for patience because every slot holds work that was stopped and
// has not returned.
func (w worker[I, O]) refuse(patience time.Duration, code Code, inFlight petri.Arcs) petri.Transition {
	return petri.Transition{Name: "refuse_" + w.name, In: petri.Arcs{w.job}, Inhibit: inFlight,
		When: petri.After(patience), Out: petri.And(w.result.Is(failedKey)), Action: func(f *petri.Firing) {
			w.result.Put(f, &Done[I, O]{In: w.job.Get(f), Fault: &Fault{Code: code,
				Text: fmt.Sprintf("work that was stopped more than %v ago has not returned yet", patience)}})
		}}
}

// atEnd returns transitions that remove tokens of places of a turn when the turn is to end: of those
// where a token can rest. For the in-flight place of a task, that cancels the work.
func atEnd(places ...petri.AnyPlace) []petri.Transition {
	var list []petri.Transition
	for _, p := range places {
		list = append(list, petri.Transition{Name: "discard_" + p.String(), In: petri.Arcs{p},
			Read: petri.Arcs{EndInvocation}})
	}
	return list
}

// guarded lets EndInvocation inhibit every transition of a subnet that is not for the end itself. Those
// that take results after the end are added behind it.
func guarded(n *petri.Net) *petri.Net {
	for i := range n.Transitions {
		t := &n.Transitions[i]
		if !looksAt(t, EndInvocation) {
			t.Inhibit = append(slices.Clone(t.Inhibit), EndInvocation)
		}
	}
	if !slices.ContainsFunc(n.Ports, func(p petri.AnyPlace) bool { return p == petri.AnyPlace(EndInvocation) }) {
		n.Ports = append(n.Ports, EndInvocation)
	}
	return n
}

func looksAt(t *petri.Transition, p petri.AnyPlace) bool {
	return slices.ContainsFunc(slices.Concat(t.In, t.Read, t.Inhibit), func(a petri.AnyArc) bool {
		return petri.ArcPlace(a).String() == p.String()
	})
}

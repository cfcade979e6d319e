package voicenets

import (
	"fmt"
	"slices"

	"github.com/voicegw/voicegw/petri"
)

// running is the place of a tool that runs in a slot.
func running(s Slot) petri.Place[*ToolRun] {
	return petri.Place[*ToolRun](fmt.Sprintf("running_%d", s))
}

// free is the place of a slot where nothing runs.
func free(s Slot) petri.Place[petri.Unit] { return petri.Place[petri.Unit](fmt.Sprintf("free_%d", s)) }

// current is marked while the caller has begun no turn since the call in a slot
// began.
func current(s Slot) petri.Place[petri.Unit] {
	return petri.Place[petri.Unit](fmt.Sprintf("current_%d", s))
}

// sought holds a cancelled call that is looked for in a slot, the first of which
// looks where cancellations come in.
func sought(s Slot) petri.Place[*ToolCall] {
	if s == 0 {
		return ToolCancelled
	}
	return petri.Place[*ToolCall](fmt.Sprintf("sought_%d", s))
}

// unwanted is marked when the call in a slot is the one that was cancelled.
func unwanted(s Slot) petri.Place[petri.Unit] {
	return petri.Place[petri.Unit](fmt.Sprintf("unwanted_%d", s))
}

// outdate makes the transitions of a subnet that begin a turn of the caller, by
// speech or by text, end what current says of calls.
func outdate(c Config, n *petri.Net) *petri.Net {
	var marks petri.Arcs
	for s := range Slot(c.ToolSlots) {
		marks = append(marks, current(s))
	}
	for i := range n.Transitions {
		if t := &n.Transitions[i]; puts(t, inTurn) || puts(t, TextUp) && puts(t, owing) {
			t.Reset = append(t.Reset, marks...)
		}
	}
	n.Ports = append(n.Ports, places(marks)...)
	return n
}

// puts reports whether a transition produces tokens in a place.
func puts(t *petri.Transition, p petri.AnyPlace) bool {
	return slices.ContainsFunc(t.Out.Arcs(), func(a petri.AnyArc) bool { return petri.ArcPlace(a).String() == p.String() })
}

// runningSlots are the running places of a session.
func runningSlots(c Config) petri.Arcs {
	var list petri.Arcs
	for s := range Slot(c.ToolSlots) {
		list = append(list, running(s))
	}
	return list
}

// toolsNet runs the calls of the model, ToolSlots at a time. Each ends in
// exactly one way: with a reply to the model (the result, that it took too
// long, that there are too many), cancelled by the model, or with its
// connection. A barge-in does not stop a call; its result is handed over as one
// that must not be spoken. A slot is free again only when its function has
// returned, so that no late result can be taken for another's. A cancellation
// names its call, which may have ended: every slot compares it with its own.
func toolsNet(c Config) *petri.Net {
	const filled petri.Place[petri.Unit] = "filled"
	var allFree, allRunning petri.Arcs
	n := &petri.Net{
		Name: "tools",
		Ports: append([]petri.AnyPlace{ToolCalled, ToolDone, ToolCancelled, StartTool, StopTool, ToolReply, online, promptDue,
			replying, held, speaking}, places(runningSlots(c))...),
		Env: []petri.Env{{Place: ToolCalled}, {Place: ToolDone}, {Place: ToolCancelled}},
		Out: []petri.Output{{Place: StartTool}, {Place: StopTool}, {Place: ToolReply}},
	}
	for s := range Slot(c.ToolSlots) {
		n.Transitions = append(n.Transitions, slotTransitions(s, c, allFree)...)
		n.Init = append(n.Init, free(s).Token(petri.Unit{}))
		n.Ports = append(n.Ports, current(s))
		n.Caps = append(n.Caps, caps(1, free(s), running(s), draining(s), current(s), unwanted(s))...)
		if s > 0 {
			n.Caps = append(n.Caps, caps(1, sought(s))...)
		}
		allFree, allRunning = append(allFree, free(s)), append(allRunning, running(s))
		if c.Prompts.Has(Filler) {
			n.Transitions = append(n.Transitions, petri.Transition{Name: fmt.Sprintf("fill_time_%d", s),
				Read: petri.Arcs{running(s)}, Inhibit: petri.Arcs{filled, replying, held, speaking, promptDue},
				When: petri.After(c.FillerAfter), Out: petri.And(filled, promptDue.Is(Filler))})
		}
	}
	n.Transitions = append(n.Transitions, petri.Transition{Name: "refuse_call", In: petri.Arcs{ToolCalled},
		Inhibit: allFree,
		Out:     petri.And(ToolReply.Is(Slot(0))), Action: func(f *petri.Firing) {
			ToolReply.Put(f, &ToolEnd{Call: ToolCalled.Get(f), How: TooMany})
		}})
	if c.Prompts.Has(Filler) {
		n.Caps = append(n.Caps, caps(1, filled)...)
		n.Transitions = append(n.Transitions,
			petri.Transition{Name: "empty_time", In: petri.Arcs{filled}, Inhibit: allRunning})
	}
	if c.ToolSlots < SlotsMax {
		var others []petri.HasKey
		for s := Slot(c.ToolSlots); s < SlotsMax; s++ {
			others = append(others, s)
		}
		n.Transitions = append(n.Transitions,
			petri.Transition{Name: "ignore_unknown_result", In: petri.Arcs{ToolDone.Is(others...)}})
	}
	return below(n, toolsLayer)
}

// draining is the place of a slot whose function has not returned although
// nobody waits for it any more.
func draining(s Slot) petri.Place[*ToolRun] {
	return petri.Place[*ToolRun](fmt.Sprintf("draining_%d", s))
}

// slotTransitions are the life of one slot. Those before it are taken first.
func slotTransitions(s Slot, c Config, before petri.Arcs) []petri.Transition {
	named := func(format string, t petri.Transition) petri.Transition {
		t.Name = fmt.Sprintf(format+"_%d", s)
		return t
	}
	reply := func(how ToolHow) func(*petri.Firing) {
		return func(f *petri.Firing) {
			end := &ToolEnd{Slot: s, Call: running(s).Get(f).Call, How: how}
			if how == Answered || how == AnsweredLate {
				end.Payload = ToolDone.Get(f).Payload
			}
			ToolReply.Put(f, end)
		}
	}
	stop := func(t petri.Transition) petri.Transition {
		t.In, t.Reset = append(t.In, running(s)), append(t.Reset, current(s))
		t.Out = petri.And(append(t.Out.Arcs(), StopTool.Passing(running(s)), draining(s).Passing(running(s)))...)
		more := t.Action
		t.Action = func(f *petri.Firing) {
			if more != nil {
				more(f)
			}
			run := running(s).Get(f)
			StopTool.Put(f, run)
			draining(s).Put(f, run)
		}
		return t
	}
	return append(cancels(s, c, stop),
		named("start_call", petri.Transition{In: petri.Arcs{ToolCalled, free(s)}, Inhibit: before,
			Reset: petri.Arcs{current(s)}, Out: petri.And(running(s), current(s), StartTool),
			Action: func(f *petri.Firing) {
				run := &ToolRun{Slot: s, Call: ToolCalled.Get(f)}
				running(s).Put(f, run)
				StartTool.Put(f, run)
			}}),
		named("answer_call", petri.Transition{In: petri.Arcs{ToolDone.Is(s), running(s), current(s)},
			Out: petri.And(ToolReply.Is(s), free(s)), Action: reply(Answered)}),
		named("answer_call_late", petri.Transition{In: petri.Arcs{ToolDone.Is(s), running(s)},
			Inhibit: petri.Arcs{current(s)}, Out: petri.And(ToolReply.Is(s), free(s)), Action: reply(AnsweredLate)}),
		named("time_out_call", stop(petri.Transition{When: petri.After(c.ToolTimeout), Out: petri.And(ToolReply.Is(s)),
			Action: reply(TimedOut)})),
		named("lose_call", stop(petri.Transition{Inhibit: petri.Arcs{online}, Priority: -1})),
		named("end_drain", petri.Transition{In: petri.Arcs{ToolDone.Is(s), draining(s)}, Out: petri.And(free(s))}),
		named("ignore_result", petri.Transition{In: petri.Arcs{ToolDone.Is(s)}, Read: petri.Arcs{free(s)}}))
}

// cancels stop the call of a slot if it is the one that was cancelled, and have
// the next slot look otherwise.
func cancels(s Slot, c Config, stop func(petri.Transition) petri.Transition) []petri.Transition {
	const is, isAnother = 0, 1
	var onward petri.Arcs
	next := sought(s + 1)
	if int(s)+1 < c.ToolSlots {
		onward = petri.Arcs{next}
	}
	pass := func(f *petri.Firing) {
		if onward != nil {
			next.Put(f, sought(s).Get(f))
		}
	}
	list := []petri.Transition{
		{Name: "compare_call", In: petri.Arcs{sought(s)}, Read: petri.Arcs{running(s)},
			Out: petri.Free(petri.Arcs{unwanted(s)}, onward), Action: func(f *petri.Firing) {
				if sought(s).Get(f).Payload == running(s).Get(f).Call.Payload {
					f.Choose(is)
					return
				}
				f.Choose(isAnother)
				pass(f)
			}},
		{Name: "look_elsewhere", In: petri.Arcs{sought(s)}, Inhibit: petri.Arcs{running(s)}, Out: petri.And(onward...),
			Action: pass},
		stop(petri.Transition{Name: "cancel_call", In: petri.Arcs{unwanted(s)}}),
	}
	for i := range list {
		list[i].Name = fmt.Sprintf("%s_%d", list[i].Name, s)
	}
	return list
}

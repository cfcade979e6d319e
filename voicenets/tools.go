package voicenets

import (
	"fmt"
	"slices"

	"github.com/voicegw/voicegw/petri"
)

// ToolRunning returns the place of the tool call that runs in a slot.
func ToolRunning(s Slot) petri.Place[*ToolRun] {
	return petri.Place[*ToolRun](fmt.Sprintf("tool_running_%d", s))
}

// SlotFree returns the place that is marked while nothing runs in a slot.
func SlotFree(s Slot) petri.Place[petri.Unit] {
	return petri.Place[petri.Unit](fmt.Sprintf("slot_free_%d", s))
}

// ToolCurrent returns the place that is marked while the caller has begun no turn since the tool
// call in a slot began.
func ToolCurrent(s Slot) petri.Place[petri.Unit] {
	return petri.Place[petri.Unit](fmt.Sprintf("tool_current_%d", s))
}

// cancelSearch returns the place of a cancellation that is to be compared with the call in a slot.
// That of the first slot is ToolCancelled, where cancellations come in.
func cancelSearch(s Slot) petri.Place[*ToolCall] {
	if s == 0 {
		return ToolCancelled
	}
	return petri.Place[*ToolCall](fmt.Sprintf("cancel_search_%d", s))
}

// CancelFound returns the place that is marked when the call in a slot is the cancelled one.
func CancelFound(s Slot) petri.Place[petri.Unit] {
	return petri.Place[petri.Unit](fmt.Sprintf("cancel_found_%d", s))
}

// outdate lets the transitions of a subnet that begin a turn of the caller, by speech or by text,
// reset ToolCurrent of every slot. It returns the subnet.
func outdate(c Config, n *petri.Net) *petri.Net {
	var marks petri.Arcs
	for s := range Slot(c.ToolSlots) {
		marks = append(marks, ToolCurrent(s))
	}
	for i := range n.Transitions {
		if t := &n.Transitions[i]; puts(t, InTurn) || puts(t, TextUp) && puts(t, ReplyPending) {
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

// runningSlots returns the ToolRunning places of a session.
func runningSlots(c Config) petri.Arcs {
	var list petri.Arcs
	for s := range Slot(c.ToolSlots) {
		list = append(list, ToolRunning(s))
	}
	return list
}

// toolsNet runs the tool calls of the model, at most ToolSlots at one time. Each call ends in
// exactly one way: with a reply to the model (the result, a time-out, or too many calls), with a
// cancellation by the model, or with its connection. A barge-in does not stop a call; the model
// gets its result as one that must not be spoken. A slot is free again only when its function has
// returned, so that a late result is never taken for that of another call. A cancellation names its
// call, which may have ended: every slot compares it with its own.
func toolsNet(c Config) *petri.Net {
	const fillerPlayed petri.Place[petri.Unit] = "filler_played"
	var allFree, allRunning petri.Arcs
	n := &petri.Net{
		Name: "tools",
		Ports: append([]petri.AnyPlace{ToolCalled, ToolDone, ToolCancelled, StartTool, StopTool, ToolReply, Online, PromptDue,
			Replying, Held, Speaking}, places(runningSlots(c))...),
		Env: []petri.Env{{Place: ToolCalled}, {Place: ToolDone}, {Place: ToolCancelled}},
		Out: []petri.Output{{Place: StartTool}, {Place: StopTool}, {Place: ToolReply}},
	}
	for s := range Slot(c.ToolSlots) {
		n.Transitions = append(n.Transitions, slotTransitions(s, c, allFree)...)
		n.Init = append(n.Init, SlotFree(s).Token(petri.Unit{}))
		n.Ports = append(n.Ports, ToolCurrent(s))
		n.Caps = append(n.Caps, caps(1, SlotFree(s), ToolRunning(s), ToolDraining(s), ToolCurrent(s), CancelFound(s))...)
		if s > 0 {
			n.Caps = append(n.Caps, caps(1, cancelSearch(s))...)
		}
		allFree, allRunning = append(allFree, SlotFree(s)), append(allRunning, ToolRunning(s))
		if c.Prompts.Has(Filler) {
			n.Transitions = append(n.Transitions, petri.Transition{Name: fmt.Sprintf("play_filler_%d", s),
				Read: petri.Arcs{ToolRunning(s)}, Inhibit: petri.Arcs{fillerPlayed, Replying, Held, Speaking, PromptDue},
				When: petri.After(c.FillerAfter), Out: petri.And(fillerPlayed, PromptDue.Is(Filler))})
		}
	}
	n.Transitions = append(n.Transitions, petri.Transition{Name: "refuse_call", In: petri.Arcs{ToolCalled},
		Inhibit: allFree,
		Out:     petri.And(ToolReply.Is(Slot(0))), Action: func(f *petri.Firing) {
			ToolReply.Put(f, &ToolEnd{Call: ToolCalled.Get(f), How: TooMany})
		}})
	if c.Prompts.Has(Filler) {
		n.Caps = append(n.Caps, caps(1, fillerPlayed)...)
		n.Transitions = append(n.Transitions,
			petri.Transition{Name: "end_filler", In: petri.Arcs{fillerPlayed}, Inhibit: allRunning})
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

// ToolDraining returns the place of a slot whose call has ended but whose function has not
// returned.
func ToolDraining(s Slot) petri.Place[*ToolRun] {
	return petri.Place[*ToolRun](fmt.Sprintf("tool_draining_%d", s))
}

// slotTransitions returns the transitions of one slot. A call takes the slot only when none of the
// slots before it is free.
func slotTransitions(s Slot, c Config, before petri.Arcs) []petri.Transition {
	named := func(format string, t petri.Transition) petri.Transition {
		t.Name = fmt.Sprintf(format+"_%d", s)
		return t
	}
	reply := func(how ToolHow) func(*petri.Firing) {
		return func(f *petri.Firing) {
			end := &ToolEnd{Slot: s, Call: ToolRunning(s).Get(f).Call, How: how}
			if how == Answered || how == AnsweredLate {
				end.Payload = ToolDone.Get(f).Payload
			}
			ToolReply.Put(f, end)
		}
	}
	stop := func(t petri.Transition) petri.Transition {
		t.In, t.Reset = append(t.In, ToolRunning(s)), append(t.Reset, ToolCurrent(s))
		t.Out = petri.And(append(t.Out.Arcs(), StopTool.Passing(ToolRunning(s)), ToolDraining(s).Passing(ToolRunning(s)))...)
		more := t.Action
		t.Action = func(f *petri.Firing) {
			if more != nil {
				more(f)
			}
			run := ToolRunning(s).Get(f)
			StopTool.Put(f, run)
			ToolDraining(s).Put(f, run)
		}
		return t
	}
	return append(cancels(s, c, stop),
		named("start_call", petri.Transition{In: petri.Arcs{ToolCalled, SlotFree(s)}, Inhibit: before,
			Reset: petri.Arcs{ToolCurrent(s)}, Out: petri.And(ToolRunning(s), ToolCurrent(s), StartTool),
			Action: func(f *petri.Firing) {
				run := &ToolRun{Slot: s, Call: ToolCalled.Get(f)}
				ToolRunning(s).Put(f, run)
				StartTool.Put(f, run)
			}}),
		named("answer_call", petri.Transition{In: petri.Arcs{ToolDone.Is(s), ToolRunning(s), ToolCurrent(s)},
			Out: petri.And(ToolReply.Is(s), SlotFree(s)), Action: reply(Answered)}),
		named("answer_call_late", petri.Transition{In: petri.Arcs{ToolDone.Is(s), ToolRunning(s)},
			Inhibit: petri.Arcs{ToolCurrent(s)}, Out: petri.And(ToolReply.Is(s), SlotFree(s)), Action: reply(AnsweredLate)}),
		named("time_out_call", stop(petri.Transition{When: petri.After(c.ToolTimeout), Out: petri.And(ToolReply.Is(s)),
			Action: reply(TimedOut)})),
		named("lose_call", stop(petri.Transition{Inhibit: petri.Arcs{Online}, Priority: -1})),
		named("end_drain", petri.Transition{In: petri.Arcs{ToolDone.Is(s), ToolDraining(s)}, Out: petri.And(SlotFree(s))}),
		named("ignore_result", petri.Transition{In: petri.Arcs{ToolDone.Is(s)}, Read: petri.Arcs{SlotFree(s)}}))
}

// cancels returns the transitions that stop the call of a slot if it is the cancelled one, and
// otherwise pass the cancellation to the next slot.
func cancels(s Slot, c Config, stop func(petri.Transition) petri.Transition) []petri.Transition {
	const is, isAnother = 0, 1
	var onward petri.Arcs
	next := cancelSearch(s + 1)
	if int(s)+1 < c.ToolSlots {
		onward = petri.Arcs{next}
	}
	pass := func(f *petri.Firing) {
		if onward != nil {
			next.Put(f, cancelSearch(s).Get(f))
		}
	}
	list := []petri.Transition{
		{Name: "compare_call", In: petri.Arcs{cancelSearch(s)}, Read: petri.Arcs{ToolRunning(s)},
			Out: petri.Free(petri.Arcs{CancelFound(s)}, onward), Action: func(f *petri.Firing) {
				if cancelSearch(s).Get(f).Payload == ToolRunning(s).Get(f).Call.Payload {
					f.Choose(is)
					return
				}
				f.Choose(isAnother)
				pass(f)
			}},
		{Name: "search_next_slot", In: petri.Arcs{cancelSearch(s)}, Inhibit: petri.Arcs{ToolRunning(s)},
			Out:    petri.And(onward...),
			Action: pass},
		stop(petri.Transition{Name: "cancel_call", In: petri.Arcs{CancelFound(s)}}),
	}
	for i := range list {
		list[i].Name = fmt.Sprintf("%s_%d", list[i].Name, s)
	}
	return list
}

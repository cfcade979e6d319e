package voicenets

import (
	"fmt"

	"github.com/voicegw/voicegw/petri"
)

// running is the place of a tool that runs in a slot.
func running(s Slot) petri.Place[*ToolRun] {
	return petri.Place[*ToolRun](fmt.Sprintf("running_%d", s))
}

// free is the place of a slot where nothing runs.
func free(s Slot) petri.Place[petri.Unit] { return petri.Place[petri.Unit](fmt.Sprintf("free_%d", s)) }

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
// returned, so that no late result can be taken for another's.
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
		n.Caps = append(n.Caps, caps(1, free(s), running(s), draining(s))...)
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
			petri.Transition{Name: "ignore_unknown_result", In: petri.Arcs{ToolDone.Is(others...)}},
			petri.Transition{Name: "ignore_unknown_cancel", In: petri.Arcs{ToolCancelled.Is(others...)}})
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
		t.In = append(t.In, running(s))
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
	return []petri.Transition{
		named("start_call", petri.Transition{In: petri.Arcs{ToolCalled, free(s)}, Inhibit: before,
			Out: petri.And(running(s).Fresh(), StartTool.Fresh()), Action: func(f *petri.Firing) {
				run := &ToolRun{Slot: s, Call: ToolCalled.Get(f), Gen: f.Gen()}
				running(s).Put(f, run)
				StartTool.Put(f, run)
			}}),
		named("answer_call", petri.Transition{In: petri.Arcs{ToolDone.Is(s), running(s).Fresh()},
			Out: petri.And(ToolReply.Is(s), free(s)), Action: reply(Answered)}),
		named("answer_call_late", petri.Transition{In: petri.Arcs{ToolDone.Is(s), running(s).Stale()},
			Out: petri.And(ToolReply.Is(s), free(s)), Action: reply(AnsweredLate)}),
		named("time_out_call", stop(petri.Transition{When: petri.After(c.ToolTimeout), Out: petri.And(ToolReply.Is(s)),
			Action: reply(TimedOut)})),
		named("cancel_call", stop(petri.Transition{In: petri.Arcs{ToolCancelled.Is(s)}})),
		named("lose_call", stop(petri.Transition{Inhibit: petri.Arcs{online}, Priority: -1})),
		named("end_drain", petri.Transition{In: petri.Arcs{ToolDone.Is(s), draining(s)}, Out: petri.And(free(s))}),
		named("ignore_result", petri.Transition{In: petri.Arcs{ToolDone.Is(s)}, Read: petri.Arcs{free(s)}}),
		named("ignore_cancel", petri.Transition{In: petri.Arcs{ToolCancelled.Is(s)}, Inhibit: petri.Arcs{running(s)}}),
	}
}

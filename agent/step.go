package agent

import (
	"maps"

	"google.golang.org/adk/v2/session"
	"google.golang.org/genai"

	"github.com/voicegw/voicegw/petri"
)

// StepLoop closes the loop of an agent. Each request takes one token of Budget. Without one, the turn
// ends with a graceful answer instead. Results of tools are stored, and make the model due again.
func StepLoop(p Ports, l Limits) *petri.Net {
	const (
		givingUp         petri.Place[petri.Unit] = "giving_up"
		returningResults petri.Place[petri.Unit] = "returning_results"
		leavingResults   petri.Place[petri.Unit] = "leaving_results"
	)
	step, answer := SessionWrite.Is(Step).Fresh(), SessionWrite.Is(Answer).Fresh()
	write := func(f *petri.Firing, t *Turn, kind EventKind, ev *session.Event) {
		SessionWrite.Put(f, &Write{Turn: t, Kind: kind, Event: ev, gen: f.Gen()})
	}
	return guarded(&petri.Net{
		Name: string(PartStep),
		Ports: []petri.AnyPlace{p.Due, p.Prompt, p.ToolResults, p.Failure, Budget, SessionWrite, Stored, TurnOver, turn,
			EndInvocation},
		Transitions: append([]petri.Transition{
			{Name: "ask_model", In: petri.Arcs{p.Due, Budget}, Out: petri.And(p.Prompt), Priority: 1},
			{Name: "answer_gracefully", In: petri.Arcs{p.Due}, Inhibit: petri.Arcs{Budget}, Out: petri.And(answer, givingUp),
				Action: func(f *petri.Firing) {
					t := p.Due.Get(f)
					ev := t.event(p.Agent, nil)
					ev.Content = genai.NewContentFromText(l.GaveUpText, genai.RoleModel)
					AddFaults(ev, &Fault{Code: BudgetSpent, Agent: p.Agent, Text: "the turn needed more requests than it may make"})
					write(f, t, Answer, ev)
				}},
			{Name: "give_up", In: petri.Arcs{Stored, givingUp}, Out: petri.And(TurnOver.Is(GaveUp)), Action: over(GaveUp)},
			{Name: "store_results", In: petri.Arcs{p.ToolResults.Is(askAgain)}, Out: petri.And(step, returningResults),
				Action: func(f *petri.Firing) {
					r := p.ToolResults.Get(f)
					write(f, r.Calls.Turn, Step, r.event(p.Agent))
				}},
			{Name: "ask_with_results", In: petri.Arcs{Stored, returningResults}, Read: petri.Arcs{turn},
				Out: petri.And(p.Due.Passing(turn))},
			{Name: "store_last_results", In: petri.Arcs{p.ToolResults.Is(lastWord)}, Out: petri.And(answer, leavingResults),
				Action: func(f *petri.Firing) {
					r := p.ToolResults.Get(f)
					write(f, r.Calls.Turn, Answer, r.event(p.Agent))
				}},
			{Name: "end_with_results", In: petri.Arcs{Stored, leavingResults}, Out: petri.And(TurnOver.Is(Answered)),
				Action: over(Answered)},
			{Name: "end_without_results", In: petri.Arcs{p.ToolResults.Is(noResults)}, Out: petri.And(TurnOver.Is(Answered)),
				Action: over(Answered)},
		}, append(failures(p), atEnd(givingUp, returningResults, leavingResults)...)...),
	})
}

// failures end the turn of an agent that cannot go on, with an event that says why.
func failures(p Ports) []petri.Transition {
	const reporting petri.Place[petri.Unit] = "reporting"
	return append([]petri.Transition{
		{Name: "report_failure", In: petri.Arcs{p.Failure}, Read: petri.Arcs{turn},
			Out: petri.And(SessionWrite.Is(Answer).Fresh(), reporting), Action: func(f *petri.Firing) {
				t, fault := turn.Get(f), p.Failure.Get(f)
				ev := t.event(p.Agent, nil)
				ev.ErrorCode, ev.ErrorMessage = string(fault.Code), fault.Error()
				AddFaults(ev, fault)
				SessionWrite.Put(f, &Write{Turn: t, Kind: Answer, Event: ev, gen: f.Gen()})
			}},
		{Name: "fail_turn", In: petri.Arcs{Stored, reporting}, Out: petri.And(TurnOver.Is(Failed)), Action: over(Failed)},
	}, atEnd(reporting)...)
}

// event is the event of the results, in the order of the calls.
func (r *Results) event(agent string) *session.Event {
	ev := r.Calls.Turn.event(agent, nil)
	list := make([]*genai.FunctionResponse, 0, len(r.Replies)+len(r.Calls.note))
	for i, reply := range r.Replies {
		if reply.Deferred {
			continue
		}
		c := r.Calls.Calls[i].Call
		list = append(list, &genai.FunctionResponse{ID: c.ID, Name: c.Name, Response: reply.Response})
		MergeActions(&ev.Actions, reply.Actions)
	}
	ev.Content = resultsContent(append(list, r.Calls.note...))
	AddFaults(ev, r.faults...)
	return ev
}

// MergeActions adds the actions of a tool or a hook to those of an event. The maps of to must not be nil.
func MergeActions(to *session.EventActions, from *session.EventActions) {
	if from == nil {
		return
	}
	maps.Copy(to.StateDelta, from.StateDelta)
	maps.Copy(to.ArtifactDelta, from.ArtifactDelta)
	if len(from.RequestedToolConfirmations) > 0 && to.RequestedToolConfirmations == nil {
		to.RequestedToolConfirmations = maps.Clone(from.RequestedToolConfirmations)
	} else {
		maps.Copy(to.RequestedToolConfirmations, from.RequestedToolConfirmations)
	}
	to.SkipSummarization = to.SkipSummarization || from.SkipSummarization
	to.Escalate = to.Escalate || from.Escalate
	if from.TransferToAgent != "" {
		to.TransferToAgent = from.TransferToAgent
	}
}

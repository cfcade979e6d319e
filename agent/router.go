package agent

import (
	"github.com/voicegw/voicegw/petri"
)

// Router takes a response apart: text ends the turn, calls go to ToolCalls, a call of
// transfer_to_agent goes to Transfer, and a response with neither goes to Failure. A transfer takes
// precedence over other calls. What follows waits until the event of the response is stored.
func Router(p Ports, l Limits) *petri.Net {
	const (
		finishing   petri.Place[petri.Unit] = "finishing"
		calling     petri.Place[*Calls]     = "calling"
		handingOver petri.Place[*Handover]  = "handing_over"
	)
	step, answer := SessionWrite.Is(Step).Fresh(), SessionWrite.Is(Answer).Fresh()
	put := func(f *petri.Firing, r *sorted, kind EventKind) {
		SessionWrite.Put(f, &Write{Turn: r.turn, Kind: kind, Event: r.event(p.Agent), gen: f.Gen()})
	}
	return guarded(&petri.Net{
		Name: string(PartRouter),
		Ports: []petri.AnyPlace{p.ModelResponse, p.ToolCalls, p.Transfer, p.Failure, SessionWrite, Stored, TurnOver,
			EndInvocation},
		Transitions: append([]petri.Transition{
			{Name: "route", In: petri.Arcs{p.ModelResponse},
				Out: petri.Free(petri.Arcs{answer, finishing}, petri.Arcs{step, calling}, petri.Arcs{step, handingOver},
					petri.Arcs{p.Failure}),
				Action: func(f *petri.Firing) {
					r := sortResponse(p.ModelResponse.Get(f), p.Agent, l, f.Seq())
					f.Choose(int(r.shape))
					switch r.shape {
					case textShape:
						put(f, r, Answer)
					case callShape:
						put(f, r, Step)
						calling.Put(f, &Calls{Turn: r.turn, Calls: r.calls, faults: r.faults, note: r.note})
					case transferShape:
						put(f, r, Step)
						handingOver.Put(f, &Handover{Turn: r.turn, Call: r.transfer, To: targetOf(r.transfer),
							faults: r.faults, note: r.note})
					case noShape:
						p.Failure.Put(f, r.fault)
					}
				}},
			{Name: "finish", In: petri.Arcs{Stored, finishing}, Out: petri.And(TurnOver.Is(Answered)), Action: over(Answered)},
			{Name: "dispatch", In: petri.Arcs{Stored, calling}, Out: petri.And(p.ToolCalls)},
			{Name: "hand_over", In: petri.Arcs{Stored, handingOver}, Out: petri.And(p.Transfer)},
		}, atEnd(finishing, calling, handingOver)...),
	})
}

// over returns an action that ends the turn.
func over(how How) func(*petri.Firing) {
	return func(f *petri.Firing) { TurnOver.Put(f, &End{How: how}) }
}

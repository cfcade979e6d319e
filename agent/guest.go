package agent

import (
	"google.golang.org/adk/v2/session"

	"github.com/voicegw/voicegw/petri"
)

// GuestStep runs a guest: an agent that works by itself, such as one of another framework. The net asks
// it for one event after another, each a task, and stores each before it asks for the next. The turn ends
// after its last event. A guest gets the turn in which another agent hands over to it, and no more: the
// next turn begins with that other agent.
func GuestStep(p Ports, l Limits) *petri.Net {
	const (
		pulled petri.Place[*Done[*Turn, *session.Event]] = "pulled"
		noting petri.Place[petri.Unit]                   = "noting"
	)
	const stored, partial, done = 0, 1, 2
	w := worker[*Turn, *session.Event]{name: "guest", job: p.Due, task: p.Next, result: pulled, limit: l.GuestTimeout,
		failed: GuestFailed, late: GuestTimedOut}
	return guarded(&petri.Net{
		Name: string(PartGuest),
		Ports: []petri.AnyPlace{p.Due, p.Failure, p.Next.Start, p.Next.InFlight, p.Next.Done, SessionWrite, EventOut, Stored,
			TurnOver, turn, EndInvocation},
		Transitions: append([]petri.Transition{
			{Name: "take_event", In: petri.Arcs{pulled.Is(okKey)},
				Out: petri.Free(petri.Arcs{SessionWrite.Is(Step).Fresh(), noting}, petri.Arcs{EventOut.Is(Partial), p.Due},
					petri.Arcs{TurnOver.Is(Answered)}),
				Action: func(f *petri.Firing) {
					d := pulled.Get(f)
					switch {
					case d.Out == nil:
						f.Choose(done)
						TurnOver.Put(f, &End{How: Answered})
					case d.Out.Partial:
						f.Choose(partial)
						EventOut.Put(f, &Event{Turn: d.In, Kind: Partial, Event: d.Out})
						p.Due.Put(f, d.In)
					default:
						f.Choose(stored)
						SessionWrite.Put(f, &Write{Turn: d.In, Kind: Step, Event: d.Out, gen: f.Gen()})
					}
				}},
			{Name: "go_on", In: petri.Arcs{Stored, noting}, Read: petri.Arcs{turn}, Out: petri.And(p.Due.Passing(turn))},
			failing(pulled, p),
			w.refuse(l.Patience, GuestFailed, petri.Arcs{p.Next.InFlight}),
		}, append(failures(p), atEnd(noting)...)...),
		Nets: []*petri.Net{w.own().net()},
	})
}

package agent

import (
	"google.golang.org/adk/v2/session"

	"github.com/voicegw/voicegw/petri"
)

// SessionWriter stores the events of a net, one at a time and in order. It is the only writer of the
// session. It takes events of the current turn alone, fills Stored or Lost for each, and passes what is
// stored on to EventOut.
func SessionWriter(Limits) *petri.Net {
	t := storing()
	done := func(f *petri.Firing, kind EventKind) {
		w := Writing.Get(f)
		EventOut.Put(f, &Event{Turn: w.Turn, Kind: kind, Event: w.Event})
	}
	n := guarded(&petri.Net{
		Name: string(PartSession),
		Ports: []petri.AnyPlace{SessionWrite, EventOut, Stored, Lost, Writing, WriterIdle, t.Start, t.InFlight, t.Done,
			EndInvocation},
		Tasks: []petri.AnyTask{t},
		Init:  []petri.Token{WriterIdle.Token(petri.Unit{})},
		Caps:  []petri.Cap{{Place: Writing, Max: 1}, {Place: WriterIdle, Max: 1}, {Place: SessionWrite, Max: 1}},
		Transitions: []petri.Transition{
			{Name: "begin_store", In: petri.Arcs{SessionWrite.Fresh(), WriterIdle},
				Out: petri.And(t.Start.Passing(SessionWrite), t.InFlight, Writing.Passing(SessionWrite))},
		},
	})
	n.Transitions = append(n.Transitions,
		petri.Transition{Name: "store", In: petri.Arcs{t.Done.Is(petri.Succeeded), t.InFlight, Writing},
			Out:    petri.And(Stored, WriterIdle, EventOut.KeyBy(Writing.Key)),
			Action: func(f *petri.Firing) { done(f, Writing.Get(f).Kind) }},
		petri.Transition{Name: "lose", In: petri.Arcs{t.Done.Is(petri.Failed, petri.Cancelled), t.InFlight, Writing},
			Out: petri.And(Lost, WriterIdle), Action: func(f *petri.Firing) {
				Lost.Put(f, &Fault{Code: NotStored, Text: t.Done.Get(f).Reason})
			}})
	return n
}

// NewWrite makes the token of SessionWrite for an event of a turn, in a firing of a net of one's own.
// The event then belongs to the current turn.
func NewWrite(f *petri.Firing, t *Turn, kind EventKind, ev *session.Event) *Write {
	return &Write{Turn: t, Kind: kind, Event: ev, gen: f.Gen()}
}

// Guarded lets EndInvocation inhibit every transition of a subnet that does not look at it, and makes it
// a port of the subnet. Programs need it for "end inhibits all". A transition that takes the result of a
// task that was cancelled must fire after the end, too: add it behind, or give EndInvocation to
// patterns.Worker.
func Guarded(n *petri.Net) *petri.Net { return guarded(n) }

package petritest

import (
	"testing"

	"github.com/voicegw/voicegw/petri"
)

// gate opens with a ticket while the way is free, and counts the tickets of the day.
func gate() *petri.Net {
	const (
		ticket petri.Place[stamp]      = "ticket"
		free   petri.Place[petri.Unit] = "free"
		open   petri.Place[petri.Unit] = "open"
	)
	return &petri.Net{Name: "gate", Ports: []petri.AnyPlace{ticket, free, open}, Transitions: []petri.Transition{
		{Name: "let_in", In: petri.Arcs{ticket.Fresh()}, Read: petri.Arcs{free}, Out: petri.And(open)},
		{Name: "turn_away", In: petri.Arcs{ticket.Stale()}},
	}}
}

type stamp struct{ Gen petri.Gen }

func (s stamp) Generation() petri.Gen { return s.Gen }

// TestRunPart plays a part whose ports a script fills and empties.
func TestRunPart(t *testing.T) { RunPart(t, "testdata/gate", gate()) }

// TestPartUnchanged checks that Surrounded does not change its argument.
func TestPartUnchanged(t *testing.T) {
	part := gate()
	if n := Surrounded(part); len(n.Transitions) != 5 || len(part.Transitions) != 2 || part.Env != nil {
		t.Errorf("%d transitions, and %d of the part", len(n.Transitions), len(part.Transitions))
	}
}

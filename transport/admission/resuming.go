package admission

import (
	"context"

	"github.com/voicegw/voicegw/transport"
)

// Resuming are lines for handshakes that go on with a call: the call has its line already, and only
// the number of handshakes is bounded.
type Resuming struct {
	Backlog *Backlog
	Refused error // why a handshake gets no line that begins a call after all; nil: it must not ask
}

// Take takes a place for the handshake.
func (l Resuming) Take(h transport.Handshake) (transport.Line, error) {
	giveUp := func() { h.GiveUp(&transport.Refused{Reason: transport.ReasonBusy}) }
	return resumingLine{place: l.Backlog.Enter(transport.Network(h.Remote), giveUp), refused: l.Refused}, nil
}

// resumingLine is the place of a handshake that goes on with a call.
type resumingLine struct {
	transport.Line // nil: it begins no call
	place          *Place
	refused        error
}

// Check refuses a call that begins.
func (l resumingLine) Check(context.Context, *transport.Hello) error { return l.refused }

// Release gives back the place.
func (l resumingLine) Release() { l.place.Leave() }

// Yield gives back what the line of a visit holds, and keeps the visit: the far end goes on with a
// call that has a line of its own. Release must follow all the same.
func Yield(line transport.Line) {
	if v, ok := line.(*visit); ok {
		v.Line.Release()
	}
}

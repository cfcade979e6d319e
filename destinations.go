package voicegw

import (
	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/voicenets"
)

// modelSide is the destination of all outputs to the model, in the order of the net. All others
// share the peer's destination. An output that waits to be stored delays only its own destination.
// voicenets.ReleaseUplink is durable and belongs to this one, so the end of a hold is stored before
// the next frame goes up.
const modelSide = "model"

// gateSide is the destination of outputs that close the input gate. They wait for nothing, not even
// for the end of an earlier hold: their event numbers give the order.
const gateSide = "input gate"

// destinations maps the output places of a net to their destinations.
func destinations(prog *petri.Program) map[string]string {
	places := map[string]string{}
	for _, p := range []petri.AnyPlace{voicenets.AudioUp, voicenets.ToModel, voicenets.TextUp, voicenets.NoteUp,
		voicenets.GiveNotes, voicenets.TurnAgain, voicenets.ToolReply, voicenets.UseLink, voicenets.Dial,
		voicenets.CloseLink, voicenets.StartTool, voicenets.StopTool, voicenets.ReleaseUplink} {
		if prog.Place(p.String()) >= 0 { // a session without tools has no places for them
			places[p.String()] = modelSide
		}
	}
	for _, p := range []petri.AnyPlace{voicenets.HoldUplink, voicenets.DropUplink} {
		if prog.Place(p.String()) >= 0 {
			places[p.String()] = gateSide
		}
	}
	return places
}

// toModelQueue reports whether an output goes to the queue to the model, where the withdrawal of
// consent drops it.
func toModelQueue(t petri.Token) bool {
	switch t.Place() {
	case string(voicenets.AudioUp), string(voicenets.ToModel), string(voicenets.TextUp), string(voicenets.NoteUp),
		string(voicenets.GiveNotes), string(voicenets.TurnAgain):
		return true
	}
	return false
}

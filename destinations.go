package voicegw

import (
	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/voicenets"
)

// modelSide is the destination of all that concerns the model, in the order of
// the net. Everything else is one destination too, the peer's. What waits on one
// side to be recorded does not hold up the other; voicenets.ReleaseUplink is
// durable on this side, so that the end of a hold is on record before the next
// frame goes up.
const modelSide = "model"

// earSide is the destination of what closes the ear. It waits for nothing, not
// for the end of an earlier hold either: its numbers tell what it came after.
const earSide = "ear"

func destinations(prog *petri.Program) map[string]string {
	places := map[string]string{}
	for _, p := range []petri.AnyPlace{voicenets.AudioUp, voicenets.ToModel, voicenets.TextUp, voicenets.TurnAgain,
		voicenets.ToolReply, voicenets.UseLink, voicenets.Dial, voicenets.CloseLink, voicenets.StartTool,
		voicenets.StopTool, voicenets.ReleaseUplink} {
		if prog.Place(p.String()) >= 0 { // a session without tools has no places for them
			places[p.String()] = modelSide
		}
	}
	for _, p := range []petri.AnyPlace{voicenets.HoldUplink, voicenets.DropUplink} {
		if prog.Place(p.String()) >= 0 {
			places[p.String()] = earSide
		}
	}
	return places
}

// toQueue says that an output is to wait in the queue to the model, and that
// consent which is withdrawn drops it there.
func toQueue(t petri.Token) bool {
	switch t.Place() {
	case string(voicenets.AudioUp), string(voicenets.ToModel), string(voicenets.TextUp), string(voicenets.TurnAgain):
		return true
	}
	return false
}

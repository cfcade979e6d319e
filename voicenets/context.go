package voicenets

import "github.com/voicegw/voicegw/petri"

// NotesDue is marked while the queue behind the net may hold notes. It is a private place.
const NotesDue petri.Place[petri.Unit] = "notes_due"

// contextNet takes text that is no turn of the caller. A note is something that the model is to
// know and not to answer: it goes up at once, and the queue behind the net keeps it for the next
// turn, or until GiveNotes says that the model is idle. A request has the model speak: it goes up
// as a turn when nothing is played and no reply is pending. The input gate holds for both as it
// does for typed text, except that withdrawn consent drops a request that waits.
func contextNet(c Config) *petri.Net {
	closed := petri.Arcs{Held, Protected, Unconsented}
	n := &petri.Net{
		Name: "context",
		Ports: []petri.AnyPlace{Note, NoteUp, Request, PendingRequest, TextUp, TextLost, GiveNotes, Online, Held, Protected,
			Unconsented, InTurn, ReplyPending, PendingSpeech, PendingText, ModelTurn, TurnEndPending, Discarding, Replying,
			ReplyAudio, PromptDue, Unanswered, LastTurn, ReplyOverdue, CutUnreported, Transcript},
		Env:  []petri.Env{{Place: Note}, {Place: Request}},
		Out:  []petri.Output{{Place: NoteUp}, {Place: TextUp}, {Place: TextLost}, {Place: GiveNotes}},
		Caps: append(caps(1, NotesDue), petri.Cap{Place: PendingRequest, Max: RequestsMax}),
		Transitions: []petri.Transition{
			{Name: "take_note", In: petri.Arcs{Note}, Inhibit: closed, Reset: petri.Arcs{NotesDue},
				Out: petri.And(NoteUp.Passing(Note), NotesDue)},
			{Name: "give_notes", In: petri.Arcs{NotesDue}, Read: petri.Arcs{Online},
				Inhibit: with(closed, InTurn, ReplyPending, ModelTurn, TurnEndPending, Discarding, Replying),
				Out:     petri.And(GiveNotes)},
			{Name: "take_request", In: petri.Arcs{Request}, Inhibit: with(closed, PendingRequest.AtLeast(RequestsMax)),
				Out: petri.And(PendingRequest.Passing(Request))},
			{Name: "drop_request_full", In: petri.Arcs{Request}, Priority: -1, Out: petri.And(TextLost),
				Action: loseText(Request, LostFull)},
			textTurnOf(PendingRequest, petri.Transition{Name: "make_request", Priority: -1,
				Inhibit: petri.Arcs{Replying, ModelTurn, InTurn, ReplyPending, PendingText, PromptDue},
				Reset:   petri.Arcs{PendingSpeech, ReplyAudio, transcriptAhead()}, Bump: true}, turnOfRequest),
		},
	}
	for _, from := range []petri.Place[*Typed]{Note, Request} {
		n.Transitions = append(n.Transitions, dropsText(from)...)
	}
	return below(outdate(c, n), textLayer)
}

// turnOfRequest returns a turn made of a request to speak.
func turnOfRequest(f *petri.Firing) *CallerTurn { return &CallerTurn{Typed: PendingRequest.Get(f)} }

package voicenets

import "github.com/voicegw/voicegw/petri"

// textNet makes a turn of text that the caller typed. Text interrupts a reply, because it is never
// typed by accident, but not a reply that must not be interrupted (Firm). Text that comes in an
// open turn of the caller belongs to that turn. During a hold and protected input text waits in
// PendingText.
func textNet(c Config) *petri.Net {
	n := &petri.Net{
		Name: "text",
		Ports: []petri.AnyPlace{TextUp, PendingText, InTurn, ReplyPending, PendingSpeech, ModelTurn, TurnEndPending,
			Discarding, Replying, ReplyAudio,
			Unacked, Unplayed, EndMarked, Firm, Parked, Prompting, Confirming, Unanswered, Held, Protected, Unconsented,
			ReplyOverdue, CutUnreported, LastTurn, ReplyCutShort, Transcript, NotifyReply, Clear},
		Out:  []petri.Output{{Place: TextUp}, {Place: NotifyReply}, {Place: Clear}},
		Caps: append(caps(1, Unanswered), petri.Cap{Place: PendingText, Max: TypedMax}),
		Transitions: []petri.Transition{
			{Name: "type_in_turn", In: petri.Arcs{PendingText}, Read: petri.Arcs{InTurn}, Reset: petri.Arcs{Unanswered},
				Inhibit: petri.Arcs{Held, Protected, Unconsented}, Out: petri.And(TextUp, Unanswered), Action: typeInTurn},
			textTurn(petri.Transition{Name: "type_when_quiet", Inhibit: petri.Arcs{Replying, ModelTurn, InTurn},
				Reset: petri.Arcs{ReplyPending, PendingSpeech, ReplyAudio, transcriptAhead()}, Bump: true}, turnOfText),
			textTurn(petri.Transition{Name: "type_for_reply", In: petri.Arcs{ReplyPending},
				Inhibit: petri.Arcs{Replying, ModelTurn, InTurn}, Reset: petri.Arcs{PendingSpeech, ReplyAudio, transcriptAhead()},
				Bump: true, Priority: 1}, turnOfTextInstead),
			textTurn(petri.Transition{Name: "type_before_reply", In: petri.Arcs{ModelTurn, ReplyPending},
				Inhibit: petri.Arcs{Replying, Firm, InTurn}, Reset: petri.Arcs{PendingSpeech, TurnEndPending, ReplyAudio,
					transcriptAhead()},
				Bump: true, Out: petri.And(TurnEndPending)}, turnOfTextInstead),
		},
	}
	over := func(name string, state, inhibit petri.Arcs, open, playing bool) {
		t := cutReply(name, state, open, playing)
		t.Inhibit = append(append(t.Inhibit, Firm, Parked), inhibit...)
		t.Reset = append(t.Reset, PendingSpeech)
		n.Transitions = append(n.Transitions, textTurn(t, turnOfText))
	}
	over("type_over_reply", nil, petri.Arcs{Confirming}, true, true)
	over("type_over_reply_at_end", nil, petri.Arcs{Confirming}, false, true)
	if c.pauses() {
		over("type_in_pause", petri.Arcs{Confirming}, nil, true, false)
		over("type_in_pause_at_end", petri.Arcs{Confirming}, nil, false, false)
	}
	return below(outdate(c, n), textLayer)
}

// typeInTurn adds a text to the open turn.
func typeInTurn(f *petri.Firing) {
	text := PendingText.Get(f)
	InTurn.Get(f).addText(text)
	TextUp.Put(f, text)
}

// turnOfText returns a turn made of the typed text.
func turnOfText(f *petri.Firing) *CallerTurn { return &CallerTurn{Typed: PendingText.Get(f)} }

// turnOfTextInstead returns a turn of text that replaces the turn that waits for its reply.
func turnOfTextInstead(f *petri.Firing) *CallerTurn {
	return turnOfText(f).instead(ReplyPending.Get(f))
}

// textTurn lets a transition take a text and make a whole turn of it.
func textTurn(t petri.Transition, turn func(*petri.Firing) *CallerTurn) petri.Transition {
	return textTurnOf(PendingText, t, turn)
}

// textTurnOf is textTurn with the text of a place.
func textTurnOf(from petri.Place[*Typed], t petri.Transition, turn func(*petri.Firing) *CallerTurn) petri.Transition {
	t.In = append(petri.Arcs{from}, t.In...)
	t.Inhibit = append(t.Inhibit, Held, Protected, Unconsented)
	t.Reset = append(t.Reset, Unanswered, LastTurn, ReplyOverdue, CutUnreported)
	t.Out = petri.And(append(t.Out.Arcs(), ModelTurn, ReplyPending, LastTurn, Unanswered, TextUp)...)
	before := t.Action
	t.Action = func(f *petri.Firing) {
		if before != nil {
			before(f)
		}
		awaitReply(f, turn(f))
		TextUp.Put(f, from.Get(f))
	}
	return t
}

package voicenets

import "github.com/voicegw/voicegw/petri"

// textNet makes a turn of what the caller typed. It interrupts a reply, which
// nobody does by accident, but not one that must be heard. Text that comes
// while the caller speaks belongs to that turn. On hold and during protected
// input text waits in typed.
func textNet(c Config) *petri.Net {
	n := &petri.Net{
		Name: "text",
		Ports: []petri.AnyPlace{TextUp, typed, inTurn, owing, unheard, modelTurn, owedEnd, discarding, replying, replyAudio,
			unacked, unplayed, endMarked, firm, parked, prompting, confirming, said, held, protected, unconsented,
			overdue, untold, lastTurn, cutShort, Transcript, TellReply, Clear},
		Out:  []petri.Output{{Place: TextUp}, {Place: TellReply}, {Place: Clear}},
		Caps: append(caps(1, said), petri.Cap{Place: typed, Max: TypedMax}),
		Transitions: []petri.Transition{
			{Name: "type_in_turn", In: petri.Arcs{typed}, Read: petri.Arcs{inTurn}, Reset: petri.Arcs{said},
				Inhibit: petri.Arcs{held, protected, unconsented}, Out: petri.And(TextUp, said), Action: typeInTurn},
			textTurn(petri.Transition{Name: "type_when_quiet", Inhibit: petri.Arcs{replying, modelTurn, inTurn},
				Reset: petri.Arcs{owing, unheard, replyAudio, wordsAhead()}, Bump: true}, turnOfText),
			textTurn(petri.Transition{Name: "type_for_reply", In: petri.Arcs{owing},
				Inhibit: petri.Arcs{replying, modelTurn, inTurn}, Reset: petri.Arcs{unheard, replyAudio, wordsAhead()},
				Bump: true, Priority: 1}, turnOfTextInstead),
			textTurn(petri.Transition{Name: "type_before_reply", In: petri.Arcs{modelTurn, owing},
				Inhibit: petri.Arcs{replying, firm, inTurn}, Reset: petri.Arcs{unheard, owedEnd, replyAudio, wordsAhead()},
				Bump: true, Out: petri.And(owedEnd)}, turnOfTextInstead),
		},
	}
	over := func(name string, state, inhibit petri.Arcs, open, playing bool) {
		t := cutReply(name, state, open, playing)
		t.Inhibit = append(append(t.Inhibit, firm, parked), inhibit...)
		t.Reset = append(t.Reset, unheard)
		n.Transitions = append(n.Transitions, textTurn(t, turnOfText))
	}
	over("type_over_reply", nil, petri.Arcs{confirming}, true, true)
	over("type_over_reply_at_end", nil, petri.Arcs{confirming}, false, true)
	if c.pauses() {
		over("type_in_pause", petri.Arcs{confirming}, nil, true, false)
		over("type_in_pause_at_end", petri.Arcs{confirming}, nil, false, false)
	}
	return below(outdate(c, n), textLayer)
}

// typeInTurn adds a text to the turn that is open.
func typeInTurn(f *petri.Firing) {
	text := typed.Get(f)
	inTurn.Get(f).addText(text)
	TextUp.Put(f, text)
}

// turnOfText is what the caller typed, as a turn.
func turnOfText(f *petri.Firing) *CallerTurn { return &CallerTurn{Typed: typed.Get(f)} }

// turnOfTextInstead takes the place of a turn that waits for its reply.
func turnOfTextInstead(f *petri.Firing) *CallerTurn { return turnOfText(f).instead(owing.Get(f)) }

// textTurn adds to a transition that the text it takes is a whole turn.
func textTurn(t petri.Transition, turn func(*petri.Firing) *CallerTurn) petri.Transition {
	t.In = append(petri.Arcs{typed}, t.In...)
	t.Inhibit = append(t.Inhibit, held, protected, unconsented)
	t.Reset = append(t.Reset, said, lastTurn, overdue, untold)
	t.Out = petri.And(append(t.Out.Arcs(), modelTurn, owing, lastTurn, said, TextUp)...)
	before := t.Action
	t.Action = func(f *petri.Firing) {
		if before != nil {
			before(f)
		}
		owe(f, turn(f))
		TextUp.Put(f, typed.Get(f))
	}
	return t
}

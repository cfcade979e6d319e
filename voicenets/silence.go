package voicenets

import "github.com/voicegw/voicegw/petri"

// modelSilence sees to it that each turn of the caller is answered. A model
// that gives no reply is asked again, then gets a new connection with the turn
// once more, then is spoken for. These stages stop while there is a good reason
// to be silent; the deadline does not, and what it finds forbidden to say it
// says when that is over. To a turn that may have been a noise it says nothing
// then: the peer is told, and that is all.
func modelSilence(c Config) *petri.Net {
	const (
		nudged  petri.Place[petri.Unit] = "nudged"
		renewed petri.Place[petri.Unit] = "renewed"
	)
	busy := append(petri.Arcs{replying, speaking, inTurn, held, protected, promptDue}, runningSlots(c)...)
	forbidden := petri.Arcs{replying, speaking, inTurn, held}
	speak := petri.Arcs{modelTurn, nudged, renewed, promptDue, wordsAhead()}
	sorry := petri.And(promptDue.Is(Fallback), TellMode.Is(NoReply))
	say := func(f *petri.Firing) {
		promptDue.Put(f, Fallback)
		TellMode.Put(f, Notice{Kind: NoReply, Gen: f.Gen()})
	}
	n := &petri.Net{
		Name: "model_silence",
		Ports: append([]petri.AnyPlace{owing, said, overdue, confirmed, cutShort, replying, speaking, inTurn, held,
			protected, modelTurn, online, renewal, promptDue, Transcript, ToModel, TellMode}, places(runningSlots(c))...),
		Out:  []petri.Output{{Place: ToModel}, {Place: TellMode, Durable: true}},
		Caps: caps(1, nudged, renewed, overdue, renewal, owing, said),
		Transitions: []petri.Transition{
			{Name: "nudge", Read: petri.Arcs{owing, online}, Inhibit: with(busy, nudged), Reset: petri.Arcs{modelTurn},
				When: petri.After(c.NudgeAfter), Out: petri.And(nudged, modelTurn, ToModel.Is(Nudge))},
			{Name: "renew_link", Read: petri.Arcs{owing, online, nudged}, Inhibit: with(busy, renewed, renewal),
				When: petri.After(c.RenewAfter), Out: petri.And(renewed, renewal)},
			{Name: "speak_for_model", In: petri.Arcs{owing}, Read: petri.Arcs{renewed}, Inhibit: busy, Reset: speak,
				When: petri.After(c.FallbackAfter), Out: sorry, Action: say},
			{Name: "reach_deadline", Read: petri.Arcs{owing}, Reset: petri.Arcs{overdue}, When: petri.After(c.ReplyDeadline),
				Out: petri.And(overdue)},
			{Name: "speak_at_deadline", In: petri.Arcs{overdue}, Inhibit: forbidden, Reset: with(speak, owing),
				Out: sorry, Action: say},
			{Name: "forget_deadline", In: petri.Arcs{overdue}, Inhibit: petri.Arcs{owing},
				Priority: 10 - silenceLayer}, // first of all, so that a slice of the deadline is timed
			{Name: "accept_empty_turn", In: petri.Arcs{owing}, Read: petri.Arcs{nudged}, Inhibit: petri.Arcs{modelTurn},
				Out: petri.And(TellMode.Is(NoReply)), Action: tell(TellMode, NoReply)},
			{Name: "forget_nudge", In: petri.Arcs{nudged}, Inhibit: petri.Arcs{owing}},
			{Name: "forget_renewal", In: petri.Arcs{renewed}, Inhibit: petri.Arcs{owing}},
			{Name: "note_certainty", Read: petri.Arcs{confirmed}, Inhibit: petri.Arcs{said}, Out: petri.And(said),
				Priority: 3 - silenceLayer}, // before it is acted on
			{Name: "note_cut_reply", Read: petri.Arcs{cutShort}, Inhibit: petri.Arcs{said}, Out: petri.And(said)},
			{Name: "forget_said", In: petri.Arcs{said}, Inhibit: petri.Arcs{owing, inTurn, speaking, cutShort}},
		},
	}
	if c.manual() { // elsewhere all that waits for a reply was said for certain, and speech opens no turn
		n.Transitions = append(n.Transitions,
			petri.Transition{Name: "admit_at_deadline", In: petri.Arcs{overdue}, Inhibit: with(forbidden, said),
				Reset: petri.Arcs{modelTurn, owing, wordsAhead()}, Out: petri.And(TellMode.Is(NoReply)),
				Action: tell(TellMode, NoReply), Priority: 1})
	}
	return below(n, silenceLayer)
}

// callerSilence asks a caller of whom nothing is heard whether anybody is
// there, and then ends the call. Its clock begins anew with what is said for
// certain and with whatever is played, not with a noise that may be speech: that
// puts the question off for a moment at most. A turn that such a noise made, and
// that the model leaves unanswered, is given up for it.
func callerSilence(c Config) *petri.Net {
	const missed petri.Place[petri.Unit] = "missed"
	alive := append(petri.Arcs{said, replying, deaf, digits}, runningSlots(c)...)
	clock := with(alive, promptDue, leaving, missed)
	busy := with(alive, modelTurn, owing, inTurn, promptDue, leaving, awaited)
	n := &petri.Net{
		Name: "caller_silence",
		Ports: append([]petri.AnyPlace{quiet, said, asked, awaited, replying, modelTurn, owing, inTurn, deaf, promptDue,
			digits, leaving, online, Transcript, TellMode}, places(runningSlots(c))...),
		Out:  []petri.Output{{Place: TellMode, Durable: true}},
		Caps: caps(1, asked, missed, awaited),
		Transitions: []petri.Transition{
			{Name: "miss_caller", Read: petri.Arcs{online}, Inhibit: with(clock, asked), When: petri.After(c.RepromptAfter),
				Out: petri.And(missed)},
			{Name: "miss_caller_again", Read: petri.Arcs{online, asked}, Inhibit: clock, When: petri.After(c.GoodbyeAfter),
				Out: petri.And(missed)},
			{Name: "ask_whether_there", In: petri.Arcs{missed}, Read: petri.Arcs{quiet, online}, Inhibit: with(busy, asked),
				Out: petri.And(asked, promptDue.Is(Reprompt))},
			{Name: "give_up_on_caller", In: petri.Arcs{missed}, Read: petri.Arcs{quiet, online, asked}, Inhibit: busy,
				Out: petri.And(leaving.Is(CallerSilent))},
			{Name: "hear_again", In: petri.Arcs{asked}, Read: petri.Arcs{said}},
			{Name: "get_digits_again", In: petri.Arcs{asked}, Read: petri.Arcs{digits}, Inhibit: petri.Arcs{said}},
		},
	}
	if c.manual() { // elsewhere a noise makes no turn
		n.Transitions = append(n.Transitions,
			petri.Transition{Name: "give_up_on_noise", In: petri.Arcs{owing}, Read: petri.Arcs{missed, quiet},
				Inhibit: with(alive, awaited), Reset: petri.Arcs{modelTurn, wordsAhead()}, Out: petri.And(TellMode.Is(NoReply)),
				Action: tell(TellMode, NoReply)},
			petri.Transition{Name: "await_no_longer", In: petri.Arcs{awaited}, When: petri.After(c.NudgeAfter)})
	}
	for i, a := range alive {
		n.Transitions = append(n.Transitions, petri.Transition{Name: "miss_no_more_" + petri.ArcPlace(a).String(),
			In: petri.Arcs{missed}, Read: petri.Arcs{a}, Inhibit: alive[:i:i], Priority: 1})
	}
	return below(n, silenceLayer)
}

// with is a list and a few more.
func with(list petri.Arcs, more ...petri.AnyArc) petri.Arcs {
	return append(append(petri.Arcs{}, list...), more...)
}

// places are the places of arcs.
func places(list petri.Arcs) []petri.AnyPlace {
	var all []petri.AnyPlace
	for _, a := range list {
		all = append(all, petri.ArcPlace(a))
	}
	return all
}

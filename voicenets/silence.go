package voicenets

import "github.com/voicegw/voicegw/petri"

// modelSilence ensures that each turn of the caller is answered. When the model gives no reply, the
// net asks it again, then repeats the turn to a new connection, then plays the fallback prompt.
// These stages wait while there is a reason to be silent. The deadline does not wait. If the
// fallback must not play at the deadline, it plays as soon as it may. For a turn that was never
// confirmed to be speech the deadline plays nothing: the peer gets the notice NoReply.
func modelSilence(c Config) *petri.Net {
	const (
		nudged  petri.Place[petri.Unit] = "nudged"
		renewed petri.Place[petri.Unit] = "renewed"
	)
	busy := append(petri.Arcs{Replying, Speaking, InTurn, Held, Protected, PromptDue}, runningSlots(c)...)
	forbidden := petri.Arcs{Replying, Speaking, InTurn, Held}
	speak := petri.Arcs{ModelTurn, nudged, renewed, PromptDue, transcriptAhead()}
	fallback := petri.And(PromptDue.Is(Fallback), NotifyMode.Is(NoReply))
	say := func(f *petri.Firing) {
		PromptDue.Put(f, Fallback)
		NotifyMode.Put(f, Notice{Kind: NoReply, Gen: f.Gen()})
	}
	n := &petri.Net{
		Name: "model_silence",
		Ports: append([]petri.AnyPlace{ReplyPending, Unanswered, ReplyOverdue, SpeechConfirmed, ReplyCutShort, Replying,
			Speaking, InTurn, Held,
			Protected, ModelTurn, Online, Renewal, PromptDue, Transcript, ToModel, NotifyMode}, places(runningSlots(c))...),
		Out:  []petri.Output{{Place: ToModel}, {Place: NotifyMode, Durable: true}},
		Caps: caps(1, nudged, renewed, ReplyOverdue, Renewal, ReplyPending, Unanswered),
		Transitions: []petri.Transition{
			{Name: "nudge", Read: petri.Arcs{ReplyPending, Online}, Inhibit: with(busy, nudged), Reset: petri.Arcs{ModelTurn},
				When: petri.After(c.NudgeAfter), Out: petri.And(nudged, ModelTurn, ToModel.Is(Nudge))},
			{Name: "renew_link", Read: petri.Arcs{ReplyPending, Online, nudged}, Inhibit: with(busy, renewed, Renewal),
				When: petri.After(c.RenewAfter), Out: petri.And(renewed, Renewal)},
			{Name: "play_fallback", In: petri.Arcs{ReplyPending}, Read: petri.Arcs{renewed}, Inhibit: busy, Reset: speak,
				When: petri.After(c.FallbackAfter), Out: fallback, Action: say},
			{Name: "reach_deadline", Read: petri.Arcs{ReplyPending}, Reset: petri.Arcs{ReplyOverdue},
				When: petri.After(c.ReplyDeadline),
				Out:  petri.And(ReplyOverdue)},
			{Name: "play_fallback_at_deadline", In: petri.Arcs{ReplyOverdue}, Inhibit: forbidden,
				Reset: with(speak, ReplyPending),
				Out:   fallback, Action: say},
			{Name: "forget_deadline", In: petri.Arcs{ReplyOverdue}, Inhibit: petri.Arcs{ReplyPending},
				Priority: 10 - silenceLayer}, // before all other transitions, so that a slice of the deadline is timed
			{Name: "accept_empty_turn", In: petri.Arcs{ReplyPending}, Read: petri.Arcs{nudged}, Inhibit: petri.Arcs{ModelTurn},
				Out: petri.And(NotifyMode.Is(NoReply)), Action: notify(NotifyMode, NoReply)},
			{Name: "forget_nudge", In: petri.Arcs{nudged}, Inhibit: petri.Arcs{ReplyPending}},
			{Name: "forget_renewal", In: petri.Arcs{renewed}, Inhibit: petri.Arcs{ReplyPending}},
			{Name: "note_confirmed_speech", Read: petri.Arcs{SpeechConfirmed}, Inhibit: petri.Arcs{Unanswered},
				Out:      petri.And(Unanswered),
				Priority: 3 - silenceLayer}, // before other transitions take it
			{Name: "note_cut_reply", Read: petri.Arcs{ReplyCutShort}, Inhibit: petri.Arcs{Unanswered},
				Out: petri.And(Unanswered)},
			{Name: "forget_unanswered", In: petri.Arcs{Unanswered}, Inhibit: petri.Arcs{ReplyPending, InTurn, Speaking,
				ReplyCutShort}},
		},
	}
	if c.gatewayVAD() { // with model VAD only confirmed input waits for a reply, and speech opens no turn
		n.Transitions = append(n.Transitions,
			petri.Transition{Name: "report_at_deadline", In: petri.Arcs{ReplyOverdue}, Inhibit: with(forbidden, Unanswered),
				Reset: petri.Arcs{ModelTurn, ReplyPending, transcriptAhead()}, Out: petri.And(NotifyMode.Is(NoReply)),
				Action: notify(NotifyMode, NoReply), Priority: 1})
	}
	return below(n, silenceLayer)
}

// callerSilence plays the reprompt to a silent caller, and after more silence ends the call.
// Confirmed input and everything that is played restart its clock. A noise that may be speech does
// not; it only delays the reprompt until the noise is over. If such a noise opened a turn and the
// model does not answer it within NudgeAfter, the net gives up the turn to play the reprompt.
func callerSilence(c Config) *petri.Net {
	const silenceNoticed petri.Place[petri.Unit] = "silence_noticed"
	alive := append(petri.Arcs{Unanswered, Replying, InputClosed, Entry}, runningSlots(c)...)
	clock := with(alive, PromptDue, Ending, silenceNoticed)
	busy := with(alive, ModelTurn, ReplyPending, InTurn, PromptDue, Ending, AnswerExpected)
	n := &petri.Net{
		Name: "caller_silence",
		Ports: append([]petri.AnyPlace{Quiet, Unanswered, Reprompted, AnswerExpected, Replying, ModelTurn, ReplyPending,
			InTurn, InputClosed, PromptDue,
			Entry, Ending, Online, Transcript, NotifyMode}, places(runningSlots(c))...),
		Out:  []petri.Output{{Place: NotifyMode, Durable: true}},
		Caps: caps(1, Reprompted, silenceNoticed, AnswerExpected),
		Transitions: []petri.Transition{
			{Name: "notice_silence", Read: petri.Arcs{Online}, Inhibit: with(clock, Reprompted),
				When: petri.After(c.RepromptAfter),
				Out:  petri.And(silenceNoticed)},
			{Name: "notice_silence_again", Read: petri.Arcs{Online, Reprompted}, Inhibit: clock,
				When: petri.After(c.GoodbyeAfter),
				Out:  petri.And(silenceNoticed)},
			{Name: "reprompt", In: petri.Arcs{silenceNoticed}, Read: petri.Arcs{Quiet, Online}, Inhibit: with(busy, Reprompted),
				Out: petri.And(Reprompted, PromptDue.Is(Reprompt))},
			{Name: "give_up_on_caller", In: petri.Arcs{silenceNoticed}, Read: petri.Arcs{Quiet, Online, Reprompted},
				Inhibit: busy,
				Out:     petri.And(Ending.Is(CallerSilent))},
			{Name: "forget_reprompt", In: petri.Arcs{Reprompted}, Read: petri.Arcs{Unanswered}},
			{Name: "forget_reprompt_on_entry", In: petri.Arcs{Reprompted}, Read: petri.Arcs{Entry},
				Inhibit: petri.Arcs{Unanswered}},
		},
	}
	if c.gatewayVAD() { // with model VAD a noise opens no turn
		n.Transitions = append(n.Transitions,
			petri.Transition{Name: "give_up_on_noise", In: petri.Arcs{ReplyPending}, Read: petri.Arcs{silenceNoticed, Quiet},
				Inhibit: with(alive, AnswerExpected), Reset: petri.Arcs{ModelTurn, transcriptAhead()},
				Out:    petri.And(NotifyMode.Is(NoReply)),
				Action: notify(NotifyMode, NoReply)},
			petri.Transition{Name: "stop_expecting_answer", In: petri.Arcs{AnswerExpected}, When: petri.After(c.NudgeAfter)})
	}
	for i, a := range alive {
		n.Transitions = append(n.Transitions, petri.Transition{Name: "end_silence_" + petri.ArcPlace(a).String(),
			In: petri.Arcs{silenceNoticed}, Read: petri.Arcs{a}, Inhibit: alive[:i:i], Priority: 1})
	}
	return below(n, silenceLayer)
}

// with returns a new list: the arcs of list, then more.
func with(list petri.Arcs, more ...petri.AnyArc) petri.Arcs {
	return append(append(petri.Arcs{}, list...), more...)
}

// places returns the places of arcs.
func places(list petri.Arcs) []petri.AnyPlace {
	var all []petri.AnyPlace
	for _, a := range list {
		all = append(all, petri.ArcPlace(a))
	}
	return all
}

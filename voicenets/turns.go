package voicenets

import "github.com/voicegw/voicegw/petri"

// unheard is speech that has no turn at the model: it began while a reply was
// playing and was not confirmed. It gets a turn when it is confirmed or when
// the reply is over.
const unheard petri.Place[petri.Unit] = "unheard"

// manualTurns decides about turns from our own detector. When nothing is
// playing, speech opens a turn at once. Over a reply it only pauses; confirmed
// speech interrupts, everything else resumes. Nothing goes to the model before
// the confirmation, because an activity start cancels its reply for good.
func manualTurns(c Config) *petri.Net {
	n := &petri.Net{
		Name: "turns",
		Ports: []petri.AnyPlace{began, confirmed, ended, inTurn, confirming, modelTurn, owedEnd, discarding, replying,
			replyAudio, unacked, unplayed, endMarked, ToModel, TellReply, Clear, CallerAudio},
		Caps: caps(1, inTurn, confirming, unheard),
		Transitions: []petri.Transition{
			{Name: "note_speech", In: petri.Arcs{began}, Inhibit: petri.Arcs{replying}, Out: petri.And(unheard)},
			{Name: "start_turn", In: petri.Arcs{unheard}, Inhibit: petri.Arcs{replying, modelTurn}, Bump: true,
				Out: petri.And(inTurn, ToModel.Is(ActivityStart))},
			{Name: "cut_in_before_reply", In: petri.Arcs{unheard, modelTurn}, Inhibit: petri.Arcs{replying}, Bump: true,
				Reset: petri.Arcs{owedEnd, discarding},
				Out:   petri.And(inTurn, discarding, owedEnd, ToModel.Is(ActivityStart))},
			{Name: "end_turn", In: petri.Arcs{ended, inTurn}, Out: petri.And(modelTurn, ToModel.Is(ActivityEnd))},
			{Name: "forget_unheard", In: petri.Arcs{ended, unheard}},
			{Name: "ignore_confirmation", In: petri.Arcs{confirmed}, Read: petri.Arcs{inTurn}},
		},
	}
	if c.HalfDuplex {
		n.Transitions = append(n.Transitions, halfDuplex()...)
		return strip(n, confirming, replyAudio, unacked, unplayed, endMarked, TellReply, Clear, CallerAudio)
	}
	n.Out = []petri.Output{{Place: Clear}}
	n.Transitions = append(n.Transitions, pause())
	n.Transitions = append(n.Transitions, resumes("resume_on_stop", petri.Arcs{ended, confirming}, nil, petri.Interval{}),
		resumes("resume_unconfirmed", petri.Arcs{confirming}, petri.Arcs{unheard}, petri.After(c.ConfirmWindow)))
	n.Transitions = append(n.Transitions, bargeIns()...)
	return n
}

// halfDuplex lets speech over a reply wait until the reply is over.
func halfDuplex() []petri.Transition {
	return []petri.Transition{
		{Name: "wait_for_reply", In: petri.Arcs{began}, Read: petri.Arcs{replying}, Out: petri.And(unheard)},
		{Name: "ignore_confirmation_over_reply", In: petri.Arcs{confirmed}, Inhibit: petri.Arcs{inTurn}},
	}
}

// pause holds the reply back when speech begins over it.
func pause() petri.Transition {
	return petri.Transition{
		Name: "pause_reply", In: petri.Arcs{began}, Read: petri.Arcs{replying}, Reset: petri.Arcs{endMarked},
		Out: petri.And(confirming, TellReply.Is(ReplyPaused), Clear.Is(ClearPlayout)),
		Action: func(f *petri.Firing) {
			TellReply.Put(f, Notice{Kind: ReplyPaused, Gen: f.Gen()})
			Clear.Put(f, Notice{Kind: ClearPlayout, Gen: f.Gen()})
		},
	}
}

// resumes plays the reply on where it stopped: it was no interruption. The
// caller's frames that were held are dropped.
func resumes(name string, in, out petri.Arcs, when petri.Interval) petri.Transition {
	return petri.Transition{Name: name, In: in, Read: petri.Arcs{replying}, Reset: petri.Arcs{CallerAudio}, When: when,
		Out: petri.And(append(petri.Arcs{TellReply.Is(ReplyResumed)}, out...)...), Action: tell(TellReply, ReplyResumed)}
}

// bargeIns interrupts the reply for good: the next generation begins, what was
// not played is dropped, and the held frames go up behind the activity start.
// A model whose turn is still open may send more of it, which is discarded.
func bargeIns() []petri.Transition {
	cut := func(name string, state petri.AnyArc, open, playing bool) petri.Transition {
		t := cutReply(name, petri.Arcs{confirmed, state}, open, playing)
		t.Out = petri.And(append(t.Out.Arcs(), inTurn, ToModel.Is(ActivityStart))...)
		return t
	}
	return []petri.Transition{
		cut("barge_in", confirming, true, false),
		cut("barge_in_at_end", confirming, false, false),
		cut("barge_in_late", unheard, true, true),
		cut("barge_in_late_at_end", unheard, false, true),
	}
}

// cutReply ends a reply for good. open says that the model's turn is open, so
// that more of it may come and its end is owed; playing that the peer still
// plays, because no pause has stopped it.
func cutReply(name string, in petri.Arcs, open, playing bool) petri.Transition {
	out := petri.Arcs{TellReply.Is(ReplyCut)}
	if playing {
		out = petri.Arcs{Clear.Is(ClearPlayout), TellReply.Is(ReplyCut)}
	}
	t := petri.Transition{
		Name: name, In: append(in, replying), Bump: true, Reset: petri.Arcs{replyAudio, unacked, unplayed, endMarked},
		Action: func(f *petri.Firing) {
			if playing {
				Clear.Put(f, Notice{Kind: ClearPlayout, Gen: f.Gen() - 1})
			}
			TellReply.Put(f, Notice{Kind: ReplyCut, Gen: f.Gen() - 1})
		},
	}
	if open {
		t.In = append(t.In, modelTurn)
		t.Reset = append(t.Reset, owedEnd, discarding)
		t.Out = petri.And(append(out, discarding, owedEnd)...)
	} else {
		t.Inhibit = petri.Arcs{modelTurn}
		t.Out = petri.And(out...)
	}
	return t
}

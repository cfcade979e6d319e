package voicenets

import "github.com/voicegw/voicegw/petri"

// gatewayVADTurns decides about turns from the edges of the gateway's detector. When nothing is
// playing and no reply is pending, speech opens a turn at once. Speech over a reply only pauses the
// reply; confirmed speech interrupts it, otherwise it resumes. Nothing goes to the model before the
// confirmation, because an activity start cancels the model's reply for good. Speech must also be
// confirmed while a reply is pending, because a noise must not cancel it. Speech over a reply that
// must not be interrupted (Firm), or in half-duplex, waits until the reply is over.
func gatewayVADTurns(c Config) *petri.Net {
	var early petri.Arcs // marked when the caller goes on after a turn ended
	if c.Adaptive {
		early = petri.Arcs{endedEarly}
	}
	n := &petri.Net{
		Name: "turns",
		Ports: []petri.AnyPlace{SpeechBegan, SpeechConfirmed, SpeechEnded, InTurn, ReplyPending, Confirming, DelayingReply,
			Lingering, PendingSpeech,
			ModelTurn, TurnEndPending,
			Discarding, Replying, ReplyAudio, Unacked, Unplayed, EndMarked, Firm, Parked, Prompting, ToModel, NotifyReply,
			Clear, CallerAudio, Transcript, AnswerExpected, LastTurn, ReplyCutShort},
		Out:  []petri.Output{{Place: ToModel}, {Place: NotifyReply}, {Place: Clear}},
		Caps: caps(1, InTurn, ReplyPending, Confirming, PendingSpeech),
		Transitions: []petri.Transition{
			{Name: "note_speech", In: petri.Arcs{SpeechBegan}, Reset: petri.Arcs{PendingSpeech},
				Out: petri.And(PendingSpeech.Is(Tentative)), Priority: -1},
			{Name: "start_turn", In: petri.Arcs{PendingSpeech}, Inhibit: petri.Arcs{Replying, ModelTurn, ReplyPending},
				Bump:  true,
				Reset: petri.Arcs{ReplyAudio, transcriptAhead()}, Out: petri.And(InTurn, ToModel.Is(ActivityStart)),
				Action: openTurn},
			{Name: "cut_in_before_reply", In: petri.Arcs{PendingSpeech.Is(Confirmed), ModelTurn, ReplyPending},
				Inhibit: petri.Arcs{Replying, Firm}, Bump: true,
				Reset:  append(petri.Arcs{TurnEndPending, Discarding, ReplyAudio, transcriptAhead()}, early...),
				Out:    petri.And(append(petri.Arcs{InTurn, Discarding, TurnEndPending, ToModel.Is(ActivityStart)}, early...)...),
				Action: openTurnInstead},
			{Name: "cut_in_for_reply", In: petri.Arcs{PendingSpeech.Is(Confirmed), ReplyPending},
				Inhibit: petri.Arcs{Replying, ModelTurn},
				Bump:    true, Reset: append(petri.Arcs{ReplyAudio, transcriptAhead()}, early...),
				Out:    petri.And(append(petri.Arcs{InTurn, ToModel.Is(ActivityStart)}, early...)...),
				Action: openTurnInstead},
			{Name: "forget_pending_speech", In: petri.Arcs{SpeechEnded, PendingSpeech}},
			{Name: "confirm_pending_speech", In: petri.Arcs{SpeechConfirmed, PendingSpeech.Is(Tentative)},
				Out:      petri.And(PendingSpeech.Is(Confirmed)),
				Priority: -1},
			{Name: "ignore_confirmation", In: petri.Arcs{SpeechConfirmed}, Priority: -2},
			{Name: "ignore_stop", In: petri.Arcs{SpeechEnded}, Priority: -1},
		},
	}
	if c.Adaptive {
		addEndpointing(n, c)
	} else {
		n.Transitions = append(n.Transitions, endTurn(c, "end_turn", petri.Arcs{SpeechEnded}, petri.Interval{}))
	}
	if c.pauses() {
		n.Transitions = append(n.Transitions, pause(),
			resumes("resume_on_stop", petri.Arcs{SpeechEnded, Confirming}, nil, petri.Interval{}),
			resumes("resume_unconfirmed", petri.Arcs{Confirming}, petri.Arcs{PendingSpeech.Is(Tentative)},
				petri.After(c.ConfirmWindow)))
		addReplyDelay(n, c)
		n.Transitions = append(n.Transitions, bargeIns()...)
	}
	return outdate(c, n)
}

// openTurn begins a turn of the caller.
func openTurn(f *petri.Firing) { InTurn.Put(f, &CallerTurn{}) }

// openTurnInstead begins a turn that replaces the turn that waits for its reply.
func openTurnInstead(f *petri.Firing) { InTurn.Put(f, (&CallerTurn{}).instead(ReplyPending.Get(f))) }

// awaitReply lets a turn wait for its reply. It also keeps the turn in LastTurn, in case the reply
// is cut short.
func awaitReply(f *petri.Firing, t *CallerTurn) {
	ReplyPending.Put(f, t)
	LastTurn.Put(f, t)
}

// addReplyDelay delays a reply that would begin while a sound may be the caller's speech: until at
// most ConfirmWindow after the sound began.
func addReplyDelay(n *petri.Net, c Config) {
	n.Caps = append(n.Caps, caps(1, DelayingReply)...)
	n.Transitions = append(n.Transitions,
		petri.Transition{Name: "delay_reply", In: petri.Arcs{SpeechBegan}, Read: petri.Arcs{ReplyPending},
			Inhibit: petri.Arcs{Replying}, Reset: petri.Arcs{PendingSpeech, DelayingReply},
			Out: petri.And(PendingSpeech.Is(Tentative), DelayingReply)},
		petri.Transition{Name: "end_reply_delay", In: petri.Arcs{DelayingReply}, Inhibit: petri.Arcs{PendingSpeech}},
		petri.Transition{Name: "end_reply_delay_unconfirmed", In: petri.Arcs{DelayingReply},
			When: petri.After(c.ConfirmWindow)})
}

// endTurn returns a transition that ends the caller's turn. The turn then waits for its reply.
func endTurn(c Config, name string, in petri.Arcs, when petri.Interval) petri.Transition {
	t := petri.Transition{Name: name, In: append(in, InTurn), When: when, Reset: petri.Arcs{ReplyPending, LastTurn},
		Out:    petri.And(ModelTurn, ReplyPending, LastTurn, ToModel.Is(ActivityEnd)),
		Action: func(f *petri.Firing) { awaitReply(f, InTurn.Get(f)) }}
	if c.RepromptAfter > 0 {
		t.Reset = append(t.Reset, AnswerExpected)
		t.Out = petri.And(append(t.Out.Arcs(), AnswerExpected)...)
	}
	return t
}

// endedEarly is marked when the caller goes on after the end of a turn.
const endedEarly petri.Place[petri.Unit] = "ended_early"

// addEndpointing lets a turn linger after the end of speech: the longer, the more often earlier
// turns ended before the caller had finished.
func addEndpointing(n *petri.Net, c Config) {
	const patience petri.Place[Patience] = "patience"
	n.Init = append(n.Init, patience.Token(0))
	n.Caps = append(n.Caps, caps(1, Lingering, endedEarly, patience)...)
	n.Transitions = append(n.Transitions,
		petri.Transition{Name: "linger", In: petri.Arcs{SpeechEnded}, Read: petri.Arcs{InTurn}, Reset: petri.Arcs{Lingering},
			Out: petri.And(Lingering)},
		petri.Transition{Name: "go_on", In: petri.Arcs{SpeechBegan, Lingering}, Read: petri.Arcs{InTurn}})
	names := Patience(0).KeyNames()
	for level, name := range names {
		k := petri.Key(level)
		end := endTurn(c, "end_turn_"+name, petri.Arcs{Lingering}, petri.After(c.Linger[level]))
		end.Read = petri.Arcs{patience.Is(k)}
		n.Transitions = append(n.Transitions, end)
		if level+1 < len(names) {
			up := petri.Key(level + 1)
			n.Transitions = append(n.Transitions,
				petri.Transition{Name: "learn_" + names[level+1], In: petri.Arcs{endedEarly, patience.Is(k)},
					Out: petri.And(patience.Is(up))},
				petri.Transition{Name: "unlearn_" + names[level+1], In: petri.Arcs{patience.Is(up)},
					Out: petri.And(patience.Is(k)), When: petri.After(c.LingerLasts)})
		} else {
			n.Transitions = append(n.Transitions,
				petri.Transition{Name: "stay_" + name, In: petri.Arcs{endedEarly}, Read: petri.Arcs{patience.Is(k)}})
		}
	}
}

// pause returns the transition that pauses a reply when speech begins over it.
func pause() petri.Transition {
	return petri.Transition{
		Name: "pause_reply", In: petri.Arcs{SpeechBegan}, Read: petri.Arcs{Replying}, Reset: petri.Arcs{EndMarked},
		Inhibit: petri.Arcs{Firm, Parked, Confirming},
		Out:     petri.And(Confirming, NotifyReply.Is(ReplyPaused), Clear.Is(ClearPlayout)),
		Action:  notifyPause,
	}
}

// notifyPause notifies the peer of the pause, and sends it a clear.
func notifyPause(f *petri.Firing) {
	NotifyReply.Put(f, Notice{Kind: ReplyPaused, Gen: f.Gen()})
	Clear.Put(f, Notice{Kind: ClearPlayout, Gen: f.Gen()})
}

// resumes returns a transition that resumes the reply where it stopped, because there was no
// interruption. It drops the caller's frames that wait.
func resumes(name string, in, out petri.Arcs, when petri.Interval) petri.Transition {
	return petri.Transition{Name: name, In: in, Read: petri.Arcs{Replying}, Reset: petri.Arcs{CallerAudio}, When: when,
		Out:    petri.And(append(petri.Arcs{NotifyReply.Is(ReplyResumed)}, out...)...),
		Action: notify(NotifyReply, ReplyResumed)}
}

// bargeIns returns the transitions that interrupt a reply for good. The next generation begins,
// audio that was not played is dropped, and the caller's frames that wait go up after the activity
// start. A model whose turn is still open may send more audio of it, which is discarded.
func bargeIns() []petri.Transition {
	cut := func(name string, state petri.AnyArc, open, playing bool) petri.Transition {
		t := cutReply(name, petri.Arcs{SpeechConfirmed, state}, open, playing)
		if playing {
			t.Inhibit = append(t.Inhibit, Firm, Parked)
		}
		t.Out = petri.And(append(t.Out.Arcs(), InTurn, ToModel.Is(ActivityStart))...)
		notices := t.Action
		t.Action = func(f *petri.Firing) { notices(f); openTurn(f) }
		return t
	}
	return []petri.Transition{
		cut("barge_in", Confirming, true, false),
		cut("barge_in_at_end", Confirming, false, false),
		cut("barge_in_late", PendingSpeech, true, true),
		cut("barge_in_late_at_end", PendingSpeech, false, true),
	}
}

// cutReply returns a transition that ends a reply for good. With open the model's turn is open:
// more of it may come, and its end is pending. With playing the peer still plays, because no pause
// has stopped it.
func cutReply(name string, in petri.Arcs, open, playing bool) petri.Transition {
	out := petri.Arcs{NotifyReply.Is(ReplyCut)}
	if playing {
		out = petri.Arcs{Clear.Is(ClearPlayout), NotifyReply.Is(ReplyCut)}
	}
	t := petri.Transition{
		Name: name, In: append(in, Replying), Bump: true,
		Reset: petri.Arcs{ReplyAudio, Unacked, Unplayed, EndMarked, Prompting, ReplyPending, ReplyCutShort,
			transcriptAhead()},
		Action: func(f *petri.Firing) {
			if playing {
				Clear.Put(f, Notice{Kind: ClearPlayout, Gen: f.Gen() - 1})
			}
			NotifyReply.Put(f, Notice{Kind: ReplyCut, Gen: f.Gen() - 1})
		},
	}
	if open {
		t.In = append(t.In, ModelTurn)
		t.Reset = append(t.Reset, TurnEndPending, Discarding)
		t.Out = petri.And(append(out, Discarding, TurnEndPending)...)
	} else {
		t.Inhibit = petri.Arcs{ModelTurn}
		t.Out = petri.And(out...)
	}
	return t
}

package voicenets

import "github.com/voicegw/voicegw/petri"

// manualTurns decides about turns from our own detector. When nothing is
// playing, speech opens a turn at once. Over a reply it only pauses; confirmed
// speech interrupts, everything else resumes. Nothing goes to the model before
// the confirmation, because an activity start cancels its reply for good. The
// same is true of a reply that is owed and did not begin: a noise must not put
// off the answer to what was said. Speech over a reply that must be heard, or in half-duplex, waits until the
// reply is over.
func manualTurns(c Config) *petri.Net {
	n := &petri.Net{
		Name: "turns",
		Ports: []petri.AnyPlace{began, confirmed, ended, inTurn, owing, confirming, weighing, lingering, unheard,
			modelTurn, owedEnd,
			discarding, replying, replyAudio, unacked, unplayed, endMarked, firm, parked, prompting, ToModel, TellReply,
			Clear, CallerAudio, Transcript, awaited, lastTurn, cutShort},
		Out:  []petri.Output{{Place: ToModel}, {Place: TellReply}, {Place: Clear}},
		Caps: caps(1, inTurn, owing, confirming, unheard),
		Transitions: []petri.Transition{
			{Name: "note_speech", In: petri.Arcs{began}, Reset: petri.Arcs{unheard},
				Out: petri.And(unheard.Is(supposed)), Priority: -1},
			{Name: "start_turn", In: petri.Arcs{unheard}, Inhibit: petri.Arcs{replying, modelTurn, owing}, Bump: true,
				Reset: petri.Arcs{replyAudio, wordsAhead()}, Out: petri.And(inTurn, ToModel.Is(ActivityStart)),
				Action: openTurn},
			{Name: "cut_in_before_reply", In: petri.Arcs{unheard.Is(certain), modelTurn, owing},
				Inhibit: petri.Arcs{replying, firm}, Bump: true,
				Reset:  petri.Arcs{owedEnd, discarding, replyAudio, wordsAhead()},
				Out:    petri.And(inTurn, discarding, owedEnd, ToModel.Is(ActivityStart)),
				Action: openTurnInstead},
			{Name: "cut_in_for_reply", In: petri.Arcs{unheard.Is(certain), owing}, Inhibit: petri.Arcs{replying, modelTurn},
				Bump: true, Reset: petri.Arcs{replyAudio, wordsAhead()}, Out: petri.And(inTurn, ToModel.Is(ActivityStart)),
				Action: openTurnInstead},
			{Name: "forget_unheard", In: petri.Arcs{ended, unheard}},
			{Name: "prove_unheard", In: petri.Arcs{confirmed, unheard.Is(supposed)}, Out: petri.And(unheard.Is(certain)),
				Priority: -1},
			{Name: "ignore_confirmation", In: petri.Arcs{confirmed}, Priority: -2},
			{Name: "ignore_stop", In: petri.Arcs{ended}, Priority: -1},
		},
	}
	if c.Adaptive {
		addEndpointing(n, c)
	} else {
		n.Transitions = append(n.Transitions, endTurn(c, "end_turn", petri.Arcs{ended}, petri.Interval{}))
	}
	if c.pauses() {
		n.Transitions = append(n.Transitions, pause(),
			resumes("resume_on_stop", petri.Arcs{ended, confirming}, nil, petri.Interval{}),
			resumes("resume_unconfirmed", petri.Arcs{confirming}, petri.Arcs{unheard.Is(supposed)},
				petri.After(c.ConfirmWindow)))
		addWeighing(n, c)
		n.Transitions = append(n.Transitions, bargeIns()...)
	}
	return outdate(c, n)
}

// openTurn begins a turn of the caller's.
func openTurn(f *petri.Firing) { inTurn.Put(f, &CallerTurn{}) }

// openTurnInstead begins one in the place of a turn that waits for its reply.
func openTurnInstead(f *petri.Firing) { inTurn.Put(f, (&CallerTurn{}).instead(owing.Get(f))) }

// owe makes a turn wait for its reply, and keeps it in case that is cut short.
func owe(f *petri.Firing, t *CallerTurn) {
	owing.Put(f, t)
	lastTurn.Put(f, t)
}

// addWeighing keeps a reply back that would begin just now, while it is open
// whether the caller goes on.
func addWeighing(n *petri.Net, c Config) {
	n.Caps = append(n.Caps, caps(1, weighing)...)
	n.Transitions = append(n.Transitions,
		petri.Transition{Name: "weigh_speech", In: petri.Arcs{began}, Read: petri.Arcs{owing},
			Inhibit: petri.Arcs{replying}, Reset: petri.Arcs{unheard, weighing},
			Out: petri.And(unheard.Is(supposed), weighing)},
		petri.Transition{Name: "end_weighing", In: petri.Arcs{weighing}, Inhibit: petri.Arcs{unheard}},
		petri.Transition{Name: "weigh_no_longer", In: petri.Arcs{weighing}, When: petri.After(c.ConfirmWindow)})
}

// endTurn ends the caller's turn: it waits for its reply.
func endTurn(c Config, name string, in petri.Arcs, when petri.Interval) petri.Transition {
	t := petri.Transition{Name: name, In: append(in, inTurn), When: when, Reset: petri.Arcs{owing, lastTurn},
		Out:    petri.And(modelTurn, owing, lastTurn, ToModel.Is(ActivityEnd)),
		Action: func(f *petri.Firing) { owe(f, inTurn.Get(f)) }}
	if c.RepromptAfter > 0 {
		t.Reset = append(t.Reset, awaited)
		t.Out = petri.And(append(t.Out.Arcs(), awaited)...)
	}
	return t
}

// addEndpointing lets a turn linger after the end of speech, the longer the
// more often the caller was taken to have finished and had not.
func addEndpointing(n *petri.Net, c Config) {
	const (
		patience petri.Place[patienceLevel] = "patience"
		hurried  petri.Place[petri.Unit]    = "hurried"
	)
	n.Init = append(n.Init, patience.Token(0))
	n.Caps = append(n.Caps, caps(1, lingering, hurried, patience)...)
	n.Transitions = append(n.Transitions,
		petri.Transition{Name: "linger", In: petri.Arcs{ended}, Read: petri.Arcs{inTurn}, Reset: petri.Arcs{lingering},
			Out: petri.And(lingering)},
		petri.Transition{Name: "go_on", In: petri.Arcs{began, lingering}, Read: petri.Arcs{inTurn}})
	names := patienceLevel(0).KeyNames()
	for level, name := range names {
		k := petri.Key(level)
		end := endTurn(c, "end_turn_"+name, petri.Arcs{lingering}, petri.After(c.Linger[level]))
		end.Read = petri.Arcs{patience.Is(k)}
		n.Transitions = append(n.Transitions, end)
		if level+1 < len(names) {
			up := petri.Key(level + 1)
			n.Transitions = append(n.Transitions,
				petri.Transition{Name: "learn_" + names[level+1], In: petri.Arcs{hurried, patience.Is(k)},
					Out: petri.And(patience.Is(up))},
				petri.Transition{Name: "unlearn_" + names[level+1], In: petri.Arcs{patience.Is(up)},
					Out: petri.And(patience.Is(k)), When: petri.After(c.LingerLasts)})
		} else {
			n.Transitions = append(n.Transitions,
				petri.Transition{Name: "stay_" + name, In: petri.Arcs{hurried}, Read: petri.Arcs{patience.Is(k)}})
		}
	}
	for i := range n.Transitions {
		if t := &n.Transitions[i]; t.Name == "cut_in_before_reply" || t.Name == "cut_in_for_reply" {
			t.Reset = append(t.Reset, hurried)
			t.Out = petri.And(append(t.Out.Arcs(), hurried)...)
		}
	}
}

// pause holds the reply back when speech begins over it.
func pause() petri.Transition {
	return petri.Transition{
		Name: "pause_reply", In: petri.Arcs{began}, Read: petri.Arcs{replying}, Reset: petri.Arcs{endMarked},
		Inhibit: petri.Arcs{firm, parked, confirming},
		Out:     petri.And(confirming, TellReply.Is(ReplyPaused), Clear.Is(ClearPlayout)),
		Action:  tellPause,
	}
}

// tellPause tells the peer to stop, and that it is a pause.
func tellPause(f *petri.Firing) {
	TellReply.Put(f, Notice{Kind: ReplyPaused, Gen: f.Gen()})
	Clear.Put(f, Notice{Kind: ClearPlayout, Gen: f.Gen()})
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
		if playing {
			t.Inhibit = append(t.Inhibit, firm, parked)
		}
		t.Out = petri.And(append(t.Out.Arcs(), inTurn, ToModel.Is(ActivityStart))...)
		notices := t.Action
		t.Action = func(f *petri.Firing) { notices(f); openTurn(f) }
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
		Name: name, In: append(in, replying), Bump: true,
		Reset: petri.Arcs{replyAudio, unacked, unplayed, endMarked, prompting, owing, cutShort, wordsAhead()},
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

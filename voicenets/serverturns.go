package voicenets

import "github.com/voicegw/voicegw/petri"

// serverTurns leaves the decision to the model: its `interrupted` cuts the
// reply at once. Our own detector may pause playout meanwhile.
func serverTurns(c Config) *petri.Net {
	cut := func(name string, state, inhibit petri.Arcs, open, playing bool) petri.Transition {
		t := cutReply(name, append(petri.Arcs{ModelSignal.Is(Interrupted)}, state...), open, playing)
		t.Inhibit = append(t.Inhibit, inhibit...)
		if !open { // a model that interrupts itself may still send audio
			t.Reset = append(t.Reset, discarding)
			t.Out = petri.And(append(t.Out.Arcs(), discarding)...)
		}
		return t
	}
	n := &petri.Net{
		Name: "turns",
		Ports: []petri.AnyPlace{began, confirmed, ended, confirming, modelTurn, owedEnd, discarding, replying,
			replyAudio, unacked, unplayed, endMarked, TellReply, Clear, CallerAudio, ModelSignal},
		Out:  []petri.Output{{Place: Clear}},
		Caps: caps(1, confirming),
		Transitions: []petri.Transition{
			{Name: "note_speech", In: petri.Arcs{began}, Inhibit: petri.Arcs{replying}},
			{Name: "note_confirmation", In: petri.Arcs{confirmed}},
			{Name: "note_stop", In: petri.Arcs{ended}, Inhibit: petri.Arcs{confirming}},
			cut("interrupt", nil, petri.Arcs{confirming}, true, true),
			cut("interrupt_at_end", nil, petri.Arcs{confirming}, false, true),
			{Name: "interrupt_before_reply", In: petri.Arcs{ModelSignal.Is(Interrupted)}, Inhibit: petri.Arcs{replying}},
		},
	}
	if c.HalfDuplex {
		n.Transitions = append(n.Transitions, petri.Transition{Name: "ignore_speech_over_reply", In: petri.Arcs{began},
			Read: petri.Arcs{replying}})
		return strip(n, confirming, unplayed, CallerAudio)
	}
	n.Transitions = append(n.Transitions, pause())
	n.Transitions = append(n.Transitions,
		cut("interrupt_paused", petri.Arcs{confirming}, nil, true, false),
		cut("interrupt_paused_at_end", petri.Arcs{confirming}, nil, false, false))
	for _, r := range []petri.Transition{
		resumes("resume_on_stop", petri.Arcs{ended, confirming}, nil, petri.Interval{}),
		resumes("resume_unconfirmed", petri.Arcs{confirming}, nil, petri.After(c.ConfirmWindow)),
	} {
		r.Reset = nil // every frame has gone up
		n.Transitions = append(n.Transitions, r)
	}
	return strip(n, CallerAudio)
}

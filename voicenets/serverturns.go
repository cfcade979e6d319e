package voicenets

import "github.com/voicegw/voicegw/petri"

// serverTurns leaves the decision to the model: its `interrupted` cuts the
// reply at once. Our own detector may pause playout meanwhile.
func serverTurns(c Config) *petri.Net {
	cut := func(name string, state, inhibit petri.Arcs, open, playing bool) petri.Transition {
		t := cutReply(name, append(petri.Arcs{ModelSignal.Is(Interrupted)}, state...), open, playing)
		t.Inhibit = append(t.Inhibit, inhibit...)
		t.Inhibit = append(t.Inhibit, firm, parked)
		if !open { // a model that interrupts itself may still send audio
			t.Reset = append(t.Reset, discarding)
			t.Out = petri.And(append(t.Out.Arcs(), discarding)...)
		}
		return t
	}
	n := &petri.Net{
		Name: "turns",
		Ports: []petri.AnyPlace{began, confirmed, ended, confirming, modelTurn, owedEnd, owing, discarding, replying,
			replyAudio, unacked, unplayed, endMarked, firm, parked, prompting, cutShort, Transcript, TellReply, Clear,
			ModelSignal},
		Out:  []petri.Output{{Place: TellReply}, {Place: Clear}},
		Caps: caps(1, confirming, owing),
		Transitions: []petri.Transition{
			{Name: "note_speech", In: petri.Arcs{began}, Priority: -1},
			{Name: "note_confirmation", In: petri.Arcs{confirmed}},
			{Name: "note_stop", In: petri.Arcs{ended}, Priority: -1},
			cut("interrupt", nil, petri.Arcs{confirming}, true, true),
			cut("interrupt_at_end", nil, petri.Arcs{confirming}, false, true),
			{Name: "note_interruption", In: petri.Arcs{ModelSignal.Is(Interrupted)}, Priority: -1},
		},
	}
	if !c.pauses() {
		return n
	}
	n.Transitions = append(n.Transitions, pause(),
		cut("interrupt_paused", petri.Arcs{confirming}, nil, true, false),
		cut("interrupt_paused_at_end", petri.Arcs{confirming}, nil, false, false))
	for _, r := range []petri.Transition{
		resumes("resume_on_stop", petri.Arcs{ended, confirming}, nil, petri.Interval{}),
		resumes("resume_unconfirmed", petri.Arcs{confirming}, nil, petri.After(c.ConfirmWindow)),
	} {
		r.Reset = nil // every frame has gone up
		n.Transitions = append(n.Transitions, r)
	}
	return n
}

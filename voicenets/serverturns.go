package voicenets

import "github.com/voicegw/voicegw/petri"

// serverTurns leaves the decision to the model: its `interrupted` cuts the
// reply at once. Our own detector may pause playout meanwhile.
func serverTurns(c Config) *petri.Net {
	cut := func(name string, state petri.Arcs, inhibit petri.Arcs, open bool, notices ...NoticeKind) petri.Transition {
		t := petri.Transition{
			Name: name, In: append(petri.Arcs{ModelSignal.Is(Interrupted), replying}, state...), Inhibit: inhibit, Bump: true,
			Reset: petri.Arcs{replyAudio, unacked, unplayed, endMarked, discarding},
			Out:   petri.And(discarding, Tell.Exactly(len(notices))),
			Action: func(f *petri.Firing) {
				for _, k := range notices {
					Tell.Put(f, Notice{Kind: k, Gen: f.Gen() - 1})
				}
			},
		}
		if open {
			t.In = append(t.In, modelTurn)
			t.Reset = append(t.Reset, owedEnd)
			t.Out = petri.And(discarding, owedEnd, Tell.Exactly(len(notices)))
		} else {
			t.Inhibit = append(petri.Arcs{modelTurn}, inhibit...)
		}
		return t
	}
	n := &petri.Net{
		Name: "turns",
		Ports: []petri.AnyPlace{began, confirmed, ended, confirming, modelTurn, owedEnd, discarding, replying,
			replyAudio, unacked, unplayed, endMarked, Tell, CallerAudio, ModelSignal},
		Caps: caps(1, confirming),
		Transitions: []petri.Transition{
			{Name: "note_speech", In: petri.Arcs{began}, Inhibit: petri.Arcs{replying}},
			{Name: "note_confirmation", In: petri.Arcs{confirmed}},
			{Name: "note_stop", In: petri.Arcs{ended}, Inhibit: petri.Arcs{confirming}},
			cut("interrupt", nil, petri.Arcs{confirming}, true, ClearPlayout, ReplyCut),
			cut("interrupt_at_end", nil, petri.Arcs{confirming}, false, ClearPlayout, ReplyCut),
			{Name: "interrupt_before_reply", In: petri.Arcs{ModelSignal.Is(Interrupted)}, Inhibit: petri.Arcs{replying}},
		},
	}
	if c.HalfDuplex {
		n.Transitions = append(n.Transitions, petri.Transition{Name: "ignore_speech_over_reply", In: petri.Arcs{began},
			Read: petri.Arcs{replying}})
		return strip(n, confirming, unplayed, CallerAudio)
	}
	n.Transitions = append(n.Transitions, pauses(c)...)
	n.Transitions = append(n.Transitions,
		cut("interrupt_paused", petri.Arcs{confirming}, nil, true, ReplyCut),
		cut("interrupt_paused_at_end", petri.Arcs{confirming}, nil, false, ReplyCut))
	for _, r := range []petri.Transition{
		resumes("resume_on_stop", petri.Arcs{ended, confirming}, nil, petri.Interval{}),
		resumes("resume_unconfirmed", petri.Arcs{confirming}, nil, petri.After(c.ConfirmWindow)),
	} {
		r.Reset = nil // every frame has gone up
		n.Transitions = append(n.Transitions, r)
	}
	return strip(n, CallerAudio)
}

package voicenets

import "github.com/voicegw/voicegw/petri"

// modelVADTurns leaves decisions about turns to the model: its `interrupted` cuts the reply at
// once. The gateway's detector may pause playout until then.
func modelVADTurns(c Config) *petri.Net {
	cut := func(name string, state, inhibit petri.Arcs, open, playing bool) petri.Transition {
		t := cutReply(name, append(petri.Arcs{ModelSignal.Is(Interrupted)}, state...), open, playing)
		t.Inhibit = append(t.Inhibit, inhibit...)
		t.Inhibit = append(t.Inhibit, Firm, Parked)
		if !open { // a model that interrupts itself may still send audio
			t.Reset = append(t.Reset, Discarding)
			t.Out = petri.And(append(t.Out.Arcs(), Discarding)...)
		}
		return t
	}
	n := &petri.Net{
		Name: "turns",
		Ports: []petri.AnyPlace{SpeechBegan, SpeechConfirmed, SpeechEnded, Confirming, ModelTurn, TurnEndPending,
			ReplyPending, Discarding, Replying,
			ReplyAudio, Unacked, Unplayed, EndMarked, Firm, Parked, Prompting, ReplyCutShort, Transcript, NotifyReply, Clear,
			ModelSignal},
		Out:  []petri.Output{{Place: NotifyReply}, {Place: Clear}},
		Caps: caps(1, Confirming, ReplyPending),
		Transitions: []petri.Transition{
			{Name: "note_speech", In: petri.Arcs{SpeechBegan}, Priority: -1},
			{Name: "note_confirmation", In: petri.Arcs{SpeechConfirmed}},
			{Name: "note_stop", In: petri.Arcs{SpeechEnded}, Priority: -1},
			cut("interrupt", nil, petri.Arcs{Confirming}, true, true),
			cut("interrupt_at_end", nil, petri.Arcs{Confirming}, false, true),
			{Name: "note_interruption", In: petri.Arcs{ModelSignal.Is(Interrupted)}, Priority: -1},
		},
	}
	if !c.pauses() {
		return n
	}
	n.Transitions = append(n.Transitions, pause(),
		cut("interrupt_paused", petri.Arcs{Confirming}, nil, true, false),
		cut("interrupt_paused_at_end", petri.Arcs{Confirming}, nil, false, false))
	for _, r := range []petri.Transition{
		resumes("resume_on_stop", petri.Arcs{SpeechEnded, Confirming}, nil, petri.Interval{}),
		resumes("resume_unconfirmed", petri.Arcs{Confirming}, nil, petri.After(c.ConfirmWindow)),
	} {
		r.Reset = nil // every frame has gone up already
		n.Transitions = append(n.Transitions, r)
	}
	return n
}

package voicenets

import "github.com/voicegw/voicegw/petri"

// hintsNet takes the opinion of a recogniser about speech over a reply: real
// speech interrupts at once, a back-channel word does not, however long it is.
// Speech that outlasts the reply gets its turn.
func hintsNet(Config) *petri.Net {
	const muffled petri.Place[petri.Unit] = "muffled"
	return &petri.Net{
		Name: "hints",
		Ports: []petri.AnyPlace{Hint, confirming, confirmed, replying, speaking, quiet, inTurn, unheard, TellReply,
			CallerAudio},
		Env:  []petri.Env{{Place: Hint}},
		Out:  []petri.Output{{Place: TellReply}},
		Caps: caps(1, muffled),
		Transitions: []petri.Transition{
			{Name: "resume_on_hint", In: petri.Arcs{Hint.Is(BackChannel), confirming}, Read: petri.Arcs{replying},
				Reset: petri.Arcs{CallerAudio, muffled}, Out: petri.And(muffled, TellReply.Is(ReplyResumed)),
				Action: tell(TellReply, ReplyResumed)},
			{Name: "confirm_on_hint", In: petri.Arcs{Hint.Is(RealSpeech)}, Read: petri.Arcs{confirming},
				Out: petri.And(confirmed)},
			{Name: "ignore_hint", In: petri.Arcs{Hint}, Priority: -1},
			{Name: "ignore_muffled_confirmation", In: petri.Arcs{confirmed}, Read: petri.Arcs{muffled}, Priority: 1},
			{Name: "end_muffled", In: petri.Arcs{muffled}, Read: petri.Arcs{quiet}},
			{Name: "hear_after_reply", In: petri.Arcs{muffled}, Read: petri.Arcs{speaking},
				Inhibit: petri.Arcs{replying, inTurn}, Reset: petri.Arcs{unheard}, Out: petri.And(unheard.Is(certain))},
		},
	}
}

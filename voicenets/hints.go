package voicenets

import "github.com/voicegw/voicegw/petri"

// hintsNet uses the opinion of a recogniser about speech over a reply. Real speech interrupts at
// once. A back-channel word does not interrupt, however long it lasts. Speech that lasts longer
// than the reply gets its turn.
func hintsNet(Config) *petri.Net {
	const backChannelSpeech petri.Place[petri.Unit] = "back_channel_speech"
	return &petri.Net{
		Name: "hints",
		Ports: []petri.AnyPlace{Hint, Confirming, SpeechConfirmed, Replying, Speaking, Quiet, InTurn, PendingSpeech,
			NotifyReply,
			CallerAudio},
		Env:  []petri.Env{{Place: Hint}},
		Out:  []petri.Output{{Place: NotifyReply}},
		Caps: caps(1, backChannelSpeech),
		Transitions: []petri.Transition{
			{Name: "resume_on_hint", In: petri.Arcs{Hint.Is(BackChannel), Confirming}, Read: petri.Arcs{Replying},
				Reset: petri.Arcs{CallerAudio, backChannelSpeech}, Out: petri.And(backChannelSpeech, NotifyReply.Is(ReplyResumed)),
				Action: notify(NotifyReply, ReplyResumed)},
			{Name: "confirm_on_hint", In: petri.Arcs{Hint.Is(RealSpeech)}, Read: petri.Arcs{Confirming},
				Out: petri.And(SpeechConfirmed)},
			{Name: "ignore_hint", In: petri.Arcs{Hint}, Priority: -1},
			{Name: "ignore_back_channel_confirmation", In: petri.Arcs{SpeechConfirmed}, Read: petri.Arcs{backChannelSpeech},
				Priority: 1},
			{Name: "end_back_channel", In: petri.Arcs{backChannelSpeech}, Read: petri.Arcs{Quiet}},
			{Name: "release_back_channel", In: petri.Arcs{backChannelSpeech}, Read: petri.Arcs{Speaking},
				Inhibit: petri.Arcs{Replying, InTurn}, Reset: petri.Arcs{PendingSpeech},
				Out: petri.And(PendingSpeech.Is(Confirmed))},
		},
	}
}

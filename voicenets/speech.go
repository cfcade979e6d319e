package voicenets

import "github.com/voicegw/voicegw/petri"

// speechNet turns edges into a state: quiet or speaking. Redundant edges are
// ignored. While speech is open the detector says so every 100 ms; when it
// does not for FrameGap its frames have stopped coming (mute, a stalled
// network, the end of a file) and speech is over. It is over, too, as soon as
// nobody may listen.
func speechNet(c Config) *petri.Net {
	const heartbeat petri.Place[petri.Unit] = "heartbeat"
	return &petri.Net{
		Name:  "speech",
		Ports: []petri.AnyPlace{SpeechEdge, TellSpeech, FramesEnded, quiet, speaking, began, confirmed, ended, deaf},
		Env:   []petri.Env{{Place: SpeechEdge}},
		Out:   []petri.Output{{Place: FramesEnded}, {Place: TellSpeech}},
		Init:  []petri.Token{quiet.Token(petri.Unit{})},
		Caps:  caps(1, quiet, speaking, began, confirmed, ended, heartbeat),
		Transitions: []petri.Transition{
			{Name: "open_speech", In: petri.Arcs{SpeechEdge.Is(SpeechStart), quiet}, Inhibit: petri.Arcs{deaf},
				Out: petri.And(speaking, heartbeat, began, TellSpeech.Is(SpeechHeard)), Action: tell(TellSpeech, SpeechHeard)},
			{Name: "keep_speech", In: petri.Arcs{SpeechEdge.Is(SpeechMore), heartbeat}, Read: petri.Arcs{speaking},
				Out: petri.And(heartbeat)},
			{Name: "confirm_speech", In: petri.Arcs{SpeechEdge.Is(SpeechConfirm), heartbeat}, Read: petri.Arcs{speaking},
				Out: petri.And(confirmed, heartbeat)},
			{Name: "close_speech", In: petri.Arcs{SpeechEdge.Is(SpeechStop), speaking, heartbeat},
				Out: petri.And(quiet, ended, TellSpeech.Is(SpeechOver)), Action: tell(TellSpeech, SpeechOver)},
			{Name: "end_speech_without_frames", In: petri.Arcs{speaking, heartbeat}, When: petri.After(c.FrameGap),
				Out: petri.And(quiet, ended, FramesEnded, TellSpeech.Is(SpeechOver)), Action: tell(TellSpeech, SpeechOver)},
			{Name: "end_speech_unheard", In: petri.Arcs{speaking, heartbeat}, Read: petri.Arcs{deaf}, Priority: 2,
				Out: petri.And(quiet, ended, FramesEnded, TellSpeech.Is(SpeechOver)), Action: tell(TellSpeech, SpeechOver)},
			{Name: "ignore_second_start", In: petri.Arcs{SpeechEdge.Is(SpeechStart)}, Read: petri.Arcs{speaking}},
			{Name: "ignore_start_while_deaf", In: petri.Arcs{SpeechEdge.Is(SpeechStart)}, Read: petri.Arcs{quiet, deaf}},
			{Name: "ignore_edge_in_quiet", In: petri.Arcs{SpeechEdge.Is(SpeechMore, SpeechConfirm, SpeechStop)},
				Read: petri.Arcs{quiet}},
		},
	}
}

// tell produces one notice about the current generation.
func tell(place petri.Place[Notice], kind NoticeKind) func(*petri.Firing) {
	return func(f *petri.Firing) { place.Put(f, Notice{Kind: kind, Gen: f.Gen()}) }
}

func caps(n int, places ...petri.AnyPlace) []petri.Cap {
	var list []petri.Cap
	for _, p := range places {
		list = append(list, petri.Cap{Place: p, Max: n})
	}
	return list
}

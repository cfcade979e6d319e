package voicenets

import "github.com/voicegw/voicegw/petri"

// speechNet turns edges into a state: quiet or speaking. It ignores redundant edges. While speech
// is open the detector sends an edge every 100 ms. After FrameGap without one, its frames have
// stopped coming (a mute, a stalled network, the end of a file) and speech is over. Speech is also
// over as soon as the input gate closes.
func speechNet(c Config) *petri.Net {
	const heartbeat petri.Place[petri.Unit] = "heartbeat"
	return &petri.Net{
		Name: "speech",
		Ports: []petri.AnyPlace{SpeechEdge, NotifySpeech, FramesEnded, Quiet, Speaking, SpeechBegan, SpeechConfirmed,
			SpeechEnded, InputClosed},
		Env:  []petri.Env{{Place: SpeechEdge}},
		Out:  []petri.Output{{Place: FramesEnded}, {Place: NotifySpeech}},
		Init: []petri.Token{Quiet.Token(petri.Unit{})},
		Caps: caps(1, Quiet, Speaking, SpeechBegan, SpeechConfirmed, SpeechEnded, heartbeat),
		Transitions: []petri.Transition{
			{Name: "open_speech", In: petri.Arcs{SpeechEdge.Is(SpeechStart), Quiet}, Inhibit: petri.Arcs{InputClosed},
				Out:    petri.And(Speaking, heartbeat, SpeechBegan, NotifySpeech.Is(SpeechHeard)),
				Action: notify(NotifySpeech, SpeechHeard)},
			{Name: "keep_speech", In: petri.Arcs{SpeechEdge.Is(SpeechMore), heartbeat}, Read: petri.Arcs{Speaking},
				Out: petri.And(heartbeat)},
			{Name: "confirm_speech", In: petri.Arcs{SpeechEdge.Is(SpeechConfirm), heartbeat}, Read: petri.Arcs{Speaking},
				Out: petri.And(SpeechConfirmed, heartbeat)},
			{Name: "close_speech", In: petri.Arcs{SpeechEdge.Is(SpeechStop), Speaking, heartbeat},
				Out: petri.And(Quiet, SpeechEnded, NotifySpeech.Is(SpeechOver)), Action: notify(NotifySpeech, SpeechOver)},
			{Name: "end_speech_without_frames", In: petri.Arcs{Speaking, heartbeat}, When: petri.After(c.FrameGap),
				Out:    petri.And(Quiet, SpeechEnded, FramesEnded, NotifySpeech.Is(SpeechOver)),
				Action: notify(NotifySpeech, SpeechOver)},
			{Name: "end_speech_input_closed", In: petri.Arcs{Speaking, heartbeat}, Read: petri.Arcs{InputClosed}, Priority: 2,
				Out:    petri.And(Quiet, SpeechEnded, FramesEnded, NotifySpeech.Is(SpeechOver)),
				Action: notify(NotifySpeech, SpeechOver)},
			{Name: "ignore_second_start", In: petri.Arcs{SpeechEdge.Is(SpeechStart)}, Read: petri.Arcs{Speaking}},
			{Name: "ignore_start_while_closed", In: petri.Arcs{SpeechEdge.Is(SpeechStart)},
				Read: petri.Arcs{Quiet, InputClosed}},
			{Name: "ignore_edge_in_quiet", In: petri.Arcs{SpeechEdge.Is(SpeechMore, SpeechConfirm, SpeechStop)},
				Read: petri.Arcs{Quiet}},
		},
	}
}

// notify returns an action that produces one notice about the current generation.
func notify(place petri.Place[Notice], kind NoticeKind) func(*petri.Firing) {
	return func(f *petri.Firing) { place.Put(f, Notice{Kind: kind, Gen: f.Gen()}) }
}

// caps returns the capacity n for each of the places.
func caps(n int, places ...petri.AnyPlace) []petri.Cap {
	var list []petri.Cap
	for _, p := range places {
		list = append(list, petri.Cap{Place: p, Max: n})
	}
	return list
}

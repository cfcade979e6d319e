package voicenets

import "github.com/voicegw/voicegw/petri"

// transcriptNet shows transcripts. The transcript of a reply goes with its audio. The net drops it
// if the reply was interrupted or comes during the caller's turn. It waits at Transcript while a
// prompt plays, and until the reply begins; a firing that drops the reply before it begins drops
// the transcript too (transcriptAhead). A reply without audio is shown when the model's turn is
// over. The caller's transcript is not shown without consent.
func transcriptNet(Config) *petri.Net {
	show := func(f *petri.Firing) {
		w := Transcript.Get(f)
		w.Gen = f.Gen()
		Show.Put(f, w)
	}
	return &petri.Net{
		Name: "transcript",
		Ports: []petri.AnyPlace{Transcript, Show, Discarding, InTurn, Prompting, Unconsented,
			Replying, ModelTurn},
		Env: []petri.Env{{Place: Transcript, Capacity: 64, Policy: petri.DropOldest}},
		Out: []petri.Output{{Place: Show}},
		Transitions: []petri.Transition{
			{Name: "show_caller", In: petri.Arcs{Transcript.Is(Caller)}, Inhibit: petri.Arcs{Unconsented},
				Out: petri.And(Show.Passing(Transcript)), Action: show},
			{Name: "drop_unconsented_transcript", In: petri.Arcs{Transcript.Is(Caller)}, Read: petri.Arcs{Unconsented}},
			{Name: "show_model", In: petri.Arcs{Transcript.Is(Model)}, Read: petri.Arcs{Replying},
				Inhibit: petri.Arcs{Discarding, InTurn, Prompting}, Out: petri.And(Show.Passing(Transcript)), Action: show},
			{Name: "show_text_reply", In: petri.Arcs{Transcript.Is(Model)},
				Inhibit: petri.Arcs{Discarding, InTurn, Replying, ModelTurn}, Out: petri.And(Show.Passing(Transcript)),
				Action: show},
			{Name: "drop_discarded_transcript", In: petri.Arcs{Transcript.Is(Model)}, Read: petri.Arcs{Discarding}},
			{Name: "drop_transcript_over_caller", In: petri.Arcs{Transcript.Is(Model)}, Read: petri.Arcs{InTurn},
				Inhibit: petri.Arcs{Discarding}},
		},
	}
}

// transcriptAhead returns the arc with which a firing that drops the reply also drops the model's
// transcript that waits for its audio.
func transcriptAhead() petri.Arc { return Transcript.Is(Model) }

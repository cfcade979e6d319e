package voicenets

import "github.com/voicegw/voicegw/petri"

// wordsNet shows transcripts. The words of a reply share the fate of its audio:
// those of one that was interrupted, or that comes while the caller has the
// turn, are dropped, and while a prompt of ours is given they wait. They also
// wait, at Transcript, while the reply has not begun; what drops the reply then
// drops them (wordsAhead). A reply in words alone is shown when the model's turn is
// over. What a caller said who has withdrawn consent is not shown.
func wordsNet(Config) *petri.Net {
	show := func(f *petri.Firing) {
		w := Transcript.Get(f)
		w.Gen = f.Gen()
		Show.Put(f, w)
	}
	return &petri.Net{
		Name: "words",
		Ports: []petri.AnyPlace{Transcript, Show, discarding, inTurn, prompting, unconsented,
			replying, modelTurn},
		Env: []petri.Env{{Place: Transcript, Capacity: 64, Policy: petri.DropOldest}},
		Out: []petri.Output{{Place: Show}},
		Transitions: []petri.Transition{
			{Name: "show_caller", In: petri.Arcs{Transcript.Is(Caller)}, Inhibit: petri.Arcs{unconsented},
				Out: petri.And(Show.Passing(Transcript)), Action: show},
			{Name: "drop_unconsented_words", In: petri.Arcs{Transcript.Is(Caller)}, Read: petri.Arcs{unconsented}},
			{Name: "show_model", In: petri.Arcs{Transcript.Is(Model)}, Read: petri.Arcs{replying},
				Inhibit: petri.Arcs{discarding, inTurn, prompting}, Out: petri.And(Show.Passing(Transcript)), Action: show},
			{Name: "show_words_alone", In: petri.Arcs{Transcript.Is(Model)},
				Inhibit: petri.Arcs{discarding, inTurn, replying, modelTurn}, Out: petri.And(Show.Passing(Transcript)),
				Action: show},
			{Name: "drop_unheard_words", In: petri.Arcs{Transcript.Is(Model)}, Read: petri.Arcs{discarding}},
			{Name: "drop_words_over_caller", In: petri.Arcs{Transcript.Is(Model)}, Read: petri.Arcs{inTurn},
				Inhibit: petri.Arcs{discarding}},
		},
	}
}

// wordsAhead are words of the model that wait for their audio, for a firing that
// drops the reply.
func wordsAhead() petri.Arc { return Transcript.Is(Model) }

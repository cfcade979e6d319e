package voicenets

import "github.com/voicegw/voicegw/petri"

// wordsNet shows transcripts, but not the words of a reply that was
// interrupted and is not heard.
func wordsNet(Config) *petri.Net {
	show := func(f *petri.Firing) {
		w := Transcript.Get(f)
		w.Gen = f.Gen()
		Show.Put(f, w)
	}
	return &petri.Net{
		Name:  "words",
		Ports: []petri.AnyPlace{Transcript, Show, discarding},
		Env:   []petri.Env{{Place: Transcript, Capacity: 64, Policy: petri.DropOldest}},
		Out:   []petri.Output{{Place: Show}},
		Transitions: []petri.Transition{
			{Name: "show_caller", In: petri.Arcs{Transcript.Is(Caller)},
				Out: petri.And(Show.Passing(Transcript)), Action: show},
			{Name: "show_model", In: petri.Arcs{Transcript.Is(Model)}, Inhibit: petri.Arcs{discarding},
				Out: petri.And(Show.Passing(Transcript)), Action: show},
			{Name: "drop_unheard_words", In: petri.Arcs{Transcript.Is(Model)}, Read: petri.Arcs{discarding}},
		},
	}
}

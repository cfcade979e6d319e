package voicenets

import (
	"fmt"

	"github.com/voicegw/voicegw/petri"
)

// Session is the net of a whole call: every subnet of this package, composed.
func Session(c Config) (*petri.Net, error) {
	c, err := c.withDefaults()
	if err != nil {
		return nil, err
	}
	turns := manualTurns(c)
	if c.Detection == Server {
		turns = serverTurns(c)
	}
	n, err := petri.Compose("session", callNet(c), speechNet(c), turns, uplinkNet(c), modelTurnNet(c), playoutNet(c),
		wordsNet())
	if err != nil {
		return nil, fmt.Errorf("voicenets: session: %w", err)
	}
	if c.Detection == Manual || c.Greeting {
		n.Out = append(n.Out, petri.Output{Place: ToModel})
	}
	return n, nil
}

// callNet begins and ends the call. The greeting is asked for, because a model
// never speaks first. Once the call is over nothing fires any more.
func callNet(c Config) *petri.Net {
	n := &petri.Net{
		Name:  "call",
		Ports: []petri.AnyPlace{Over, Hangup, over},
		Env:   []petri.Env{{Place: Over}},
		Out:   []petri.Output{{Place: Hangup}},
		Final: over,
		Transitions: []petri.Transition{
			{Name: "end_call", In: petri.Arcs{Over}, Out: petri.And(over, Hangup), Priority: 1},
			{Name: "end_longest_call", When: petri.After(c.MaxDuration), Out: petri.And(over, Hangup.Is(MaxDuration))},
		},
	}
	if c.Greeting {
		const greet petri.Place[petri.Unit] = "greet"
		n.Ports = append(n.Ports, ToModel, modelTurn)
		n.Init = []petri.Token{greet.Token(petri.Unit{})}
		n.Transitions = append(n.Transitions, petri.Transition{
			Name: "ask_for_greeting", In: petri.Arcs{greet}, Out: petri.And(modelTurn, ToModel.Is(Greet))})
	}
	return n
}

// wordsNet shows transcripts, but not the words of a reply that was
// interrupted and is not heard.
func wordsNet() *petri.Net {
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

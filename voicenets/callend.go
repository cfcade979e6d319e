package voicenets

import "github.com/voicegw/voicegw/petri"

// callNet begins and ends the call. The greeting is asked for, because a model
// never speaks first. A call ends at once, by somebody's wish or at its longest
// duration; or it takes its leave: last words, and then it ends. When the
// gateway shuts down it does so at a quiet moment. Once the call is over
// nothing fires any more.
func callNet(c Config) *petri.Net {
	const (
		draining petri.Place[petri.Unit] = "draining"
		parting  petri.Place[End]        = "parting"
	)
	n := &petri.Net{
		Name: "call",
		Ports: []petri.AnyPlace{Over, Hangup, over, Drain, HandOff, Transfer, leaving, promptDue, replying, inTurn, modelTurn,
			owing, speaking},
		Env:   []petri.Env{{Place: Over}, {Place: Drain}, {Place: HandOff}},
		Out:   []petri.Output{{Place: Hangup}, {Place: Transfer}},
		Final: over,
		Caps:  caps(1, draining, parting, leaving),
		Transitions: []petri.Transition{
			{Name: "end_call", In: petri.Arcs{Over}, Out: petri.And(over, Hangup), Priority: 1},
			{Name: "hand_off", In: petri.Arcs{HandOff}, Out: petri.And(Transfer.Passing(HandOff), over, Hangup.Is(Transferred)),
				Action: func(f *petri.Firing) { Transfer.Put(f, HandOff.Get(f)); Hangup.Put(f, Transferred) }},
			{Name: "end_longest_call", When: petri.After(c.MaxDuration), Out: petri.And(over, Hangup.Is(MaxDuration))},
			{Name: "drain", In: petri.Arcs{Drain}, Inhibit: petri.Arcs{draining, parting}, Out: petri.And(draining)},
			{Name: "drain_again", In: petri.Arcs{Drain}, Priority: -1}, // and nothing is put off
			{Name: "leave_in_quiet", In: petri.Arcs{draining}, Reset: petri.Arcs{leaving},
				Inhibit: petri.Arcs{inTurn, modelTurn, owing, replying, speaking, parting}, Out: petri.And(leaving.Is(GoingAway))},
			{Name: "leave_now", In: petri.Arcs{draining}, When: petri.After(c.DrainWithin),
				Out: petri.And(over, Hangup.Is(GoingAway))},
			{Name: "say_sorry", In: petri.Arcs{leaving.Is(ModelLost)}, Inhibit: petri.Arcs{parting},
				Reset: petri.Arcs{promptDue}, Out: petri.And(parting.Is(ModelLost), promptDue.Is(Fallback))},
			{Name: "say_goodbye", In: petri.Arcs{leaving.Is(GoingAway, CallerSilent, NoConsent)}, Inhibit: petri.Arcs{parting},
				Reset: petri.Arcs{promptDue}, Out: petri.And(parting.Passing(leaving), promptDue.Is(Goodbye))},
			{Name: "part", In: petri.Arcs{parting}, Inhibit: petri.Arcs{promptDue, replying},
				Out: petri.And(over, Hangup.Passing(parting)), Priority: -1},
			{Name: "part_at_last", In: petri.Arcs{parting}, When: petri.After(c.Farewell),
				Out: petri.And(over, Hangup.Passing(parting))},
		},
	}
	if c.Prompts.Has(Goodbye) || c.Consent { // something may go wrong meanwhile
		n.Transitions = append(n.Transitions,
			petri.Transition{Name: "leave_once", In: petri.Arcs{leaving}, Read: petri.Arcs{parting}})
	}
	if c.Greeting {
		n.Ports = append(n.Ports, ToModel, online, unconsented, held, firm, said, lastTurn)
		n.Out = append(n.Out, petri.Output{Place: ToModel})
		n.Init = []petri.Token{greet.Token(petri.Unit{})}
		n.Transitions = append(n.Transitions, askForGreeting(c), petri.Transition{
			Name: "forget_greeting", In: petri.Arcs{greet}, Read: petri.Arcs{inTurn}})
	}
	return below(n, callLayer)
}

// askForGreeting is a turn in the caller's place.
func askForGreeting(c Config) petri.Transition {
	t := petri.Transition{
		Name: "ask_for_greeting", In: petri.Arcs{greet}, Read: petri.Arcs{online},
		Inhibit: petri.Arcs{unconsented, held, inTurn, modelTurn, replying, promptDue},
		Reset:   petri.Arcs{owing, said, lastTurn},
		Out:     petri.And(modelTurn, owing, said, lastTurn, ToModel.Is(Greet)),
		Action:  func(f *petri.Firing) { owe(f, &CallerTurn{Greet: true}) },
	}
	if c.GreetingFirm {
		t.Reset = append(t.Reset, firm)
		t.Out = petri.And(append(t.Out.Arcs(), firm)...)
	}
	return t
}

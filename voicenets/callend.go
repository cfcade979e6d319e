package voicenets

import "github.com/voicegw/voicegw/petri"

// callNet begins and ends the call. It asks the model for the greeting, because a model never
// speaks first. A call ends at once on request (Over, HandOff) or at MaxDuration. Otherwise it ends
// after a farewell: the net plays a last prompt and then ends the call. After a request to drain it
// does so at a quiet moment, or ends at once after DrainWithin. Once the call has ended, nothing
// fires any more.
func callNet(c Config) *petri.Net {
	const (
		draining petri.Place[petri.Unit] = "draining"
		farewell petri.Place[End]        = "farewell"
	)
	n := &petri.Net{
		Name: "call",
		Ports: []petri.AnyPlace{Over, Hangup, CallEnded, Drain, HandOff, Transfer, Ending, PromptDue, Replying, InTurn,
			ModelTurn,
			ReplyPending, Speaking},
		Env:   []petri.Env{{Place: Over}, {Place: Drain}, {Place: HandOff}},
		Out:   []petri.Output{{Place: Hangup}, {Place: Transfer}},
		Final: CallEnded,
		Caps:  caps(1, draining, farewell, Ending),
		Transitions: []petri.Transition{
			{Name: "end_call", In: petri.Arcs{Over}, Out: petri.And(CallEnded, Hangup), Priority: 1},
			{Name: "hand_off", In: petri.Arcs{HandOff}, Out: petri.And(Transfer.Passing(HandOff), CallEnded,
				Hangup.Is(Transferred)),
				Action: func(f *petri.Firing) { Transfer.Put(f, HandOff.Get(f)); Hangup.Put(f, Transferred) }},
			{Name: "end_longest_call", When: petri.After(c.MaxDuration), Out: petri.And(CallEnded, Hangup.Is(MaxDuration))},
			{Name: "drain", In: petri.Arcs{Drain}, Inhibit: petri.Arcs{draining, farewell}, Out: petri.And(draining)},
			{Name: "drain_again", In: petri.Arcs{Drain}, Priority: -1}, // a repetition delays nothing
			{Name: "end_drain_in_quiet", In: petri.Arcs{draining}, Reset: petri.Arcs{Ending},
				Inhibit: petri.Arcs{InTurn, ModelTurn, ReplyPending, Replying, Speaking, farewell},
				Out:     petri.And(Ending.Is(GoingAway))},
			{Name: "end_drain_in_time", In: petri.Arcs{draining}, When: petri.After(c.DrainWithin),
				Out: petri.And(CallEnded, Hangup.Is(GoingAway))},
			{Name: "say_fallback", In: petri.Arcs{Ending.Is(ModelLost)}, Inhibit: petri.Arcs{farewell},
				Reset: petri.Arcs{PromptDue}, Out: petri.And(farewell.Is(ModelLost), PromptDue.Is(Fallback))},
			{Name: "say_goodbye", In: petri.Arcs{Ending.Is(GoingAway, CallerSilent, NoConsent)},
				Inhibit: petri.Arcs{farewell},
				Reset:   petri.Arcs{PromptDue}, Out: petri.And(farewell.Passing(Ending), PromptDue.Is(Goodbye))},
			{Name: "end_farewell", In: petri.Arcs{farewell}, Inhibit: petri.Arcs{PromptDue, Replying},
				Out: petri.And(CallEnded, Hangup.Passing(farewell)), Priority: -1},
			{Name: "end_farewell_in_time", In: petri.Arcs{farewell}, When: petri.After(c.Farewell),
				Out: petri.And(CallEnded, Hangup.Passing(farewell))},
		},
	}
	if c.Prompts.Has(Goodbye) || c.Consent { // another reason to end may come during the farewell
		n.Transitions = append(n.Transitions,
			petri.Transition{Name: "ignore_second_ending", In: petri.Arcs{Ending}, Read: petri.Arcs{farewell}})
	}
	if c.Greeting {
		n.Ports = append(n.Ports, ToModel, Online, Unconsented, Held, Firm, Unanswered, LastTurn)
		n.Out = append(n.Out, petri.Output{Place: ToModel})
		n.Init = []petri.Token{GreetingDue.Token(petri.Unit{})}
		n.Transitions = append(n.Transitions, askForGreeting(c), petri.Transition{
			Name: "forget_greeting", In: petri.Arcs{GreetingDue}, Read: petri.Arcs{InTurn}})
	}
	return below(n, callLayer)
}

// askForGreeting asks the model for the greeting, as a turn of the caller.
func askForGreeting(c Config) petri.Transition {
	t := petri.Transition{
		Name: "ask_for_greeting", In: petri.Arcs{GreetingDue}, Read: petri.Arcs{Online},
		Inhibit: petri.Arcs{Unconsented, Held, InTurn, ModelTurn, Replying, PromptDue},
		Reset:   petri.Arcs{ReplyPending, Unanswered, LastTurn},
		Out:     petri.And(ModelTurn, ReplyPending, Unanswered, LastTurn, ToModel.Is(Greet)),
		Action:  func(f *petri.Firing) { awaitReply(f, &CallerTurn{Greet: true}) },
	}
	if c.GreetingFirm {
		t.Reset = append(t.Reset, Firm)
		t.Out = petri.And(append(t.Out.Arcs(), Firm)...)
	}
	return t
}

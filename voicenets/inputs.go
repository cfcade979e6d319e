package voicenets

import "github.com/voicegw/voicegw/petri"

// Input is what the code around a session may inject at one place. Inputs lists
// them all; the automata of Hostile are made of that list, and package voicegw
// injects nothing else, which its tests check.
type Input struct {
	Place petri.AnyPlace
	// By is who injects it; the automaton of Hostile has that name.
	By string
	// Keys are the keys a token may have; nil: the colour has none.
	Keys []string
	// Aged says that a token carries a generation, the current one or an earlier
	// one. Other tokens have none.
	Aged bool

	moves []petri.Transition
	ports []petri.AnyPlace
	init  []petri.Token
}

// Inputs are what may be injected into a session of this configuration. A part
// that Config.Parts leaves out does not take its inputs.
func Inputs(c Config) []Input {
	c, _ = c.withDefaults()
	slots := min(c.ToolSlots+1, SlotsMax) // one stands for all that a session does not have
	list := []Input{
		input("caller", SpeechEdge),
		input("caller", CallerAudio),
		input("caller", CallerText),
		input("caller", CallerDigit),
		input("caller", PeerMute),
		input("caller", Hold),
		input("caller", Protect),
		input("peer", PeerAck),
		ahead(input("peer", PromptAudio)),
		input("peer", PromptEnd),
		ahead(input("gemini", ModelAudio)),
		input("gemini", ModelSignal),
		input("gemini", Transcript),
		input("network", Dialled),
		input("network", GoAway),
		input("network", LinkDown),
		input("network", Handle),
		input("host", Over),
		input("host", Drain),
		input("host", HandOff),
	}
	if c.Consent {
		list = append(list, input("caller", Consent))
	}
	if c.Hints && c.manual() && c.pauses() {
		list = append(list, input("caller", Hint))
	}
	if c.ToolSlots > 0 {
		list = append(list, input("gemini", ToolCalled), input("gemini", ToolCancelled), few(input("gemini",
			ToolDone), slots))
	}
	return list
}

// input is a place that is filled with tokens of each key, and of any age if its
// colour has generations, at any time.
func input[T any](by string, p petri.Place[T]) Input {
	in := Input{Place: p, By: by, ports: []petri.AnyPlace{p}}
	var zero T
	if k, ok := any(zero).(petri.Keyed); ok {
		in.Keys = k.KeyNames()
		for key, name := range in.Keys {
			in.moves = append(in.moves, anytime(p.String()+"_"+name, nil, p.Is(petri.Key(key))))
		}
		return in
	}
	if _, ok := any(zero).(petri.Generational); !ok {
		in.moves = []petri.Transition{anytime(p.String(), nil, p)}
		return in
	}
	in.Aged = true
	old := petri.Place[T]("old_" + p.String()) // of the first generation: fresh until something begins anew
	in.init = []petri.Token{old.Token(zero)}
	late := anytime(p.String()+"_late", nil, p.Passing(old))
	late.Read = petri.Arcs{old.Stale()}
	in.moves = []petri.Transition{anytime(p.String(), nil, p.Fresh()), late}
	return in
}

// few leaves an input the first of its keys.
func few(in Input, n int) Input {
	in.Keys, in.moves = in.Keys[:n], in.moves[:n]
	return in
}

// lead is how many frames of a reply may wait in the net for the automata to
// send more: a restriction of the environment, so that a session with its real
// limits has a finite graph. A session that holds fewer is sent more than it
// can take.
const lead = 2

// ahead restricts an input of audio: fresh frames come only while fewer than
// lead wait.
func ahead(in Input) Input {
	in.ports = append(in.ports, replyAudio)
	in.moves[0].Inhibit = append(in.moves[0].Inhibit, replyAudio.AtLeast(lead))
	return in
}

// anytime is a move of the environment: it may happen at any time, or never.
func anytime(name string, in petri.Arcs, out ...petri.AnyArc) petri.Transition {
	return petri.Transition{Name: name, In: in, Out: petri.And(out...), When: petri.Anytime()}
}

// automata are the environment that keeps no rules: one automaton for each who
// injects.
func automata(c Config) []*petri.Net {
	var list []*petri.Net
	byName := map[string]*petri.Net{}
	for _, in := range Inputs(c) {
		n := byName[in.By]
		if n == nil {
			n = &petri.Net{Name: in.By}
			byName[in.By] = n
			list = append(list, n)
		}
		if payload(in.Place) { // decides nothing: verify asks what becomes of it in every state
			continue
		}
		n.Ports = append(n.Ports, in.ports...)
		n.Transitions = append(n.Transitions, in.moves...)
		n.Init = append(n.Init, in.init...)
	}
	return list
}

// payload says that the tokens of a place decide nothing.
func payload(p petri.AnyPlace) bool {
	return p.String() == string(CallerAudio) || p.String() == string(Transcript)
}

package voicenets

import "github.com/voicegw/voicegw/petri"

// Input is what the code around a session may inject at one place. Inputs lists all of them.
// Environment makes its automata from that list. Package voicegw injects nothing else; its tests
// check this.
type Input struct {
	Place petri.AnyPlace
	// By is the injector, and the name of its automaton in Environment.
	By string
	// Keys are the keys that a token may have; nil if the colour has no keys.
	Keys []string
	// Aged reports whether a token carries a generation: the current one or an earlier one.
	Aged bool

	moves []petri.Transition
	ports []petri.AnyPlace
	init  []petri.Token
}

// Inputs returns everything that may be injected into a session of this configuration. It includes
// the inputs of a part that Config.Parts leaves out, although no transition takes them.
func Inputs(c Config) []Input {
	c, _ = c.Filled()
	slots := min(c.ToolSlots+1, SlotsMax) // one more stands for all slots that a session does not have
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
		input("host", Note),
		input("host", Request),
	}
	if c.Consent {
		list = append(list, input("caller", Consent))
	}
	if c.Hints && c.gatewayVAD() && c.pauses() {
		list = append(list, input("caller", Hint))
	}
	if c.ToolSlots > 0 {
		list = append(list, input("gemini", ToolCalled), input("gemini", ToolCancelled), few(input("gemini",
			ToolDone), slots))
	}
	return list
}

// input returns an input that gets tokens of each key at any time. If its colour has generations,
// it gets tokens of any generation.
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
	old := petri.Place[T]("old_" + p.String()) // a token of the first generation, which the first Bump makes stale
	in.init = []petri.Token{old.Token(zero)}
	late := anytime(p.String()+"_late", nil, p.Passing(old))
	late.Read = petri.Arcs{old.Stale()}
	in.moves = []petri.Transition{anytime(p.String(), nil, p.Fresh()), late}
	return in
}

// few keeps the first n keys of an input.
func few(in Input, n int) Input {
	in.Keys, in.moves = in.Keys[:n], in.moves[:n]
	return in
}

// AheadMax restricts the environment: the automata send a fresh frame only while fewer than
// AheadMax frames of a reply wait in the net. So a session with its real limits has a finite graph.
// A session whose ReplyFramesMax is below AheadMax gets more frames than it can take.
const AheadMax = 2

// ahead restricts an input of audio: fresh frames come only while fewer than AheadMax wait.
func ahead(in Input) Input {
	in.ports = append(in.ports, ReplyAudio)
	in.moves[0].Inhibit = append(in.moves[0].Inhibit, ReplyAudio.AtLeast(AheadMax))
	return in
}

// anytime returns a move of the environment that may happen at any time, or never.
func anytime(name string, in petri.Arcs, out ...petri.AnyArc) petri.Transition {
	return petri.Transition{Name: name, In: in, Out: petri.And(out...), When: petri.Anytime()}
}

// Environment returns an environment that keeps no rules, as one automaton for each injector.
func Environment(c Config) []*petri.Net {
	var list []*petri.Net
	byName := map[string]*petri.Net{}
	for _, in := range Inputs(c) {
		n := byName[in.By]
		if n == nil {
			n = &petri.Net{Name: in.By}
			byName[in.By] = n
			list = append(list, n)
		}
		if payload(in.Place) { // verify checks in every state what happens to it
			continue
		}
		n.Ports = append(n.Ports, in.ports...)
		n.Transitions = append(n.Transitions, in.moves...)
		n.Init = append(n.Init, in.init...)
	}
	return list
}

// payload reports whether the tokens of a place decide nothing.
func payload(p petri.AnyPlace) bool {
	return p.String() == string(CallerAudio) || p.String() == string(Transcript)
}

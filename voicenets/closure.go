package voicenets

import "github.com/voicegw/voicegw/petri"

// Hostile closes a session with an environment that keeps no protocol: every
// token may come at any time, acknowledgements may be of any generation and of
// what was never sent. What holds under it needs no trust in anybody.
func Hostile(c Config) (*petri.Net, error) {
	session, err := Session(c)
	if err != nil {
		return nil, err
	}
	return CloseHostile(session, c)
}

// CloseHostile closes a changed session of configuration c as Hostile does.
func CloseHostile(session *petri.Net, c Config) (*petri.Net, error) {
	return petri.Close("hostile", session, hostileDetector(), hostilePeer(), hostileModel(), watcher(c))
}

// Contract closes a session with an environment that keeps its protocols: the
// detector's edges alternate, the peer acknowledges what it was sent, in time
// or late, and the model answers turns.
func Contract(c Config) (*petri.Net, error) {
	session, err := Session(c)
	if err != nil {
		return nil, err
	}
	full, err := c.withDefaults()
	if err != nil {
		return nil, err
	}
	parts := []*petri.Net{contractDetector(), contractPeer(full.BudgetFrames)}
	switch {
	case c.Detection == Server:
		parts = append(parts, serverModel(c.Greeting))
	default:
		parts = append(parts, manualModel(c.Greeting))
	}
	return petri.Close("contract", session, parts...)
}

// lead is how many frames of a reply may wait in the net for the automata to
// send more: a restriction of the environment, so that a session with its real
// limits has a finite graph. A session that holds fewer is sent more than it
// can take.
const lead = 3

// ahead makes a move of a model that sends audio: only while fewer than lead
// frames wait.
func ahead(t petri.Transition) petri.Transition {
	t.Inhibit = append(t.Inhibit, replyAudio.AtLeast(lead))
	return t
}

// anytime is a move of the environment: it may happen at any time, or never.
func anytime(name string, in petri.Arcs, out ...petri.AnyArc) petri.Transition {
	return petri.Transition{Name: name, In: in, Out: petri.And(out...), When: petri.Anytime()}
}

// atOnce is how an automaton takes what the session puts out.
func atOnce(name string, in petri.Arcs, out ...petri.AnyArc) petri.Transition {
	return petri.Transition{Name: name, In: in, Out: petri.And(out...)}
}

func hostileDetector() *petri.Net {
	n := &petri.Net{Name: "detector", Ports: []petri.AnyPlace{SpeechEdge}}
	for k, name := range SpeechStart.KeyNames() {
		n.Transitions = append(n.Transitions, anytime("hear_"+name, nil, SpeechEdge.Is(petri.Key(k))))
	}
	return n
}

// hostilePeer acknowledges anything, of the current or an earlier generation,
// mutes, and ends the call for any reason.
func hostilePeer() *petri.Net {
	const old petri.Place[Ack] = "old_ack"
	n := &petri.Net{
		Name:  "peer",
		Ports: []petri.AnyPlace{PeerAck, PeerMute, Over},
		Init:  []petri.Token{old.Token(Ack{})},
		Transitions: []petri.Transition{
			anytime("acknowledge", nil, PeerAck.Fresh()),
			{Name: "acknowledge_late", In: petri.Arcs{old.Stale()}, Out: petri.And(PeerAck.Passing(old), aged.One()),
				When: petri.Anytime()},
			anytime("age", petri.Arcs{aged}, old.Fresh()),
			anytime("mute", nil, PeerMute.Is(On)),
			anytime("unmute", nil, PeerMute.Is(Off)),
		},
	}
	for k, name := range HungUp.KeyNames() {
		n.Transitions = append(n.Transitions, anytime("end_"+name, nil, Over.Is(petri.Key(k))))
	}
	return n
}

const aged petri.Place[petri.Unit] = "aged"

func hostileModel() *petri.Net {
	n := &petri.Net{
		Name:        "gemini",
		Ports:       []petri.AnyPlace{ModelAudio, ModelSignal, replyAudio},
		Transitions: []petri.Transition{ahead(anytime("speak", nil, ModelAudio.Fresh()))},
	}
	for k, name := range Interrupted.KeyNames() {
		n.Transitions = append(n.Transitions, anytime("say_"+name, nil, ModelSignal.Is(petri.Key(k))))
	}
	return n
}

// contractDetector gives Start, then More and at most one Confirm, then Stop;
// or its frames stop and it is told to begin anew.
func contractDetector() *petri.Net {
	const (
		silent petri.Place[petri.Unit] = "silent"
		heard  petri.Place[petri.Unit] = "heard"
		sure   petri.Place[petri.Unit] = "sure"
	)
	return &petri.Net{
		Name:  "detector",
		Ports: []petri.AnyPlace{SpeechEdge, FramesEnded},
		Init:  []petri.Token{silent.Token(petri.Unit{})},
		Transitions: []petri.Transition{
			anytime("start", petri.Arcs{silent}, heard, SpeechEdge.Is(SpeechStart)),
			anytime("more", petri.Arcs{heard}, heard, SpeechEdge.Is(SpeechMore)),
			anytime("confirm", petri.Arcs{heard}, sure, SpeechEdge.Is(SpeechConfirm)),
			anytime("more_when_sure", petri.Arcs{sure}, sure, SpeechEdge.Is(SpeechMore)),
			anytime("stop", petri.Arcs{heard}, silent, SpeechEdge.Is(SpeechStop)),
			anytime("stop_when_sure", petri.Arcs{sure}, silent, SpeechEdge.Is(SpeechStop)),
			atOnce("abort", petri.Arcs{FramesEnded, heard}, silent),
			atOnce("abort_when_sure", petri.Arcs{FramesEnded, sure}, silent),
		},
	}
}

// contractPeer plays what it is sent and acknowledges it, in time or late.
func contractPeer(budget int) *petri.Net {
	const playing petri.Place[Ack] = "playing"
	return &petri.Net{
		Name:  "peer",
		Ports: []petri.AnyPlace{AudioDown, PeerAck, PeerMute, Over},
		Transitions: []petri.Transition{
			{Name: "receive", In: petri.Arcs{AudioDown.Fresh()}, Inhibit: petri.Arcs{playing.AtLeast(budget + 1)},
				Out: petri.And(playing.Fresh())},
			{Name: "forget_oldest", In: petri.Arcs{AudioDown.Fresh()}, Read: petri.Arcs{playing.AtLeast(budget + 1)}},
			{Name: "acknowledge", In: petri.Arcs{playing}, Out: petri.And(PeerAck.Passing(playing)), When: petri.Anytime()},
			{Name: "drop_cleared", In: petri.Arcs{playing.Stale()}, When: petri.Anytime()},
			anytime("mute", nil, PeerMute.Is(On)),
			anytime("unmute", nil, PeerMute.Is(Off)),
			anytime("hang_up", nil, Over.Is(HungUp)),
		},
	}
}

// states of a model automaton.
const (
	idle      petri.Place[petri.Unit] = "idle"
	listening petri.Place[petri.Unit] = "listening"
	thinking  petri.Place[petri.Unit] = "thinking"
	talking   petri.Place[petri.Unit] = "talking"
	waiting   petri.Place[petri.Unit] = "waiting" // its reply is produced and, it assumes, being played
	cut       petri.Place[petri.Unit] = "cut"     // it was interrupted and has to say so
	closing   petri.Place[petri.Unit] = "closing" // it said so and owes turn complete

	cutThinking     petri.Place[petri.Unit] = "cut_thinking"     // the caller's turn is over meanwhile
	closingThinking petri.Place[petri.Unit] = "closing_thinking" // the same
)

// manualModel answers each turn it is told of: with a reply, an empty reply,
// or an interruption when the next turn comes first.
func manualModel(greeting bool) *petri.Net {
	start, end := ToModel.Is(ActivityStart), ToModel.Is(ActivityEnd)
	n := &petri.Net{
		Name:  "gemini",
		Ports: []petri.AnyPlace{ToModel, ModelAudio, ModelSignal, replyAudio},
		Init:  []petri.Token{idle.Token(petri.Unit{})},
		Transitions: append(modelTalk(),
			atOnce("listen", petri.Arcs{start, idle}, listening),
			atOnce("listen_instead", petri.Arcs{start, thinking}, cut),
			atOnce("be_cut", petri.Arcs{start, talking}, cut),
			atOnce("be_cut_while_playing", petri.Arcs{start, waiting}, cut),
			atOnce("think", petri.Arcs{end, listening}, thinking),
			atOnce("think_when_cut", petri.Arcs{end, cut}, cutThinking),
			atOnce("think_when_closed", petri.Arcs{end, closing}, closingThinking),
			atOnce("listen_when_cut", petri.Arcs{start, cutThinking}, cut),
			atOnce("listen_when_closing", petri.Arcs{start, closingThinking}, closing),
			anytime("say_interrupted", petri.Arcs{cut}, closing, ModelSignal.Is(Interrupted)),
			anytime("say_interrupted_late", petri.Arcs{cutThinking}, closingThinking, ModelSignal.Is(Interrupted)),
			anytime("late_audio", petri.Arcs{cut}, cut, ModelAudio.Fresh()),
			anytime("close_old_turn", petri.Arcs{closing}, listening, ModelSignal.Is(TurnComplete)),
			anytime("close_old_turn_late", petri.Arcs{closingThinking}, thinking, ModelSignal.Is(TurnComplete)),
		),
	}
	if greeting {
		n.Transitions = append(n.Transitions, atOnce("greet", petri.Arcs{ToModel.Is(Greet), idle}, thinking))
	}
	return n
}

// modelTalk is a model's reply: audio, generation complete, turn complete; or
// an empty turn.
func modelTalk() []petri.Transition {
	return []petri.Transition{
		ahead(anytime("begin", petri.Arcs{thinking}, talking, ModelAudio.Fresh())),
		ahead(anytime("talk", petri.Arcs{talking}, talking, ModelAudio.Fresh())),
		anytime("finish", petri.Arcs{talking}, waiting, ModelSignal.Is(GenerationComplete)),
		anytime("complete", petri.Arcs{waiting}, idle, ModelSignal.Is(TurnComplete)),
		anytime("say_nothing", petri.Arcs{thinking}, idle, ModelSignal.Is(TurnComplete)),
	}
}

// serverModel detects speech itself and speaks, or interrupts itself, when it
// wants to.
func serverModel(greeting bool) *petri.Net {
	n := &petri.Net{
		Name:  "gemini",
		Ports: []petri.AnyPlace{ModelAudio, ModelSignal, replyAudio},
		Init:  []petri.Token{idle.Token(petri.Unit{})},
		Transitions: append(modelTalk(),
			anytime("think", petri.Arcs{idle}, thinking),
			anytime("interrupt", petri.Arcs{talking}, closing, ModelSignal.Is(Interrupted)),
			anytime("interrupt_playing", petri.Arcs{waiting}, closing, ModelSignal.Is(Interrupted)),
			anytime("late_audio", petri.Arcs{closing}, closing, ModelAudio.Fresh()),
			anytime("close_old_turn", petri.Arcs{closing}, idle, ModelSignal.Is(TurnComplete)),
		),
	}
	if greeting {
		n.Ports = append(n.Ports, ToModel)
		n.Transitions = append(n.Transitions, atOnce("greet", petri.Arcs{ToModel.Is(Greet), idle}, thinking))
	}
	return n
}

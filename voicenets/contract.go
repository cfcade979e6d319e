package voicenets

import (
	"slices"

	"github.com/voicegw/voicegw/petri"
)

// Contract closes a session with an environment that keeps its protocols. The
// edges of the caller's speech alternate, and so do the positions of switches.
// The peer acknowledges what it was given, unless it was told to drop it. The
// model answers a turn with audio or with an empty turn, ends each turn that it
// began, says that it was interrupted when it was, and says nothing out of turn.
// The network answers each dial once and breaks only a connection in use. A
// prompt is given once and a function returns once. When any of it happens stays
// open: at any time, or never.
//
// Claims under it are about such environments alone; see Hostile.
func Contract(c Config) (*petri.Net, error) {
	session, err := Session(c)
	if err != nil {
		return nil, err
	}
	return closeContract(session, c)
}

// closeContract closes a changed session of configuration c as Contract does.
func closeContract(session *petri.Net, c Config) (*petri.Net, error) {
	c, err := c.withDefaults()
	if err != nil {
		return nil, err
	}
	list := []*petri.Net{contractCaller(c), contractPeer(), contractModel(c), contractNetwork(), contractHost()}
	return petri.Close("contract", session, understood(list, session)...)
}

// understood are automata without what the session has no use for: what they
// would send to a place that it does not take tokens from, or make of an output
// or a state that it does not have.
func understood(automata []*petri.Net, session *petri.Net) []*petri.Net {
	has := map[string]bool{}
	for _, n := range session.Nets {
		for _, p := range n.Ports {
			has[p.String()] = true
		}
		for _, e := range n.Env {
			has[e.Place.String()] = true
		}
	}
	for _, p := range placesOf(slices.Concat(modelStates, petri.Arcs{modelAsked, linkInUse})) {
		has[p.String()] = true // automata share them
	}
	for i, a := range automata {
		small := *a
		small.Transitions = slices.DeleteFunc(slices.Clone(a.Transitions), func(t petri.Transition) bool {
			return slices.ContainsFunc(placesOf(slices.Concat(t.In, t.Read, t.Out.Arcs())), func(p petri.AnyPlace) bool {
				port := slices.ContainsFunc(a.Ports, func(q petri.AnyPlace) bool { return p.String() == q.String() })
				return port && !has[p.String()]
			})
		})
		automata[i] = &small
	}
	automata = prune(slices.Concat(session.Nets, automata))[len(session.Nets):]
	for _, a := range automata {
		used := mentions(a)
		a.Ports = keep(a.Ports, func(p petri.AnyPlace) bool { return used[p.String()] })
		a.Init = keep(a.Init, func(t petri.Token) bool { return used[t.Place()] })
	}
	return keep(automata, func(a *petri.Net) bool { return len(a.Transitions) > 0 })
}

// mark is a token that is at a private place of an automaton at the start.
func mark(p petri.Place[petri.Unit]) petri.Token { return p.Token(petri.Unit{}) }

// seeing is what an automaton makes of an output at once.
func seeing(name string, in petri.Arcs, reset petri.Arcs, out ...petri.AnyArc) petri.Transition {
	return petri.Transition{Name: name, In: in, Reset: reset, Out: petri.And(out...)}
}

// listening gives the at-once transitions of an automaton priorities, by their
// order: an output is seen before anything else fires.
func listening(n *petri.Net, level int) *petri.Net {
	for i := range n.Transitions {
		if n.Transitions[i].When.AtOnce() {
			n.Transitions[i].Priority = level - i
		}
	}
	return n
}

// contractCaller speaks, types, presses keys and uses switches.
func contractCaller(c Config) *petri.Net {
	const (
		silent  petri.Place[petri.Unit] = "caller_silent"
		speaks  petri.Place[petri.Unit] = "caller_speaks"
		certain petri.Place[petri.Unit] = "caller_certain" // the detector confirmed it
	)
	edge := func(e Edge) petri.AnyArc { return SpeechEdge.Is(e) }
	n := &petri.Net{Name: "caller",
		Ports: []petri.AnyPlace{SpeechEdge, FramesEnded, CallerText, CallerDigit, Hint, PeerMute, Hold, Protect, Consent},
		Init:  []petri.Token{mark(silent)},
		Caps:  caps(1, silent, speaks, certain),
		Transitions: []petri.Transition{
			seeing("learn_of_end", petri.Arcs{FramesEnded}, petri.Arcs{silent, speaks, certain}, silent),
			anytime("start", petri.Arcs{silent}, edge(SpeechStart), speaks),
			anytime("more", petri.Arcs{speaks}, edge(SpeechMore), speaks),
			anytime("confirm", petri.Arcs{speaks}, edge(SpeechConfirm), certain),
			anytime("more_certain", petri.Arcs{certain}, edge(SpeechMore), certain),
			anytime("stop", petri.Arcs{speaks}, edge(SpeechStop), silent),
			anytime("stop_certain", petri.Arcs{certain}, edge(SpeechStop), silent),
			anytime("type", nil, CallerText),
			anytime("press", nil, CallerDigit.Is(petri.Key(0))),
			anytime("press_last", nil, CallerDigit.Is(petri.Key(1))),
		}}
	for k, name := range Opinion(0).KeyNames() {
		n.Transitions = append(n.Transitions, anytime("judge_"+name, petri.Arcs{speaks}, Hint.Is(Opinion(k)), speaks))
	}
	for _, s := range []petri.Place[Switch]{PeerMute, Hold, Protect, Consent} {
		on, off := petri.Place[petri.Unit](s+"_is_on"), petri.Place[petri.Unit](s+"_is_off")
		n.Init = append(n.Init, mark(off))
		n.Transitions = append(n.Transitions, anytime(string(s)+"_on", petri.Arcs{off}, s.Is(On), on),
			anytime(string(s)+"_off", petri.Arcs{on}, s.Is(Off), off))
	}
	return listening(n, 300)
}

// contractPeer plays what it is given and acknowledges each frame once, in time:
// what the session presumes to be played it acknowledges no more. Told to drop
// what waits, it does so before it plays what comes next; what it acknowledges
// until then crosses the order on its way. It gives each prompt once.
func contractPeer() *petri.Net {
	const (
		plays   petri.Place[Ack]         = "peer_plays"
		told    petri.Place[petri.Unit]  = "peer_told" // to drop what it plays
		prompt  petri.Place[*ReplyFrame] = "peer_prompt"
		endsOff petri.Place[Ack]         = "peer_prompt_end"
	)
	return listening(&petri.Net{Name: "peer",
		Ports: []petri.AnyPlace{AudioDown, Clear, Presumed, PeerAck, PlayPrompt, PromptAudio, PromptEnd, replyAudio},
		Transitions: []petri.Transition{
			seeing("get_frame_after_clear", petri.Arcs{AudioDown, told}, petri.Arcs{plays}, plays.Fresh()),
			seeing("get_frame", petri.Arcs{AudioDown}, nil, plays.Fresh()),
			seeing("get_clear", petri.Arcs{Clear}, petri.Arcs{told}, told),
			seeing("be_presumed", petri.Arcs{Presumed}, petri.Arcs{plays, told}),
			seeing("get_prompt", petri.Arcs{PlayPrompt}, petri.Arcs{prompt, endsOff}, prompt.Fresh(), endsOff.Fresh()),
			{Name: "drop_nothing", In: petri.Arcs{told}, Inhibit: petri.Arcs{plays}},
			anytime("ack", petri.Arcs{plays}, PeerAck.Passing(plays)),
			{Name: "drop", In: petri.Arcs{told}, Reset: petri.Arcs{plays}, When: petri.Anytime()},
			{Name: "give_prompt", In: petri.Arcs{prompt}, Inhibit: petri.Arcs{replyAudio.AtLeast(lead)},
				Out: petri.And(PromptAudio.Passing(prompt)), When: petri.Anytime()},
			{Name: "end_prompt", In: petri.Arcs{endsOff}, Inhibit: petri.Arcs{prompt}, When: petri.Anytime(),
				Out: petri.And(PromptEnd.Passing(endsOff))},
		}}, 350)
}

// Places of the model and the network that keep their protocols.
const (
	modelIdle    petri.Place[petri.Unit] = "model_idle"    // its turn is not open
	modelAsked   petri.Place[petri.Unit] = "model_asked"   // it is to give a reply
	modelTalks   petri.Place[petri.Unit] = "model_talks"   // it gives one
	modelThrough petri.Place[petri.Unit] = "model_through" // it said that all of it is generated
	modelCut     petri.Place[petri.Unit] = "model_cut"     // it was interrupted, and has yet to say so
	modelClosing petri.Place[petri.Unit] = "model_closing" // its turn is to end
	linkInUse    petri.Place[petri.Unit] = "link_in_use"
)

// modelStates are the states of the model's turn.
var modelStates = petri.Arcs{modelIdle, modelTalks, modelThrough, modelCut, modelClosing}

// contractModel is a model. It can be interrupted at any time: what it says
// until it says so is of the old turn. Its functions are called while it talks
// and return once.
func contractModel(c Config) *petri.Net {
	ask := func(name string, what petri.AnyArc) petri.Transition {
		t := seeing(name, petri.Arcs{what}, petri.Arcs{modelAsked}, modelAsked)
		t.Read = petri.Arcs{linkInUse}
		return t
	}
	cut := func(name string, what, state petri.AnyArc) petri.Transition {
		return seeing(name, petri.Arcs{what, state}, petri.Arcs{modelAsked}, modelCut)
	}
	asked := cut("hear_turn_begin_before_reply", ToModel.Is(ActivityStart), modelIdle)
	asked.In = append(asked.In, modelAsked)
	asked.Reset = nil
	say := func(name string, from petri.AnyArc, s Signal, to petri.AnyArc) petri.Transition {
		return anytime(name, petri.Arcs{from}, ModelSignal.Is(s), to)
	}
	talk := func(name string, in petri.Arcs, out ...petri.AnyArc) petri.Transition {
		t := anytime(name, in, append([]petri.AnyArc{ModelAudio}, out...)...)
		t.Inhibit = petri.Arcs{replyAudio.AtLeast(lead)}
		return t
	}
	n := &petri.Net{Name: "gemini",
		Ports: []petri.AnyPlace{ToModel, TextUp, TurnAgain, ToolReply, ModelAudio, ModelSignal, replyAudio, linkInUse,
			ToolCalled, ToolCancelled, ToolDone, StartTool, modelIdle, modelAsked, modelTalks, modelThrough, modelCut,
			modelClosing},
		Caps: caps(1, modelIdle, modelAsked, modelTalks, modelThrough, modelCut, modelClosing),
		Init: []petri.Token{mark(modelIdle)},
		Transitions: []petri.Transition{
			cut("hear_turn_begin", ToModel.Is(ActivityStart), modelTalks),
			cut("hear_turn_begin_at_end", ToModel.Is(ActivityStart), modelThrough),
			asked,
			ask("hear_turn_end", ToModel.Is(ActivityEnd)),
			ask("hear_request", ToModel.Is(Greet, Nudge)),
			seeing("hear_nothing", petri.Arcs{ToModel}, nil),
			ask("hear_text", TextUp), seeing("miss_text", petri.Arcs{TextUp}, nil),
			ask("hear_turn_again", TurnAgain), seeing("miss_turn", petri.Arcs{TurnAgain}, nil),
			ask("hear_result", ToolReply), seeing("miss_result", petri.Arcs{ToolReply}, nil),
			talk("begin_reply", petri.Arcs{modelIdle, modelAsked}, modelTalks),
			talk("go_on", petri.Arcs{modelTalks}, modelTalks),
			talk("speak_too_long", petri.Arcs{modelCut}, modelCut),
			anytime("give_empty_turn", petri.Arcs{modelIdle, modelAsked}, ModelSignal.Is(TurnComplete), modelIdle),
			say("finish_generation", modelTalks, GenerationComplete, modelThrough),
			say("complete_turn", modelThrough, TurnComplete, modelIdle),
			say("notice_interruption", modelCut, Interrupted, modelClosing),
			say("complete_interrupted_turn", modelClosing, TurnComplete, modelIdle),
		}}
	if !c.manual() { // it hears the caller itself
		n.Transitions = append(n.Transitions, anytime("hear_caller", petri.Arcs{linkInUse, modelIdle}, linkInUse,
			modelIdle, modelAsked), say("be_interrupted", modelTalks, Interrupted, modelClosing),
			say("be_interrupted_at_end", modelThrough, Interrupted, modelClosing))
		n.Transitions[len(n.Transitions)-3].Inhibit = petri.Arcs{modelAsked}
	}
	if c.ToolSlots > 0 {
		addFunctions(n, c)
	}
	return listening(n, 400)
}

// addFunctions lets the model call functions, which return once.
func addFunctions(n *petri.Net, c Config) {
	call := anytime("call_function", petri.Arcs{modelTalks}, ToolCalled, modelTalks)
	cancel := anytime("cancel_function", petri.Arcs{modelTalks}, ToolCancelled, modelTalks)
	n.Transitions = append(n.Transitions, call, cancel)
	for s := range Slot(c.ToolSlots) {
		runs := petri.Place[petri.Unit]("function_" + itoa(int(s)))
		name := itoa(int(s))
		start := seeing("run_function_"+name, petri.Arcs{StartTool}, nil, runs)
		start.Read = petri.Arcs{running(s)}
		start.Inhibit = petri.Arcs{runs}
		n.Ports = append(n.Ports, running(s))
		n.Transitions = append(n.Transitions, start, anytime("return_"+name, petri.Arcs{runs}, ToolDone.Is(s)))
	}
}

// contractNetwork answers each dial once, and breaks only what is in use.
func contractNetwork() *petri.Net {
	const (
		dialled petri.Place[petri.Unit] = "network_dials"
		ends    petri.Place[petri.Unit] = "link_ends" // the gateway closed it
		kept    petri.Place[petri.Unit] = "network_handle"
	)
	answer := func(r DialResult, read ...petri.AnyArc) petri.Transition {
		t := anytime("answer_"+r.KeyNames()[r], petri.Arcs{dialled}, Dialled.Is(r))
		t.Read = read
		return t
	}
	withheld := func(name string, why petri.AnyArc) petri.Transition {
		t := answer(Withheld, why)
		t.Name += "_" + name
		return t
	}
	gone := slices.Concat(modelStates, petri.Arcs{modelAsked})
	down := func(name string, link petri.AnyArc) petri.Transition {
		t := anytime(name, petri.Arcs{link}, LinkDown, modelIdle)
		t.Reset = gone
		return t
	}
	here := func(name string, out petri.AnyArc) petri.Transition {
		t := anytime(name, nil, out)
		t.Read = petri.Arcs{linkInUse}
		return t
	}
	handle := here("give_handle", Handle)
	handle.Reset, handle.Out = petri.Arcs{kept}, petri.And(Handle, kept)
	return listening(&petri.Net{Name: "network",
		Ports: []petri.AnyPlace{Dial, Dialled, UseLink, CloseLink, LinkDown, GoAway, Handle, linkInUse, held, protected,
			unconsented, modelIdle, modelAsked, modelTalks, modelThrough, modelCut, modelClosing},
		Caps: caps(1, dialled, ends, kept, linkInUse),
		Transitions: []petri.Transition{
			seeing("dial", petri.Arcs{Dial}, petri.Arcs{dialled}, dialled),
			seeing("use", petri.Arcs{UseLink}, nil, linkInUse),
			seeing("close", petri.Arcs{CloseLink, linkInUse}, gone, ends, modelIdle),
			answer(Fresh), answer(Unreachable), answer(Turned), answer(Resumed, kept),
			withheld("held", held), withheld("protected", protected), withheld("unconsented", unconsented),
			down("break", linkInUse), down("end", ends),
			here("go_away_soon", GoAway.Is(Soon)), here("go_away_later", GoAway.Is(Later)), handle,
		}}, 450)
}

// contractHost ends the call: once, for a reason that the code around the net
// has, or at a quiet moment, or by handing it off.
func contractHost() *petri.Net {
	const (
		runs   petri.Place[petri.Unit] = "host_runs"
		drains petri.Place[petri.Unit] = "host_drains"
	)
	n := &petri.Net{Name: "host", Ports: []petri.AnyPlace{Over, Drain, HandOff},
		Init: []petri.Token{mark(runs), mark(drains)},
		Transitions: []petri.Transition{
			anytime("drain", petri.Arcs{drains}, Drain), anytime("hand_off", petri.Arcs{runs}, HandOff)}}
	for _, e := range []End{HungUp, PeerLost, PeerStalled, ModelLost, GoingAway, Done} {
		n.Transitions = append(n.Transitions, anytime("end_"+e.String(), petri.Arcs{runs}, Over.Is(e)))
	}
	return n
}

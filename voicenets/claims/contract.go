package claims

import (
	"slices"

	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/voicenets"
	"github.com/voicegw/voicegw/voicenets/internal/prune"
)

// Contract closes a session with an environment that keeps its protocols. The edges of the caller's
// speech alternate, and so do the positions of switches. The peer acks the audio that it received,
// unless a clear made it drop that audio. The model answers a turn with audio or with an empty
// turn, ends each turn that it began, reports each interruption, and sends nothing out of turn. The
// network answers each dial once and breaks only a connection in use. A prompt is given once and a
// function returns once. The time of each event is open: at any time, or never.
//
// Claims under Contract hold for such environments only; see Hostile.
func Contract(c voicenets.Config) (*petri.Net, error) {
	session, err := voicenets.Session(c)
	if err != nil {
		return nil, err
	}
	return closeContract(session, c)
}

// closeContract closes a changed session of configuration c as Contract does.
func closeContract(session *petri.Net, c voicenets.Config) (*petri.Net, error) {
	c, err := c.Filled()
	if err != nil {
		return nil, err
	}
	list := []*petri.Net{contractCaller(c), contractPeer(), contractModel(c), contractNetwork(), contractHost()}
	return petri.Close("contract", session, understood(list, session)...)
}

// understood removes from automata what the session cannot use: tokens for places that the session
// takes nothing from, and reactions to outputs or states that it does not have.
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
	automata = prune.Prune(slices.Concat(session.Nets, automata))[len(session.Nets):]
	for _, a := range automata {
		used := mentions(a)
		a.Ports = prune.Keep(a.Ports, func(p petri.AnyPlace) bool { return used[p.String()] })
		a.Init = prune.Keep(a.Init, func(t petri.Token) bool { return used[t.Place()] })
	}
	return prune.Keep(automata, func(a *petri.Net) bool { return len(a.Transitions) > 0 })
}

// mark puts a token into a private place of an automaton at the start.
func mark(p petri.Place[petri.Unit]) petri.Token { return p.Token(petri.Unit{}) }

// seeing is a transition by which an automaton reacts to an output at once.
func seeing(name string, in petri.Arcs, reset petri.Arcs, out ...petri.AnyArc) petri.Transition {
	return petri.Transition{Name: name, In: in, Reset: reset, Out: petri.And(out...)}
}

// listening gives the immediate transitions of an automaton priorities in their order, so that it
// sees an output before anything else fires.
func listening(n *petri.Net, level int) *petri.Net {
	for i := range n.Transitions {
		if n.Transitions[i].When.AtOnce() {
			n.Transitions[i].Priority = level - i
		}
	}
	return n
}

// contractCaller is a caller that speaks, types, presses keys and uses switches.
func contractCaller(c voicenets.Config) *petri.Net {
	const (
		callerSilent    petri.Place[petri.Unit] = "caller_silent"
		callerSpeaks    petri.Place[petri.Unit] = "caller_speaks"
		callerConfirmed petri.Place[petri.Unit] = "caller_confirmed" // the detector confirmed it
	)
	edge := func(e voicenets.Edge) petri.AnyArc { return voicenets.SpeechEdge.Is(e) }
	n := &petri.Net{Name: "caller",
		Ports: []petri.AnyPlace{voicenets.SpeechEdge, voicenets.FramesEnded, voicenets.CallerText, voicenets.CallerDigit,
			voicenets.Hint, voicenets.PeerMute, voicenets.Hold, voicenets.Protect, voicenets.Consent},
		Init: []petri.Token{mark(callerSilent)},
		Caps: caps(1, callerSilent, callerSpeaks, callerConfirmed),
		Transitions: []petri.Transition{
			seeing("learn_of_end", petri.Arcs{voicenets.FramesEnded}, petri.Arcs{callerSilent, callerSpeaks, callerConfirmed},
				callerSilent),
			anytime("start", petri.Arcs{callerSilent}, edge(voicenets.SpeechStart), callerSpeaks),
			anytime("more", petri.Arcs{callerSpeaks}, edge(voicenets.SpeechMore), callerSpeaks),
			anytime("confirm", petri.Arcs{callerSpeaks}, edge(voicenets.SpeechConfirm), callerConfirmed),
			anytime("more_confirmed", petri.Arcs{callerConfirmed}, edge(voicenets.SpeechMore), callerConfirmed),
			anytime("stop", petri.Arcs{callerSpeaks}, edge(voicenets.SpeechStop), callerSilent),
			anytime("stop_confirmed", petri.Arcs{callerConfirmed}, edge(voicenets.SpeechStop), callerSilent),
			anytime("type", nil, voicenets.CallerText),
			anytime("press", nil, voicenets.CallerDigit.Is(petri.Key(0))),
			anytime("press_last", nil, voicenets.CallerDigit.Is(petri.Key(1))),
		}}
	for k, name := range voicenets.Opinion(0).KeyNames() {
		n.Transitions = append(n.Transitions, anytime("judge_"+name, petri.Arcs{callerSpeaks},
			voicenets.Hint.Is(voicenets.Opinion(k)), callerSpeaks))
	}
	for _, s := range []petri.Place[voicenets.Switch]{voicenets.PeerMute, voicenets.Hold, voicenets.Protect,
		voicenets.Consent} {
		on, off := petri.Place[petri.Unit](s+"_is_on"), petri.Place[petri.Unit](s+"_is_off")
		n.Init = append(n.Init, mark(off))
		n.Transitions = append(n.Transitions, anytime(string(s)+"_on", petri.Arcs{off}, s.Is(voicenets.On), on),
			anytime(string(s)+"_off", petri.Arcs{on}, s.Is(voicenets.Off), off))
	}
	return listening(n, 300)
}

// contractPeer plays the audio that it receives and acks each frame once, in time. It does not ack
// frames that the session presumes played. After a clear, it drops its waiting frames before it
// plays the next one; acks that it sent before the drop may cross the clear. It gives each prompt
// once.
func contractPeer() *petri.Net {
	const (
		peerPlays     petri.Place[voicenets.Ack]         = "peer_plays"
		peerCleared   petri.Place[petri.Unit]            = "peer_cleared" // must drop what it plays
		peerPrompt    petri.Place[*voicenets.ReplyFrame] = "peer_prompt"
		peerPromptEnd petri.Place[voicenets.Ack]         = "peer_prompt_end"
	)
	return listening(&petri.Net{Name: "peer",
		Ports: []petri.AnyPlace{voicenets.AudioDown, voicenets.Clear, voicenets.PresumedPlayed, voicenets.PeerAck,
			voicenets.PlayPrompt, voicenets.PromptAudio, voicenets.PromptEnd, voicenets.ReplyAudio},
		Transitions: []petri.Transition{
			seeing("get_frame_after_clear", petri.Arcs{voicenets.AudioDown, peerCleared}, petri.Arcs{peerPlays},
				peerPlays.Fresh()),
			seeing("get_frame", petri.Arcs{voicenets.AudioDown}, nil, peerPlays.Fresh()),
			seeing("get_clear", petri.Arcs{voicenets.Clear}, petri.Arcs{peerCleared}, peerCleared),
			seeing("be_presumed", petri.Arcs{voicenets.PresumedPlayed}, petri.Arcs{peerPlays, peerCleared}),
			seeing("get_prompt", petri.Arcs{voicenets.PlayPrompt}, petri.Arcs{peerPrompt, peerPromptEnd}, peerPrompt.Fresh(),
				peerPromptEnd.Fresh()),
			{Name: "drop_nothing", In: petri.Arcs{peerCleared}, Inhibit: petri.Arcs{peerPlays}},
			anytime("ack", petri.Arcs{peerPlays}, voicenets.PeerAck.Passing(peerPlays)),
			{Name: "drop", In: petri.Arcs{peerCleared}, Reset: petri.Arcs{peerPlays}, When: petri.Anytime()},
			{Name: "give_prompt", In: petri.Arcs{peerPrompt},
				Inhibit: petri.Arcs{voicenets.ReplyAudio.AtLeast(voicenets.AheadMax)},
				Out:     petri.And(voicenets.PromptAudio.Passing(peerPrompt)), When: petri.Anytime()},
			{Name: "end_prompt", In: petri.Arcs{peerPromptEnd}, Inhibit: petri.Arcs{peerPrompt}, When: petri.Anytime(),
				Out: petri.And(voicenets.PromptEnd.Passing(peerPromptEnd))},
		}}, 350)
}

// Places of the model and the network that keep their protocols.
const (
	modelIdle    petri.Place[petri.Unit] = "model_idle"    // its turn is not open
	modelAsked   petri.Place[petri.Unit] = "model_asked"   // must give a reply
	modelTalks   petri.Place[petri.Unit] = "model_talks"   // gives a reply
	modelThrough petri.Place[petri.Unit] = "model_through" // reported that the whole reply is generated
	modelCut     petri.Place[petri.Unit] = "model_cut"     // was interrupted and has not reported it yet
	modelClosing petri.Place[petri.Unit] = "model_closing" // must end its turn
	linkInUse    petri.Place[petri.Unit] = "link_in_use"
)

// modelStates are the states of the model's turn.
var modelStates = petri.Arcs{modelIdle, modelTalks, modelThrough, modelCut, modelClosing}

// contractModel is a model that can be interrupted at any time: its output until it reports the
// interruption belongs to the old turn. It calls functions while it speaks, and each returns once.
func contractModel(c voicenets.Config) *petri.Net {
	ask := func(name string, what petri.AnyArc) petri.Transition {
		t := seeing(name, petri.Arcs{what}, petri.Arcs{modelAsked}, modelAsked)
		t.Read = petri.Arcs{linkInUse}
		return t
	}
	cut := func(name string, what, state petri.AnyArc) petri.Transition {
		return seeing(name, petri.Arcs{what, state}, petri.Arcs{modelAsked}, modelCut)
	}
	asked := cut("hear_turn_begin_before_reply", voicenets.ToModel.Is(voicenets.ActivityStart), modelIdle)
	asked.In = append(asked.In, modelAsked)
	asked.Reset = nil
	say := func(name string, from petri.AnyArc, s voicenets.Signal, to petri.AnyArc) petri.Transition {
		return anytime(name, petri.Arcs{from}, voicenets.ModelSignal.Is(s), to)
	}
	talk := func(name string, in petri.Arcs, out ...petri.AnyArc) petri.Transition {
		t := anytime(name, in, append([]petri.AnyArc{voicenets.ModelAudio}, out...)...)
		t.Inhibit = petri.Arcs{voicenets.ReplyAudio.AtLeast(voicenets.AheadMax)}
		return t
	}
	n := &petri.Net{Name: "gemini",
		Ports: []petri.AnyPlace{voicenets.ToModel, voicenets.TextUp, voicenets.TurnAgain, voicenets.ToolReply,
			voicenets.ModelAudio, voicenets.ModelSignal, voicenets.ReplyAudio, linkInUse,
			voicenets.ToolCalled, voicenets.ToolCancelled, voicenets.ToolDone, voicenets.StartTool, modelIdle, modelAsked,
			modelTalks, modelThrough, modelCut,
			modelClosing},
		Caps: caps(1, modelIdle, modelAsked, modelTalks, modelThrough, modelCut, modelClosing),
		Init: []petri.Token{mark(modelIdle)},
		Transitions: []petri.Transition{
			cut("hear_turn_begin", voicenets.ToModel.Is(voicenets.ActivityStart), modelTalks),
			cut("hear_turn_begin_at_end", voicenets.ToModel.Is(voicenets.ActivityStart), modelThrough),
			asked,
			ask("hear_turn_end", voicenets.ToModel.Is(voicenets.ActivityEnd)),
			ask("hear_request", voicenets.ToModel.Is(voicenets.Greet, voicenets.Nudge)),
			seeing("hear_nothing", petri.Arcs{voicenets.ToModel}, nil),
			ask("hear_text", voicenets.TextUp), seeing("miss_text", petri.Arcs{voicenets.TextUp}, nil),
			ask("hear_turn_again", voicenets.TurnAgain), seeing("miss_turn", petri.Arcs{voicenets.TurnAgain}, nil),
			ask("hear_result", voicenets.ToolReply), seeing("miss_result", petri.Arcs{voicenets.ToolReply}, nil),
			talk("begin_reply", petri.Arcs{modelIdle, modelAsked}, modelTalks),
			talk("go_on", petri.Arcs{modelTalks}, modelTalks),
			talk("speak_too_long", petri.Arcs{modelCut}, modelCut),
			anytime("give_empty_turn", petri.Arcs{modelIdle, modelAsked}, voicenets.ModelSignal.Is(voicenets.TurnComplete),
				modelIdle),
			say("finish_generation", modelTalks, voicenets.GenerationComplete, modelThrough),
			say("complete_turn", modelThrough, voicenets.TurnComplete, modelIdle),
			say("notice_interruption", modelCut, voicenets.Interrupted, modelClosing),
			say("complete_interrupted_turn", modelClosing, voicenets.TurnComplete, modelIdle),
		}}
	if !gatewayVAD(c) { // it hears the caller itself
		hear := anytime("hear_caller", petri.Arcs{linkInUse, modelIdle}, linkInUse, modelIdle, modelAsked)
		hear.Inhibit = petri.Arcs{modelAsked}
		n.Transitions = append(n.Transitions, hear, say("be_interrupted", modelTalks, voicenets.Interrupted, modelClosing),
			say("be_interrupted_at_end", modelThrough, voicenets.Interrupted, modelClosing))
	}
	if c.ToolSlots > 0 {
		addFunctions(n, c)
	}
	return listening(n, 400)
}

// addFunctions lets the model call functions, each of which returns once.
func addFunctions(n *petri.Net, c voicenets.Config) {
	call := anytime("call_function", petri.Arcs{modelTalks}, voicenets.ToolCalled, modelTalks)
	cancel := anytime("cancel_function", petri.Arcs{modelTalks}, voicenets.ToolCancelled, modelTalks)
	n.Transitions = append(n.Transitions, call, cancel)
	for s := range voicenets.Slot(c.ToolSlots) {
		runs := petri.Place[petri.Unit]("function_" + itoa(int(s)))
		name := itoa(int(s))
		start := seeing("run_function_"+name, petri.Arcs{voicenets.StartTool}, nil, runs)
		start.Read = petri.Arcs{voicenets.ToolRunning(s)}
		start.Inhibit = petri.Arcs{runs}
		n.Ports = append(n.Ports, voicenets.ToolRunning(s))
		n.Transitions = append(n.Transitions, start, anytime("return_"+name, petri.Arcs{runs}, voicenets.ToolDone.Is(s)))
	}
}

// contractNetwork answers each dial once and breaks only a connection in use.
func contractNetwork() *petri.Net {
	const (
		networkDials  petri.Place[petri.Unit] = "network_dials"
		linkEnds      petri.Place[petri.Unit] = "link_ends" // the gateway closed it
		networkHandle petri.Place[petri.Unit] = "network_handle"
	)
	answer := func(r voicenets.DialResult, read ...petri.AnyArc) petri.Transition {
		t := anytime("answer_"+r.KeyNames()[r], petri.Arcs{networkDials}, voicenets.Dialled.Is(r))
		t.Read = read
		return t
	}
	withheld := func(name string, why petri.AnyArc) petri.Transition {
		t := answer(voicenets.Withheld, why)
		t.Name += "_" + name
		return t
	}
	gone := slices.Concat(modelStates, petri.Arcs{modelAsked})
	down := func(name string, link petri.AnyArc) petri.Transition {
		t := anytime(name, petri.Arcs{link}, voicenets.LinkDown, modelIdle)
		t.Reset = gone
		return t
	}
	here := func(name string, out petri.AnyArc) petri.Transition {
		t := anytime(name, nil, out)
		t.Read = petri.Arcs{linkInUse}
		return t
	}
	handle := here("give_handle", voicenets.Handle)
	handle.Reset, handle.Out = petri.Arcs{networkHandle}, petri.And(voicenets.Handle, networkHandle)
	return listening(&petri.Net{Name: "network",
		Ports: []petri.AnyPlace{voicenets.Dial, voicenets.Dialled, voicenets.UseLink, voicenets.CloseLink,
			voicenets.LinkDown, voicenets.GoAway, voicenets.Handle, linkInUse, voicenets.Held, voicenets.Protected,
			voicenets.Unconsented, modelIdle, modelAsked, modelTalks, modelThrough, modelCut, modelClosing},
		Caps: caps(1, networkDials, linkEnds, networkHandle, linkInUse),
		Transitions: []petri.Transition{
			seeing("dial", petri.Arcs{voicenets.Dial}, petri.Arcs{networkDials}, networkDials),
			seeing("use", petri.Arcs{voicenets.UseLink}, nil, linkInUse),
			seeing("close", petri.Arcs{voicenets.CloseLink, linkInUse}, gone, linkEnds, modelIdle),
			answer(voicenets.Fresh), answer(voicenets.Unreachable), answer(voicenets.Refused),
			answer(voicenets.Resumed, networkHandle),
			withheld("held", voicenets.Held), withheld("protected", voicenets.Protected),
			withheld("unconsented", voicenets.Unconsented),
			down("break", linkInUse), down("end", linkEnds),
			here("go_away_soon", voicenets.GoAway.Is(voicenets.Soon)), here("go_away_later",
				voicenets.GoAway.Is(voicenets.Later)), handle,
		}}, 450)
}

// contractHost ends the call once: for a reason of the code around the net, at a quiet moment (a
// drain), or by a hand-off.
func contractHost() *petri.Net {
	const (
		hostRuns   petri.Place[petri.Unit] = "host_runs"
		hostDrains petri.Place[petri.Unit] = "host_drains"
	)
	n := &petri.Net{Name: "host", Ports: []petri.AnyPlace{voicenets.Over, voicenets.Drain, voicenets.HandOff},
		Init: []petri.Token{mark(hostRuns), mark(hostDrains)},
		Transitions: []petri.Transition{
			anytime("drain", petri.Arcs{hostDrains}, voicenets.Drain), anytime("hand_off", petri.Arcs{hostRuns},
				voicenets.HandOff)}}
	for _, e := range []voicenets.End{voicenets.HungUp, voicenets.PeerLost, voicenets.PeerStalled, voicenets.ModelLost,
		voicenets.GoingAway, voicenets.Done} {
		n.Transitions = append(n.Transitions, anytime("end_"+e.String(), petri.Arcs{hostRuns}, voicenets.Over.Is(e)))
	}
	return n
}

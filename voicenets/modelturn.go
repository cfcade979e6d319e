package voicenets

import "github.com/voicegw/voicegw/petri"

// modelTurnNet follows the model's turn. Audio carries no turn on the wire, so
// after an interruption everything is discarded until the model says that the
// old turn is over, or LateAudio after the caller's turn. The turn complete of
// an interrupted turn is owed and must not be taken for the next one's.
func modelTurnNet(c Config) *petri.Net {
	n := &petri.Net{
		Name:  "model",
		Ports: []petri.AnyPlace{ModelAudio, ModelSignal, modelTurn, owedEnd, discarding, replyAudio, replying},
		Env:   []petri.Env{{Place: ModelAudio}, {Place: ModelSignal}},
		Caps: append(caps(1, modelTurn, owedEnd, discarding, replying),
			petri.Cap{Place: replyAudio, Max: c.ReplyFramesMax}),
		Transitions: []petri.Transition{
			{Name: "accept_frame", In: petri.Arcs{ModelAudio},
				Inhibit: petri.Arcs{discarding, replyAudio.AtLeast(c.ReplyFramesMax)},
				Out:     petri.And(replyAudio.Fresh()), Action: stamp},
			{Name: "discard_late_frame", In: petri.Arcs{ModelAudio}, Read: petri.Arcs{discarding}},
			{Name: "finish_generation", In: petri.Arcs{ModelSignal.Is(GenerationComplete), modelTurn},
				Inhibit: petri.Arcs{owedEnd}, Out: petri.And(owedEnd)},
			{Name: "ignore_generation_complete", In: petri.Arcs{ModelSignal.Is(GenerationComplete)},
				Inhibit: petri.Arcs{modelTurn}},
			{Name: "settle_owed_end", In: petri.Arcs{ModelSignal.Is(TurnComplete), owedEnd}, Reset: petri.Arcs{discarding}},
			{Name: "complete_turn", In: petri.Arcs{ModelSignal.Is(TurnComplete), modelTurn}, Inhibit: petri.Arcs{owedEnd}},
			{Name: "ignore_turn_complete", In: petri.Arcs{ModelSignal.Is(TurnComplete)},
				Inhibit: petri.Arcs{owedEnd, modelTurn}},
			{Name: "forget_owed_end", In: petri.Arcs{owedEnd}, Inhibit: petri.Arcs{replying}, When: petri.After(c.OwedTimeout)},
		},
	}
	late := petri.Transition{Name: "stop_discarding", In: petri.Arcs{discarding}, When: petri.After(c.LateAudio)}
	if c.Detection == Manual {
		late.Inhibit = petri.Arcs{inTurn}
		n.Ports = append(n.Ports, inTurn)
		n.Transitions[0].Inhibit = append(n.Transitions[0].Inhibit, inTurn)
		n.Transitions = append(n.Transitions,
			petri.Transition{Name: "finish_generation_again", In: petri.Arcs{ModelSignal.Is(GenerationComplete), modelTurn},
				Read: petri.Arcs{owedEnd}},
			petri.Transition{Name: "discard_frame_over_caller", In: petri.Arcs{ModelAudio}, Read: petri.Arcs{inTurn},
				Inhibit: petri.Arcs{discarding}},
			petri.Transition{Name: "acknowledge_interruption", In: petri.Arcs{ModelSignal.Is(Interrupted), discarding}},
			petri.Transition{Name: "ignore_interruption", In: petri.Arcs{ModelSignal.Is(Interrupted)},
				Inhibit: petri.Arcs{discarding}})
	}
	n.Transitions = append(n.Transitions, late)
	return n
}

// stamp makes a frame one of the current generation.
func stamp(f *petri.Firing) {
	frame := ModelAudio.Get(f)
	frame.Gen = f.Gen()
	replyAudio.Put(f, frame)
}

package voicenets

import "github.com/voicegw/voicegw/petri"

// modelTurnNet follows the model's turn. Audio carries no turn on the wire, so
// after an interruption everything is discarded until the model says that the
// old turn is over, or LateAudio after the caller's turn. The turn complete of
// an interrupted turn is owed and must not be taken for the next one's. While a
// prompt of ours is given the model's audio waits.
func modelTurnNet(c Config) *petri.Net {
	n := &petri.Net{
		Name: "model",
		Ports: []petri.AnyPlace{ModelAudio, ModelSignal, modelTurn, owedEnd, discarding, replyAudio, replying, inTurn,
			prompting},
		Env: []petri.Env{{Place: ModelAudio}, {Place: ModelSignal}},
		Caps: append(caps(1, modelTurn, owedEnd, discarding, replying),
			petri.Cap{Place: replyAudio, Max: c.ReplyFramesMax}),
		Transitions: []petri.Transition{
			{Name: "accept_frame", In: petri.Arcs{ModelAudio},
				Inhibit: petri.Arcs{discarding, inTurn, prompting, replyAudio.AtLeast(c.ReplyFramesMax)},
				Out:     petri.And(replyAudio.Fresh()), Action: stamp},
			{Name: "discard_late_frame", In: petri.Arcs{ModelAudio}, Read: petri.Arcs{discarding}},
			{Name: "discard_frame_over_caller", In: petri.Arcs{ModelAudio}, Read: petri.Arcs{inTurn},
				Inhibit: petri.Arcs{discarding}},
			{Name: "finish_generation", In: petri.Arcs{ModelSignal.Is(GenerationComplete), modelTurn},
				Inhibit: petri.Arcs{owedEnd}, Out: petri.And(owedEnd)},
			{Name: "finish_generation_again", In: petri.Arcs{ModelSignal.Is(GenerationComplete), modelTurn},
				Read: petri.Arcs{owedEnd}},
			{Name: "ignore_generation_complete", In: petri.Arcs{ModelSignal.Is(GenerationComplete)},
				Inhibit: petri.Arcs{modelTurn}},
			{Name: "settle_owed_end", In: petri.Arcs{ModelSignal.Is(TurnComplete), owedEnd}, Reset: petri.Arcs{discarding}},
			{Name: "complete_turn", In: petri.Arcs{ModelSignal.Is(TurnComplete), modelTurn}, Inhibit: petri.Arcs{owedEnd}},
			{Name: "ignore_turn_complete", In: petri.Arcs{ModelSignal.Is(TurnComplete)},
				Inhibit: petri.Arcs{owedEnd, modelTurn}},
			{Name: "forget_owed_end", In: petri.Arcs{owedEnd}, Inhibit: petri.Arcs{replying}, When: petri.After(c.OwedTimeout)},
			{Name: "stop_discarding", In: petri.Arcs{discarding}, Inhibit: petri.Arcs{inTurn},
				When: petri.After(c.LateAudio)},
		},
	}
	if c.manual() {
		n.Transitions = append(n.Transitions,
			petri.Transition{Name: "acknowledge_interruption", In: petri.Arcs{ModelSignal.Is(Interrupted), discarding}},
			petri.Transition{Name: "ignore_interruption", In: petri.Arcs{ModelSignal.Is(Interrupted)},
				Inhibit: petri.Arcs{discarding}})
	}
	return n
}

// stamp makes a frame one of the current generation.
func stamp(f *petri.Firing) {
	frame := (*ReplyFrame)(ModelAudio.Get(f))
	frame.Gen = f.Gen()
	replyAudio.Put(f, frame)
}

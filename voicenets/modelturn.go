package voicenets

import "github.com/voicegw/voicegw/petri"

// modelTurnNet follows the model's turn. Audio carries no turn on the wire. So after an
// interruption the net discards all audio until the model reports that the old turn is over, or
// until LateAudio after the caller's turn. The turn complete of an interrupted turn stays pending
// (TurnEndPending), so that the net does not take it for the end of the next turn. The model's
// audio waits while a prompt plays.
func modelTurnNet(c Config) *petri.Net {
	n := &petri.Net{
		Name: "model",
		Ports: []petri.AnyPlace{ModelAudio, ModelSignal, ModelTurn, TurnEndPending, Discarding, ReplyAudio, Replying,
			InTurn,
			Prompting},
		Env: []petri.Env{{Place: ModelAudio}, {Place: ModelSignal}},
		Caps: append(caps(1, ModelTurn, TurnEndPending, Discarding, Replying),
			petri.Cap{Place: ReplyAudio, Max: c.ReplyFramesMax}),
		Transitions: []petri.Transition{
			{Name: "accept_frame", In: petri.Arcs{ModelAudio},
				Inhibit: petri.Arcs{Discarding, InTurn, Prompting, ReplyAudio.AtLeast(c.ReplyFramesMax)},
				Out:     petri.And(ReplyAudio.Fresh()), Action: stamp},
			{Name: "discard_late_frame", In: petri.Arcs{ModelAudio}, Read: petri.Arcs{Discarding}},
			{Name: "discard_frame_over_caller", In: petri.Arcs{ModelAudio}, Read: petri.Arcs{InTurn},
				Inhibit: petri.Arcs{Discarding}},
			{Name: "finish_generation", In: petri.Arcs{ModelSignal.Is(GenerationComplete), ModelTurn},
				Inhibit: petri.Arcs{TurnEndPending}, Out: petri.And(TurnEndPending)},
			{Name: "finish_generation_again", In: petri.Arcs{ModelSignal.Is(GenerationComplete), ModelTurn},
				Read: petri.Arcs{TurnEndPending}},
			{Name: "ignore_generation_complete", In: petri.Arcs{ModelSignal.Is(GenerationComplete)},
				Inhibit: petri.Arcs{ModelTurn}},
			{Name: "settle_turn_end", In: petri.Arcs{ModelSignal.Is(TurnComplete), TurnEndPending},
				Reset: petri.Arcs{Discarding}},
			{Name: "complete_turn", In: petri.Arcs{ModelSignal.Is(TurnComplete), ModelTurn},
				Inhibit: petri.Arcs{TurnEndPending}},
			{Name: "ignore_turn_complete", In: petri.Arcs{ModelSignal.Is(TurnComplete)},
				Inhibit: petri.Arcs{TurnEndPending, ModelTurn}},
			{Name: "forget_turn_end", In: petri.Arcs{TurnEndPending}, Inhibit: petri.Arcs{Replying},
				When: petri.After(c.TurnEndTimeout)},
			{Name: "stop_discarding", In: petri.Arcs{Discarding}, Inhibit: petri.Arcs{InTurn},
				When: petri.After(c.LateAudio)},
		},
	}
	if c.gatewayVAD() {
		n.Transitions = append(n.Transitions,
			petri.Transition{Name: "acknowledge_interruption", In: petri.Arcs{ModelSignal.Is(Interrupted), Discarding}},
			petri.Transition{Name: "ignore_interruption", In: petri.Arcs{ModelSignal.Is(Interrupted)},
				Inhibit: petri.Arcs{Discarding}})
	}
	return n
}

// stamp gives a frame the current generation.
func stamp(f *petri.Firing) {
	frame := (*ReplyFrame)(ModelAudio.Get(f))
	frame.Gen = f.Gen()
	ReplyAudio.Put(f, frame)
}

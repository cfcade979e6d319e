// Package sim is the embedded model: a server on loopback that speaks the protocol of a Gemini Live model, so that the
// gateway works without a key and its tests without a network.
//
// It is a parrot. A [Server] made from a [Config] accepts the setup, says its greeting when it is sent text, and after
// every turn of the caller repeats what it heard, in the caller's own voice, with the messages, sizes and pace of the
// real model: transcripts, audio faster than it plays, generation complete, a pause while the client plays, turn
// complete, usage, a resumption handle; and interrupted when the caller speaks over it. Like the real one it never
// speaks first. It refuses what the real one refuses, with the same close codes.
//
//	server, err := sim.New(sim.Config{})
//	...
//	err = server.Start("127.0.0.1:0")
//	conn, err := live.Wire{BaseURL: server.URL()}.Dial(ctx, live.Setup{})
//
// So that it does not talk to its own echo for ever, it answers at most three turns in a row that began over a reply
// (Config.RepliesMax); a turn that begins in silence is always answered.
//
// It remembers each [Connection]: the setup, the count and SHA-256 of the audio it received, in all and for each turn,
// and what happened when. [Faults] make it misbehave in the ways real models and networks have been seen to, and a
// [Scenario] does so on cue: LoadScenario("late-audio"). Scenarios also call tools.
package sim

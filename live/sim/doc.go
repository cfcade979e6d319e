// Package sim is the embedded model: a server on this machine that speaks the protocol of a Gemini
// Live model. With it the gateway works without a key, and its tests without a network.
//
//	server, err := sim.New(sim.Config{})
//	...
//	err = server.Start("127.0.0.1:0")
//	conn, err := live.Wire{BaseURL: server.URL()}.Dial(ctx, live.Setup{})
//
// The model is a parrot. It replies to text with its greeting, and to each turn of the caller with
// the caller's own audio. Messages, sizes and pace are those of the real model: transcripts, audio
// faster than it plays, generation complete, a pause while the client plays, usage, turn complete
// and a resumption handle; interrupted if the caller speaks during a reply. Like the real model it
// never speaks first, and it refuses the same messages with the same close codes.
//
// To keep it from talking to its own echo forever, it replies to at most three turns in a row that
// began during a reply (Config.RepliesMax). It always replies to a turn that began in silence.
//
// A Server keeps a [Connection] for each client: the setup, the count and SHA-256 of the audio, the
// turns, and the events with their times. [Faults] and a [Scenario] make the model misbehave as
// real models and networks have, such as LoadScenario("late-audio"). Scenarios also make it call
// tools.
package sim

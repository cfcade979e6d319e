// Package patterns has small nets that orchestration is made of. Each is a
// function over typed ports that returns a *petri.Net to compose with others:
//
//   - Worker does one piece of work at a time and forgets what was cancelled.
//   - Batch spreads a request over workers and collects what comes back.
//   - Commit lets pass only what belongs to the current turn; NewTurn begins
//     the next; Unguarded finds commit sites that do not look.
//   - Race answers from the better of two sources, within a deadline, once.
//   - FirstWins takes the first of several offers.
//   - Quorum waits for K of N votes.
//   - Optimistic publishes at once and rolls back if the check fails.
//
// A batch whose workers can be read and aborted as a whole:
//
//	batch := patterns.Batch("search", patterns.BatchPorts[Query, Page]{
//		Request: "request", Abort: "new_turn", Collector: "collector", Complete: "found", Refused: "too_many",
//	}, patterns.Slots[Query, Page]("search", 3)...)
//	net, err := petri.Compose("session", batch, turns)
//
// The nets hold nothing but their marking; the functions are safe for
// concurrent use.
package patterns

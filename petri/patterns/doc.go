// Package patterns contains small nets for orchestration. Each is a function that takes typed ports
// and returns a *petri.Net to compose with others:
//
//   - Worker does one piece of work at a time and discards the results of cancelled work.
//   - A Lane is a worker as other patterns see it; NewLane makes one of a task.
//   - Batch distributes a request among workers and collects the results. Gather is a Batch whose
//     workers are nets of one's own.
//   - FirstK takes the first k good results of several lanes, which start in tiers, and cancels the
//     rest: a race or a quorum.
//   - Commit passes on only the tokens of the current turn. NewTurn begins the next turn. Unguarded
//     finds transitions that commit without checking.
//   - Race takes the better answer of two sources, within a deadline, once.
//   - FirstWins takes the first of several offers.
//   - Quorum waits for K of N votes.
//   - Optimistic publishes at once and rolls back if the check fails.
//
// A batch whose workers can be read and aborted as a whole:
//
//	batch := patterns.Batch("search", patterns.BatchPorts[Query, petri.Result[Page]]{
//		Request: "request", Abort: "new_turn", Collector: "collector", Complete: "found", Refused: "too_many",
//	}, patterns.Slots[Query, Page]("search", 3)...)
//	net, err := petri.Compose("session", batch, turns)
//
// The functions are safe for concurrent use. The nets keep no state outside their marking.
package patterns

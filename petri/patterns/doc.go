// Package patterns contains small nets for orchestration. Each is a function that takes typed ports
// and returns a *petri.Net to compose with others:
//
//   - Worker does one piece of work at a time and discards the results of cancelled work.
//   - A Lane is a worker as other patterns see it.
//   - Gather distributes a batch of jobs among workers and collects their results.
//   - FirstK takes the first k good results of several lanes, which start in tiers, and cancels the
//     rest: a race or a quorum.
//   - Optimistic publishes at once and rolls back if the check fails.
//
// A batch of up to 16 jobs, which three workers do, and which can be read and aborted as a whole:
//
//	tasks := patterns.Slots[Query, Page]("search", 3)
//	parts := []*petri.Net{patterns.Gather("search", patterns.GatherPorts[Query, petri.Result[Page]]{
//		Request: "request", Abort: "new_turn", Collector: "collector", Complete: "found", Refused: "too_many",
//	}, 16, job, result, tasks[0].InFlight, tasks[1].InFlight, tasks[2].InFlight)}
//	for i, t := range tasks {
//		parts = append(parts, patterns.Worker(fmt.Sprint("worker", i), job, t, result))
//	}
//	net, err := petri.Compose("session", parts...)
//
// The functions are safe for concurrent use. The nets keep no state outside their marking.
package patterns

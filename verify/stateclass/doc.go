// Package stateclass decides properties that depend on time. It explores the linear state class graph
// of a net (Berthomieu and Diaz 1991) in whole nanoseconds.
//
// A state class is a marking with a zone: all vectors of remaining waits, written as a
// difference-bound matrix. Two states are in one class when the same firings reach them; the zone
// holds exactly what the timings of those firings allow. Immediate transitions run to completion
// within a firing, as in a petri.Machine.
//
//	g, err := stateclass.Explore(ctx, netmodel.New(prog, netmodel.RunToCompletion), stateclass.Options{})
//	report, err := verify.Run(ctx, prog, verify.Config{}, stateclass.DeadlockFree(stateclass.Options{}))
//
// Merging by inclusion, the default, keeps the set of reachable markings exact, and with it
// deadlocks, bounds and every property of a single marking. Merging by equality keeps firing
// sequences too.
package stateclass

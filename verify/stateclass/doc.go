// Package stateclass decides what depends on time: it explores the linear state
// class graph of a net (Berthomieu and Diaz 1991) on whole nanoseconds.
//
// A state class is a marking with a zone: all vectors of waits that remain,
// written as a difference-bound matrix. Two states are in one class when they
// are reached by the same firings; the zone holds exactly what the timings of
// those firings leave possible. What fires at once runs to completion within a
// firing, as in a petri.Machine.
//
//	g, err := stateclass.Explore(ctx, verify.NewModel(prog, verify.RunToCompletion), stateclass.Options{})
//	report, err := verify.Run(ctx, prog, verify.Config{}, stateclass.DeadlockFree(stateclass.Options{}))
//
// Merging by inclusion, the default, keeps every reachable marking exactly, and
// with it deadlocks, bounds and whatever can be said of one marking. Merging
// by equality keeps firing sequences too.
package stateclass

// Package mutate measures how many faults the proofs about a net detect. It changes the net in one
// place at a time, and counts the changes for which some property is refuted by a run that the
// machine takes.
//
//	score, err := mutate.Run(ctx, net, mutate.Config{Closures: closures, Properties: props, Timed: timed})
//
// Run explores a mutant without time until it finds a bad end that the machine reaches. Where time
// excludes the paths that it found, it explores with time, and resolves ties as the machine does.
// Then it checks the properties about time. A mutant is equal, and does not count, if nothing kills
// it and its graph, with time and with all outputs, is that of the net itself.
package mutate

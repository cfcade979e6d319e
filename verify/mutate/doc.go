// Package mutate measures how much the proofs about a net notice: it changes
// the net in one place at a time, and counts the changes that some property is
// refuted for, by a run that the machine takes.
//
//	score, err := mutate.Run(ctx, net, mutate.Config{Closures: closures, Properties: props, Timed: timed})
//
// A mutant is explored without time until a bad end is found to which the
// machine goes; where time forbids the ways that were found, with time, and ties
// as the machine takes them; then it is asked the properties that speak of time.
// One that nothing kills and whose graph, with time and with all that leaves the
// net, is that of the net itself, is equal and does not count.
package mutate

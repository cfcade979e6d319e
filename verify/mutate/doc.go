// Package mutate measures how much the proofs about a net notice: it changes
// the net in one place at a time, and counts the changes that some property is
// refuted for, by a run that the machine takes.
//
//	score, err := mutate.Run(ctx, net, mutate.Config{Close: closures, Properties: props})
package mutate

// Package smt proves that a net never reaches a state, for any number of tokens
// and, where a count is a parameter, for every value of it. It asks the
// solvers z3 and cvc5, which run as child processes.
//
//	p := smt.Never("unacked > 20")                      // a verify.Property
//	r, err := verify.Run(ctx, prog, verify.Config{}, p)
//
// A Config names parameters and limits; a Certificate is an inductive
// invariant, found by one solver and checked by another process, the other
// solver if it is there.
//
// What is proved, and what is not: the encoding forgets time and the capacities
// of inner places, and keeps everything else of the compiled program: kinds of
// token, thresholds, resets, bumps, the final place, environment places that
// turn tokens away, and the order in which transitions fire at once. So every
// marking in which a machine can rest is one of the encoding, and what the
// encoding never reaches no machine reaches: bounds, mutual exclusion and
// everything else that Never can say of one marking. An expression is asked of
// markings in which nothing fires at once. That the encoding reaches a state
// does not refute anything, since time may forbid it: then the explicit search
// decides, and if it cannot the verdict is Unknown. Nothing is said of
// liveness, of time, or of an open net.
//
// Built with cgo and the tag z3 the package also uses the library of z3, in
// this process: CheckInProcess and every proof ask it for a third opinion, and
// Config.Induction proves by k-induction. Without the tag there is no C in it.
package smt

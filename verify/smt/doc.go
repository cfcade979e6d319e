// Package smt proves that a net never reaches a state, for any number of tokens and, where a count
// is a parameter, for every value of it. It asks the solvers z3 and cvc5, which run as child
// processes.
//
//	p := smt.Never("unacked > 20")                      // a verify.Property
//	r, err := verify.Run(ctx, prog, verify.Config{}, p)
//
// A Config names parameters and limits. A Certificate is an inductive invariant, found by one
// solver and checked by another process: the other solver if it is installed.
//
// What is proved, and what is not: the encoding leaves out time and the capacities of inner places,
// and keeps everything else of the compiled program: kinds of token, thresholds, resets, bumps, the
// final place, environment places that refuse tokens, and the order in which immediate transitions
// fire. So every marking in which a machine can rest is a marking of the encoding, and no machine
// reaches what the encoding never reaches: bounds, mutual exclusion and everything else that Never
// can state about one marking. An expression is checked in markings in which nothing fires at once.
// If the encoding reaches a state, that does not refute the property, since time may exclude the
// state. Then the explicit search decides, and if it cannot, the verdict is Unknown. The package
// proves nothing about liveness, time, or open nets.
//
// Built with cgo and the tag z3, the package also uses the library of z3, in this process:
// CheckInProcess and every proof ask it for a third opinion, and Config.Induction proves by
// k-induction. Without the tag the package contains no C.
package smt

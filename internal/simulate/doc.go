// Package simulate runs whole random calls, several in one gateway, and checks them against the
// proofs and against what callers may expect. It is fault injection with an oracle, in virtual
// time:
//
//	make sim SEED=17 CALLS=1
//
// A world is one gateway with random settings and its callers. A plan says what a world is made of;
// all of it comes from one seed, so that a seed makes the same world again. A caller is a script of
// steps, a microphone, and the far end of a line. A line is a transport.Peer without a wire. A model
// is an embedded model of live/sim behind a live.Dialer that watches what passes. A tool set is the
// functions of a world. A fault is something that goes wrong on purpose. A judge holds one invariant
// of a call and reports a violation. A trace is what the net of a call did, by its events. A story is
// what happened in a call, line by line; a violation prints it.
//
// To add a fault, add an entry at the end of the table in faults.go (a peer or a model that
// misbehaves) or of toolKinds in tools.go. To add an invariant, add a file judgeX.go: a judge that
// works at the end of a call is an entry of the table in judge.go; one that works while the call runs
// calls line.violation where it sees the violation.
package simulate

// Package witness supports a verdict with a run: it replays the run on a machine, judges it by the
// claim, and writes it as a script.
//
// The main types are Witness, Firing and Trace.
package witness

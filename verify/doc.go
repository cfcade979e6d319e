// Package verify proves properties of a compiled net, or refutes them with a
// run that can be watched, or says that it does not know.
//
// The nouns are Property, Verdict, Report and Graph. A property is a declared
// value; Run checks a list of them against a Program and reports a verdict for
// each:
//
//	report, err := verify.Run(ctx, prog, verify.Config{}, verify.DeadlockFree(), verify.Never("closed && on_1 >= 1"))
//
// What is proved is the net that runs: the Model under every check is made of
// the tables that a petri.Machine runs on. Time is ignored here, so that
// whatever is enabled may fire next; what holds so holds under every timing.
// Package stateclass decides what depends on time.
package verify

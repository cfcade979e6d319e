// Package verify proves properties of a compiled net, refutes them with a run that can be replayed,
// or reports that the answer is unknown.
//
// The main types are Property, Verdict and Report. A property is a declared value. Run checks a
// list of properties against a Program and reports a verdict for each:
//
//	report, err := verify.Run(ctx, prog, verify.Config{}, verify.DeadlockFree(), verify.Never("closed && on_1 >= 1"))
//
// The proof is about the net that runs: the Model under every check is built from the tables that a
// petri.Machine runs on. This package ignores time: any enabled transition may fire next. A
// property that holds without time holds under every timing. Package stateclass decides properties
// that depend on time.
package verify

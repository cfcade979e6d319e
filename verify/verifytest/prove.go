package verifytest

import (
	"context"

	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/verify"
)

// T is the part of *testing.T that Prove needs.
type T interface {
	Helper()
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
	Context() context.Context
}

// Prove checks properties of a program. It fails the test for each property that is not proved,
// with the reason and, if there is one, the run that refutes it. It returns the report.
func Prove(t T, prog *petri.Program, c verify.Config, props ...*verify.Property) *verify.Report {
	t.Helper()
	r, err := verify.Run(t.Context(), prog, c, props...)
	if err != nil {
		t.Fatalf("%v", err)
		return nil
	}
	if len(r.Results) == 0 {
		t.Errorf("%s: nothing was to be proved", r.Net)
	}
	judge(t, r.Net, r)
	return r
}

// judge fails the test for each result that is no proof.
func judge(t T, name string, r *verify.Report) {
	t.Helper()
	for i := range r.Results {
		v := &r.Results[i]
		switch {
		case v.Outcome == verify.Proved:
		case v.Witness != nil:
			t.Errorf("%s: %s: %s: %s\n%s", name, v.Property.Name, v.Outcome, v.Reason, v.Witness.Story)
		default:
			t.Errorf("%s: %s: %s: %s", name, v.Property.Name, v.Outcome, v.Reason)
		}
	}
}

// ProveUnder is Prove for a net that is closed in several ways. Each property is proved under the
// closures that list it. A transition of the net that fires under no closure fails the test.
func ProveUnder(t T, c verify.Config, closures ...verify.Closure) *verify.ClosuresReport {
	t.Helper()
	r, err := verify.RunClosures(t.Context(), c, closures...)
	if err != nil {
		t.Fatalf("%v", err)
		return nil
	}
	for _, name := range r.Idle {
		t.Errorf("%s fires under no closure: the proofs are empty in part", name)
	}
	for i, report := range r.Reports {
		if len(report.Results) == 0 {
			t.Errorf("%s: nothing was to be proved under %s", report.Net, r.Closures[i])
		}
		judge(t, r.Closures[i], report)
	}
	return r
}

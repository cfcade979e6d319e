package verifytest

import (
	"context"

	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/verify"
)

// T is what Prove needs of a *testing.T.
type T interface {
	Helper()
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
	Context() context.Context
}

// Prove checks properties of a program and fails the test for each that is not
// proved, with the reason and, if there is one, the run that refutes it. It
// returns the report.
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
	for i := range r.Results {
		v := &r.Results[i]
		switch {
		case v.Outcome == verify.Proved:
		case v.Witness != nil:
			t.Errorf("%s: %s: %s: %s\n%s", r.Net, v.Property.Name, v.Outcome, v.Reason, v.Witness.Story)
		default:
			t.Errorf("%s: %s: %s: %s", r.Net, v.Property.Name, v.Outcome, v.Reason)
		}
	}
	return r
}

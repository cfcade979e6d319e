package verify

import (
	"context"
	"strings"
	"testing"

	"github.com/voicegw/voicegw/verify/explore"
	"github.com/voicegw/voicegw/verify/netmodel"
	"github.com/voicegw/voicegw/verify/nettest"
)

// TestReduceRun: verdicts of a reduced run, and what is not reduced.
func TestReduceRun(t *testing.T) {
	ctx := context.Background()
	p := compile(t, nettest.Rings(4))
	c := Config{Semantics: netmodel.Interleave, Reduce: true, Certify: true}
	r, err := Run(ctx, p, c, Never("b0 && a0"), Reach("b0 && a1"))
	if err != nil {
		t.Fatal(err)
	}
	if r.Outcome() != Proved || r.Certificate != nil || !strings.HasSuffix(r.Results[0].Reason, "(reduced)") {
		t.Errorf("%v, certificate %v", r, r.Certificate)
	}
	if _, err = r.Graph.Certify(Never("false").Claim); err == nil {
		t.Error("a reduced graph certifies")
	}
	if r, err = Run(ctx, p, c, DeadlockFree()); err != nil || r.Outcome() != Refuted || r.Graph.States() > 10 {
		t.Errorf("%v, %v", r, err)
	}
	if r, err = Run(ctx, p, c, DeadlockFree(), Fires()); err != nil || r.Graph.Reduced {
		t.Errorf("what fires is asked of a reduced graph: %v, %v", r, err)
	}
	atOnce := imported(tokens("a"), atOnce("go", arcs("a"), arcs("b")), classic("back", arcs("b"), arcs("a")))
	_, err = explore.Explore(ctx, compile(t, atOnce), explore.Options{Reduce: &explore.Reduction{}})
	if err == nil || !strings.Contains(err.Error(), "run to completion") {
		t.Errorf("a net that runs to completion is reduced: %v", err)
	}
	if r, err = Run(ctx, compile(t, atOnce), Config{Reduce: true}, DeadlockFree()); err != nil || r.Outcome() != Proved {
		t.Errorf("%v, %v", r, err)
	}
}

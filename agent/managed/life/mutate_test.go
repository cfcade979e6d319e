package life

import (
	"context"
	"testing"
	"time"

	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/verify"
	"github.com/voicegw/voicegw/verify/mutate"
)

func TestMutants(t *testing.T) {
	c := Config{Backoff: []time.Duration{time.Second, 2 * time.Second}, ParkTimeout: time.Minute, calls: proofCalls,
		queue: proofQueue, anytime: true}
	n, err := Net(c)
	if err != nil {
		t.Fatal(err)
	}
	refuses := func(ctx context.Context, mutant *petri.Net) (by []string, absurd bool, err error) {
		r, err := prove(ctx, c, mutant, verify.Config{Max: 2000})
		if err != nil {
			return nil, true, nil
		}
		for _, one := range r.Reports[0].Results {
			if one.Outcome == verify.Refuted {
				by = append(by, one.Property.Name)
			}
		}
		if len(by) == 0 && len(r.Idle) > 0 {
			by = append(by, "every transition fires")
		}
		return by, false, nil
	}
	s, err := mutate.Run(t.Context(), n, mutate.Config{Closures: []mutate.Closure{{Name: "hostile", Close: closing}},
		Max: 2000, Workers: 2, Refuses: refuses})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d mutants: %d killed (%.1f %%), %d strong; %d refused, %d equal", s.Mutants, s.Killed, 100*s.Rate(), s.Strong, s.Refused, s.Equal)
	for _, m := range s.Survivors {
		t.Log("survives:", m, s.Alive[m], s.Why[m])
	}
	t.Log(s.Idle)
}

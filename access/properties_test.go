package access

import (
	"strings"
	"testing"

	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/verify"
	"github.com/voicegw/voicegw/verify/verifytest"
)

func worlds() map[string]World {
	return map[string]World{
		"address": {Callers: 4, Address: Limits{Calls: 2, CallsPerMinute: 3}, Tenant: Limits{Calls: 3},
			Subject: Limits{Calls: 3}},
		"tenant": {Callers: 4, Address: Limits{Calls: 3}, Tenant: Limits{Calls: 1, CallsPerMinute: 2},
			Subject: Limits{Calls: 1}},
		"subject": {Callers: 4, Address: Limits{Calls: 3}, Tenant: Limits{Calls: 2},
			Subject: Limits{Calls: 1, CallsPerMinute: 1}},
		"rate alone": {Callers: 3, Address: Limits{CallsPerMinute: 2}, Tenant: Limits{CallsPerMinute: 2},
			Subject: Limits{CallsPerMinute: 1}},
		"bytes": {Callers: 3, Address: Limits{Calls: 2, BytesPerMinute: 60}, Tenant: Limits{BytesPerMinute: 60},
			Subject: Limits{Calls: 1, BytesPerMinute: 60}},
	}
}

func compiled(t *testing.T, n *petri.Net, err error) *petri.Program {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	prog, err := petri.Compile(n)
	if err != nil {
		t.Fatal(err)
	}
	return prog
}

// TestProofs proves the admission net: no limit is exceeded, no permit lost, made or stranded. Every transition fires
// in some world, so that no proof is empty.
func TestProofs(t *testing.T) {
	var graphs []*verify.Graph
	for name, w := range worlds() {
		t.Run(name, func(t *testing.T) {
			n, err := w.Net()
			prog := compiled(t, n, err)
			r := verifytest.Prove(t, prog, verify.Config{}, w.Properties()...)
			t.Logf("%s", r.Results[0].Reason)
			g, err := verify.Explore(t.Context(), prog, verify.Options{})
			if err != nil {
				t.Fatal(err)
			}
			graphs = append(graphs, g)
		})
	}
	for _, never := range verify.NeverFires(graphs...) {
		if !strings.Contains(never, "attempt4") && !strings.Contains(never, "caller4") {
			t.Errorf("%s fires in no world", never)
		}
	}
}

// TestProofsRefuse holds the properties against attempts that forget to give something back, or give it back twice.
func TestProofsRefuse(t *testing.T) {
	w := World{Callers: 3, Address: Limits{Calls: 2}, Tenant: Limits{Calls: 1}, Subject: Limits{Calls: 1}}
	c := counters()
	for _, breach := range []struct {
		name, transition string
		out              petri.Split
		property         string
	}{
		{"forgets the address's when the token is bad", "leave_at_token",
			petri.And(over, visitorOf("attempt1").turnAway.Is(DeniedToken)), "address-held"},
		{"forgets the tenant's when it hangs up", "hang_up", petri.And(over, c[0].giveBack, c[2].giveBack), "tenant-held"},
		{"gives the subject's back and stays", "hang_up",
			petri.And(inCall, c[0].giveBack, c[1].giveBack, c[2].giveBack), "subject-held"},
	} {
		t.Run(breach.name, func(t *testing.T) {
			n, err := w.net(func(name string) *petri.Net {
				a := Attempt(name)
				for i := range a.Transitions {
					if a.Transitions[i].Name == breach.transition && name == "attempt1" {
						a.Transitions[i].Out = breach.out
					}
				}
				return a
			})
			r, err := verify.Run(t.Context(), compiled(t, n, err), verify.Config{}, w.Properties()...)
			if err != nil {
				t.Fatal(err)
			}
			for _, v := range r.Results {
				if v.Property.Name == breach.property && v.Outcome != verify.Refuted {
					t.Errorf("%s is %s: %s", breach.property, v.Outcome, v.Reason)
				}
			}
		})
	}
}

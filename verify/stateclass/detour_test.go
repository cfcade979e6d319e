package stateclass

import (
	"testing"
	"time"

	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/verify"
)

// TestStopThenStart: a stop that comes too soon counts although the same chain starts anew, and
// another way to the same marking does so without a stop.
func TestStopThenStart(t *testing.T) {
	ms := time.Millisecond
	for _, first := range []string{"y", "x"} {
		second := map[string]string{"x": "y", "y": "x"}[first]
		n := imported("p", tr("begin", petri.After(5*ms), "p -> q"), tr("go", petri.After(2*ms), "q -> c"),
			petri.Transition{Name: "fork", In: arcs("c"), Out: petri.Free(arcs(first), arcs(second))},
			tr("stop", petri.Interval{}, "x -> z"), tr("pass", petri.Interval{}, "y -> z"),
			tr("again", petri.Interval{}, "z -> w"),
			petri.Transition{Name: "part", In: arcs("w"), Out: petri.Free(arcs("left"), arcs("right"))},
			tr("end", petri.After(9*ms), "left -> over"))
		p, err := petri.Compile(n)
		if err != nil {
			t.Fatal(err)
		}
		r, err := verify.Run(t.Context(), p, verify.Config{Certify: true},
			NotBefore("begin again", "stop end", 4*ms, Options{}), NotBefore("begin again", "stop end", 2*ms, Options{}))
		if err != nil {
			t.Fatal(err)
		}
		for i, want := range []verify.Outcome{verify.Refuted, verify.Proved} {
			certifies(t, first+" first", p, r.Results[i].Property, want)
			if v := r.Results[i]; v.Outcome != want {
				t.Errorf("%s first: %s: %s: %s", first, v.Property.Name, v.Outcome, v.Reason)
			}
		}
	}
}

package life

import (
	"testing"
	"time"

	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/verify"
)

func TestCompiles(t *testing.T) {
	for _, c := range []Config{{}, {Backoff: []time.Duration{time.Second, 2 * time.Second}, ParkTimeout: time.Minute}} {
		n, err := Net(c)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := petri.Compile(n); err != nil {
			t.Error(err)
		}
	}
}

func TestProve(t *testing.T) {
	for _, c := range []Config{{}, {Backoff: []time.Duration{time.Second, 2 * time.Second}, ParkTimeout: time.Minute}} {
		r, err := Prove(t.Context(), c, verify.Config{})
		if err != nil {
			t.Fatal(err)
		}
		t.Log(r)
		if r.Outcome() != verify.Proved {
			t.Error("not proved")
		}
	}
}

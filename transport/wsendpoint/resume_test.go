package wsendpoint

import (
	"math"
	"testing"
	"time"

	"github.com/voicegw/voicegw/transport"
)

// FuzzHandle: a handle may be anything, and those that are given out are read as they were.
func FuzzHandle(f *testing.F) {
	for _, h := range []string{"", ".", "x.", ".1", "x.-1", "x.1.1", "CALL.0", "CALL.zzzzzzzzzzzzz",
		"CALL.3w5e11264sgsf"} {
		f.Add(h)
	}
	f.Fuzz(func(t *testing.T, handle string) {
		call, received, ok := parseHandle(handle)
		if !ok {
			return
		}
		again, n, ok := parseHandle(newHandle(call, received))
		if len(handle) > transport.HandleLenMax || !ok && len(handle) < 40 || ok && (again != call || n != received) {
			t.Errorf("%q is %q %d, then %q %d", handle, call, received, again, n)
		}
	})
}

// TestHandle: a handle fits into its limit whatever it counts.
func TestHandle(t *testing.T) {
	h := newHandle("ABCDEFGHIJKLMNOPQRSTUVWXYZ", math.MaxUint64)
	if call, received, ok := parseHandle(h); !ok || call != "ABCDEFGHIJKLMNOPQRSTUVWXYZ" || received != math.MaxUint64 {
		t.Errorf("%q is %q %d %v", h, call, received, ok)
	}
}

// TestPlayoutResumes: a reply that goes on over another connection is acknowledged from where it
// stood.
func TestPlayoutResumes(t *testing.T) {
	c, p := newClock(), &playout{}
	p.Resume(7, 50)
	if got := p.Played(c.now, 7); got != 1000 || len(acks(p, c.now)) != 0 {
		t.Errorf("%d ms were played", got)
	}
	for range 5 {
		p.Sent(c.now, 7)
	}
	c.pass(100)
	if got := acks(p, c.now); len(got) != 1 || got[0] != (ack{Generation: 7, PlayedMS: 1100}) {
		t.Errorf("acknowledged %v", got)
	}
	if got := p.Played(c.now.Add(time.Second), 8); got != 0 {
		t.Errorf("%d ms of another reply were played", got)
	}
}

package rtc

import (
	"math/rand/v2"
	"testing"
)

// TestRing keeps the order of a queue, and has room for little more than what waited at one time.
func TestRing(t *testing.T) {
	t.Parallel()
	rnd := rand.New(rand.NewPCG(1, 2))
	var r ring[[]int]
	in, out, most := 0, 0, 0
	for range 10000 {
		switch n := rnd.IntN(100); {
		case n == 0:
			r.clear()
			out = in
		case n < 50 && r.n < 20:
			slot := r.push()
			*slot = append((*slot)[:0], in)
			in++
		case r.n > 0:
			if last := *r.at(r.n - 1); last[0] != in-1 {
				t.Fatalf("the last is %d, want %d", last[0], in-1)
			}
			if got := *r.pop(); got[0] != out {
				t.Fatalf("got %d, want %d", got[0], out)
			}
			out++
		}
		if most = max(most, r.n); r.n != in-out || len(r.slots) > max(ringSlotsMin, 2*most) {
			t.Fatalf("%d wait in %d slots, want %d; at most %d did", r.n, len(r.slots), in-out, most)
		}
	}
	if most < 15 {
		t.Errorf("only %d waited at one time", most)
	}
}

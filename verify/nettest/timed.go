package nettest

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/voicegw/voicegw/petri"
)

// WovenTimed is a random composed net whose transitions wait for points and intervals, and a random
// slice of it.
func WovenTimed(tb testing.TB, seed uint64) (whole, part *petri.Program) {
	k := Weaver{Rand: rand.New(rand.NewPCG(seed, 5))}
	k.waits = func(t *petri.Transition) {
		if t.When.AtOnce() && k.chance(40) {
			return
		}
		t.Priority = 0
		switch from := time.Duration(k.IntN(4)); k.IntN(4) {
		case 0:
			t.When = petri.After(from + 1)
		case 1:
			t.When = petri.After(4 * (from + 1))
		default:
			t.When = petri.Between(from, from+1+time.Duration(k.IntN(3)))
		}
	}
	whole = k.Program()
	return whole, k.Slice(tb, whole)
}

package simulate

import (
	"math/rand/v2"
	"time"
)

// chance is where a simulated world's decisions come from: equal seeds decide equally.
type chance struct{ *rand.Rand }

// newChance makes the chance of one part of a world.
func newChance(seed, part uint64) chance { return chance{rand.New(rand.NewPCG(seed, part))} }

// oneIn is true once in n times.
func (c chance) oneIn(n int) bool { return c.IntN(n) == 0 }

// between is a time from lo to hi, in whole milliseconds.
func (c chance) between(lo, hi time.Duration) time.Duration {
	return lo + time.Duration(c.Int64N(int64((hi-lo)/time.Millisecond)+1))*time.Millisecond
}

// maybe is a time from lo to hi, or zero: the default.
func (c chance) maybe(lo, hi time.Duration) time.Duration {
	if c.oneIn(2) {
		return 0
	}
	return c.between(lo, hi)
}

// pick is one of several.
func pick[T any](c chance, of ...T) T { return of[c.IntN(len(of))] }

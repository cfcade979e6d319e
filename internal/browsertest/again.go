package browsertest

import "testing"

// callsMost is how many calls Again makes.
const callsMost = 3

// Again makes a call in real time until one is heard, at most three: a virtual machine may lose its processors for
// seconds, which leaves holes in the sound of whoever plays it. It fails tb when none is heard.
func Again(tb testing.TB, call func() bool) {
	tb.Helper()
	for made := 1; !call(); made++ {
		if made == callsMost {
			tb.Fatalf("none of %d calls was heard", callsMost)
		}
	}
}

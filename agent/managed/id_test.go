package managed

import (
	"testing"
	"time"
)

// TestIDsSort: ids sort in the order in which they are made, at one moment too, and when the clock jumps back.
func TestIDsSort(t *testing.T) {
	var i ids
	now, last := time.Now(), ""
	for n := range 200_000 {
		if n == 150_000 {
			now = now.Add(-time.Hour)
		}
		id := i.next(sessionPrefix, now)
		if id <= last || !wellFormed(sessionPrefix, id) {
			t.Fatalf("%q comes behind %q", id, last)
		}
		last = id
	}
}

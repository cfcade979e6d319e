package farkas

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// TestTally: what is counted as rows come and go is what a count of all of them gives, rows that
// others make needless among them.
func TestTally(t *testing.T) {
	needless := 0
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 1))
		size, columns := 3+r.IntN(6), 2+r.IntN(5)
		signs := &tally{up: make([]int, columns), down: make([]int, columns)}
		var rows []row
		for range 12 {
			one := row{make([]int64, size), make([]int64, columns)}
			for range 1 + r.IntN(3) {
				one.weights[r.IntN(size)] = 1
				one.left[r.IntN(columns)] = int64(r.IntN(3) - 1)
			}
			before := len(rows)
			if rows = addMinimal(rows, one, signs); len(rows) < before {
				needless++
			}
		}
		if r.IntN(2) == 0 {
			rows = cancel(rows, r.IntN(columns), signs)
		}
		want := &tally{up: make([]int, columns), down: make([]int, columns)}
		for _, one := range rows {
			want.count(one, 1)
		}
		if !slices.Equal(signs.up, want.up) || !slices.Equal(signs.down, want.down) {
			t.Fatalf("seed %d: %v and %v; want %v and %v", seed, signs.up, signs.down, want.up, want.down)
		}
	}
	if needless < 50 {
		t.Errorf("only %d rows were made needless", needless)
	}
}

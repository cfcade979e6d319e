package farkas_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/voicegw/voicegw/verify/farkas"
)

func ExampleFlows() {
	// Two places in a ring of two transitions, and a third that is filled.
	fmt.Println(farkas.Flows([][]int64{{-1, 1}, {1, -1}, {1, 0}}))
	// Output: [[1 1 0]]
}

// TestFlows: every flow is one; and of small matrices every flow of small weights has one of those
// found within its support.
func TestFlows(t *testing.T) {
	for seed := range uint64(2000) {
		r := rand.New(rand.NewPCG(seed, 3))
		a := make([][]int64, 1+r.IntN(4))
		columns := 1 + r.IntN(3)
		for i := range a {
			for range columns {
				a[i] = append(a[i], int64(r.IntN(5)-2))
			}
		}
		found := farkas.Flows(a)
		for _, y := range found {
			if !isFlow(a, y) {
				t.Fatalf("seed %d: %v is no flow of %v", seed, y, a)
			}
		}
		y := make([]int64, len(a))
		for more(y, 4) {
			if isFlow(a, y) && !covered(found, y) {
				t.Fatalf("seed %d: %v is a flow of %v, but %v", seed, y, a, found)
			}
		}
	}
}

// isFlow reports whether y >= 0, y is not 0 and y*a is.
func isFlow(a [][]int64, y []int64) bool {
	some := false
	for _, w := range y {
		if w < 0 {
			return false
		}
		some = some || w > 0
	}
	for c := range a[0] {
		sum := int64(0)
		for i := range a {
			sum += y[i] * a[i][c]
		}
		if sum != 0 {
			return false
		}
	}
	return some
}

// more counts y up, in digits below n.
func more(y []int64, n int64) bool {
	for i := range y {
		if y[i]++; y[i] < n {
			return true
		}
		y[i] = 0
	}
	return false
}

func covered(found [][]int64, y []int64) bool {
	for _, f := range found {
		in := true
		for i := range f {
			in = in && (f[i] == 0 || y[i] > 0)
		}
		if in {
			return true
		}
	}
	return false
}

// TestLimits: a matrix with too many flows ends soon, with some of them or none.
func TestLimits(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	a := make([][]int64, 60)
	for i := range a {
		for range 40 {
			a[i] = append(a[i], int64(r.IntN(2001)-1000))
		}
	}
	for _, y := range farkas.Flows(a) {
		if !isFlow(a, y) {
			t.Fatalf("%v is no flow", y)
		}
	}
	if farkas.Flows(nil) != nil {
		t.Error("flows of nothing")
	}
}

// TestFlowsOfLargeNumbers: sums that overflow to 0 make no flow.
func TestFlowsOfLargeNumbers(t *testing.T) {
	const huge = 1 << 62 // four times that is 0
	if flows := farkas.Flows([][]int64{{2, huge}, {-2, huge}, {0, -1}, {0, -1}}); len(flows) > 0 {
		t.Errorf("flows %v", flows)
	}
}

//go:build !race

package sim_test

import "testing"

// TestScenariosSeen compares what a client sees of every scenario with what is written in
// testdata/seen, and the dialers, with every backend.
func TestScenariosSeen(t *testing.T) {
	compareScenarios(t, func(int, int) bool { return true })
}

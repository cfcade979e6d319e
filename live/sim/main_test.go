package sim_test

import (
	"testing"

	"go.uber.org/goleak"
)

// TestMain looks for goroutines left behind, but for the one that genai's dependency OpenCensus
// starts on import.
func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.IgnoreTopFunction("go.opencensus.io/stats/view.(*worker).start"))
}

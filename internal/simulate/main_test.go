package simulate

import (
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	// A dependency of genai starts this one when the program starts.
	goleak.VerifyTestMain(m, goleak.IgnoreTopFunction("go.opencensus.io/stats/view.(*worker).start"))
}

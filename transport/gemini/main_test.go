package gemini

import (
	"testing"

	"go.uber.org/goleak"

	"github.com/voicegw/voicegw/internal/clienttest"
)

func TestMain(m *testing.M) {
	// genai's dependency starts this one when the program does.
	goleak.VerifyTestMain(clienttest.Run{M: m}, goleak.IgnoreTopFunction("go.opencensus.io/stats/view.(*worker).start"),
		goleak.Cleanup(clienttest.Finish("transport/gemini")))
}

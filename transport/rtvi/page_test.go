package rtvi_test

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/voicegw/voicegw/audio/audiotest"
	"github.com/voicegw/voicegw/internal/browsertest"
	"github.com/voicegw/voicegw/internal/endpointtest"
	"github.com/voicegw/voicegw/internal/npmtest"
)

// TestPageHearsItsEcho is a page with Pipecat's client and its WavMediaManager in Chromium. Its
// microphone goes through the browser's own processing, so the echo is like what was said, not the
// same.
func TestPageHearsItsEcho(t *testing.T) {
	script := npmtest.Bundle(t, "testdata/page.mjs")
	w := open(t, endpointtest.Plan{Around: func(endpoint http.Handler) http.Handler {
		mux := http.NewServeMux()
		mux.Handle("/v1/rtvi", endpoint)
		mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
			_, _ = fmt.Fprintf(w, "<!doctype html><body><script>%s</script>", script)
		})
		return mux
	}})
	said := audiotest.Resample(audiotest.Speech("question"), 48000).Samples
	mic := append(make([]int16, 3*48000), said...)
	browser := browsertest.Launch(t, browsertest.Config{Microphone: browsertest.WriteWAV(t, 48000, mic)})
	browsertest.Again(t, func() bool {
		tab := browser.Open(t, w.URL)
		tab.WaitFor(`document.body.dataset.state === "speaking"`)
		tab.WaitFor(`document.body.dataset.state === "spoken"`)
		var heard []int16
		tab.Eval(`window.heard`, &heard)
		tab.Eval(`window.hangUp()`, nil)
		w.Eventually("the call has ended", func() bool { return w.Gateway.Calls() == 0 })
		_, is := audiotest.Align(audiotest.Resample(audiotest.Speech("question"), 24000).Samples, heard)
		_, not := audiotest.Align(audiotest.Resample(audiotest.Speech("german"), 24000).Samples, heard)
		t.Logf("what the page was given is like what was said by %.3f, and like what was not by %.3f", is, not)
		if not > 0.4 {
			t.Errorf("what the page was given (%d samples) is like what was not said by %.3f", len(heard), not)
		}
		return is > 0.4
	})
}

package rtvi_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/voicegw/voicegw/audio/audiotest"
	"github.com/voicegw/voicegw/internal/browsertest"
	"github.com/voicegw/voicegw/internal/clienttest"
	"github.com/voicegw/voicegw/internal/endpointtest"
	"github.com/voicegw/voicegw/internal/npmtest"
	"github.com/voicegw/voicegw/transport"
	"github.com/voicegw/voicegw/transport/rtc"
	"github.com/voicegw/voicegw/transport/rtvi"
)

// uiKit serves the page and both ways to call.
func uiKit(t *testing.T, page []byte) *endpointtest.World {
	t.Helper()
	var calls *rtc.Endpoint
	p := endpointtest.Plan{Endpoint: func(l transport.Lines) (endpointtest.Endpoint, error) {
		var err error
		if calls, err = rtc.New(rtc.Config{Lines: l}); err != nil {
			return nil, err
		}
		t.Cleanup(func() { _ = calls.Close() })
		return rtvi.New(rtvi.Config{Lines: l})
	}}
	p.Around = func(endpoint http.Handler) http.Handler {
		mux := http.NewServeMux()
		mux.Handle("GET /v1/rtvi", endpoint)
		mux.Handle("/api/offer", calls.SmallWebRTC(rtvi.Name, func() rtc.Dialect { return rtvi.NewChannel() }))
		mux.HandleFunc("/said/{name}", func(w http.ResponseWriter, r *http.Request) {
			_, _ = w.Write(browsertest.WAV(16000, audiotest.Speech(r.PathValue("name")).Samples))
		})
		mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
			_, _ = fmt.Fprintf(w, "<!doctype html><link rel=icon href=data:,><div id=root></div><script>%s</script>", page)
		})
		return mux
	}
	return endpointtest.New(t, p)
}

// TestUIKit is a page of Pipecat's UI kit, over each of its transports that need no server of
// others: it shows what both sides said, and plays the bot.
func TestUIKit(t *testing.T) {
	page := npmtest.Bundle(t, "testdata/uikit.mjs")
	browser := browsertest.Launch(t, browsertest.Config{})
	for _, way := range []string{"websocket", "webrtc"} {
		t.Run(way, func(t *testing.T) {
			t.Parallel()
			w := uiKit(t, page)
			tab := browser.Open(t, w.URL+"/?"+way)
			tab.Click("button")
			tab.WaitFor(`client.state === "ready"`)
			tab.Eval(`speak("hello")`, nil)
			tab.WaitFor(`document.body.dataset.state === "spoken"`)
			var shown string
			tab.Eval(`document.querySelector("#root").innerText`, &shown)
			if n := strings.Count(shown, "of speech)"); n != 2 {
				t.Errorf("the page shows\n%s", shown)
			}
			var peak float64
			tab.Eval(`peak`, &peak)
			if (way == "webrtc") != (peak > 0.05) {
				t.Errorf("the bot's track was %.3f loud", peak)
			}
			tab.Eval(`client.sendText("Are you there?")`, nil)
			w.Read("Are you there?")
			tab.Eval(`client.disconnect()`, nil)
			w.Eventually("the call has ended", func() bool { return w.Gateway.Calls() == 0 })
			var errors []any
			tab.Eval(`errors`, &errors)
			if len(errors) > 0 {
				t.Errorf("the client was told of %v", errors)
			}
			clienttest.Shows(t, "uikit "+way, clienttest.Speech, clienttest.Text, clienttest.Transcripts, clienttest.End)
		})
	}
}

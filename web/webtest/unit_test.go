package webtest_test

import (
	"net/http"
	"testing"

	"github.com/voicegw/voicegw/web"
)

// TestUnits runs the tests of the pure modules (testdata/unit/*.test.js) in a tab.
func TestUnits(t *testing.T) {
	t.Parallel()
	browser := withoutMicrophone.Browser(t)
	s := openWith(t, browser, "", map[string]http.Handler{
		"/chat/":    http.StripPrefix("/chat", web.ChatPage(web.ChatPageConfig{})),
		"/console/": http.StripPrefix("/console", web.ConsolePage(web.ConsolePageConfig{})),
		"/unit/":    http.StripPrefix("/unit/", http.FileServer(http.Dir("testdata/unit"))),
		"/protocol.json": http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			http.ServeFile(w, r, "../../transport/ws/testdata/protocol.json")
		}),
	})
	for _, name := range []string{"playout-queue", "resampler", "send-queue", "latency-meter", "echo-detector",
		"protocol", "tool-calls", "net-graph", "turn-list",
		"voice-client", "sent-log", "reconnector", "sse", "chat-api", "event-stream", "conversation",
		"open-session", "recording"} {
		s.Eval(`import("/unit/`+name+`.test.js").then(() => 0)`, nil)
	}
	var results []struct{ Name, Error string }
	s.Eval(`import("/unit/check.js").then((m) => m.runAll())`, &results)
	for _, r := range results {
		t.Run(r.Name, func(t *testing.T) {
			if r.Error != "" {
				t.Error(r.Error)
			}
		})
	}
	if len(results) < 136 {
		t.Errorf("%d tests ran, want all", len(results))
	}
}

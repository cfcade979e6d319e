package bench

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/voicegw/voicegw/audio"
)

// TestAudible tells silence in G.711 from a voice, however quiet.
func TestAudible(t *testing.T) {
	t.Parallel()
	v := newVoice(8000)
	audible := pcmuCodec{}.audible
	if audible(nil) || audible(audio.AppendMuLaw(nil, v.quiet)) {
		t.Error("silence is audible")
	}
	for n := range toneCount {
		if !audible(audio.AppendMuLaw(nil, v.frame(n, n))) {
			t.Errorf("frame %d is not audible", n)
		}
	}
}

// TestNotAnswered names what a server says that takes no calls.
func TestNotAnswered(t *testing.T) {
	t.Parallel()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, "no lines", http.StatusServiceUnavailable)
	}))
	defer s.Close()
	for transport, want := range map[string]string{WebRTC: "503 Service Unavailable: no lines", WebSocket: "no lines",
		Twilio: "503"} {
		_, err := Run(t.Context(), Config{Transport: transport, Gateway: Endpoint{URL: s.URL}})
		if err == nil || !strings.Contains(err.Error(), want) ||
			!strings.Contains(err.Error(), "call 1 of 1 to the gateway") {
			t.Errorf("%s: %v, want %s", transport, err, want)
		}
	}
}

package relay_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/coder/websocket"

	"github.com/voicegw/voicegw/bench/relay"
)

// TestRefused wants errors for a request that is not a call and for a body that is not an SDP offer.
func TestRefused(t *testing.T) {
	t.Parallel()
	s := httptest.NewServer(&relay.Relay{Model: "http://127.0.0.1:1"})
	defer s.Close()
	for path, want := range map[string]int{"/": http.StatusNotFound, relay.WebSocketPath: http.StatusUpgradeRequired,
		relay.TwilioPath: http.StatusUpgradeRequired, relay.WHIPPath: http.StatusInternalServerError} {
		answer, err := http.Post(s.URL+path, "application/sdp", strings.NewReader("v=0"))
		if err != nil {
			t.Fatal(err)
		}
		_ = answer.Body.Close()
		if answer.StatusCode != want {
			t.Errorf("%s answers %d, want %d", path, answer.StatusCode, want)
		}
	}
}

// TestNoModel ends a call when there is no model, and one whose first messages are nonsense.
func TestNoModel(t *testing.T) {
	t.Parallel()
	s := httptest.NewServer(&relay.Relay{Model: "http://127.0.0.1:1"})
	defer s.Close()
	for path, first := range map[string]string{relay.WebSocketPath: "{}", relay.TwilioPath: "{"} {
		c, _, err := websocket.Dial(t.Context(), strings.Replace(s.URL, "http", "ws", 1)+path,
			&websocket.DialOptions{Subprotocols: []string{"voicegw.v1"}})
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Write(t.Context(), websocket.MessageText, []byte(first)); err != nil {
			t.Fatal(err)
		}
		if _, _, err := c.Read(context.Background()); err == nil {
			t.Errorf("%s goes on without a model", path)
		}
		_ = c.CloseNow()
	}
}

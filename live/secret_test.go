package live

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// longKey is as long as a real one.
const longKey = "AIzaSyD-9tSrke72PouQMnMX-a7eZSW0jkFMBWY"

// keyless fails if a text shows six bytes of the key in a row.
func keyless(t *testing.T, what, text string) {
	t.Helper()
	for i := 0; i+6 <= len(longKey); i++ {
		if strings.Contains(text, longKey[i:i+6]) {
			t.Fatalf("%s shows some of the key: %q", what, text)
		}
	}
}

// keyMessages are messages in mid-call that repeat the key behind n bytes.
func keyMessages(n int) []string {
	text := strings.Repeat("x", n) + longKey + strings.Repeat("y", 500-n)
	return []string{
		`{"error":{"code":400,"message":"` + text + `","status":"INVALID_ARGUMENT"}}`,
		`{"error":{"code":400,"message":"m","status":"` + text + `"}}`,
		`{"serverContent":{"modelTurn":{"parts":[{"inlineData":{"mimeType":"audio/` + text + `","data":"AAA="}}]}}}`,
		`{"serverContent":{"modelTurn":{"parts":[{"inlineData":{"mimeType":"audio/pcm;rate=` + text + `","data":"AAA="}}]}}}`,
		`{"serverContent":{"turnComplete":true,"turnCompleteReason":"` + text + `"}}`,
		`{"serverContent":{"outputTranscription":{"text":"` + text + `"}}}`,
		`{"toolCall":{"functionCalls":[{"id":"1","name":"` + text + `"}]}}`,
		`{"` + text + `":1}`,
	}
}

// TestKeyInMidCall has the model repeat the key at every offset of every text it may send in
// mid-call.
func TestKeyInMidCall(t *testing.T) {
	for name, dial := range map[string]func(w Wire) (Conn, error){
		"wire": func(w Wire) (Conn, error) { return w.Dial(t.Context(), Setup{}) },
		"sdk":  func(w Wire) (Conn, error) { return (&SDK{Wire: w}).Dial(t.Context(), Setup{}) },
	} {
		t.Run(name, func(t *testing.T) {
			const offsets = 420
			server := httptest.NewServer(serveModel(t, nil, func(m model) {
				m.accept()
				for n := range offsets {
					for _, text := range keyMessages(n) {
						_ = m.send(text)
					}
				}
				_ = m.send(`{"goAway":{"timeLeft":"1s"}}`)
				_, _ = m.listen()
			}))
			defer server.Close()
			conn, err := dial(Wire{BaseURL: server.URL, APIKey: longKey})
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = conn.Close(1000, "") }()
			var m ServerMessage
			got := 0
			for m.Kind != ServerGoAway {
				if err := conn.Recv(context.Background(), &m); err != nil {
					t.Fatal(err)
				}
				keyless(t, m.Kind.String(), m.Text+"|"+m.Reason+"|"+m.Call.Name)
				got++
			}
			if want := offsets * 8; got < want {
				t.Errorf("%d messages; want %d or more", got, want)
			}
		})
	}
}

// TestKeyInRefusals has the model repeat the key at every offset of a refused upgrade and of a
// refused setup, and in what went before a close frame's last byte.
func TestKeyInRefusals(t *testing.T) {
	for _, n := range []int{0, 80, 100, 115, 161, 180, 199, 200, 361, 362, 380, 395, 399, 400, 401} {
		text := strings.Repeat("x", n) + longKey + strings.Repeat("y", 100)
		spaced := strings.Repeat("x ", n/2) + strings.Repeat(" ", n) + longKey
		for what, handler := range map[string]http.Handler{
			"body": http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { http.Error(w, text, http.StatusForbidden) }),
			"spaced body": http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				http.Error(w, spaced, http.StatusForbidden)
			}),
			"redirect": http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Location", "/"+text)
				w.WriteHeader(http.StatusFound)
			}),
			"setup": serveModel(t, nil, func(m model) { _ = m.send(`{"error":{"code":400,"message":"` + text + `"}}`) }),
			"close": serveModel(t, nil, func(m model) { m.close(1007, text[:min(len(text), 123)]) }),
		} {
			server := httptest.NewServer(handler)
			for _, d := range []Dialer{Wire{BaseURL: server.URL, APIKey: longKey},
				&SDK{Wire: Wire{BaseURL: server.URL, APIKey: longKey}}} {
				conn, err := d.Dial(t.Context(), Setup{})
				if err == nil {
					_ = conn.Close(1000, "")
					t.Fatal("dialled")
				}
				keyless(t, fmt.Sprintf("%T, %s behind %d bytes", d, what, n), err.Error())
			}
			server.Close()
		}
	}
}

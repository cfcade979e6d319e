package live

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// request is what a service is asked.
type request struct {
	url, auth, key, model string
}

// requestOf dials with both dialers and returns what they ask, which must be the same.
func requestOf(t *testing.T, w Wire, s Setup) request {
	t.Helper()
	var seen []request
	server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		req := request{url: r.URL.String(), auth: r.Header.Get("Authorization"), key: r.Header.Get("X-Goog-Api-Key")}
		watchModel(t, func(setup []byte, m model) {
			var v struct{ Setup struct{ Model string } }
			_ = json.Unmarshal(setup, &v)
			req.model = v.Setup.Model
			seen = append(seen, req)
			m.accept()
			_, _ = m.listen()
		}).ServeHTTP(rw, r)
	}))
	defer server.Close()
	w.BaseURL = server.URL + w.BaseURL
	for _, d := range []Dialer{w, &SDK{Wire: w}} {
		conn, err := d.Dial(t.Context(), s)
		if err != nil {
			t.Fatal(err)
		}
		_ = conn.Close(1000, "")
	}
	server.Close()
	if len(seen) != 2 || seen[0] != seen[1] {
		t.Fatalf("requests differ: %+v", seen)
	}
	return seen[0]
}

// TestRequests shows where each kind of service is asked, for what, and with which secret, by both
// dialers.
func TestRequests(t *testing.T) {
	t.Setenv("GOOGLE_APPLICATION_CREDENTIALS", "/nowhere") // nobody looks there
	token := func(context.Context) (string, error) { return "ya29.secret", nil }
	const m = "gemini-live-2.5-flash"
	for name, test := range map[string]struct {
		wire Wire
		want request
	}{
		"key": {Wire{APIKey: testKey}, request{livePath, "", testKey, "models/" + m}},
		"key, behind a proxy": {Wire{APIKey: testKey, BaseURL: "/proxy/"},
			request{"/proxy" + livePath, "", testKey, "models/" + m}},
		"ephemeral": {Wire{APIKey: "auth_tokens/x"}, request{constrainedPath, "Token auth_tokens/x", "", "models/" + m}},
		"vertex": {Wire{Vertex: &Vertex{Project: "p", Location: "eu", Token: token}}, request{vertexPath,
			"Bearer ya29.secret", "", "projects/p/locations/eu/publishers/google/models/" + m}},
		"vertex, behind a proxy": {Wire{Vertex: &Vertex{}, BaseURL: "/own/path"},
			request{"/own/path", "", "", "publishers/google/models/" + m}},
		"vertex, behind a proxy that takes tokens": {Wire{Vertex: &Vertex{Token: token}, BaseURL: "/own"},
			request{"/own", "Bearer ya29.secret", "", "publishers/google/models/" + m}},
	} {
		t.Run(name, func(t *testing.T) {
			if got := requestOf(t, test.wire, Setup{Model: m}); got != test.want {
				t.Errorf("request %+v\nwant %+v", got, test.want)
			}
		})
	}
}

// TestVertexAddress is where Google serves a location.
func TestVertexAddress(t *testing.T) {
	for location, host := range map[string]string{
		"global":       "aiplatform.googleapis.com",
		"eu":           "aiplatform.eu.rep.googleapis.com",
		"us":           "aiplatform.us.rep.googleapis.com",
		"europe-west4": "europe-west4-aiplatform.googleapis.com",
	} {
		u, err := Wire{Vertex: &Vertex{Project: "p", Location: location}}.address()
		if err != nil || u.String() != "wss://"+host+vertexPath {
			t.Errorf("%s: %v, %v", location, u, err)
		}
	}
}

// TestWrongVertex is refused before anything is sent, and shows no token.
func TestWrongVertex(t *testing.T) {
	token := func(context.Context) (string, error) { return "ya29.secret", nil }
	for _, test := range []struct {
		field string
		wire  Wire
	}{
		{"Wire.APIKey", Wire{APIKey: testKey, Vertex: &Vertex{Project: "p", Location: "eu"}}},
		{"Vertex.Project", Wire{Vertex: &Vertex{}}},
		{"Vertex.Project", Wire{Vertex: &Vertex{Project: "p"}}},
		{"Vertex.Project", Wire{Vertex: &Vertex{Location: "eu"}}},
		{"Vertex.Project", Wire{Vertex: &Vertex{Project: "p/q", Location: "eu"}}},
		{"Vertex.Location", Wire{Vertex: &Vertex{Project: "p", Location: "evil.example/"}}},
		{"Wire.BaseURL", Wire{BaseURL: "ws://192.0.2.1", Vertex: &Vertex{Project: "p", Location: "eu"}}},
		{"Wire.BaseURL", Wire{BaseURL: "ws://192.0.2.1", Vertex: &Vertex{Token: token}}},
	} {
		var e *SetupError
		if err := test.wire.Check(); !errors.As(err, &e) || e.Field != test.field {
			t.Errorf("%v: error %v; want %s", test.wire, err, test.field)
		}
	}
	if err := (Wire{Vertex: &Vertex{Project: "p", Location: "eu"}}).Check(); err != nil {
		t.Error(err)
	}
	shown := fmt.Sprintf("%+v", Wire{Vertex: &Vertex{Project: "p", Location: "eu", Token: token}})
	if !strings.Contains(shown, "p/eu") || strings.Contains(shown, "secret") {
		t.Error(shown)
	}
}

// TestNoToken cannot be had, is no header, or comes too late.
func TestNoToken(t *testing.T) {
	for name, test := range map[string]struct {
		token TokenSource
		class Class
		words string
	}{
		"refused": {func(context.Context) (string, error) { return "", errors.New("not logged in") }, ClassKey,
			"there is no access token for the model (not logged in)"},
		"two lines": {func(context.Context) (string, error) { return "a\nb", nil }, ClassKey, "unprintable"},
		"late": {func(ctx context.Context) (string, error) {
			<-ctx.Done()
			return "", ctx.Err()
		}, ClassTimeout, "within 20ms"},
	} {
		t.Run(name, func(t *testing.T) {
			w := Wire{HandshakeTimeout: 20e6, Vertex: &Vertex{Project: "p", Location: "eu", Token: test.token}}
			for _, d := range []Dialer{w, &SDK{Wire: w}} {
				_, err := d.Dial(t.Context(), Setup{})
				var e *CloseError
				if !errors.As(err, &e) || e.Class != test.class || !strings.Contains(err.Error(), test.words) {
					t.Errorf("error %v", err)
				}
			}
		})
	}
}

// TestDefaultToken looks where Google's tools look.
func TestDefaultToken(t *testing.T) {
	t.Setenv("GOOGLE_APPLICATION_CREDENTIALS", filepath.Join(t.TempDir(), "none.json"))
	if _, err := DefaultToken(); err == nil || !strings.Contains(err.Error(), "live: find default credentials") {
		t.Errorf("error %v", err)
	}
	w := Wire{Vertex: &Vertex{Project: "p", Location: "eu"}}
	var e *CloseError
	if _, err := w.Dial(t.Context(), Setup{}); !errors.As(err, &e) || e.Class != ClassKey {
		t.Errorf("error %v", err)
	}

	tokens := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) {
		rw.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprint(rw, `{"access_token":"ya29.found","token_type":"Bearer","expires_in":3600}`)
	}))
	defer tokens.Close()
	file := filepath.Join(t.TempDir(), "user.json")
	external := fmt.Sprintf(`{"type":"external_account","audience":"a","subject_token_type":`+
		`"urn:ietf:params:oauth:token-type:jwt","token_url":%q,"credential_source":{"file":%q}}`, tokens.URL, file)
	if err := os.WriteFile(file, []byte(external), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("GOOGLE_APPLICATION_CREDENTIALS", file)
	source, err := DefaultToken()
	if err != nil {
		t.Fatal(err)
	}
	if token, err := source(t.Context()); err != nil || token != "ya29.found" {
		t.Errorf("token %q, %v", token, err)
	}
	tokens.CloseClientConnections()
}

// TestVertexUsage reads tokens under either service's name.
func TestVertexUsage(t *testing.T) {
	for _, name := range []string{"response", "candidates"} {
		data := fmt.Sprintf(`{"usageMetadata":{"promptTokenCount":1,"%sTokenCount":2,"totalTokenCount":3,`+
			`"%sTokensDetails":[{"modality":"AUDIO","tokenCount":2}]}}`, name, name)
		var d decoder
		var m ServerMessage
		d.decode([]byte(data), &m)
		if want := (Usage{Prompt: 1, Response: 2, Total: 3, ResponseAudio: 2}); m.Kind != ServerUsage || m.Usage != want {
			t.Errorf("%s: %+v", data, m)
		}
	}
}

package openai

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/voicegw/voicegw/transport"
	"github.com/voicegw/voicegw/transport/admission"
)

// anyLines takes every handshake.
type anyLines struct{ transport.Lines }

type anyLine struct{ transport.Line }

func (anyLines) Take(transport.Handshake) (transport.Line, error) { return anyLine{}, nil }
func (anyLine) Release()                                          {}

func secretsOf(t *testing.T) *Secrets {
	t.Helper()
	s, err := NewSecrets(Config{Lines: anyLines{}})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// made asks for a client secret.
func made(t *testing.T, s *Secrets, method, body string) (status int, answer struct {
	Value     string
	ExpiresAt int64 `json:"expires_at"`
	Session   object
	Error     struct{ Message string }
}) {
	t.Helper()
	r := httptest.NewRequest(method, "http://localhost/v1/realtime/client_secrets", strings.NewReader(body))
	r.Header.Set("Authorization", "Bearer token")
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	if err := json.Unmarshal(w.Body.Bytes(), &answer); err != nil {
		t.Fatalf("%s: %v", w.Body, err)
	}
	return w.Code, answer
}

// TestSecretExpires: a secret stands for its token and its session until it expires.
func TestSecretExpires(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := secretsOf(t)
		status, a := made(t, s, http.MethodPost, `{"expires_after":{"anchor":"created_at","seconds":10},`+
			`"session":{"type":"realtime","instructions":"Be brief."}}`)
		if status != 200 || a.ExpiresAt != time.Now().Add(10*time.Second).Unix() || a.Session["instructions"] != "Be brief." {
			t.Fatalf("made %d %+v", status, a)
		}
		token, c, err := s.Call(a.Value, []byte(`{"type":"realtime","audio":{"output":{"voice":"Puck"}}}`))
		if err != nil || token != "token" || c.codec.session.instructions != "Be brief." || c.codec.session.voice != "Puck" {
			t.Errorf("opened %q, %v", token, err)
		}
		time.Sleep(10 * time.Second)
		if _, _, err := s.Call(a.Value, nil); err == nil {
			t.Error("an expired secret opens a call")
		} else if status, why := admission.Status(err); status != 401 || !strings.Contains(why, "expired") {
			t.Errorf("refused with %d %s", status, why)
		}
		made(t, s, http.MethodPost, "")
		if len(s.byKey) != 1 || s.bytes != 0 {
			t.Errorf("%d secrets with %d bytes are kept, want the new one", len(s.byKey), s.bytes)
		}
		if token, _, err := s.Call("a token", nil); token != "a token" || err != nil {
			t.Errorf("a call token opens %q, %v", token, err)
		}
	})
}

// TestSecretsRefuse what is no request for a secret, in the form of the API.
func TestSecretsRefuse(t *testing.T) {
	s := secretsOf(t)
	for body, want := range map[string]int{
		"": 200, "{}": 200, `{"session":null}`: 400, `{"session":[]}`: 400, "x": 400,
		`{"expires_after":{"seconds":9}}`: 400, `{"expires_after":{"seconds":7201}}`: 400,
		`{"session":"` + strings.Repeat("x", SecretBytesMax) + `"}`: 413,
	} {
		if status, a := made(t, s, http.MethodPost, body); status != want || (want != 200) != (a.Error.Message != "") {
			t.Errorf("%.40q is answered %d %q, want %d", body, status, a.Error.Message, want)
		}
	}
	if status, _ := made(t, s, http.MethodGet, ""); status != 405 {
		t.Errorf("GET is answered %d", status)
	}
}

// TestSecretsAreBounded in number and in bytes, and room comes when they expire.
func TestSecretsAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := secretsOf(t)
		for range SecretsMax {
			made(t, s, http.MethodPost, "")
		}
		if status, _ := made(t, s, http.MethodPost, ""); status != 503 {
			t.Errorf("one secret too many is answered %d", status)
		}
		time.Sleep(secretLife)
		long := `{"session":{"type":"realtime","instructions":"` + strings.Repeat("x", 500<<10) + `"}}`
		n := 0
		for ; n < SecretsMax; n++ {
			if status, _ := made(t, s, http.MethodPost, long); status != 200 {
				break
			}
		}
		if want := SecretsBytesMax / (500 << 10); n < want-2 || n > want {
			t.Errorf("%d long secrets are kept, want about %d", n, want)
		}
	})
}

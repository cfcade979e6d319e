package admission

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/voicegw/voicegw/transport"
)

func TestUpgrade(t *testing.T) {
	for _, tt := range []struct {
		change func(*http.Request)
		status int
	}{
		{func(*http.Request) {}, 0},
		{func(r *http.Request) { r.Header.Set("Upgrade", "h2c, WebSocket") }, 0},
		{func(r *http.Request) { r.Method = http.MethodPost }, 405},
		{func(r *http.Request) { r.Host = "evil.example" }, 421},
		{func(r *http.Request) { r.Header.Set("Origin", "https://evil.example") }, 403},
		{func(r *http.Request) { r.Header.Del("Upgrade") }, 426},
		{func(r *http.Request) { r.Header.Set("Upgrade", "websockets") }, 426},
	} {
		r := from("localhost", "")
		r.Header.Set("Upgrade", "websocket")
		tt.change(r)
		if err := (Names{}).Upgrade(r, ""); statusOf(err) != tt.status {
			t.Errorf("%s %s %v: %v, want %d", r.Method, r.Host, r.Header, err, tt.status)
		}
	}
}

func TestBearer(t *testing.T) {
	for _, tt := range []struct {
		headers []string
		token   string
		ok      bool
	}{
		{nil, "", true},
		{[]string{"Bearer a.b.c"}, "a.b.c", true},
		{[]string{"bearer  a.b.c "}, "a.b.c", true},
		{[]string{"Basic dTpw"}, "", true},
		{[]string{"Bearer"}, "", false},
		{[]string{"Bearer "}, "", false},
		{[]string{"Bearer a", "Bearer b"}, "", false},
		{[]string{"Basic dTpw", "Bearer b"}, "", false},
		{[]string{"Bearer " + strings.Repeat("x", transport.TokenLenMax+1)}, "", false},
		{[]string{"Bearer " + strings.Repeat("x", transport.TokenLenMax)}, strings.Repeat("x", transport.TokenLenMax), true},
	} {
		if token, ok := Bearer(http.Header{"Authorization": tt.headers}); token != tt.token || ok != tt.ok {
			t.Errorf("Bearer(%.40q) = %.40q, %v; want %.40q, %v", tt.headers, token, ok, tt.token, tt.ok)
		}
	}
}

func TestRefuse(t *testing.T) {
	for status, header := range map[int]string{405: "Allow", 426: "Upgrade", 401: "WWW-Authenticate", 403: ""} {
		w := httptest.NewRecorder()
		Refuse(w, Refusal(status, "because"))
		if w.Code != status || !strings.Contains(w.Body.String(), "because") || header != "" && w.Header().Get(header) == "" {
			t.Errorf("%d: %d %v %q", status, w.Code, w.Header(), w.Body)
		}
	}
}

// TestRefuseWantsWhatTheEndpointWants keeps what an endpoint asks for in place of a bearer's token.
func TestRefuseWantsWhatTheEndpointWants(t *testing.T) {
	const basic = `Basic realm="voicegw"`
	w := httptest.NewRecorder()
	w.Header().Set("WWW-Authenticate", basic)
	Refuse(w, Refusal(http.StatusUnauthorized, "because"))
	if got := w.Header().Get("WWW-Authenticate"); got != basic {
		t.Errorf("it wants %q", got)
	}
}

// TestRefuseOfAGateway tells what a gateway says, and nothing of its mistakes.
func TestRefuseOfAGateway(t *testing.T) {
	for _, tt := range []struct {
		err    error
		status int
		retry  string
	}{
		{&transport.Refused{Reason: transport.ReasonBusy, RetryAfter: 1500 * time.Millisecond}, 503, "2"},
		{fmt.Errorf("take: %w", &transport.Refused{Reason: transport.ReasonLimit, RetryAfter: time.Minute}), 429, "60"},
		{&transport.Refused{Reason: transport.ReasonGoingAway, RetryAfter: time.Millisecond}, 503, "1"},
		{&transport.Refused{Reason: transport.ReasonUnauthorized}, 401, ""},
		{&transport.FieldError{Event: "hello", Field: "version", Value: "2", Want: "1"}, 400, ""},
		{errors.New("the secret cause"), 500, ""},
	} {
		w := httptest.NewRecorder()
		Refuse(w, tt.err)
		if w.Code != tt.status || w.Header().Get("Retry-After") != tt.retry || strings.Contains(w.Body.String(), "secret") {
			t.Errorf("%v: %d, Retry-After %q, %q", tt.err, w.Code, w.Header().Get("Retry-After"), w.Body)
		}
	}
}

func TestRemote(t *testing.T) {
	for in, want := range map[string]string{
		"192.0.2.1:80": "192.0.2.1", "[2001:db8::1]:80": "2001:db8::1", "pipe": "pipe",
	} {
		if got := Remote(&http.Request{RemoteAddr: in}); got != want {
			t.Errorf("Remote(%q) = %q, want %q", in, got, want)
		}
	}
}

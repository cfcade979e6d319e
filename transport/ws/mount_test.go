package ws

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/voicegw/voicegw/transport"
)

// fakeLines are the lines of a gateway that takes every call, or refuses with an error.
type fakeLines struct {
	refuse error
	check  func(h *transport.Hello) error                    // nil takes every hello that can be
	answer func(ctx context.Context, p transport.Peer) error // of Call

	mu              sync.Mutex
	taken, released int
	hellos          []transport.Hello
}

func (l *fakeLines) Take(transport.Handshake) (transport.Line, error) {
	if l.refuse != nil {
		return nil, l.refuse
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.taken++
	return fakeLine{l}, nil
}

// open is how many lines are taken now.
func (l *fakeLines) open() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.taken - l.released
}

type fakeLine struct{ *fakeLines }

func (l fakeLine) Check(_ context.Context, h *transport.Hello) error {
	if l.check != nil {
		return l.check(h)
	}
	return h.Check(transport.Offer{})
}

func (l fakeLine) Release() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.released++
}

func (l fakeLine) Call(ctx context.Context, p transport.Peer) error {
	l.mu.Lock()
	l.hellos = append(l.hellos, p.Hello())
	l.mu.Unlock()
	if l.answer != nil {
		return l.answer(ctx, p)
	}
	return p.Close(transport.ReasonDone, "")
}

// mount serves an endpoint of its own and returns its address.
func mount(t *testing.T, cfg Config) (*Endpoint, string) {
	t.Helper()
	d, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	srv := httptest.NewServer(d)
	t.Cleanup(srv.Close)
	t.Cleanup(func() { _ = d.Close() })
	return d, "ws" + strings.TrimPrefix(srv.URL, "http")
}

func TestNewRefuses(t *testing.T) {
	for words, cfg := range map[string]Config{
		"Lines":   {},
		"Origins": {Lines: &fakeLines{}, Origins: []string{"shop.example"}},
		"Hosts":   {Lines: &fakeLines{}, Hosts: []string{"a/b"}},
	} {
		if _, err := New(cfg); err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("New(%+v) = %v, want %q in it", cfg, err, words)
		}
	}
}

// TestEndpointAnswersWithoutALine: what a gateway without a line says goes out as HTTP, before
// anything is upgraded.
func TestEndpointAnswersWithoutALine(t *testing.T) {
	for _, tt := range []struct {
		err        error
		status     int
		retryAfter string
		words      string
	}{
		{&transport.Refused{Reason: transport.ReasonBusy, RetryAfter: 1500 * time.Millisecond}, 503, "2", "in use"},
		{&transport.Refused{Reason: transport.ReasonGoingAway, Message: "Back at noon."}, 503, "", "Back at noon."},
		{&transport.Refused{Reason: transport.ReasonLimit, RetryAfter: time.Minute}, 429, "60", "as many calls"},
		{&transport.Refused{Reason: transport.ReasonUnauthorized}, 401, "", "may not"},
		{errors.New("the secret cause"), 500, "", "mistake"},
	} {
		_, url := mount(t, Config{Lines: &fakeLines{refuse: tt.err}})
		resp, err := http.DefaultTransport.RoundTrip(upgradeRequest(t, url))
		if err != nil {
			t.Fatal(err)
		}
		body := make([]byte, 200)
		n, _ := resp.Body.Read(body)
		_ = resp.Body.Close()
		if resp.StatusCode != tt.status || resp.Header.Get("Retry-After") != tt.retryAfter ||
			!strings.Contains(string(body[:n]), tt.words) || strings.Contains(string(body[:n]), "secret") {
			t.Errorf("%v: %d, Retry-After %q, %q", tt.err, resp.StatusCode, resp.Header.Get("Retry-After"), body[:n])
		}
	}
	http.DefaultTransport.(*http.Transport).CloseIdleConnections()
}

// TestEndpointHandsOverTheHello: with what the endpoint knows, and with the token, wherever it came
// from.
func TestEndpointHandsOverTheHello(t *testing.T) {
	const hello = `{"type":"hello","version":1,"input_rate":16000,"output_rate":24000`
	for _, tt := range []struct {
		name, authorization, protocols, hello, token string
	}{
		{"none", "", Subprotocol, hello + `}`, ""},
		{"in a subprotocol", "", Subprotocol + ",token.a.b-_c", hello + `}`, "a.b-_c"},
		{"before the protocol", "", "token.a.b.c," + Subprotocol, hello + `}`, "a.b.c"},
		{"in the hello", "", Subprotocol, hello + `,"token":"h.h.h"}`, "h.h.h"},
		{"in both", "", Subprotocol + ",token.a.b.c", hello + `,"token":"h.h.h"}`, "h.h.h"},
		{"a bearer's", "Bearer b.b.b", Subprotocol, hello + `}`, "b.b.b"},
		{"a bearer's, and in a subprotocol", "bearer b.b.b", Subprotocol + ",token.a.b.c", hello + `}`, "b.b.b"},
		{"a bearer's, and in the hello", "Bearer b.b.b", Subprotocol, hello + `,"token":"h.h.h"}`, "b.b.b"},
		{"everywhere", "Bearer b.b.b", Subprotocol + ",token.a.b.c", hello + `,"token":"h.h.h"}`, "b.b.b"},
		{"of another scheme", "Basic dTpw", Subprotocol, hello + `,"token":"h.h.h"}`, "h.h.h"},
		{"forged endpoint", "", Subprotocol, hello + `,"endpoint":"twilio","remote":"10.0.0.1","from":"+1"}`, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			lines := &fakeLines{}
			_, url := mount(t, Config{Lines: lines})
			c := rawDialAs(t, url, tt.protocols, tt.authorization)
			if c.Subprotocol() != Subprotocol {
				t.Errorf("the endpoint speaks %q", c.Subprotocol())
			}
			text(tt.hello).to(t, c)
			if events, ce := hearAll(t, c); ce.Reason != "done" {
				t.Fatalf("the call ended with %v after %+v", ce, events)
			}
			lines.mu.Lock()
			defer lines.mu.Unlock()
			if h := lines.hellos[0]; h.Token != tt.token || h.Endpoint != "ws" || h.Remote != "127.0.0.1" || h.From != "" {
				t.Errorf("Hello = %+v, want token %q", h, tt.token)
			}
		})
	}
}

// TestLineSaysWhetherAHelloIsTaken: with the reason and the close code of what it said, before any
// call.
func TestLineSaysWhetherAHelloIsTaken(t *testing.T) {
	for _, tt := range []struct {
		err  error
		code int
		told string
	}{
		{nil, 1000, ""},
		{&transport.FieldError{Event: "hello", Field: "language", Value: `"xx"`, Want: `"de"`}, 4000, `language is "xx"`},
		{&transport.Refused{Reason: transport.ReasonUnauthorized, Message: "The token is too old."}, 4007, "too old"},
		{&transport.Refused{Reason: transport.ReasonLimit, Err: errors.New("the secret cause")}, 1013, "as many calls"},
		{fmt.Errorf("the secret cause: %w", context.Canceled), 1001, "shutting down"},
		{errors.New("the secret cause"), 1011, "mistake"},
	} {
		lines := &fakeLines{check: func(h *transport.Hello) error {
			if h.Instructions != "support" || h.Endpoint != "ws" {
				t.Errorf("Check was given %+v", h)
			}
			return tt.err
		}}
		d, url := mount(t, Config{Lines: lines})
		c := rawDial(t, url)
		text(strings.TrimSuffix(goodHello, "}")+`,"instructions":"support"}`).to(t, c)
		events, ce := hearAll(t, c)
		if int(ce.Code) != tt.code || !strings.Contains(events[0].Message, tt.told) ||
			strings.Contains(events[0].Message, "secret") {
			t.Errorf("%v: %v after %+v", tt.err, ce, events)
		}
		_ = d.Close()
		if n := len(lines.hellos); (n == 1) != (tt.err == nil) || lines.open() != 0 {
			t.Errorf("%v: %d calls, %d lines taken", tt.err, n, lines.open())
		}
	}
}

// TestTokensAreNotRepeated: neither an answer nor the log has what is secret or private, however
// wrong it is.
func TestTokensAreNotRepeated(t *testing.T) {
	const secret = "s3cr3t"
	log, seen := observer.New(zap.DebugLevel)
	d, url := mount(t, Config{Lines: &fakeLines{}, Log: zap.New(log)})
	r := upgradeRequest(t, url)
	r.Header.Set("Sec-WebSocket-Protocol", "voicegw.v9, Token."+secret+", token."+secret)
	resp, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	body := make([]byte, 200)
	n, _ := resp.Body.Read(body)
	_ = resp.Body.Close()
	http.DefaultTransport.(*http.Transport).CloseIdleConnections()
	if resp.StatusCode != 400 || strings.Contains(string(body[:n]), secret) ||
		!strings.Contains(string(body[:n]), Subprotocol) {
		t.Errorf("%d %q", resp.StatusCode, body[:n])
	}
	for _, wrong := range []string{
		`"token":["` + secret + `"]`, `"token":"` + strings.Repeat(secret, 2000) + `"`, `"params":"` + secret + `"`,
		`"params":{"card":"` + strings.Repeat(secret, 100) + `"}`, `"params":{"card":["` + secret + `"]}`,
		`"token":"` + secret + `","version":9`,
	} {
		c := rawDial(t, url)
		text(`{"type":"hello","version":1,"input_rate":16000,"output_rate":24000,`+wrong+`}`).to(t, c)
		events, ce := hearAll(t, c)
		if ce.Reason != "bad_hello" {
			t.Errorf("%.30s: closed with %v", wrong, ce)
		}
		for _, e := range events {
			if strings.Contains(e.Message, secret) {
				t.Errorf("%.30s: the caller was told %q", wrong, e.Message)
			}
		}
	}
	_ = d.Close() // all is logged
	for _, entry := range seen.All() {
		for key, value := range entry.ContextMap() {
			if s, _ := value.(string); strings.Contains(s, secret) {
				t.Errorf("logged: %s %s", key, s)
			}
		}
	}
	if seen.Len() < 7 {
		t.Errorf("%d entries were logged", seen.Len())
	}
}

// TestEndpointCloses: in the handshake and in a call, and for those who come too late.
func TestEndpointCloses(t *testing.T) {
	inCall := make(chan struct{})
	lines := &fakeLines{answer: func(ctx context.Context, p transport.Peer) error {
		close(inCall)
		<-ctx.Done()
		return p.Close(transport.ReasonGoingAway, "")
	}}
	d, url := mount(t, Config{Lines: lines})
	silent, talking := rawDial(t, url), rawDial(t, url)
	text(goodHello).to(t, talking)
	<-inCall
	closed := make(chan error, 1)
	go func() { closed <- d.Close() }()
	for name, c := range map[string]*websocket.Conn{"silent": silent, "talking": talking} {
		if _, ce := hearAll(t, c); ce.Reason != "going_away" {
			t.Errorf("the %s one: closed with %v", name, ce)
		}
	}
	if err := <-closed; err != nil || lines.open() != 0 {
		t.Errorf("Close = %v with %d lines taken", err, lines.open())
	}
	if err := d.Close(); err != nil {
		t.Error(err)
	}
	resp, err := http.DefaultTransport.RoundTrip(upgradeRequest(t, url))
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	http.DefaultTransport.(*http.Transport).CloseIdleConnections()
	if resp.StatusCode != http.StatusServiceUnavailable {
		t.Errorf("after Close: %d", resp.StatusCode)
	}
}

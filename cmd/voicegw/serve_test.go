package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/voicegw/voicegw/transport"
	"github.com/voicegw/voicegw/transport/ws"
)

// served is a running `serve`.
type served struct {
	*process
	said     string // the line it printed
	url      string // of the page
	voiceURL string // of the WebSocket
}

// oneKind has serve prove one small kind of session. The proof of all that the defaults allow, other
// modes and functions of clients, takes five times as long, and few tests need it.
var oneKind = []string{"VOICEGW_SESSION_CLIENT_TOOLS=none", "VOICEGW_SESSION_CLIENT_MODES=false"}

// startServe starts `serve` with oneKind on a free port of this machine, without a proof.
func startServe(t *testing.T, env []string, args ...string) *served {
	t.Helper()
	return startServeOf(t, noProof, slices.Concat(oneKind, env), args...)
}

// startProved starts `serve` with oneKind on a free port of this machine, after the proof.
func startProved(t *testing.T, env []string, args ...string) *served {
	t.Helper()
	return startFullServe(t, slices.Concat(oneKind, env), args...)
}

// startFullServe starts `serve` on a free port of this machine, after the proof.
func startFullServe(t *testing.T, env []string, args ...string) *served {
	t.Helper()
	s := startServeOf(t, binary, env, args...)
	s.stderr.waitFor(t, "the nets of calls are proved: ")
	if !regexp.MustCompile(`the nets of calls are proved: [1-9]\d* claims about [1-9]\d* kinds? of session`).
		MatchString(s.stderr.String()) {
		t.Fatalf("it serves without a proof\n%s", s.stderr.String())
	}
	return s
}

// startServeOf starts `serve` of a binary on a free port of this machine.
func startServeOf(t *testing.T, binary string, env []string, args ...string) *served {
	t.Helper()
	env = append([]string{"VOICEGW_LIMITS_DRAIN_LIMIT=0s"}, env...) // calls need not come to their own end
	p := startWith(t, binary, env, nil, append([]string{"serve", "--listen", "127.0.0.1:0"}, args...)...)
	line := p.line()
	m := regexp.MustCompile(`^voicegw is at (https?)(://127\.0\.0\.1:\d+/)  \(.+\)$`).FindStringSubmatch(line)
	if m == nil {
		t.Fatalf("it printed %q", line)
	}
	voiceURL := strings.Replace(m[1], "http", "ws", 1) + m[2] + "v1/voice"
	return &served{process: p, said: line, url: m[1] + m[2], voiceURL: voiceURL}
}

// end ends `serve` as a service manager does, and wants it to go well.
func (s *served) end() {
	s.tb.Helper()
	s.signal(syscall.SIGTERM)
	if code, _ := s.wait(); code != 0 {
		s.tb.Errorf("exit code %d\n%s", code, s.stderr.String())
	}
}

// get requests a path of the page's server.
func get(t *testing.T, client *http.Client, url string) (*http.Response, string) {
	t.Helper()
	resp, err := client.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp, string(body)
}

func TestServe(t *testing.T) {
	t.Parallel()
	s := startFullServe(t, nil, "--data-dir", t.TempDir(), "--admin-listen", "127.0.0.1:0")
	for _, c := range []struct {
		path        string
		status      int
		contentType string
		body        string
	}{
		{"", 200, "text/html; charset=utf-8", "<html"},
		{"client.js", 200, "text/javascript; charset=utf-8", "./client/index.js"},
		{"healthz", 200, "text/plain; charset=utf-8", "ok\n"},
		{"readyz", 200, "text/plain; charset=utf-8", "ready\n"},
		{"v1/voice", 426, "", ""},
		{"nothing", 404, "", ""},
	} {
		resp, body := get(t, http.DefaultClient, s.url+c.path)
		if resp.StatusCode != c.status || !strings.Contains(body, c.body) {
			t.Errorf("/%s: %s %.80q; want %d with %q", c.path, resp.Status, body, c.status, c.body)
		}
		if got := resp.Header.Get("Content-Type"); c.contentType != "" && got != c.contentType {
			t.Errorf("/%s: content type %q; want %q", c.path, got, c.contentType)
		}
		if c.status == 200 && (resp.Header.Get("Content-Security-Policy") == "" ||
			resp.Header.Get("X-Content-Type-Options") != "nosniff") {
			t.Errorf("/%s: headers %v", c.path, resp.Header)
		}
	}
	s.stderr.waitFor(t, "the sessions API is at ")
	if said := s.stderr.String(); !strings.Contains(said, "about 4 kinds of session, certificates checked") {
		t.Errorf("the defaults are not proved:\n%s", said)
	} else if !regexp.MustCompile(`the sessions API is at .* \(claims proved: [1-9]\d*,`).MatchString(said) {
		t.Errorf("the nets of sessions are not proved:\n%s", said)
	}
	s.stderr.waitFor(t, "the admin listener is at ")
	_, admin, _ := strings.Cut(s.stderr.String(), "the admin listener is at ")
	admin, _, _ = strings.Cut(admin, "\n")
	_, metrics := get(t, http.DefaultClient, admin+"metrics")
	for _, want := range []string{`voicegw_nets{proof="proved"} 4`, `voicegw_nets{proof="unproved"} 0`} {
		if !strings.Contains(metrics, want+"\n") {
			t.Errorf("the metrics have no %s", want)
		}
	}
	s.end()
	if line, ok := <-s.lines; ok {
		t.Errorf("a second line on stdout: %q", line)
	}
}

// TestServeRefusesStrangers calls the gateway as another site's page, and as one whose name was
// made to lead here.
func TestServeRefusesStrangers(t *testing.T) {
	t.Parallel()
	s := startServe(t, nil, "--origins", "https://shop.example", "--hosts", "voice.example")
	for _, c := range []struct {
		host, origin string
		status       int // 0: a call
	}{
		{"", "", 0},
		{"", "https://shop.example", 0},
		{"", "https://evil.example", http.StatusForbidden},
		{"evil.example", "", http.StatusMisdirectedRequest},
		{"voice.example", "", 0},
	} {
		header := http.Header{}
		if c.origin != "" {
			header.Set("Origin", c.origin)
		}
		voiceURL, dial := s.voiceURL, (&net.Dialer{}).DialContext
		if c.host != "" {
			real := strings.TrimSuffix(strings.TrimPrefix(s.url, "http://"), "/")
			voiceURL = "ws://" + c.host + "/v1/voice"
			dial = func(ctx context.Context, network, _ string) (net.Conn, error) {
				return (&net.Dialer{}).DialContext(ctx, network, real)
			}
		}
		client, err := ws.Dial(t.Context(), voiceURL, hello(), ws.DialConfig{Header: header, DialContext: dial})
		var refused *ws.Refused
		switch {
		case err == nil:
			_ = client.Close()
			if c.status != 0 {
				t.Errorf("host %q, origin %q was let in", c.host, c.origin)
			}
		case !errors.As(err, &refused) || refused.Status != c.status:
			t.Errorf("host %q, origin %q: %v; want HTTP %d", c.host, c.origin, err, c.status)
		}
	}
	s.end()
}

func hello() transport.Hello {
	return transport.Hello{InputRateHz: 16000, OutputRateHz: 24000}
}

// dial opens a call that the test ends.
func (s *served) dial(t *testing.T) *ws.Client {
	t.Helper()
	client, err := ws.Dial(t.Context(), s.voiceURL, hello(), ws.DialConfig{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	return client
}

func TestSignalTellsTheCalls(t *testing.T) {
	t.Parallel()
	for _, sig := range []os.Signal{syscall.SIGTERM, os.Interrupt} {
		t.Run(fmt.Sprint(sig), func(t *testing.T) {
			t.Parallel()
			s := startServe(t, nil)
			client := s.dial(t)
			s.signal(sig)
			var m transport.Message
			var err error
			bye := ""
			for err == nil {
				if err = client.Recv(t.Context(), &m); err == nil && m.Kind == transport.MessageBye {
					bye = m.Code
				}
			}
			if bye != "going_away" || transport.ReasonOf(err) != transport.ReasonGoingAway {
				t.Errorf("the call ended with bye %q and %v", bye, err)
			}
			if code, _ := s.wait(); code != 0 {
				t.Errorf("exit code %d\n%s", code, s.stderr.String())
			}
		})
	}
}

// TestSecondSignal holds the first one up with a request that does not come to its end.
func TestSecondSignal(t *testing.T) {
	t.Parallel()
	s := startServe(t, nil)
	conn, err := net.Dial("tcp", strings.Trim(strings.TrimPrefix(s.url, "http:"), "/"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := io.WriteString(conn, "GET / HTTP/1.1\r\nHost: localhost\r\n"); err != nil {
		t.Fatal(err)
	}
	get(t, http.DefaultClient, s.url+"healthz") // accepted after the other one
	s.signal(syscall.SIGSTOP)                   // so that both signals wait for it
	s.signal(syscall.SIGTERM)
	s.signal(os.Interrupt)
	s.signal(syscall.SIGCONT)
	code, _ := s.wait()
	if code != exitFailed || !strings.Contains(s.stderr.String(), "second signal ended the process at once\n") {
		t.Errorf("exit code %d\n%s", code, s.stderr.String())
	}
}

func TestPortInUse(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	address := l.Addr().String()
	for _, verb := range []string{"serve", "sim"} {
		r := startWith(t, noProof, oneKind, nil, verb, "--listen", address).result()
		r.want(t, exitFailed, "voicegw "+verb, address, "the port is in use", "--listen")
	}
}

func TestReadyzSaysFull(t *testing.T) {
	t.Parallel()
	s := startServe(t, []string{"VOICEGW_CALLS_MAX=1"})
	s.dial(t)
	resp, body := get(t, http.DefaultClient, s.url+"readyz")
	if resp.StatusCode != http.StatusServiceUnavailable {
		t.Errorf("%s %q with all lines in use", resp.Status, body)
	}
	_, err := ws.Dial(t.Context(), s.voiceURL, hello(), ws.DialConfig{})
	var refused *ws.Refused
	if !errors.As(err, &refused) || refused.Status != http.StatusServiceUnavailable {
		t.Errorf("a call too many: %v", err)
	}
	s.end()
}

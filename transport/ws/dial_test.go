package ws

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/voicegw/voicegw/transport"
	"github.com/voicegw/voicegw/transport/admission"
	"github.com/voicegw/voicegw/transport/wsconn"
)

// serveHTTP serves one handler on loopback and returns its address as a ws URL.
func serveHTTP(t *testing.T, h http.HandlerFunc) string {
	t.Helper()
	srv := httptest.NewServer(h)
	t.Cleanup(srv.Close)
	return "ws" + strings.TrimPrefix(srv.URL, "http") + "/v1/voice"
}

// nobody is an address where nothing listens.
func nobody(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return "ws://" + l.Addr().String() + "/v1/voice"
}

// answer upgrades, reads the hello and writes these frames.
func answer(t *testing.T, frames ...string) string {
	return serveHTTP(t, func(w http.ResponseWriter, r *http.Request) {
		c, err := websocket.Accept(w, r, &websocket.AcceptOptions{Subprotocols: []string{Subprotocol}})
		if err != nil {
			return
		}
		defer c.CloseNow()
		_, _, _ = c.Read(r.Context())
		for _, f := range frames {
			_ = c.Write(r.Context(), websocket.MessageText, []byte(f))
		}
		_, _, _ = c.Read(r.Context())
	})
}

func TestDialErrors(t *testing.T) {
	plain := serveHTTP(t, func(w http.ResponseWriter, r *http.Request) { _, _ = w.Write([]byte("hello")) })
	tests := []struct {
		name, url string
		cfg       DialConfig
		words     []string
	}{
		{"no scheme", "localhost:8080", DialConfig{}, []string{"localhost", "must be ws or wss"}},
		{"no scheme at all", "/v1/voice", DialConfig{}, []string{"scheme is missing", "ws://"}},
		{"wrong scheme", "htp://localhost:8080/v1/voice", DialConfig{}, []string{`"htp"`, "ws or wss"}},
		{"no host", "ws:///v1/voice", DialConfig{}, []string{"host is missing"}},
		{"not a URL", "ws://[::1/v1/voice", DialConfig{}, []string{"not a URL"}},
		{"nothing listens", nobody(t), DialConfig{}, []string{"nothing is listening", "connection refused"}},
		{"404", serveHTTP(t, http.NotFound), DialConfig{}, []string{`nothing at "/v1/voice"`, "404"}},
		{"not a WebSocket", plain, DialConfig{}, []string{"not a WebSocket", "200"}},
		{"TLS against plain", "wss" + strings.TrimPrefix(plain, "ws"), DialConfig{}, []string{"does not speak TLS", "ws://"}},
		{"busy", serveHTTP(t, func(w http.ResponseWriter, _ *http.Request) {
			admission.Refuse(w, &transport.Refused{Reason: transport.ReasonBusy})
		}), DialConfig{},
			[]string{"All lines are in use", "503"}},
		{"missing subprotocol", serveHTTP(t, func(w http.ResponseWriter, r *http.Request) {
			if c, err := websocket.Accept(w, r, nil); err == nil {
				_ = c.CloseNow()
			}
		}), DialConfig{}, []string{"does not speak voicegw.v1"}},
		{"foreign origin", newEndpoint(t, Config{}).url, DialConfig{Header: http.Header{"Origin": {"https://evil.example"}}},
			[]string{"evil.example", "403"}},
		{"no answer", answer(t), DialConfig{ReadyTimeout: time.Second}, []string{"did not answer the hello", "1s"}},
		{"hello refused", answer(t,
			`{"type":"error","code":"bad_hello","message":"version is 9; it must be 1","fatal":true}`), DialConfig{},
			[]string{"refused the call", "version is 9; it must be 1", "bad_hello"}},
		{"model refused", answer(t, `{"type":"speech","state":"start"}`,
			`{"type":"error","code":"x","message":"y","fatal":false}`,
			`{"type":"bye","reason":"model_refused","message":"The key is wrong."}`), DialConfig{},
			[]string{"The key is wrong.", "model_refused"}},
		{"nonsense", answer(t, `hello`), DialConfig{}, []string{"cannot be read", "JSON"}},
		{"a ready of another version", answer(t, `{"type":"ready","call":"c","version":2}`), DialConfig{},
			[]string{"version is another number", "must be 1"}},
		{"a ready without a call", answer(t, `{"type":"ready","version":1}`), DialConfig{}, []string{"call is missing"}},
		{"hung up", serveHTTP(t, func(w http.ResponseWriter, r *http.Request) {
			if c, err := websocket.Accept(w, r, &websocket.AcceptOptions{Subprotocols: []string{Subprotocol}}); err == nil {
				_, _, _ = c.Read(r.Context())
				_ = c.CloseNow()
			}
		}), DialConfig{}, []string{"hung up in place of an answer"}},
		{"closed with a code", serveHTTP(t, func(w http.ResponseWriter, r *http.Request) {
			if c, err := websocket.Accept(w, r, &websocket.AcceptOptions{Subprotocols: []string{Subprotocol}}); err == nil {
				_, _, _ = c.Read(r.Context())
				_ = c.Close(websocket.StatusTryAgainLater, "")
			}
		}), DialConfig{}, []string{"refused the call", "busy"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tt.cfg.CloseTimeout = quick
			c, err := Dial(testContext(t), tt.url, testHello(), tt.cfg)
			if err == nil {
				_ = c.Close()
				t.Fatal("Dial connected")
			}
			for _, w := range tt.words {
				if !strings.Contains(err.Error(), w) {
					t.Errorf("error %q does not say %q", err, w)
				}
			}
		})
	}
}

// TestDialNetworkErrors: what a network does is said in words.
func TestDialNetworkErrors(t *testing.T) {
	says := func(answer string) func(context.Context, string, string) (net.Conn, error) {
		return func(context.Context, string, string) (net.Conn, error) {
			ours, theirs := net.Pipe()
			go func() {
				defer theirs.Close()
				_, _ = theirs.Read(make([]byte, 4096))
				_, _ = theirs.Write([]byte(answer))
			}()
			return ours, nil
		}
	}
	fails := func(err error) func(context.Context, string, string) (net.Conn, error) {
		return func(context.Context, string, string) (net.Conn, error) { return nil, err }
	}
	waits := func(ctx context.Context, _, _ string) (net.Conn, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	const upgraded = "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n"
	for _, tt := range []struct {
		name string
		dial func(context.Context, string, string) (net.Conn, error)
		want string
	}{
		{"no such host", fails(&net.DNSError{Err: "no such host", Name: "voice.example"}), `"voice.example" was not found`},
		{"no route", fails(&net.OpError{Op: "dial", Err: errors.New("no route to host")}), "cannot connect"},
		{"something else", fails(errors.New("the moon is full")), "the moon is full"},
		{"nobody answers", waits, "no answer within 50ms"},
		{"hung up", says(""), "hung up during the handshake"},
		{"not HTTP", says("\x15\x03\x01\x00\x02\x02\x46\r\n"), "does it want wss://?"},
		{"a wrong handshake", says(upgraded), "handshake is wrong"},
		{"an error without words", says("HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n"), "Bad Gateway (HTTP 502)"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			cfg := DialConfig{DialContext: tt.dial}
			if tt.name == "nobody answers" {
				cfg.ReadyTimeout = quick
			}
			_, err := Dial(testContext(t), "ws://voice.example/v1/voice", testHello(), cfg)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("Dial = %v, want ...%s...", err, tt.want)
			}
		})
	}
}

func TestDialIsCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(testContext(t))
	url := serveHTTP(t, func(w http.ResponseWriter, r *http.Request) {
		if c, err := websocket.Accept(w, r, &websocket.AcceptOptions{Subprotocols: []string{Subprotocol}}); err == nil {
			_, _, _ = c.Read(r.Context())
			cancel()
			_, _, _ = c.Read(r.Context())
		}
	})
	if _, err := Dial(ctx, url, testHello(), DialConfig{CloseTimeout: quick}); !errors.Is(err, context.Canceled) {
		t.Errorf("Dial = %v, want that it was cancelled", err)
	}
}

// TestHelloRefusedByAnEndpoint: the words of a real endpoint reach the person.
func TestHelloRefusedByAnEndpoint(t *testing.T) {
	d := newEndpoint(t, Config{Offer: testOffer})
	h := testHello()
	h.Instructions = "sales"
	_, err := Dial(testContext(t), d.url, h, DialConfig{})
	var refused *Refused
	if !errors.As(err, &refused) || refused.Reason != transport.ReasonBadHello || !strings.Contains(err.Error(),
		`"support"`) {
		t.Errorf("Dial = %v, want what would be right", err)
	}
	if _, err := d.next(t); transport.ReasonOf(err) != transport.ReasonBadHello {
		t.Errorf("Accept = %v", err)
	}
}

// TestTLS: a whole call over wss, and a certificate that is not trusted.
func TestTLS(t *testing.T) {
	d := &endpoint{calls: make(chan accepted, 1)}
	srv := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p, err := Accept(w, r, Config{Limits: wsconn.Limits{CloseTimeout: quick}})
		d.calls <- accepted{p, err}
	}))
	srv.Config.ErrorLog = quietLog()
	srv.StartTLS()
	defer srv.Close()
	url := "wss" + strings.TrimPrefix(srv.URL, "https")
	if _, err := Dial(testContext(t), url, testHello(), DialConfig{}); err == nil || !strings.Contains(err.Error(),
		"not trusted") {
		t.Errorf("Dial = %v, want that the certificate is not trusted", err)
	}

	roots := x509.NewCertPool()
	roots.AddCert(srv.Certificate())
	end := serveOne(t, d, false)
	c, err := Dial(testContext(t), url, testHello(), DialConfig{TLS: &tls.Config{RootCAs: roots}})
	if err != nil {
		t.Fatal(err)
	}
	if err := c.SendAudio(testContext(t), []int16{1, 2, 3}); err != nil {
		t.Error(err)
	}
	if err := c.Close(); err != nil {
		t.Errorf("Close = %v", err)
	}
	if err := <-end; transport.ReasonOf(err) != transport.ReasonCallerHungUp {
		t.Errorf("the server's side ended with %v", err)
	}
}

// TestClientAgainstABadGateway: what is not in the protocol ends the call with a reason, not with a
// panic.
func TestClientAgainstABadGateway(t *testing.T) {
	ready := string(appendReady(nil, transport.Ready{Call: "c", InputRateHz: 8000, OutputRateHz: 8000}))
	for _, tt := range []struct {
		name string
		send func(ctx context.Context, c *websocket.Conn)
		want transport.Reason
	}{
		{"odd audio", func(ctx context.Context, c *websocket.Conn) { _ = c.Write(ctx, websocket.MessageBinary, []byte{1}) },
			transport.ReasonBadJSON},
		{"not JSON", func(ctx context.Context, c *websocket.Conn) { _ = c.Write(ctx, websocket.MessageText, []byte("x")) },
			transport.ReasonBadJSON},
		{"no words", func(_ context.Context, c *websocket.Conn) { _ = c.Close(4006, "") }, transport.ReasonPeerLost},
		{"by name", func(_ context.Context, c *websocket.Conn) { _ = c.Close(4006, "max_duration") },
			transport.ReasonMaxDuration},
		{"a name with another's code", func(_ context.Context, c *websocket.Conn) { _ = c.Close(4006, "busy") },
			transport.ReasonPeerLost},
		{"lost", func(_ context.Context, c *websocket.Conn) { _ = c.CloseNow() }, transport.ReasonPeerLost},
	} {
		t.Run(tt.name, func(t *testing.T) {
			url := serveHTTP(t, func(w http.ResponseWriter, r *http.Request) {
				c, err := websocket.Accept(w, r, &websocket.AcceptOptions{Subprotocols: []string{Subprotocol}})
				if err != nil {
					return
				}
				defer c.CloseNow()
				_, _, _ = c.Read(r.Context())
				_ = c.Write(r.Context(), websocket.MessageText, []byte(ready))
				_ = c.Write(r.Context(), websocket.MessageText, []byte(`{"type":"ready","call":"again"}`))
				tt.send(r.Context(), c)
				_, _, _ = c.Read(r.Context())
			})
			c, err := Dial(testContext(t), url, testHello(), DialConfig{CloseTimeout: quick})
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			if err := c.Recv(testContext(t), new(transport.Message)); transport.ReasonOf(err) != tt.want {
				t.Errorf("Recv = %v, want %s", err, tt.want)
			}
			if n := c.Counters(); n.UnknownIn != 1 {
				t.Errorf("%d unknown events, want the second ready", n.UnknownIn)
			}
		})
	}
}

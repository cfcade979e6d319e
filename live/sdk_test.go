package live

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gorilla/websocket"

	"github.com/voicegw/voicegw/transport/ws/wstest"
)

// sdkTalk dials, with Google's client, a model whose side is f.
func sdkTalk(t *testing.T, w Wire, s Setup, f func(m model)) Conn {
	t.Helper()
	server := httptest.NewServer(serveModel(t, nil, func(m model) {
		m.accept()
		f(m)
	}))
	t.Cleanup(server.Close)
	w.BaseURL = server.URL
	if w.Vertex == nil {
		w.APIKey = testKey
	}
	conn, err := (&SDK{Wire: w}).Dial(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(1000, "") })
	return conn
}

// sdkPipe serves handler inside the bubble and leads Google's client there, whose way is its
// library's default.
func sdkPipe(handler http.Handler) (d *SDK, stop func()) {
	network := wstest.NewNarrow()
	server := &http.Server{Handler: handler}
	var serving sync.WaitGroup
	serving.Go(func() { _ = server.Serve(network) })
	before := websocket.DefaultDialer
	websocket.DefaultDialer = &websocket.Dialer{NetDialContext: network.Dial}
	d = &SDK{Wire: Wire{BaseURL: "ws://127.0.0.1", APIKey: testKey}}
	return d, func() {
		_ = server.Close()
		serving.Wait()
		websocket.DefaultDialer = before
	}
}

// TestSDKSending lets several goroutines send at once, at which the library itself panics
// (gorilla/websocket allows one writer), while another receives.
func TestSDKSending(t *testing.T) {
	received := make(chan []string, 1)
	conn := sdkTalk(t, Wire{}, Setup{}, func(m model) {
		messages, _ := m.listen()
		received <- messages
	})
	var receiving sync.WaitGroup
	receiving.Go(func() {
		var m ServerMessage
		_ = conn.Recv(context.Background(), &m)
	})
	const senders, each = 4, 50
	var group sync.WaitGroup
	for range senders {
		group.Go(func() {
			for range each {
				if err := conn.SendAudio(t.Context(), noise(320)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	group.Wait()
	if err := conn.Close(1000, ""); err != nil {
		t.Error(err)
	}
	receiving.Wait()
	if messages := <-received; len(messages) != senders*each {
		t.Errorf("%d messages", len(messages))
	}
	if err := conn.SendAudio(t.Context(), noise(1)); err == nil {
		t.Error("sent after Close")
	}
}

// TestSDKReceiving reads what the library refuses, panics at, or would quote; the connection goes
// on each time.
func TestSDKReceiving(t *testing.T) {
	const secret = "what the caller said"
	messages := []struct{ sent, text string }{
		{`{"serverContent":{"modelTurn":"` + secret, "broken JSON at byte"},
		{`["` + secret + `"]`, "wrong type"},
		{`{"serverContent":{"turnComplete":"` + secret + `"}}`, `field "serverContent.turnComplete" has the wrong type`},
		{`{"error":{"code":400,"message":"bad","status":"INVALID_ARGUMENT"}}`, "error 400 INVALID_ARGUMENT: bad"},
		{`{"error":"` + secret + `"}`, "an error of an unknown shape"},
		{`{"usageMetadata":"` + secret + `"}`, "wrong type"}, // the library panics
	}
	conn := sdkTalk(t, Wire{Vertex: &Vertex{}}, Setup{}, func(m model) {
		for _, one := range messages {
			_ = m.send(one.sent)
		}
		_ = m.send(string(wireAudio(noise(480))))
		_ = m.send(`{"fancyNewThing":1}`)
		m.close(1011, "Internal error encountered.")
	})
	var m ServerMessage
	for _, one := range messages {
		if err := conn.Recv(t.Context(), &m); err != nil || m.Kind != ServerMalformed ||
			!strings.Contains(m.Text, one.text) || strings.Contains(m.Text, secret) {
			t.Errorf("%s: %v %q, %v", one.sent, m.Kind, m.Text, err)
		}
	}
	if err := conn.Recv(t.Context(), &m); err != nil || m.Kind != ServerAudio || len(m.PCM) != 480 {
		t.Errorf("audio: %v, %v", m.Kind, err)
	}
	if err := conn.Recv(t.Context(), &m); err != nil || m.Kind != ServerUnknown {
		t.Errorf("unknown: %v, %v", m.Kind, err)
	}
	for range 2000 { // the library panics at the thousandth
		var e *CloseError
		if err := conn.Recv(t.Context(), &m); !errors.As(err, &e) || e.Code != 1011 || e.Class != ClassBackend {
			t.Fatalf("error %v", err)
		}
	}
}

// TestSDKReadLimit gives a connection up on which a message of too much audio came.
func TestSDKReadLimit(t *testing.T) {
	conn := sdkTalk(t, Wire{ReadLimit: 1000}, Setup{}, func(m model) {
		_ = m.send(string(wireAudio(noise(1000))))
		_, _ = m.listen()
	})
	var e *CloseError
	if err := conn.Recv(t.Context(), new(ServerMessage)); !errors.As(err, &e) || e.Code != 1009 {
		t.Errorf("error %v", err)
	}
}

// TestSDKSilentSetup never gets an answer to the setup. The library would wait for ever; what it
// has reached is closed when it has an end, and there is a limit to what it has not.
func TestSDKSilentSetup(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		d, stop := sdkPipe(serveModel(t, nil, func(model) { <-release }))
		d.Wire.HandshakeTimeout = time.Second
		for range stuckMax {
			_, err := d.Dial(t.Context(), Setup{})
			var e *CloseError
			if !errors.As(err, &e) || e.Class != ClassTimeout || !strings.Contains(err.Error(), "within 1s") {
				t.Fatalf("error %v", err)
			}
		}
		if _, err := d.Dial(t.Context(), Setup{}); !errors.Is(err, errStuck) {
			t.Errorf("error %v; want %v", err, errStuck)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		other := &SDK{Wire: d.Wire}
		if _, err := other.Dial(ctx, Setup{}); !errors.Is(err, context.Canceled) {
			t.Errorf("error %v; want that it was cancelled", err)
		}
		close(release)
		synctest.Wait()
		if n := d.stuck.Load() + other.stuck.Load(); n != 0 {
			t.Errorf("%d dials hang", n)
		}
		stop()
	})
}

// TestSDKLateSetup is answered after the dial was given up: the connection is closed.
func TestSDKLateSetup(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ended := make(chan error, 1)
		d, stop := sdkPipe(serveModel(t, nil, func(m model) {
			time.Sleep(3 * time.Second)
			m.accept()
			_, err := m.listen()
			ended <- err
		}))
		d.Wire.HandshakeTimeout = time.Second
		if _, err := d.Dial(t.Context(), Setup{}); err == nil {
			t.Error("dialled")
		}
		if err := <-ended; err == nil {
			t.Error("the connection stands")
		}
		synctest.Wait()
		if n := d.stuck.Load(); n != 0 {
			t.Errorf("%d dials hang", n)
		}
		stop()
	})
}

// TestSDKHalfOpen sends audio to a model that takes it and says nothing: a minute of it, or until
// writes block.
func TestSDKHalfOpen(t *testing.T) {
	for name, test := range map[string]struct {
		reads bool
		most  time.Duration // of audio
		words string
	}{
		"reads":         {true, time.Minute, "for 1m0s"},
		"reads nothing": {false, time.Second, "for 5s"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				release := make(chan struct{})
				d, stop := sdkPipe(serveModel(t, nil, func(m model) {
					m.accept()
					if test.reads {
						_, _ = m.listen()
					}
					<-release
				}))
				conn, err := d.Dial(t.Context(), Setup{})
				if err != nil {
					t.Fatal(err)
				}
				var receiving sync.WaitGroup
				receiving.Go(func() { _ = conn.Recv(context.Background(), new(ServerMessage)) })
				synctest.Wait()
				var sent time.Duration
				for ; err == nil && sent < 2*time.Minute; sent += 20 * time.Millisecond {
					err = conn.SendAudio(context.Background(), noise(320))
				}
				var e *CloseError
				if !errors.As(err, &e) || e.Class != ClassTimeout || sent > test.most ||
					!strings.Contains(err.Error(), test.words) {
					t.Errorf("after %v: %v", sent, err)
				}
				_ = conn.Close(1000, "")
				receiving.Wait()
				close(release)
				stop()
			})
		})
	}
}

// TestSDKCancelledRecv gives the connection up with the context.
func TestSDKCancelledRecv(t *testing.T) {
	conn := sdkTalk(t, Wire{}, Setup{}, func(m model) { _, _ = m.listen() })
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var e *CloseError
	if err := conn.Recv(ctx, new(ServerMessage)); !errors.As(err, &e) || e.Class != ClassEnded {
		t.Errorf("error %v", err)
	}
	if err := conn.SendAudio(t.Context(), noise(1)); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}

// TestSDKRefused is refused in the ways a Wire is.
func TestSDKRefused(t *testing.T) {
	for name, test := range map[string]struct {
		answer func(model)
		class  Class
		code   int
		words  string
	}{
		"close": {func(m model) { m.close(1007, "API key expired. Key "+testKey) }, ClassKey, 1007, "[key]"},
		"error": {func(m model) {
			_ = m.send(`{"error":{"code":400,"message":"bad ` + testKey + `","status":"INVALID_ARGUMENT"}}`)
		}, ClassPayload, 1007, "error 400 INVALID_ARGUMENT: bad [key]"},
		"chatter": {func(m model) { _ = m.send(`{"serverContent":{}}`) }, ClassPayload, 0, "before setupComplete"},
		"cut":     {func(model) {}, ClassNetwork, 1006, "broke before the setup was answered"},
	} {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(serveModel(t, nil, test.answer))
			defer server.Close()
			d := &SDK{Wire: Wire{BaseURL: server.URL, APIKey: testKey}}
			_, err := d.Dial(t.Context(), Setup{})
			var e *CloseError
			if !errors.As(err, &e) || e.Class != test.class || e.Code != test.code ||
				!strings.Contains(err.Error(), test.words) || strings.Contains(err.Error(), testKey) {
				t.Errorf("error %v", err)
			}
		})
	}
	server := httptest.NewServer(http.NotFoundHandler())
	defer server.Close()
	var e *CloseError
	_, err := (&SDK{Wire: Wire{BaseURL: server.URL, APIKey: testKey}}).Dial(t.Context(), Setup{})
	if !errors.As(err, &e) || e.Class != ClassNetwork || !strings.Contains(err.Error(), "bad handshake") {
		t.Errorf("no service: %v", err)
	}
}

// TestSDKWrongSetup is refused before the library is asked, which would leave sockets open or find
// a key elsewhere.
func TestSDKWrongSetup(t *testing.T) {
	t.Setenv("GEMINI_API_KEY", "somebody's")
	sound := Wire{BaseURL: "ws://127.0.0.1:1", APIKey: testKey}
	for field, test := range map[string]struct {
		wire  Wire
		setup Setup
	}{
		"Wire.APIKey":     {Wire{BaseURL: "ws://127.0.0.1:1"}, Setup{}},
		"Wire.HTTPClient": {Wire{APIKey: testKey, HTTPClient: http.DefaultClient}, Setup{}},
		"Wire.BaseURL":    {Wire{BaseURL: "ws://192.0.2.1", APIKey: testKey}, Setup{}},
		"Setup.Model":     {sound, Setup{Model: "a/b?c"}},
		"Setup.History":   {sound, Setup{Model: DefaultModel, History: []Turn{{"user", "Hi."}}}},
	} {
		var e *SetupError
		if _, err := (&SDK{Wire: test.wire}).Dial(t.Context(), test.setup); !errors.As(err, &e) || e.Field != field {
			t.Errorf("error %v; want %s", err, field)
		}
	}
	if all := fmt.Sprintf("%v %+v", &SDK{Wire: sound}, &SDK{Wire: sound}); strings.Contains(all, testKey) {
		t.Errorf("the key is in %s", all)
	}
}

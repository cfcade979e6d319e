package voicegw_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/voicegw/voicegw"
	"github.com/voicegw/voicegw/live"
	"github.com/voicegw/voicegw/transport"
	"github.com/voicegw/voicegw/transport/ws"
	"github.com/voicegw/voicegw/transport/wsconn"
)

// get is the answer of a gateway to a plain request.
func (w *world) get(path string, header ...string) (status int, body string, h http.Header) {
	w.t.Helper()
	r := httptest.NewRequest(http.MethodGet, "http://127.0.0.1"+path, nil)
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	rec := httptest.NewRecorder()
	w.gw.ServeHTTP(rec, r)
	return rec.Code, strings.TrimSpace(rec.Body.String()), rec.Header()
}

// upgrade asks for a WebSocket.
func upgrade() []string {
	return []string{"Connection", "Upgrade", "Upgrade", "websocket", "Sec-WebSocket-Version", "13",
		"Sec-WebSocket-Key", "AAAAAAAAAAAAAAAAAAAAAA==", "Sec-WebSocket-Protocol", ws.Subprotocol}
}

// TestBusy answers one call too many before its upgrade, with 503 and when to try again, and takes
// the next one when a line is free.
func TestBusy(t *testing.T) {
	w := onLoopback(t, plan{gw: voicegw.Config{CallsMax: 2}})
	first := w.call(hello(), manner{})
	w.call(hello(), manner{})
	if status, body, h := w.get("/v1/voice", upgrade()...); status != http.StatusServiceUnavailable ||
		h.Get("Retry-After") == "" || !strings.Contains(body, "in use") {
		t.Errorf("the third call: %d %q, Retry-After %q", status, body, h.Get("Retry-After"))
	}
	if status, _, _ := w.get("/readyz"); status != http.StatusServiceUnavailable {
		t.Errorf("/readyz %d while all lines are in use", status)
	}
	if r := w.refused(hello()); r.Status != http.StatusServiceUnavailable {
		t.Errorf("the third caller heard %v", r)
	}
	first.hangUp()
	w.eventually("a line is free", func() bool { status, _, _ := w.get("/readyz"); return status == http.StatusOK })
	w.call(hello(), manner{})
	if n := w.gw.Calls(); n != 2 {
		t.Errorf("%d calls run", n)
	}
}

// mute connects and says nothing. It returns when the upgrade was requested.
func (w *world) mute() *tap {
	w.t.Helper()
	tap := &tap{dial: w.dial}
	asked := make(chan error, 1)
	go func() {
		c, err := tap.connect(context.Background(), "", "")
		if err == nil {
			r, _ := http.NewRequest(http.MethodGet, "http://127.0.0.1/v1/voice", nil)
			for i, h := 0, upgrade(); i < len(h); i += 2 {
				r.Header.Set(h[i], h[i+1])
			}
			err = r.Write(c)
		}
		asked <- err
		_, _ = io.Copy(io.Discard, c)
	}()
	if err := <-asked; err != nil {
		w.t.Fatal(err)
	}
	return tap
}

// TestHandshakesTakeNoLine: those who connect and say nothing leave the lines to those who do, and
// are hung up on in the end.
func TestHandshakesTakeNoLine(t *testing.T) {
	t.Parallel()
	inBubble(t, plan{gw: voicegw.Config{CallsMax: 1, HandshakesMax: 5}}, func(w *world) {
		var taps []*tap
		for range 5 {
			taps = append(taps, w.mute())
			time.Sleep(time.Millisecond)
		}
		if status, _, _ := w.get("/readyz"); status != http.StatusOK || w.gw.Calls() != 0 {
			t.Errorf("beside silent handshakes /readyz answers %d, and %d calls run", status, w.gw.Calls())
		}
		p := w.call(hello(), manner{})
		time.Sleep(wsconn.CloseTimeoutDefault) // it is hung up on, and does not answer
		if code := taps[0].closeCode(); code != transport.ReasonBusy.Code() {
			t.Errorf("the oldest is closed by %d", code)
		}
		if r := w.refused(hello()); r.Status != http.StatusServiceUnavailable {
			t.Errorf("beside the only call the caller heard %v", r)
		}
		time.Sleep(wsconn.HelloTimeoutDefault + wsconn.CloseTimeoutDefault)
		for i, tap := range taps[1:] {
			if code := tap.closeCode(); code != transport.ReasonHelloTimeout.Code() {
				t.Errorf("silent handshake %d is closed by %d", i+1, code)
			}
		}
		p.hangUp()
	})
}

// TestGatewayIsNoLines: an endpoint cannot be given the gateway in place of what is behind its
// guard.
func TestGatewayIsNoLines(t *testing.T) {
	if _, ok := any(new(voicegw.Gateway)).(transport.Lines); ok {
		t.Error("a gateway is a transport.Lines: an endpoint that gets it asks no guard")
	}
}

// TestWhenALineIsTaken: before Hooks.Begin where a guard has let the caller pass, behind it where
// it may be the one who looks at the token. A handshake that is refused holds none.
func TestWhenALineIsTaken(t *testing.T) {
	t.Parallel()
	for name, guard := range map[string]func(transport.Lines) transport.Lines{
		"guard": func(l transport.Lines) transport.Lines { return l }, "none": nil} {
		var in *world
		ready := func() bool { status, _, _ := in.get("/readyz"); return status == http.StatusOK }
		agree := false
		cfg := voicegw.Config{CallsMax: 1, Guard: guard}
		cfg.Hooks.Begin = func(context.Context, *transport.Hello) (*voicegw.Plan, error) {
			if ready() == (guard != nil) {
				t.Errorf("guard %s: in Begin a line is free: %v", name, ready())
			}
			if !agree {
				return nil, errors.New("no")
			}
			return nil, nil
		}
		inBubble(t, plan{gw: cfg}, func(w *world) {
			in = w
			h := hello()
			h.Version = transport.Version
			line, err := w.gw.Lines().Take(transport.Handshake{Remote: "192.0.2.1"})
			if err != nil {
				w.t.Fatal(err)
			}
			defer line.Release()
			if line.Check(context.Background(), &h) == nil || !ready() {
				t.Errorf("guard %s: a handshake that is refused is let in, or holds the line", name)
			}
			agree = true
			if err := line.Check(context.Background(), &h); err != nil || ready() {
				t.Errorf("guard %s: a handshake that is accepted holds no line: %v", name, err)
			}
		})
	}
}

// TestHealth serves the paths of a gateway.
func TestHealth(t *testing.T) {
	w := onLoopback(t, plan{})
	for path, want := range map[string]int{"/healthz": 200, "/readyz": 200, "/v1/voice": 426, "/": 404} {
		if status, body, _ := w.get(path); status != want {
			t.Errorf("%s: %d %q, want %d", path, status, body, want)
		}
	}
	_ = w.gw.Close()
	for path, want := range map[string]int{"/healthz": 200, "/readyz": 503} {
		if status, body, _ := w.get(path); status != want {
			t.Errorf("%s when closed: %d %q, want %d", path, status, body, want)
		}
	}
	if status, _, _ := w.get("/v1/voice", upgrade()...); status != http.StatusServiceUnavailable {
		t.Errorf("a call when closed: %d", status)
	}
}

// TestClose ends calls in every stage, and says good-bye to each.
func TestClose(t *testing.T) {
	t.Parallel()
	p, model := slowly()
	p.gw, p.model = greets(), long()
	inBubble(t, p, func(w *world) {
		close(model.gate)
		speaking, quiet := w.call(hello(), manner{}), w.call(hello(), manner{noMic: true, noAcks: true})
		speaking.played(1, time.Second)
		model.gate = make(chan struct{})
		dialling := make(chan error, 1)
		go func() {
			_, _, err := w.try(hello())
			dialling <- err
		}()
		time.Sleep(time.Second)
		began := time.Now()
		if err := w.gw.Close(); err != nil {
			t.Error(err)
		}
		if took := time.Since(began); took > 3*time.Second {
			t.Errorf("Close took %v", took)
		}
		speaking.over(transport.ReasonGoingAway, "shutting down")
		quiet.over(transport.ReasonGoingAway, "shutting down")
		if r, ok := asRefused(<-dialling); !ok || r.Reason != transport.ReasonGoingAway {
			t.Errorf("who was waiting for the model heard %v", r)
		}
		if n := w.gw.Calls(); n != 0 {
			t.Errorf("%d calls run", n)
		}
		if r := w.refused(hello()); r.Status != http.StatusServiceUnavailable {
			t.Errorf("a call when closed: %v", r)
		}
		if err := w.gw.Close(); err != nil {
			t.Error(err)
		}
	})
}

// TestCloseInHandshake tells one who has not said hello.
func TestCloseInHandshake(t *testing.T) {
	t.Parallel()
	inBubble(t, plan{}, func(w *world) {
		tap := &tap{dial: w.dial}
		c, err := tap.connect(context.Background(), "", "")
		if err != nil {
			w.t.Fatal(err)
		}
		r, _ := http.NewRequest(http.MethodGet, "http://127.0.0.1/v1/voice", nil)
		for i, h := 0, upgrade(); i < len(h); i += 2 {
			r.Header.Set(h[i], h[i+1])
		}
		if err := r.Write(c); err != nil {
			w.t.Fatal(err)
		}
		go func() { _, _ = io.Copy(io.Discard, c) }()
		time.Sleep(time.Second)
		_ = w.gw.Close()
		time.Sleep(time.Second)
		if code := tap.closeCode(); code != transport.ReasonGoingAway.Code() {
			t.Errorf("close code %d", code)
		}
	})
}

// TestCloseUnderWay closes while calls come and go, over and over.
func TestCloseUnderWay(t *testing.T) {
	t.Parallel()
	inBubble(t, plan{gw: greets()}, func(w *world) {
		var callers sync.WaitGroup
		for i := range 20 {
			callers.Go(func() {
				time.Sleep(time.Duration(i) * 100 * time.Millisecond)
				c, _, err := w.try(hello())
				if err != nil {
					return
				}
				var m transport.Message
				for c.Recv(context.Background(), &m) == nil {
				}
				if m.Kind != transport.MessageBye || m.Reason != transport.ReasonGoingAway {
					t.Errorf("caller %d heard last %+v", i, m)
				}
				_ = c.Close()
			})
		}
		time.Sleep(time.Second)
		_ = w.gw.Close()
		callers.Wait()
		if n := w.gw.Calls(); n != 0 {
			t.Errorf("%d calls run", n)
		}
	})
}

// TestTwoGateways in one process do not know each other.
func TestTwoGateways(t *testing.T) {
	a, b := onLoopback(t, plan{gw: greets()}), onLoopback(t, plan{gw: greets()})
	p := b.call(hello(), manner{})
	a.call(hello(), manner{})
	_ = a.gw.Close()
	p.ended(transport.TurnComplete)
	if n := b.gw.Calls(); n != 1 {
		t.Errorf("%d calls run on the second gateway", n)
	}
}

// TestConfig is refused with the name of the field and what would be right.
func TestConfig(t *testing.T) {
	d := live.Wire{BaseURL: "ws://127.0.0.1:1"}
	for want, cfg := range map[string]voicegw.Config{
		"Dialer":            {},
		"CallsMax is -1":    {Dialer: d, CallsMax: -1},
		"DialTimeout is -1": {Dialer: d, DialTimeout: -1},
		"ArchiveLoss is 3":  {Dialer: d, ArchiveLoss: 3},
		"Detection is 2":    {Dialer: d, Detection: 2},
		"Greeting has 4001": {Dialer: d, Greeting: strings.Repeat("x", 4001)},
		"Greeting has 1":    {Dialer: d, Greeting: "\xff"},
		"Instructions":      {Dialer: d, Instructions: map[string]string{"": "x"}},
		"Activity":          {Dialer: d, Activity: activity(-1)},
		"WS":                {Dialer: d, WS: ws.Config{Hosts: []string{"a/b"}}},
		"BudgetFrames":      {Dialer: d, Net: budget(1000)},
	} {
		if _, err := voicegw.New(cfg); err == nil || !strings.Contains(err.Error(), want) ||
			!strings.HasPrefix(err.Error(), "voicegw: ") {
			t.Errorf("New = %v, want an error about %s", err, want)
		}
	}
}

// TestConfigIsCopied: what is changed afterwards has no effect.
func TestConfigIsCopied(t *testing.T) {
	t.Parallel()
	texts := map[string]string{"support": "Help them."}
	inBubble(t, plan{gw: voicegw.Config{Instructions: texts}}, func(w *world) {
		texts["support"] = "Never help."
		h := hello()
		h.Instructions = "support"
		w.call(h, manner{})
		if s := string(w.connection(1).Setup); !strings.Contains(s, "Help them.") {
			t.Errorf("setup %s", s)
		}
	})
}

// TestCallErrors is what Call returns to those who bring their own peers.
func TestCallErrors(t *testing.T) {
	t.Parallel()
	inBubble(t, plan{gw: voicegw.Config{CallsMax: 1}}, func(w *world) {
		bad := newPeer(transport.Hello{InputRateHz: 1})
		if err := w.gw.Call(context.Background(), bad); err == nil || bad.closed() != transport.ReasonBadHello {
			t.Errorf("a bad hello: %v, closed by %s", err, bad.closed())
		}
		ctx, cancel := context.WithCancel(context.Background())
		first, ended := newPeer(hello()), make(chan error, 1)
		go func() { ended <- w.gw.Call(ctx, first) }()
		time.Sleep(time.Second)
		second := newPeer(hello())
		if err := w.gw.Call(ctx, second); !errors.Is(err, voicegw.ErrBusy) || second.closed() != transport.ReasonBusy {
			t.Errorf("one call too many: %v, closed by %s", err, second.closed())
		}
		cancel()
		if err := <-ended; err != nil || first.closed() != transport.ReasonGoingAway {
			t.Errorf("a call whose context is done: %v, closed by %s", err, first.closed())
		}
		_ = w.gw.Close()
		late := newPeer(hello())
		if err := w.gw.Call(context.Background(), late); !errors.Is(err, voicegw.ErrClosed) ||
			late.closed() != transport.ReasonGoingAway {
			t.Errorf("a call when closed: %v, closed by %s", err, late.closed())
		}
	})
	refuses := dialer(func(context.Context, live.Setup) (live.Conn, error) {
		return nil, &live.CloseError{Class: live.ClassKey, Code: 1007}
	})
	inBubble(t, plan{gw: voicegw.Config{Dialer: refuses}}, func(w *world) {
		p := newPeer(hello())
		var ce *live.CloseError
		if err := w.gw.Call(context.Background(), p); !errors.As(err, &ce) || p.closed() != transport.ReasonModelRefused {
			t.Errorf("a model that refuses: %v, closed by %s", err, p.closed())
		}
	})
}

// TestContextDoneWhileDialling ends as going away, not as a fault of the model.
func TestContextDoneWhileDialling(t *testing.T) {
	t.Parallel()
	p, model := slowly()
	inBubble(t, p, func(w *world) {
		ctx, cancel := context.WithCancel(context.Background())
		go func() { <-model.begun; cancel() }()
		peer := newPeer(hello())
		if err := w.gw.Call(ctx, peer); err != nil || peer.closed() != transport.ReasonGoingAway {
			t.Errorf("%v, closed by %s", err, peer.closed())
		}
	})
}

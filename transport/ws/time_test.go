package ws

import (
	"context"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/coder/websocket"

	"github.com/voicegw/voicegw/transport"
	"github.com/voicegw/voicegw/transport/ws/wstest"
)

// inBubble runs a raw client against a peer that receives until the end, in a world of its own
// time, with the defaults.
func inBubble(t *testing.T, client func(t *testing.T, c *websocket.Conn)) (took time.Duration, end error) {
	synctest.Test(t, func(t *testing.T) {
		l := wstest.New()
		done := make(chan error, 1)
		start := time.Now()
		srv := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			p, err := Accept(w, r, Config{})
			if err == nil {
				err = p.Ready(t.Context(), transport.Ready{Call: "c-1"})
			}
			for err == nil {
				err = p.Recv(t.Context(), new(transport.Event))
			}
			took = time.Since(start)
			done <- err
		})}
		var wg sync.WaitGroup
		wg.Go(func() { _ = srv.Serve(l) })
		tr := &http.Transport{DialContext: l.Dial, DisableKeepAlives: true}
		c, _, err := websocket.Dial(t.Context(), "ws://localhost/", &websocket.DialOptions{
			Subprotocols: []string{Subprotocol}, HTTPClient: &http.Client{Transport: tr}})
		if err != nil {
			t.Fatal(err)
		}
		client(t, c)
		end = <-done
		_ = c.CloseNow()
		_ = srv.Close()
		tr.CloseIdleConnections()
		wg.Wait()
	})
	return took, end
}

// readUntilClosed answers pings and returns the close code.
func readUntilClosed(c *websocket.Conn) websocket.StatusCode {
	for {
		if _, _, err := c.Read(context.Background()); err != nil {
			return websocket.CloseStatus(err)
		}
	}
}

func sayHello(t *testing.T, c *websocket.Conn) {
	t.Helper()
	if err := c.Write(t.Context(), websocket.MessageText, []byte(goodHello)); err != nil {
		t.Fatal(err)
	}
}

// TestTimes looks at the defaults to the second: time stands still until everything waits.
func TestTimes(t *testing.T) {
	tests := []struct {
		name   string
		client func(t *testing.T, c *websocket.Conn)
		want   transport.Reason
		took   time.Duration
	}{
		{"no hello", func(t *testing.T, c *websocket.Conn) {
			if code := readUntilClosed(c); int(code) != transport.ReasonHelloTimeout.Code() {
				t.Errorf("closed with %d", code)
			}
		}, transport.ReasonHelloTimeout, 10 * time.Second},
		{"hello and nothing more, while pings are answered", func(t *testing.T, c *websocket.Conn) {
			sayHello(t, c)
			if code := readUntilClosed(c); int(code) != transport.ReasonIdleTimeout.Code() {
				t.Errorf("closed with %d", code)
			}
		}, transport.ReasonIdleTimeout, 60 * time.Second},
		{"a client that pings every 50 s, four times", func(t *testing.T, c *websocket.Conn) {
			sayHello(t, c)
			var wg sync.WaitGroup
			wg.Go(func() { readUntilClosed(c) })
			for range 4 {
				time.Sleep(50 * time.Second)
				if err := c.Ping(t.Context()); err != nil {
					t.Errorf("a client that pings was cut off: %v", err)
				}
			}
			wg.Wait()
		}, transport.ReasonIdleTimeout, 260 * time.Second},
		{"a client that mutes every 50 s, twice", func(t *testing.T, c *websocket.Conn) {
			sayHello(t, c)
			var wg sync.WaitGroup
			wg.Go(func() { readUntilClosed(c) })
			for range 2 {
				time.Sleep(50 * time.Second)
				_ = c.Write(t.Context(), websocket.MessageText, []byte(`{"type":"mute","on":true}`))
			}
			wg.Wait()
		}, transport.ReasonIdleTimeout, 160 * time.Second},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			took, end := inBubble(t, tt.client)
			if transport.ReasonOf(end) != tt.want || took.Round(time.Second) != tt.took {
				t.Errorf("ended with %v after %v, want %s after %v", end, took, tt.want, tt.took)
			}
		})
	}
}

// TestPingInterval counts the pings of a minute and a half in which the client speaks once.
func TestPingInterval(t *testing.T) {
	pings := 0
	synctest.Test(t, func(t *testing.T) {
		l := wstest.New()
		var srv http.Server
		calls := make(chan *Peer, 1)
		srv.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if p, err := Accept(w, r, Config{}); err == nil {
				calls <- p
			}
		})
		var wg sync.WaitGroup
		wg.Go(func() { _ = srv.Serve(l) })
		tr := &http.Transport{DialContext: l.Dial, DisableKeepAlives: true}
		c, _, err := websocket.Dial(t.Context(), "ws://localhost/", &websocket.DialOptions{
			Subprotocols: []string{Subprotocol}, HTTPClient: &http.Client{Transport: tr},
			OnPingReceived: func(context.Context, []byte) bool { pings++; time.Sleep(70 * time.Millisecond); return true },
		})
		if err != nil {
			t.Fatal(err)
		}
		sayHello(t, c)
		p := <-calls
		wg.Go(func() {
			for p.Recv(t.Context(), new(transport.Event)) == nil {
			}
		})
		wg.Go(func() { readUntilClosed(c) })
		time.Sleep(45 * time.Second)
		_ = c.Write(t.Context(), websocket.MessageText, []byte(`{"type":"mute","on":true}`))
		time.Sleep(45 * time.Second)
		if rtt := p.Counters().PingRTT; rtt != 70*time.Millisecond {
			t.Errorf("PingRTT = %v, want 70ms", rtt)
		}
		_ = p.Close(transport.ReasonDone, "")
		_ = srv.Close()
		tr.CloseIdleConnections()
		wg.Wait()
	})
	if pings != 4 {
		t.Errorf("%d pings in 90 s, want 4", pings)
	}
}

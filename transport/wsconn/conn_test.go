package wsconn

import (
	"context"
	"errors"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/coder/websocket"

	"github.com/voicegw/voicegw/transport"
	"github.com/voicegw/voicegw/transport/ws/wstest"
)

// network joins the two ends.
type network interface {
	net.Listener
	Dial(ctx context.Context, network, addr string) (net.Conn, error)
}

// sockets are a network of this machine.
type sockets struct {
	net.Listener
	net.Dialer
}

func (s sockets) Dial(ctx context.Context, network, addr string) (net.Conn, error) {
	return s.DialContext(ctx, network, addr)
}

// joined runs a story of a connection and its far end.
func joined(t *testing.T, l network, limits Limits, story func(t *testing.T, c *Conn, far *websocket.Conn)) {
	t.Helper()
	conns, over := make(chan *Conn), make(chan struct{})
	srv := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c, err := Accept(w, r, limits.WithDefaults(Defaults()), Options{})
		if err != nil {
			t.Error(err)
			close(conns)
			return
		}
		conns <- c
		<-over
	})}
	var wg sync.WaitGroup
	wg.Go(func() { _ = srv.Serve(l) })
	tr := &http.Transport{DialContext: l.Dial, DisableKeepAlives: true}
	far, _, err := websocket.Dial(t.Context(), "ws://"+l.Addr().String(),
		&websocket.DialOptions{HTTPClient: &http.Client{Transport: tr}})
	if err != nil {
		t.Fatal(err)
	}
	c := <-conns
	story(t, c, far)
	_ = far.CloseNow()
	_ = c.Close(transport.End(transport.ReasonDone, "", nil), nil)
	close(over)
	_ = srv.Close()
	wg.Wait()
}

// TestStalledFarEnd: one write waits for the write timeout, the next fails at once, and the close
// takes its own time.
func TestStalledFarEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		joined(t, wstest.NewNarrow(), Limits{}, func(t *testing.T, c *Conn, _ *websocket.Conn) {
			for _, want := range []time.Duration{WriteTimeoutDefault, 0} {
				start := time.Now()
				err := c.Write(t.Context(), Message{Data: []byte("x")})
				if took := time.Since(start); !errors.Is(err, transport.ErrStalled) || took != want {
					t.Errorf("Write = %v after %v, want that it stalls after %v", err, took, want)
				}
			}
			start := time.Now()
			err := c.Fail(transport.ErrStalled, nil)
			if took := time.Since(start); transport.ReasonOf(err) != transport.ReasonPeerStalled ||
				took > CloseTimeoutDefault {
				t.Errorf("Fail = %v after %v", err, took)
			}
		})
	})
}

// TestPingsEnd when the connection is closed, whichever end does.
func TestPingsEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		joined(t, wstest.New(), Limits{}, func(t *testing.T, c *Conn, far *websocket.Conn) {
			far.CloseRead(t.Context())
			go func() {
				time.Sleep(PingIntervalDefault + time.Second)
				_ = far.CloseNow()
			}()
			_, err := c.Read(t.Context(), time.Hour)
			if err = c.Fail(err, nil); transport.ReasonOf(err) != transport.ReasonPeerLost {
				t.Errorf("the far end left: %v", err)
			}
			if !c.pinger.stopped {
				t.Error("the timer of the pings goes on")
			}
		})
	})
}

// TestReadEnds: each way in which a far end stops talking has its reason, and none quotes it.
func TestReadEnds(t *testing.T) {
	gone, cancel := context.WithCancelCause(t.Context())
	cancel(&transport.Refused{Reason: transport.ReasonBusy})
	frame := func(code websocket.StatusCode) func(far *websocket.Conn) {
		return func(far *websocket.Conn) { go func() { _ = far.Close(code, "4711") }() }
	}
	for name, tt := range map[string]struct {
		ctx  context.Context
		far  func(far *websocket.Conn)
		want transport.Reason
	}{
		"silence":      {t.Context(), func(*websocket.Conn) {}, transport.ReasonHelloTimeout},
		"given up":     {gone, func(*websocket.Conn) {}, transport.ReasonBusy},
		"good order":   {t.Context(), frame(websocket.StatusNormalClosure), transport.ReasonCallerHungUp},
		"going away":   {t.Context(), frame(websocket.StatusGoingAway), transport.ReasonCallerHungUp},
		"policy":       {t.Context(), frame(websocket.StatusPolicyViolation), transport.ReasonPeerLost},
		"without word": {t.Context(), func(far *websocket.Conn) { _ = far.CloseNow() }, transport.ReasonPeerLost},
		"too long": {t.Context(), func(far *websocket.Conn) {
			_ = far.Write(context.Background(), websocket.MessageText, make([]byte, 1001))
		}, transport.ReasonMessageTooBig},
	} {
		synctest.Test(t, func(t *testing.T) {
			joined(t, wstest.New(), Limits{MessageBytesMax: 1000}, func(t *testing.T, c *Conn, far *websocket.Conn) {
				tt.far(far)
				_, err := c.ReadHello(tt.ctx, time.Now().Add(time.Second))
				if err == nil || err.Reason != tt.want || strings.Contains(err.Error(), "4711") {
					t.Errorf("%s: %v, want %v", name, err, tt.want)
				}
			})
		})
	}
}

// TestFailOfAContext leaves the connection open.
func TestFailOfAContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		joined(t, wstest.New(), Limits{}, func(t *testing.T, c *Conn, far *websocket.Conn) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			_, err := c.Read(ctx, time.Hour)
			if err = c.Fail(err, nil); !errors.Is(err, context.DeadlineExceeded) || c.Ended() != nil {
				t.Errorf("Fail = %v, and the call ended: %v", err, c.Ended())
			}
			if err := c.Write(t.Context(), Message{Binary: true, Data: []byte("x")}); err != nil {
				t.Error(err)
			}
			if typ, b, err := far.Read(t.Context()); err != nil || typ != websocket.MessageBinary || string(b) != "x" {
				t.Errorf("%v %q %v", typ, b, err)
			}
			if in, out, _ := c.Traffic(); in != 0 || out != 1 {
				t.Errorf("%d bytes in, %d out", in, out)
			}
		})
	})
}

// TestBoundsAllocateNothing pins what this package adds to a message; the library has allocations
// of its own.
func TestBoundsAllocateNothing(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	joined(t, sockets{Listener: l}, Limits{}, func(t *testing.T, c *Conn, _ *websocket.Conn) {
		ctx, b := t.Context(), make([]byte, 16)
		for name, do := range map[string]func(){
			"a read":  func() { c.socket.startRead(time.Minute); _ = c.reading.begin(ctx); c.reading.end() },
			"a write": func() { c.socket.startWrite(false); _ = c.sending.begin(ctx); c.socket.armWrite(); c.sending.end() },
		} {
			do() // the context is registered
			if n := testing.AllocsPerRun(500, do); n != 0 {
				t.Errorf("%s: %v allocations, want 0", name, n)
			}
		}
		ours := testing.AllocsPerRun(200, func() { _ = c.Write(ctx, Message{Binary: true, Data: b}) })
		bare := testing.AllocsPerRun(200, func() { _ = c.ws.Write(context.Background(), websocket.MessageBinary, b) })
		if ours > bare {
			t.Errorf("Write: %v allocations, a bare write %v", ours, bare)
		}
	})
}

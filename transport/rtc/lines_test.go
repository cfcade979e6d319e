package rtc_test

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/voicegw/voicegw/transport"
	"github.com/voicegw/voicegw/transport/rtc"
)

// lines are a gateway of which a test is the inside.
type lines struct {
	peers    chan transport.Peer
	refuse   *transport.Refused             // of Take, nil for none
	check    func(h *transport.Hello) error // may be nil
	released chan struct{}                  // gets one for each line given back
	begun    chan transport.Handshake       // gets each; nil: nobody looks
}

func newLines() *lines {
	return &lines{peers: make(chan transport.Peer, 10), released: make(chan struct{}, 100)}
}

func (l *lines) Take(h transport.Handshake) (transport.Line, error) {
	if l.begun != nil {
		l.begun <- h
	}
	if l.refuse != nil {
		return nil, l.refuse
	}
	return l, nil
}

func (l *lines) Check(_ context.Context, h *transport.Hello) error {
	if l.check != nil {
		return l.check(h)
	}
	return h.Check(transport.Offer{})
}

// Call hands the peer to the test and waits until ctx is done or the peer is closed.
func (l *lines) Call(ctx context.Context, p transport.Peer) error {
	over := &watched{Peer: p, closed: make(chan struct{})}
	l.peers <- over
	select {
	case <-ctx.Done():
	case <-over.closed:
	}
	return p.Close(transport.ReasonGoingAway, "")
}

func (l *lines) Release() { l.released <- struct{}{} }

// watched tells when a test closes a peer, or when Recv did.
type watched struct {
	transport.Peer
	closed chan struct{}
}

func (w *watched) Close(r transport.Reason, message string) error {
	defer close(w.closed)
	return w.Peer.Close(r, message)
}

// newStage makes a world whose gateway is the test.
func newStage(t testing.TB, l transport.Lines, cfg rtc.Config) *world {
	t.Helper()
	cfg.Lines, cfg.Codecs = l, spoken(cfg.Codecs)
	d, err := rtc.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, endpoint: d, server: httptest.NewServer(d),
		listen: func() (net.PacketConn, error) { return net.ListenPacket("udp4", "127.0.0.1:0") }}
	t.Cleanup(func() {
		_ = d.Close()
		w.server.Close()
		http.DefaultClient.CloseIdleConnections()
	})
	return w
}

// accept makes a call and accepts it.
func (w *world) accept(l *lines, m manner) (*caller, transport.Peer) {
	w.t.Helper()
	c := w.call(m)
	return c, w.ready(l)
}

// ready is the far end of a call that was made, accepted.
func (w *world) ready(l *lines) transport.Peer {
	w.t.Helper()
	p := <-l.peers
	if err := p.Ready(context.Background(), transport.Ready{Call: "c-1", Budget: 400 * time.Millisecond}); err != nil {
		w.t.Fatal(err)
	}
	return p
}

// next is the next event of a kind; others are passed over.
func next(t testing.TB, p transport.Peer, k transport.EventKind) transport.Event {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	var ev transport.Event
	for {
		if err := p.Recv(ctx, &ev); err != nil {
			t.Fatalf("no %s: %v", k, err)
		}
		if ev.Kind == k {
			return ev
		}
	}
}

// ending is how Recv ends the call.
func ending(t testing.TB, p transport.Peer) *transport.Ended {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	var ev transport.Event
	for {
		switch err := p.Recv(ctx, &ev).(type) {
		case nil:
		case *transport.Ended:
			return err
		default:
			t.Fatalf("the call did not end: %v", err)
		}
	}
}

// nextOrEnd receives an event and reports false at the end of the call.
func nextOrEnd(p transport.Peer) bool {
	var ev transport.Event
	return p.Recv(context.Background(), &ev) == nil
}

package ws

import (
	"context"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/voicegw/voicegw/transport"
)

// patience bounds whatever a test waits for; it is reached only when the test fails.
const patience = 20 * time.Second

// quick is a time-out that a test is meant to reach.
const quick = 50 * time.Millisecond

// accepted is what an endpoint gave for one request.
type accepted struct {
	peer *Peer
	err  error
}

// endpoint is a server on loopback that accepts calls with one configuration.
type endpoint struct {
	url   string
	calls chan accepted
}

// newEndpoint starts an endpoint; it is closed with the test, and so are the peers that next handed
// out.
func newEndpoint(t testing.TB, cfg Config) *endpoint {
	return newEndpointIn(t, context.Background(), cfg)
}

// newEndpointIn is newEndpoint with the context of every request.
func newEndpointIn(t testing.TB, ctx context.Context, cfg Config) *endpoint {
	t.Helper()
	d := &endpoint{calls: make(chan accepted, 16)}
	srv := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p, err := Accept(w, r, cfg)
		d.calls <- accepted{p, err}
	}))
	srv.Config.BaseContext = func(net.Listener) context.Context { return ctx }
	srv.Start()
	t.Cleanup(srv.Close)
	d.url = "ws" + strings.TrimPrefix(srv.URL, "http")
	return d
}

// next waits for the next call and returns what Accept returned.
func (d *endpoint) next(t testing.TB) (*Peer, error) {
	t.Helper()
	select {
	case a := <-d.calls:
		if a.peer != nil {
			t.Cleanup(func() { _ = a.peer.Close(transport.ReasonDone, "") })
		}
		return a.peer, a.err
	case <-time.After(patience):
		t.Fatal("no call came")
		return nil, nil
	}
}

// testHello is a hello that every gateway takes.
func testHello() transport.Hello {
	return transport.Hello{Version: 1, InputRateHz: 16000, OutputRateHz: 24000}
}

// testContext ends with the test, or when patience does.
func testContext(t testing.TB) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	t.Cleanup(cancel)
	return ctx
}

// connect makes a call and accepts it.
func connect(t testing.TB, cfg Config, dial DialConfig) (*Peer, *Client) {
	t.Helper()
	if cfg.CloseTimeout == 0 {
		cfg.CloseTimeout = quick // not every test answers the close of the other side
	}
	if dial.CloseTimeout == 0 {
		dial.CloseTimeout = quick
	}
	d, ctx := newEndpoint(t, cfg), testContext(t)
	type dialled struct {
		c   *Client
		err error
	}
	done := make(chan dialled, 1)
	go func() {
		c, err := Dial(ctx, d.url, testHello(), dial)
		done <- dialled{c, err}
	}()
	p, err := d.next(t)
	if err != nil {
		t.Fatal(err)
	}
	ready := transport.Ready{Call: "c-1", Budget: 400 * time.Millisecond, Model: transport.Model{Name: "parrot",
		Embedded: true}}
	if err := p.Ready(ctx, ready); err != nil {
		t.Fatal(err)
	}
	r := <-done
	if r.err != nil {
		t.Fatal(r.err)
	}
	t.Cleanup(func() { _ = r.c.Close() })
	return p, r.c
}

func TestCallStartToEnd(t *testing.T) {
	p, c := connect(t, Config{}, DialConfig{})
	ctx := testContext(t)
	asked := testHello()
	asked.Endpoint, asked.Remote, asked.Messages = "ws", "127.0.0.1", true
	if got := p.Hello(); !reflect.DeepEqual(got, asked) {
		t.Errorf("Hello = %+v, want %+v", got, asked)
	}
	want := transport.Ready{Call: "c-1", InputRateHz: 16000, OutputRateHz: 24000, Budget: 400 * time.Millisecond,
		Detection: transport.DetectionGatewayVAD, Model: transport.Model{Name: "parrot", Embedded: true},
		MessageBytesMax: 128 << 10}
	if got := c.Ready(); !reflect.DeepEqual(got, want) {
		t.Errorf("Ready = %+v, want %+v", got, want)
	}

	pcm := []int16{1, -2, 32767, -32768}
	if err := c.SendAudio(ctx, pcm); err != nil {
		t.Fatal(err)
	}
	var ev transport.Event
	if err := p.Recv(ctx, &ev); err != nil || ev.Kind != transport.EventAudio || !equal(ev.PCM, pcm) {
		t.Fatalf("Recv = %v, %+v, want audio %v", err, ev, pcm)
	}

	if err := p.SendAudio(ctx, 1, pcm); err == nil {
		t.Error("audio went out before its turn was announced")
	}
	if err := p.Send(ctx, &transport.Message{Kind: transport.MessageTurn, State: transport.StateStart,
		Generation: 1}); err != nil {
		t.Fatal(err)
	}
	if err := p.SendAudio(ctx, 1, pcm); err != nil {
		t.Fatal(err)
	}
	if err := p.SendAudio(ctx, 2, pcm); err == nil {
		t.Error("audio of a turn that was not announced went out")
	}
	var m transport.Message
	if err := c.Recv(ctx, &m); err != nil || m.Kind != transport.MessageTurn || m.Generation != 1 {
		t.Fatalf("Recv = %v, %+v, want turn start", err, m)
	}
	if err := c.Recv(ctx, &m); err != nil || m.Kind != transport.MessageAudio || m.Generation != 1 || !equal(m.PCM, pcm) {
		t.Fatalf("Recv = %v, %+v, want audio of generation 1", err, m)
	}

	if err := c.SendEvent(ctx, &transport.Event{Kind: transport.EventBye}); err != nil {
		t.Fatal(err)
	}
	if err := p.Recv(ctx, &ev); err != nil || ev.Kind != transport.EventBye {
		t.Fatalf("Recv = %v, %+v, want bye", err, ev)
	}
	closed := make(chan error, 1)
	go func() { closed <- p.Close(transport.ReasonCallerHungUp, "") }()
	if err := c.Recv(ctx, &m); err != nil || m.Kind != transport.MessageBye || m.Reason != transport.ReasonCallerHungUp {
		t.Fatalf("Recv = %v, %+v, want bye", err, m)
	}
	if err := c.Recv(ctx, &m); transport.ReasonOf(err) != transport.ReasonCallerHungUp {
		t.Errorf("after bye Recv = %v, want the end", err)
	}
	if err := <-closed; err != nil {
		t.Errorf("Close = %v", err)
	}
	if err := p.Recv(ctx, &ev); transport.ReasonOf(err) != transport.ReasonCallerHungUp {
		t.Errorf("after Close Recv = %v, want the end", err)
	}
}

func equal(a, b []int16) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

// quietLog is for servers that are expected to complain.
func quietLog() *log.Logger { return log.New(io.Discard, "", 0) }

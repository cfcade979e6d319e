package voicegw_test

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/voicegw/voicegw"
	"github.com/voicegw/voicegw/audio/audiotest"
	"github.com/voicegw/voicegw/live"
	"github.com/voicegw/voicegw/live/sim"
	"github.com/voicegw/voicegw/transport"
	"github.com/voicegw/voicegw/transport/ws"
	"github.com/voicegw/voicegw/transport/ws/wstest"
)

// patience is how long a story waits for what must come: long, because it only matters when
// something is broken.
const patience = 2 * time.Minute

// world is a gateway between an embedded model and those who call it: on loopback sockets, or in a
// bubble where time passes only when everybody waits.
type world struct {
	t      *testing.T
	bubble bool
	model  *sim.Server
	gw     *voicegw.Gateway
	url    string
	dial   func(ctx context.Context, network, addr string) (net.Conn, error)
}

// plan is what a world is made of.
type plan struct {
	model sim.Config
	gw    voicegw.Config // its Dialer, when nil, is the model's
	// narrow joins caller and gateway by a line that holds next to nothing: who does not read
	// blocks who writes.
	narrow bool
	// away is how long what the gateway writes takes to the model, in a bubble.
	away time.Duration
	// between, if any, stands between the gateway and its Dialer.
	between func(live.Dialer) live.Dialer
	before  func() // in the bubble, before anything else
}

// greetCaller makes the model speak first.
const greetCaller = "Greet the caller."

func (p *plan) fill() {
	if p.model.Greeting == nil {
		p.model.Greeting, p.model.GreetingText = speech("hello", 24000), "Hello there."
	}
}

func (p *plan) dialer(w live.Wire) live.Dialer {
	switch {
	case p.gw.Dialer != nil:
		return p.gw.Dialer
	case p.between != nil:
		return p.between(w)
	}
	return w
}

// inBubble runs a story where time is free.
func inBubble(t *testing.T, p plan, story func(w *world)) {
	t.Helper()
	p.fill()
	synctest.Test(t, func(t *testing.T) {
		if p.before != nil {
			p.before()
		}
		model, err := sim.New(p.model)
		if err != nil {
			t.Fatal(err)
		}
		back, front := wstest.New(), wstest.New()
		var outside network = front
		if p.narrow {
			outside = wstest.NewNarrow()
		}
		defer serve(back, model)()
		defer func() { _ = model.Close() }()
		p.gw.Dialer = p.dialer(live.Wire{BaseURL: "ws://model",
			HTTPClient: &http.Client{Transport: &http.Transport{DialContext: p.toModel(back), DisableKeepAlives: true}}})
		gw, err := voicegw.New(p.gw)
		if err != nil {
			t.Fatal(err)
		}
		defer serve(outside, gw)()
		defer func() { _ = gw.Close() }()
		w := &world{t: t, bubble: true, model: model, gw: gw, url: "ws://127.0.0.1/v1/voice", dial: outside.Dial}
		story(w)
		_ = gw.Close()
		w.settled()
	})
}

// toModel dials the model.
func (p *plan) toModel(n network) func(ctx context.Context, network, addr string) (net.Conn, error) {
	if p.away == 0 {
		return n.Dial
	}
	return func(ctx context.Context, network, addr string) (net.Conn, error) {
		c, err := n.Dial(ctx, network, addr)
		return distant{c, p.away}, err
	}
}

// distant is a connection on which each write takes a while.
type distant struct {
	net.Conn
	takes time.Duration
}

func (d distant) Write(b []byte) (int, error) {
	time.Sleep(d.takes)
	return d.Conn.Write(b)
}

// network is a listener with its dialer.
type network interface {
	net.Listener
	Dial(ctx context.Context, network, addr string) (net.Conn, error)
}

// serve serves h until the function it returns is called.
func serve(l net.Listener, h http.Handler) (stop func()) {
	server := &http.Server{Handler: h}
	var running sync.WaitGroup
	running.Go(func() { _ = server.Serve(l) })
	return func() {
		_ = server.Close()
		running.Wait()
	}
}

// onLoopback makes a world of real sockets. It ends with the test.
func onLoopback(t *testing.T, p plan) *world {
	t.Helper()
	p.fill()
	model, err := sim.New(p.model)
	if err != nil {
		t.Fatal(err)
	}
	if err := model.Start("127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	p.gw.Dialer = p.dialer(live.Wire{BaseURL: model.URL()})
	gw, err := voicegw.New(p.gw)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewUnstartedServer(gw)
	if p.narrow {
		server.Config.ConnContext = func(ctx context.Context, c net.Conn) context.Context {
			_ = c.(*net.TCPConn).SetWriteBuffer(narrowBytes)
			return ctx
		}
	}
	server.Start()
	w := &world{t: t, model: model, gw: gw, url: strings.Replace(server.URL, "http", "ws", 1) + "/v1/voice",
		dial: new(net.Dialer).DialContext}
	t.Cleanup(func() {
		_ = gw.Close()
		server.Close()
		_ = model.Close()
		w.settled()
	})
	return w
}

// narrowBytes is what the kernel is asked to hold in a narrow world; it holds a little more.
const narrowBytes = 4 << 10

// narrowly dials with a socket that holds little.
func narrowly(ctx context.Context, network, addr string) (net.Conn, error) {
	c, err := new(net.Dialer).DialContext(ctx, network, addr)
	if err == nil {
		_ = c.(*net.TCPConn).SetReadBuffer(narrowBytes)
	}
	return c, err
}

// eventually waits until ok.
func (w *world) eventually(what string, ok func() bool) {
	w.t.Helper()
	for deadline := time.Now().Add(patience); !ok(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(deadline) {
			w.t.Fatalf("never: %s", what)
		}
	}
}

// settled waits until no call runs and the model has no connection left.
func (w *world) settled() {
	w.t.Helper()
	w.eventually("no call runs", func() bool { return w.gw.Calls() == 0 })
	w.eventually("no connection to the model is open", func() bool {
		for _, c := range w.model.Connections() {
			if c.Open {
				return false
			}
		}
		return true
	})
}

// connection is what the model remembers of its n-th connection, from 1.
func (w *world) connection(n int) sim.Connection {
	w.t.Helper()
	for _, c := range w.model.Connections() {
		if c.ID == n {
			return c
		}
	}
	w.t.Fatalf("the model has no connection %d", n)
	return sim.Connection{}
}

// count is how often the model noted an event on a connection.
func (w *world) count(connection int, event string) int {
	w.t.Helper()
	n := 0
	for _, e := range w.connection(connection).Events {
		if e.Name == event {
			n++
		}
	}
	return n
}

// hello is the hello of stories.
func hello() transport.Hello { return transport.Hello{InputRateHz: 16000, OutputRateHz: 24000} }

// refused is how the gateway says no to a hello.
func (w *world) refused(h transport.Hello) *ws.Refused {
	w.t.Helper()
	_, _, err := w.try(h)
	r, ok := asRefused(err)
	if !ok {
		w.t.Fatalf("the call was not refused: %v", err)
	}
	return r
}

// speech is an utterance at a rate.
func speech(name string, rateHz int) []int16 {
	return audiotest.Resample(audiotest.Speech(name), rateHz).Samples
}

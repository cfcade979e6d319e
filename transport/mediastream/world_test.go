package mediastream_test

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
	"github.com/voicegw/voicegw/transport/mediastream"
	"github.com/voicegw/voicegw/transport/phone/phonetest"
	"github.com/voicegw/voicegw/transport/ws/wstest"
)

// patience is how long a story waits for what must come: long, because it only matters when
// something is broken.
const patience = 2 * time.Minute

// world is a gateway with this endpoint, between an embedded model and carriers' calls.
type world struct {
	t        *testing.T
	model    *sim.Server
	gw       *voicegw.Gateway
	endpoint *mediastream.Endpoint
	url      string
	dial     func(ctx context.Context, network, addr string) (net.Conn, error)
	tap      *tap
}

// plan is what a world is made of. The Lines of its endpoint are the gateway's.
type plan struct {
	model    sim.Config
	gw       voicegw.Config
	endpoint mediastream.Config
	// narrow joins carrier and endpoint by a line that holds next to nothing: who does not read
	// blocks who writes.
	narrow bool
}

// tap stands between endpoint and gateway and notes what passes.
type tap struct {
	transport.Lines
	mu     sync.Mutex
	hellos []transport.Hello
	events []transport.Event
	ends   []error
}

// Take takes a line whose peers are listened to.
func (t *tap) Take(h transport.Handshake) (transport.Line, error) {
	l, err := t.Lines.Take(h)
	if err != nil {
		return nil, err
	}
	return tappedLine{l, t}, nil
}

type tappedLine struct {
	transport.Line
	tap *tap
}

// Call notes the hello and the end.
func (l tappedLine) Call(ctx context.Context, p transport.Peer) error {
	l.tap.mu.Lock()
	l.tap.hellos = append(l.tap.hellos, p.Hello())
	l.tap.mu.Unlock()
	err := l.Line.Call(ctx, tappedPeer{p, l.tap})
	l.tap.mu.Lock()
	l.tap.ends = append(l.tap.ends, err)
	l.tap.mu.Unlock()
	return err
}

type tappedPeer struct {
	transport.Peer
	tap *tap
}

// Recv notes what is no audio.
func (p tappedPeer) Recv(ctx context.Context, ev *transport.Event) error {
	err := p.Peer.Recv(ctx, ev)
	if err == nil && ev.Kind != transport.EventAudio {
		noted := *ev
		noted.PCM = nil
		p.tap.mu.Lock()
		p.tap.events = append(p.tap.events, noted)
		p.tap.mu.Unlock()
	}
	return err
}

// seen are the noted events that fit.
func (t *tap) seen(fits func(transport.Event) bool) (list []transport.Event) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, ev := range t.events {
		if fits(ev) {
			list = append(list, ev)
		}
	}
	return list
}

func (t *tap) hello() transport.Hello {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.hellos) == 0 {
		return transport.Hello{}
	}
	return t.hellos[0]
}

// inBubble runs a story where time is free.
func inBubble(t *testing.T, p plan, story func(w *world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		back, front := wstest.New(), wstest.New()
		if p.narrow {
			front = wstest.NewNarrow()
		}
		model, err := sim.New(p.model)
		if err != nil {
			t.Fatal(err)
		}
		defer serve(back, model)()
		defer func() { _ = model.Close() }()
		p.gw.Dialer = live.Wire{BaseURL: "ws://model",
			HTTPClient: &http.Client{Transport: &http.Transport{DialContext: back.Dial, DisableKeepAlives: true}}}
		w := newWorld(t, p, model)
		defer serve(front, w.endpoint)()
		defer w.close()
		w.url, w.dial = "ws://127.0.0.1/v1/twilio", front.Dial
		story(w)
	})
}

// newWorld makes gateway and endpoint.
func newWorld(t *testing.T, p plan, model *sim.Server) *world {
	t.Helper()
	gw, err := voicegw.New(p.gw)
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, model: model, gw: gw, tap: &tap{Lines: gw.Lines()}}
	p.endpoint.Lines = w.tap
	if w.endpoint, err = mediastream.New(p.endpoint); err != nil {
		t.Fatal(err)
	}
	return w
}

func (w *world) close() {
	_ = w.gw.Close()
	_ = w.endpoint.Close()
	w.eventually("no call runs", func() bool { return w.gw.Calls() == 0 })
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
	model, err := sim.New(p.model)
	if err != nil {
		t.Fatal(err)
	}
	if err := model.Start("127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	p.gw.Dialer = live.Wire{BaseURL: model.URL()}
	w := newWorld(t, p, model)
	server := httptest.NewServer(w.endpoint)
	w.url = strings.Replace(server.URL, "http", "ws", 1) + "/v1/twilio"
	t.Cleanup(func() {
		w.close()
		server.Close()
		_ = model.Close()
	})
	return w
}

// call makes a call that lasts until it is hung up, or the test is over.
func (w *world) call(cfg phonetest.Config) *phonetest.Phone {
	w.t.Helper()
	cfg.URL, cfg.Dial = w.url, w.dial
	p, err := phonetest.Dial(context.Background(), cfg)
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() {
		p.HangUp()
		if err := p.Strange(); err != nil {
			w.t.Errorf("the carrier was sent what it does not take: %v", err)
		}
	})
	return p
}

// eventually waits until ok.
func (w *world) eventually(what string, ok func() bool) {
	w.t.Helper()
	w.look(what, 5*time.Millisecond, ok)
}

// look is eventually for what costs time to look at, now and then.
func (w *world) look(what string, every time.Duration, ok func() bool) {
	w.t.Helper()
	for deadline := time.Now().Add(patience); !ok(); time.Sleep(every) {
		if time.Now().After(deadline) {
			w.t.Fatalf("never: %s", what)
		}
	}
}

// heard waits until something was heard behind sample from, and then nothing for quiet. It returns
// what was heard from there.
func (w *world) heard(p *phonetest.Phone, from int, quiet time.Duration) (heard []int16) {
	w.t.Helper()
	w.look("something is heard, and then nothing", 200*time.Millisecond, func() bool {
		heard = p.Heard()
		heard = heard[min(from, len(heard)):]
		last := audiotest.LastLoud(heard, 8000)
		return last >= 0 && time.Duration(len(heard)-last)*time.Second/8000 >= quiet
	})
	return heard
}

// speech is an utterance at a rate.
func speech(name string, rateHz int) []int16 {
	return audiotest.Resample(audiotest.Speech(name), rateHz).Samples
}

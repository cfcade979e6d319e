package endpointtest

import (
	"cmp"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/voicegw/voicegw"
	"github.com/voicegw/voicegw/audio"
	"github.com/voicegw/voicegw/audio/audiotest"
	"github.com/voicegw/voicegw/live"
	"github.com/voicegw/voicegw/live/sim"
	"github.com/voicegw/voicegw/transport"
)

// patience is how long a test waits for what must come; it is reached only when something is
// broken.
const patience = time.Minute

// Endpoint is what a world opens.
type Endpoint interface {
	http.Handler
	Close() error
}

// Plan is what a world is made of. Only Endpoint is needed.
type Plan struct {
	Model    sim.Config
	Gateway  voicegw.Config // its Dialer is the model's
	Endpoint func(lines transport.Lines) (Endpoint, error)
	TLS      bool
	Around   func(http.Handler) http.Handler // what stands around the endpoint; nil for nothing
}

// World is a gateway with one endpoint. It ends with its test, which fails when a call outlives it.
type World struct {
	tb       testing.TB
	Model    *sim.Server
	Gateway  *voicegw.Gateway
	Endpoint Endpoint
	Server   *httptest.Server
	URL      string       // http://127.0.0.1:port, or https
	client   *http.Client // of a bubble
}

// frameGap is how long a world in real time waits for a client's next frame before it takes what
// was said for finished: as long as may be, because on a busy machine a client stalls, and one
// question would be two turns.
const frameGap = 2 * time.Second

// New makes a world.
func New(tb testing.TB, p Plan) *World {
	tb.Helper()
	w := &World{tb: tb}
	var err error
	if w.Model, err = sim.New(p.Model); err != nil {
		tb.Fatal(err)
	}
	if err := w.Model.Start("127.0.0.1:0"); err != nil {
		tb.Fatal(err)
	}
	p.Gateway.Dialer = live.Wire{BaseURL: w.Model.URL()}
	p.Gateway.Net.FrameGap = cmp.Or(p.Gateway.Net.FrameGap, frameGap)
	if w.Gateway, err = voicegw.New(p.Gateway); err != nil {
		tb.Fatal(err)
	}
	if w.Endpoint, err = p.Endpoint(w.Gateway.Lines()); err != nil {
		tb.Fatal(err)
	}
	var handler http.Handler = w.Endpoint
	if p.Around != nil {
		handler = p.Around(handler)
	}
	w.Server = httptest.NewUnstartedServer(handler)
	if p.TLS {
		w.Server.StartTLS()
	} else {
		w.Server.Start()
	}
	w.URL = w.Server.URL
	tb.Cleanup(w.close)
	return w
}

// close ends the world from the outside in.
func (w *World) close() {
	_ = w.Gateway.Close()
	_ = w.Endpoint.Close()
	w.Server.Close()
	_ = w.Model.Close()
	if n := w.Gateway.Calls(); n != 0 {
		w.tb.Errorf("endpointtest: %d calls run when all is closed", n)
	}
}

// Eventually waits until ok.
func (w *World) Eventually(what string, ok func() bool) {
	w.tb.Helper()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(patience); !ok(); <-tick.C {
		if time.Now().After(deadline) {
			w.tb.Fatalf("endpointtest: never: %s", what)
		}
	}
}

// Count is how often the model noted an event on its first connection.
func (w *World) Count(event string) int {
	w.tb.Helper()
	n := 0
	for _, e := range w.Connection().Events {
		if e.Name == event {
			n++
		}
	}
	return n
}

// Connection is what the model remembers of its first connection.
func (w *World) Connection() sim.Connection {
	w.tb.Helper()
	for _, c := range w.Model.Connections() {
		if c.ID == 1 {
			return c
		}
	}
	w.tb.Fatal("endpointtest: nobody connected to the model")
	return sim.Connection{}
}

// LongReplies is a model whose every reply takes eight seconds, whatever it heard.
func LongReplies() sim.Config {
	return sim.Config{FixedReply: audiotest.Resample(audiotest.Speech("long"), 24000).Samples, RepliesMax: -1}
}

// SpeechFile is the path of an utterance of audiotest as raw 16-bit little-endian PCM at 16 kHz. It
// ends with the test.
func SpeechFile(tb testing.TB, name string) string {
	tb.Helper()
	path := filepath.Join(tb.TempDir(), name+".pcm")
	if err := os.WriteFile(path, audio.AppendBytes(nil, audiotest.Speech(name).Samples), 0o600); err != nil {
		tb.Fatal(err)
	}
	return path
}

// CertificateFile is the path of the world's certificate as PEM, for clients that must trust it.
func (w *World) CertificateFile() string {
	w.tb.Helper()
	path := filepath.Join(w.tb.TempDir(), "ca.pem")
	if err := os.WriteFile(path, certificate(w.Server), 0o600); err != nil {
		w.tb.Fatal(err)
	}
	return path
}

package voicegw

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/transport"
	"github.com/voicegw/voicegw/transport/ws"
	"github.com/voicegw/voicegw/voicenets"
)

// Gateway takes calls. As an http.Handler it serves /v1/voice, /healthz and
// /readyz. All methods are safe for concurrent use. It must be closed.
type Gateway struct {
	cfg      Config
	mux      *http.ServeMux
	programs map[variant]*program

	mu    sync.Mutex
	calls map[string]*call
	// draining: no new calls
	draining bool
	ended    sync.WaitGroup
}

// variant is what makes the nets of two calls different.
type variant struct {
	detection  voicenets.Detection
	halfDuplex bool
}

// program is a compiled net with its drawing.
type program struct {
	*petri.Program
	svg string
}

// ErrClosed says that the gateway takes no more calls.
var ErrClosed = errors.New("voicegw: the gateway is closing")

// New checks cfg and compiles the nets that calls will run.
func New(cfg Config) (*Gateway, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	g := &Gateway{cfg: cfg, mux: http.NewServeMux(), programs: map[variant]*program{}, calls: map[string]*call{}}
	for _, v := range []variant{{voicenets.Manual, false}, {voicenets.Manual, true},
		{voicenets.Server, false}, {voicenets.Server, true}} {
		if g.programs[v], err = compile(cfg, v); err != nil {
			return nil, err
		}
	}
	g.mux.Handle("GET /v1/voice", g.Voice())
	g.mux.HandleFunc("GET /healthz", healthy)
	g.mux.HandleFunc("GET /readyz", g.ready)
	return g, nil
}

func compile(cfg Config, v variant) (*program, error) {
	nc := cfg.Net
	nc.Detection, nc.HalfDuplex, nc.Greeting = v.detection, v.halfDuplex, cfg.Greeting != ""
	net, err := voicenets.Session(nc)
	if err != nil {
		return nil, fmt.Errorf("voicegw: %w", err)
	}
	p, err := petri.Compile(net)
	if err != nil {
		return nil, fmt.Errorf("voicegw: compile the session net: %w", err)
	}
	out := &program{Program: p}
	if cfg.ShowNet {
		out.svg = drawing(p)
	}
	return out, nil
}

// ServeHTTP serves the gateway's paths.
func (g *Gateway) ServeHTTP(w http.ResponseWriter, r *http.Request) { g.mux.ServeHTTP(w, r) }

func healthy(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "ok") }

// ready says whether new calls are taken.
func (g *Gateway) ready(w http.ResponseWriter, _ *http.Request) {
	if g.full() {
		http.Error(w, "not ready: draining or full", http.StatusServiceUnavailable)
		return
	}
	fmt.Fprintln(w, "ready")
}

func (g *Gateway) full() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.draining || len(g.calls) >= g.cfg.CallsMax
}

// Calls is the number of calls that are running now.
func (g *Gateway) Calls() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return len(g.calls)
}

// Voice is the WebSocket door alone, to be mounted on a path of the caller's.
func (g *Gateway) Voice() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if g.full() {
			ws.Busy(w, 5*time.Second)
			return
		}
		peer, err := ws.Accept(w, r, g.cfg.WS)
		if err != nil {
			g.cfg.Log.Info("call refused", zap.String("remote", r.RemoteAddr), zap.Error(err))
			return
		}
		if err := g.Call(context.WithoutCancel(r.Context()), peer); err != nil {
			g.cfg.Log.Debug("call failed", zap.Error(err))
		}
	})
}

// Call runs a call with a peer whose hello was accepted, until it ends; the
// peer is closed then. It returns nil for an ordinary end, and otherwise why
// the call could not go on. When ctx is done the call ends as going away.
func (g *Gateway) Call(ctx context.Context, peer transport.Peer) error {
	c, err := g.newCall(peer)
	if err != nil {
		return err
	}
	defer g.forget(c)
	return c.run(ctx)
}

func (g *Gateway) newCall(peer transport.Peer) (*call, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case g.draining:
		go closePeer(peer, transport.ReasonGoingAway, &g.ended)
		return nil, ErrClosed
	case len(g.calls) >= g.cfg.CallsMax:
		go closePeer(peer, transport.ReasonBusy, &g.ended)
		return nil, fmt.Errorf("voicegw: %d calls are running already", len(g.calls))
	}
	c := newCall(g, peer, newID())
	g.calls[c.id] = c
	g.ended.Add(1)
	return c, nil
}

func closePeer(peer transport.Peer, reason transport.Reason, _ *sync.WaitGroup) {
	_ = peer.Close(reason, "")
}

func (g *Gateway) forget(c *call) {
	g.mu.Lock()
	delete(g.calls, c.id)
	g.mu.Unlock()
	g.ended.Done()
}

// Close takes no more calls, tells the running ones that the gateway goes away,
// and returns when all have ended. Each ends within a few seconds.
func (g *Gateway) Close() error {
	g.mu.Lock()
	g.draining = true
	running := make([]*call, 0, len(g.calls))
	for _, c := range g.calls {
		running = append(running, c)
	}
	g.mu.Unlock()
	for _, c := range running {
		c.end(voicenets.GoingAway, "")
	}
	g.ended.Wait()
	return nil
}

// newID names a call: unguessable, because logs and people quote it.
func newID() string {
	var b [6]byte
	_, _ = rand.Read(b[:])
	return "c-" + hex.EncodeToString(b[:])
}

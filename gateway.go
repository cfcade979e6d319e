package voicegw

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/petri/dot"
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

	mu       sync.Mutex
	lines    map[*line]struct{}
	calls    int  // of lines
	draining bool // no new lines
	released sync.WaitGroup
}

// line is one of the gateway's CallsMax lines. It is taken from the first byte
// of a handshake to the end of the call.
type line struct {
	drop context.CancelFunc // gives up the handshake; nil behind it
	call *call              // nil before it
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

// Errors of Call.
var (
	// ErrClosed says that the gateway takes no more calls.
	ErrClosed = errors.New("voicegw: the gateway is closing")
	// ErrBusy says that CallsMax calls are running.
	ErrBusy = errors.New("voicegw: all lines are in use")
)

// retryAfter is when a caller who found all lines in use may try again.
const retryAfter = 5 * time.Second

// New checks cfg and compiles the nets that calls will run.
func New(cfg Config) (*Gateway, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	g := &Gateway{cfg: cfg, mux: http.NewServeMux(), programs: map[variant]*program{}, lines: map[*line]struct{}{}}
	for _, v := range variants() {
		if g.programs[v], err = compile(cfg, v); err != nil {
			return nil, err
		}
	}
	g.mux.Handle("GET /v1/voice", g.Voice())
	g.mux.HandleFunc("GET /healthz", healthy)
	g.mux.HandleFunc("GET /readyz", g.ready)
	return g, nil
}

// variants are all there are: a hello may ask for each.
func variants() []variant {
	return []variant{{voicenets.Manual, false}, {voicenets.Manual, true},
		{voicenets.Server, false}, {voicenets.Server, true}}
}

// netOf is the net's configuration in a variant.
func (c *Config) netOf(v variant) voicenets.Config {
	nc := c.Net
	nc.Detection, nc.HalfDuplex, nc.Greeting = v.detection, v.halfDuplex, c.Greeting != ""
	return nc
}

func compile(cfg Config, v variant) (*program, error) {
	net, err := voicenets.Session(cfg.netOf(v))
	if err != nil {
		return nil, fmt.Errorf("voicegw: Config.Net: %w", err)
	}
	p, err := petri.Compile(net)
	if err != nil {
		return nil, fmt.Errorf("voicegw: compile the session net: %w", err)
	}
	out := &program{Program: p}
	if !cfg.ShowNet {
		return out, nil
	}
	svg, err := dot.SVG(p, dot.Options{Bare: true})
	if err != nil {
		return nil, fmt.Errorf("voicegw: %w", err)
	}
	out.svg = string(svg)
	return out, nil
}

// ServeHTTP serves the gateway's paths.
func (g *Gateway) ServeHTTP(w http.ResponseWriter, r *http.Request) { g.mux.ServeHTTP(w, r) }

func healthy(w http.ResponseWriter, _ *http.Request) { _, _ = fmt.Fprintln(w, "ok") }

// ready says whether new calls are taken.
func (g *Gateway) ready(w http.ResponseWriter, _ *http.Request) {
	g.mu.Lock()
	err := g.room()
	g.mu.Unlock()
	if err != nil {
		http.Error(w, "not ready: draining or full", http.StatusServiceUnavailable)
		return
	}
	_, _ = fmt.Fprintln(w, "ready")
}

// Calls is the number of calls that are running now.
func (g *Gateway) Calls() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.calls
}

// Voice is the WebSocket door alone, to be mounted on a path of the caller's.
// A request that finds all lines in use is answered 503 with Retry-After.
func (g *Gateway) Voice() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithCancel(r.Context())
		defer cancel()
		l, err := g.take(cancel)
		if err != nil {
			ws.Busy(w, retryAfter)
			return
		}
		defer g.release(l)
		peer, err := ws.Accept(w, r.WithContext(ctx), g.cfg.WS)
		if err != nil {
			g.cfg.Log.Info("call refused", zap.String("remote", r.RemoteAddr), zap.Error(err))
			return
		}
		if err := g.carry(context.WithoutCancel(ctx), l, peer); err != nil {
			g.cfg.Log.Debug("call failed", zap.Error(err))
		}
	})
}

// Call runs a call with a peer, until it ends; the peer is closed then. It is
// for media sources of the caller's own: see transport.Peer. It returns nil
// for an ordinary end (someone hung up, the gateway goes away, the longest
// duration), and otherwise why the call could not go on: ErrClosed, ErrBusy, a
// *live.CloseError, a *transport.Ended, or why the hello cannot be taken. When
// ctx is done the call ends as going away.
func (g *Gateway) Call(ctx context.Context, peer transport.Peer) error {
	l, err := g.take(nil)
	if err != nil {
		reason := transport.ReasonBusy
		if errors.Is(err, ErrClosed) {
			reason = transport.ReasonGoingAway
		}
		_ = peer.Close(reason, "")
		return err
	}
	defer g.release(l)
	return g.carry(ctx, l, peer)
}

// room is nil while a line is free; mu is held.
func (g *Gateway) room() error {
	switch {
	case g.draining:
		return ErrClosed
	case len(g.lines) >= g.cfg.CallsMax:
		return ErrBusy
	}
	return nil
}

// take takes a line; release must follow.
func (g *Gateway) take(drop context.CancelFunc) (*line, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if err := g.room(); err != nil {
		return nil, err
	}
	l := &line{drop: drop}
	g.lines[l] = struct{}{}
	g.released.Add(1)
	return l, nil
}

func (g *Gateway) release(l *line) {
	g.mu.Lock()
	delete(g.lines, l)
	if l.call != nil {
		g.calls--
	}
	g.mu.Unlock()
	g.released.Done()
}

// carry runs a call on a line.
func (g *Gateway) carry(ctx context.Context, l *line, peer transport.Peer) error {
	hello := peer.Hello()
	if hello.Version == 0 { // of a peer that has no wire
		hello.Version = transport.Version
	}
	if err := hello.Check(g.cfg.WS.Offer); err != nil {
		_ = peer.Close(transport.ReasonBadHello, err.Error())
		return fmt.Errorf("voicegw: call: %w", err)
	}
	c := newCall(g, peer, hello)
	if g.connected(l, c) {
		c.end(voicenets.GoingAway, "")
	}
	return c.run(ctx)
}

// connected notes the call of a line, and reports whether it must end at once:
// Close found it in its handshake.
func (g *Gateway) connected(l *line, c *call) (draining bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	l.drop, l.call = nil, c
	g.calls++
	return g.draining
}

// Close takes no more calls, tells the running ones that the gateway goes away,
// and returns when all have ended. Each ends within a few seconds.
func (g *Gateway) Close() error {
	g.mu.Lock()
	g.draining = true
	var running []*call
	for l := range g.lines {
		if l.call != nil {
			running = append(running, l.call)
		} else if l.drop != nil {
			l.drop()
		}
	}
	g.mu.Unlock()
	for _, c := range running {
		c.end(voicenets.GoingAway, "")
	}
	g.released.Wait()
	return nil
}

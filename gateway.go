package voicegw

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/petri/dot"
	"github.com/voicegw/voicegw/transport"
	"github.com/voicegw/voicegw/transport/admission"
	"github.com/voicegw/voicegw/transport/ws"
	"github.com/voicegw/voicegw/voicenets"
)

// Gateway takes calls. As an http.Handler it serves /v1/voice, /healthz and /readyz. All methods
// are safe for concurrent use. Close it at the end.
type Gateway struct {
	cfg      Config
	mux      *http.ServeMux
	programs map[variant]*program
	guarded  transport.Lines
	endpoint *ws.Endpoint

	metrics    *metrics
	collectors collectors
	writers    atomic.Int64 // of archives: goroutines that may be blocked

	handshakes *admission.Backlog
	sessions   sync.Map // of calls that are up: *Session by id

	mu       sync.Mutex
	lines    map[*line]struct{} // from the first byte of a handshake to the end of its call
	taken    int                // of lines: at most CallsMax
	calls    int                // of taken
	stage    stage
	freed    chan struct{} // closed when a line is returned; nil: nothing waits for that
	released sync.WaitGroup
}

// variant selects the net of a call.
type variant struct {
	detection  voicenets.Detection
	halfDuplex bool
}

// program is a compiled net with its timings.
type program struct {
	*petri.Program
	svg      func() (string, error) // draws it, once
	timings  voicenets.Config
	hasTools bool
	drops    drops
}

// Errors of Call.
var (
	// ErrClosed means that the gateway takes no more calls.
	ErrClosed = errors.New("voicegw: the gateway is closing")
	// ErrBusy means that CallsMax calls are running.
	ErrBusy = errors.New("voicegw: all lines are in use")
)

// New checks cfg and compiles the nets of calls.
func New(cfg Config) (*Gateway, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	g := &Gateway{cfg: cfg, mux: http.NewServeMux(), programs: map[variant]*program{}, lines: map[*line]struct{}{},
		handshakes: admission.NewBacklog(cfg.HandshakesMax, cfg.HandshakesPerAddress)}
	g.metrics, g.collectors = newMetrics(g)
	for _, v := range cfg.variants() {
		if g.programs[v], err = compile(cfg, v); err != nil {
			return nil, err
		}
	}
	g.guarded = lines{g}
	if cfg.Guard != nil {
		g.guarded = cfg.Guard(g.guarded)
	}
	wsc := cfg.WS
	wsc.Lines, wsc.Log = g.guarded, cfg.Log
	if g.endpoint, err = ws.New(wsc); err != nil {
		return nil, fmt.Errorf("voicegw: Config.WS: %w", err)
	}
	g.mux.Handle("GET /v1/voice", g.Voice())
	g.mux.HandleFunc("GET /healthz", healthy)
	g.mux.HandleFunc("GET /readyz", g.ready)
	return g, nil
}

// variants lists the variants that calls may run.
func (c *Config) variants() []variant {
	if c.OneMode {
		return []variant{{c.Detection, false}}
	}
	return []variant{{voicenets.GatewayVAD, false}, {voicenets.GatewayVAD, true},
		{voicenets.ModelVAD, false}, {voicenets.ModelVAD, true}}
}

// Nets returns the configuration of every net that a call may run: with detection by the gateway or
// the model, half-duplex or not; with Config.OneMode a single one. Pass them to package
// voicenets/prove before you serve.
func (g *Gateway) Nets() []voicenets.Config {
	var nets []voicenets.Config
	for _, v := range g.cfg.variants() {
		nets = append(nets, g.cfg.netOf(v))
	}
	return nets
}

// netOf returns the configuration of a variant's net.
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
	out := &program{Program: p, drops: findDrops(p), hasTools: p.Place(string(voicenets.ToolCalled)) >= 0}
	if out.timings, err = cfg.netOf(v).Filled(); err != nil {
		return nil, fmt.Errorf("voicegw: Config.Net: %w", err)
	}
	out.svg = sync.OnceValues(func() (string, error) {
		svg, err := dot.SVG(p, dot.Options{Bare: true})
		return string(svg), err
	})
	return out, nil
}

// ServeHTTP serves the gateway's paths.
func (g *Gateway) ServeHTTP(w http.ResponseWriter, r *http.Request) { g.mux.ServeHTTP(w, r) }

func healthy(w http.ResponseWriter, _ *http.Request) { _, _ = fmt.Fprintln(w, "ok") }

// ready reports whether the gateway takes new calls.
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

// Calls returns the number of calls that are running.
func (g *Gateway) Calls() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.calls
}

// Sessions returns the sessions of the calls that are up, in the order of their ids.
func (g *Gateway) Sessions() []*Session {
	var list []*Session
	for _, s := range g.sessions.Range {
		list = append(list, s.(*Session))
	}
	slices.SortFunc(list, func(a, b *Session) int { return strings.Compare(a.id, b.id) })
	return list
}

// Session returns the session of the call with this id, if the call is up.
func (g *Gateway) Session(id string) (*Session, bool) {
	s, ok := g.sessions.Load(id)
	if !ok {
		return nil, false
	}
	return s.(*Session), true
}

// Voice returns the WebSocket endpoint alone, for a path of your choice. While all lines are in use
// it answers 503 with Retry-After.
func (g *Gateway) Voice() http.Handler { return g.endpoint }

// Lines returns the gateway's lines behind Config.Guard, for endpoints of other protocols. No
// endpoint can bypass the guard.
func (g *Gateway) Lines() transport.Lines { return g.guarded }

// Call runs a call with a peer and closes the peer when it ends. Use it for media sources of your
// own; see transport.Peer. Call returns nil if the call ended normally: a side hung up, the gateway
// shuts down, or the longest duration was reached. Otherwise it returns why the call could not go
// on: ErrClosed, ErrBusy, a
// *live.CloseError, a *transport.Ended, or what is wrong with the hello. When ctx is
// done the call ends with the reason going_away.
func (g *Gateway) Call(ctx context.Context, peer transport.Peer) error {
	l, err := g.guarded.Take(transport.Handshake{Remote: peer.Hello().Remote, Proven: true})
	if err != nil {
		refusal := transport.Refusal(ctx, err)
		_ = peer.Close(refusal.Reason, refusal.Message)
		return err
	}
	defer l.Release()
	return l.Call(ctx, peer)
}

// closing reports whether the gateway takes no more calls.
func (g *Gateway) closing() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.stage > stageOpen
}

// Close ends all calls with the reason going_away, which takes a few seconds, and returns when all
// have ended. Call Drain first to let them end at a quiet moment.
func (g *Gateway) Close() error {
	g.mu.Lock()
	g.stage = stageClosed
	running, handshakes := g.running(), g.handshaking()
	g.mu.Unlock()
	for _, l := range handshakes {
		l.giveUp(asNoLine(ErrClosed))
	}
	for _, c := range running {
		c.end.askFor(voicenets.GoingAway)
	}
	err := g.endpoint.Close()
	g.released.Wait()
	return err
}

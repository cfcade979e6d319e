package voicegw

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"

	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/petri/dot"
	"github.com/voicegw/voicegw/transport"
	"github.com/voicegw/voicegw/transport/httpdoor"
	"github.com/voicegw/voicegw/transport/ws"
	"github.com/voicegw/voicegw/voicenets"
)

// Gateway takes calls. As an http.Handler it serves /v1/voice, /healthz and
// /readyz. All methods are safe for concurrent use. It must be closed.
type Gateway struct {
	cfg      Config
	mux      *http.ServeMux
	programs map[variant]*program
	guarded  transport.Lines
	door     *ws.Door

	metrics    *metrics
	collectors collectors
	writers    atomic.Int64 // of records: goroutines that may be blocked

	handshakes *httpdoor.Backlog

	mu       sync.Mutex
	lines    map[*line]struct{} // from the first byte of a handshake to the end of its call
	taken    int                // of lines: not more than CallsMax
	calls    int                // of taken
	stage    stage              // of its end
	freed    chan struct{}      // closed when a line is given back; nil: nobody waits for that
	released sync.WaitGroup
}

// variant is what makes the nets of two calls different.
type variant struct {
	detection  voicenets.Detection
	halfDuplex bool
}

// program is a compiled net with its drawing.
type program struct {
	*petri.Program
	svg      string
	timings  voicenets.Config
	hasTools bool
}

// Errors of Call.
var (
	// ErrClosed says that the gateway takes no more calls.
	ErrClosed = errors.New("voicegw: the gateway is closing")
	// ErrBusy says that CallsMax calls are running.
	ErrBusy = errors.New("voicegw: all lines are in use")
)

// New checks cfg and compiles the nets that calls will run.
func New(cfg Config) (*Gateway, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	g := &Gateway{cfg: cfg, mux: http.NewServeMux(), programs: map[variant]*program{}, lines: map[*line]struct{}{},
		handshakes: httpdoor.NewBacklog(cfg.HandshakesMax, cfg.HandshakesPerAddress)}
	g.metrics, g.collectors = newMetrics(g)
	for _, v := range variants() {
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
	if g.door, err = ws.New(wsc); err != nil {
		return nil, fmt.Errorf("voicegw: Config.WS: %w", err)
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
	out := &program{Program: p, hasTools: p.Place(string(voicenets.ToolCalled)) >= 0}
	if out.timings, err = cfg.netOf(v).Filled(); err != nil {
		return nil, fmt.Errorf("voicegw: Config.Net: %w", err)
	}
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
func (g *Gateway) Voice() http.Handler { return g.door }

// Lines are the gateway's lines behind Config.Guard, for doors of other
// protocols. There is no way to them around the guard.
func (g *Gateway) Lines() transport.Lines { return g.guarded }

// Call runs a call with a peer, until it ends; the peer is closed then. It is
// for media sources of the caller's own: see transport.Peer. It returns nil
// for an ordinary end (someone hung up, the gateway goes away, the longest
// duration), and otherwise why the call could not go on: ErrClosed, ErrBusy, a
// *live.CloseError, a *transport.Ended, or why the hello cannot be taken. When
// ctx is done the call ends as going away.
func (g *Gateway) Call(ctx context.Context, peer transport.Peer) error {
	l, err := g.guarded.Take(transport.Handshake{Remote: peer.Hello().Remote, Proven: true})
	if err != nil {
		reason, text := transport.ReasonBusy, ""
		var refused *transport.Refused
		if errors.As(err, &refused) {
			reason, text = refused.Reason, refused.Text()
		}
		_ = peer.Close(reason, text)
		return err
	}
	defer l.Release()
	return l.Call(ctx, peer)
}

// closing reports that no more calls are taken.
func (g *Gateway) closing() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.stage > stageOpen
}

// Close takes no more calls, tells the running ones that the gateway goes away,
// and returns when all have ended. Each ends at once, that is, within a few
// seconds; Drain before it lets them come to their end.
func (g *Gateway) Close() error {
	g.mu.Lock()
	g.stage = stageClosed
	running, handshakes := g.running(), g.handshaking()
	g.mu.Unlock()
	for _, l := range handshakes {
		l.giveUp(asNoLine(ErrClosed))
	}
	for _, c := range running {
		c.end(voicenets.GoingAway)
	}
	err := g.door.Close()
	g.released.Wait()
	return err
}

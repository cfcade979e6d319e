package rtc

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"path"
	"sync"
	"sync/atomic"

	"github.com/voicegw/voicegw/transport/admission"
)

// Endpoint is an http.Handler that takes calls by WHIP for a gateway. Mount it on any path and
// everything below it: a request whose path ends in the id of a session is for that session, any
// other request is for a new call. All methods are safe for concurrent use. It must be closed.
type Endpoint struct {
	cfg     Config
	engine  *engine
	servers atomic.Pointer[[]ICEServer] // as new calls get them

	visits   admission.Visits // each lasts until its call ends
	mu       sync.Mutex
	sessions map[string]*session // by id, protected by mu
	closing  sync.Once
}

// New makes an endpoint for cfg.Lines and opens its UDP port.
func New(cfg Config) (*Endpoint, error) {
	if cfg.Lines == nil {
		return nil, errors.New("transport/rtc: new: Config.Lines is missing: an endpoint needs a gateway")
	}
	if err := cfg.Check(); err != nil {
		return nil, err
	}
	cfg = cfg.withDefaults()
	conn, err := listen(cfg)
	if err != nil {
		return nil, err
	}
	return newEndpoint(cfg, conn)
}

// newEndpoint makes an endpoint for a port, which it takes over.
func newEndpoint(cfg Config, conn net.PacketConn) (*Endpoint, error) {
	e, err := newEngine(cfg, conn)
	if err != nil {
		return nil, err
	}
	p := &Endpoint{cfg: cfg, engine: e, sessions: map[string]*session{}}
	p.servers.Store(&cfg.ICEServers)
	return p, nil
}

// Addr returns the UDP address of all calls.
func (e *Endpoint) Addr() net.Addr { return e.engine.conn.LocalAddr() }

// ServeHTTP answers a request. The call that it sets up goes on after ServeHTTP has returned, until
// the call ends or Close is called.
func (e *Endpoint) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	e.serve(w, r, func() error {
		if id := path.Base(r.URL.Path); isID(id) {
			return e.serveSession(w, r, id)
		}
		return e.serveEndpoint(w, r)
	})
}

// serve answers a request of an allowed page with answer, or with its refusal.
func (e *Endpoint) serve(w http.ResponseWriter, r *http.Request, answer func() error) {
	if err := e.cfg.names().Request(r); err != nil {
		admission.Refuse(w, err)
		return
	}
	share(w.Header(), r)
	if err := answer(); err != nil {
		e.note(r, err)
		admission.Refuse(w, err)
	}
}

// share lets the page that sent the request read the answer (CORS); the page must be allowed.
func share(h http.Header, r *http.Request) {
	h.Add("Vary", "Origin")
	if origin := r.Header.Get("Origin"); origin != "" {
		h.Set("Access-Control-Allow-Origin", origin)
		h.Set("Access-Control-Expose-Headers", "Location, ETag, Link, Retry-After")
	}
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
}

// preflight answers OPTIONS, without requiring a token.
func preflight(w http.ResponseWriter, methods string) {
	h := w.Header()
	h.Set("Allow", methods)
	h.Set("Access-Control-Allow-Methods", methods)
	if h.Get("Access-Control-Allow-Headers") == "" {
		h.Set("Access-Control-Allow-Headers", "Authorization, Content-Type, If-Match, "+HelloHeader)
	}
	h.Set("Access-Control-Max-Age", "600")
	w.WriteHeader(http.StatusOK)
}

// Close refuses new calls, ends the running ones as going away, and returns when all have ended and
// the port is closed. It may be called more than once.
func (e *Endpoint) Close() error {
	e.visits.Close()
	var err error
	e.closing.Do(func() { err = e.engine.close() })
	if err != nil {
		return fmt.Errorf("transport/rtc: close: %w", err)
	}
	return nil
}

// add adds a session.
func (e *Endpoint) add(s *session) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.sessions[s.id] = s
}

func (e *Endpoint) remove(s *session) {
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.sessions, s.id)
}

// find returns the session with an id, nil when there is none.
func (e *Endpoint) find(id string) *session {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.sessions[id]
}

// location returns the address of a session: below the endpoint's path as the client knows it.
func location(r *http.Request, id string) string {
	at := r.URL.Path
	if u, err := url.ParseRequestURI(r.RequestURI); err == nil && u.Path != "" {
		at = u.Path // the path before a prefix was stripped
	}
	return (&url.URL{Path: path.Join("/", at, id)}).EscapedPath()
}

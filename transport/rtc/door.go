package rtc

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"path"
	"sync"

	"github.com/voicegw/voicegw/transport"
	"github.com/voicegw/voicegw/transport/httpdoor"
)

// Door is an http.Handler that takes calls by WHIP, for a gateway. Mount it on any path and on what is below: a request
// whose path ends in the id of a session is one for that session, any other is one for a new call. All methods are safe
// for concurrent use. It must be closed.
type Door struct {
	cfg    Config
	engine *engine

	mu       sync.Mutex
	sessions map[string]*session // by id, guarded by mu
	visits   map[*visit]struct{} // guarded by mu; nil when closed
	visited  sync.WaitGroup      // visits, and the calls that came of them
	closing  sync.Once
}

// visit is a request for a new call, until its call ends.
type visit struct{ cancel context.CancelCauseFunc }

// New makes a door for cfg.Lines and opens its UDP port.
func New(cfg Config) (*Door, error) {
	if cfg.Lines == nil {
		return nil, errors.New("transport/rtc: new: Config.Lines is missing: a door needs a gateway")
	}
	if err := cfg.Check(); err != nil {
		return nil, err
	}
	cfg = cfg.withDefaults()
	conn, err := listen(cfg)
	if err != nil {
		return nil, err
	}
	return newDoor(cfg, conn)
}

// newDoor makes a door for a port, which it takes over.
func newDoor(cfg Config, conn net.PacketConn) (*Door, error) {
	e, err := newEngine(cfg, conn)
	if err != nil {
		return nil, err
	}
	return &Door{cfg: cfg, engine: e, sessions: map[string]*session{}, visits: map[*visit]struct{}{}}, nil
}

// Addr is the UDP address of all calls.
func (d *Door) Addr() net.Addr { return d.engine.conn.LocalAddr() }

// ServeHTTP answers a request. The call that it sets up goes on when it has returned, until it ends or Close.
func (d *Door) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if status, why := d.cfg.names().Refusal(r); status != 0 {
		httpdoor.Refuse(w, status, why)
		return
	}
	share(w.Header(), r)
	var err error
	if id := path.Base(r.URL.Path); isID(id) {
		err = d.serveSession(w, r, id)
	} else {
		err = d.serveEndpoint(w, r)
	}
	if err != nil {
		d.note(r, err)
		refuse(w, err)
	}
}

// share lets the page that sent the request, which is allowed, read the answer (CORS).
func share(h http.Header, r *http.Request) {
	h.Add("Vary", "Origin")
	if origin := r.Header.Get("Origin"); origin != "" {
		h.Set("Access-Control-Allow-Origin", origin)
		h.Set("Access-Control-Expose-Headers", "Location, ETag, Link, Retry-After")
	}
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
}

// preflight answers OPTIONS, without asking for a token.
func preflight(w http.ResponseWriter, methods string) {
	h := w.Header()
	h.Set("Allow", methods)
	h.Set("Access-Control-Allow-Methods", methods)
	h.Set("Access-Control-Allow-Headers", "Authorization, Content-Type, If-Match, "+HelloHeader)
	h.Set("Access-Control-Max-Age", "600")
	w.WriteHeader(http.StatusOK)
}

// enter notes a visit and reports false when the door is closed.
func (d *Door) enter(v *visit) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.visits == nil {
		return false
	}
	d.visits[v] = struct{}{}
	d.visited.Add(1)
	return true
}

func (d *Door) leave(v *visit) {
	v.cancel(nil)
	d.mu.Lock()
	delete(d.visits, v)
	d.mu.Unlock()
	d.visited.Done()
}

// Close takes no more calls, ends the running ones as going away, and returns when all have ended and the port is
// closed. It may be called more than once.
func (d *Door) Close() error {
	d.mu.Lock()
	for v := range d.visits {
		v.cancel(nil)
	}
	d.visits = nil
	d.mu.Unlock()
	d.visited.Wait()
	var err error
	d.closing.Do(func() { err = d.engine.close() })
	if err != nil {
		return fmt.Errorf("transport/rtc: close: %w", err)
	}
	return nil
}

// add notes a session.
func (d *Door) add(s *session) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.sessions[s.id] = s
}

func (d *Door) remove(s *session) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.sessions, s.id)
}

// find is the session with an id, nil when there is none.
func (d *Door) find(id string) *session {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.sessions[id]
}

// location is the address of a session: below the endpoint as the client knows it.
func location(r *http.Request, id string) string {
	at := r.URL.Path
	if u, err := url.ParseRequestURI(r.RequestURI); err == nil && u.Path != "" {
		at = u.Path // before a prefix was stripped
	}
	return (&url.URL{Path: path.Join("/", at, id)}).EscapedPath()
}

// statusOf is the HTTP answer to an error.
func statusOf(err error) (status int, why string, lines *transport.Refused) {
	var fe *transport.FieldError
	var own *refusal
	switch {
	case errors.As(err, &lines):
		return lines.Status(), lines.Text(), lines
	case errors.As(err, &fe):
		return http.StatusBadRequest, fe.Error(), nil
	case errors.As(err, &own):
		return own.status, own.why, nil
	}
	return http.StatusInternalServerError, transport.ReasonInternal.Message(), nil
}

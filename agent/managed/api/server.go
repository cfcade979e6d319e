package api

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path"
	"strconv"
	"strings"
	"time"

	"go.uber.org/zap"

	"github.com/voicegw/voicegw/agent/managed"
)

// BodyMax is the largest body of a request, in bytes.
const BodyMax = 8 << 20

// Config configures a Server.
type Config struct {
	// Runtime runs the sessions. It is required.
	Runtime *managed.Runtime
	// Authorize tells whose request it is. It is required. Any error refuses the request with 401; the
	// client does not see it. Key returns the key of a request.
	Authorize func(r *http.Request, key string) (managed.Owner, error)
	// Heartbeat is how often a stream without events sends a comment, so that nobody between cuts it. Default 15 s.
	Heartbeat time.Duration
	// Logger receives errors of the journal and of the runtime. nil logs nothing.
	Logger *zap.Logger
	// Transport carries requests to other nodes. Default: connections of its own, which are closed after 30 s
	// without a request.
	Transport http.RoundTripper
}

// Server is an http.Handler.
type Server struct {
	cfg     Config
	mux     *http.ServeMux
	unknown http.Handler // for routes that there are not
}

// New returns a Server.
func New(cfg Config) (*Server, error) {
	switch {
	case cfg.Runtime == nil:
		return nil, errors.New("api: Config.Runtime is nil; make one with managed.New")
	case cfg.Authorize == nil:
		return nil, errors.New("api: Config.Authorize is nil; say who may do what")
	}
	if cfg.Heartbeat <= 0 {
		cfg.Heartbeat = heartbeat
	}
	if cfg.Logger == nil {
		cfg.Logger = zap.NewNop()
	}
	if cfg.Transport == nil {
		cfg.Transport = newTransport()
	}
	s := &Server{cfg: cfg, mux: http.NewServeMux()}
	for pattern, h := range s.routes() {
		s.mux.Handle(pattern, s.answer(h))
	}
	s.unknown = s.answer(notServed)
	s.mux.Handle("/", s.unknown)
	return s, nil
}

// routes are all routes of the API.
func (s *Server) routes() map[string]handler {
	return map[string]handler{
		"POST /v1/agents":                     s.createAgent,
		"GET /v1/agents":                      s.listAgents,
		"GET /v1/agents/{id}":                 s.getAgent,
		"POST /v1/agents/{id}":                s.updateAgent,
		"POST /v1/agents/{id}/archive":        s.archiveAgent,
		"GET /v1/agents/{id}/versions":        s.listVersions,
		"POST /v1/environments":               s.createEnvironment,
		"GET /v1/environments":                s.listEnvironments,
		"GET /v1/environments/{id}":           s.getEnvironment,
		"POST /v1/environments/{id}":          s.updateEnvironment,
		"POST /v1/environments/{id}/archive":  s.archiveEnvironment,
		"DELETE /v1/environments/{id}":        s.deleteEnvironment,
		"POST /v1/sessions":                   s.createSession,
		"GET /v1/sessions":                    s.listSessions,
		"GET /v1/sessions/{id}":               s.getSession,
		"POST /v1/sessions/{id}":              s.updateSession,
		"POST /v1/sessions/{id}/archive":      s.archiveSession,
		"DELETE /v1/sessions/{id}":            s.deleteSession,
		"POST /v1/sessions/{id}/pause":        s.pauseSession,
		"POST /v1/sessions/{id}/resume":       s.resumeSession,
		"POST /v1/sessions/{id}/events":       s.sendEvents,
		"GET /v1/sessions/{id}/events":        s.listEvents,
		"GET /v1/sessions/{id}/events/stream": s.streamEvents,
	}
}

// Paths are the paths at and below which the API answers: what it serves, and what other servers of this API
// have, which it refuses.
func Paths() []string {
	return []string{"/v1/agents", "/v1/environments", "/v1/sessions", "/v1/deployment_runs", "/v1/deployments",
		"/v1/dreams", "/v1/files", "/v1/memory_stores", "/v1/messages", "/v1/models", "/v1/skills", "/v1/tunnels",
		"/v1/user_profiles", "/v1/vaults"}
}

// ServeHTTP answers a request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if p := r.URL.Path; p != "/" && path.Clean(p) != strings.TrimSuffix(p, "/") { // the mux would redirect
		s.unknown.ServeHTTP(w, r)
		return
	}
	s.mux.ServeHTTP(w, r)
}

// notServed refuses a route.
func notServed(w *request) (any, error) {
	return nil, &managed.Error{Code: managed.NotFound, Message: fmt.Sprintf("this API does not serve %s %s", w.Method,
		w.URL.Path)}
}

// request is a request of an owner.
type request struct {
	*http.Request
	w     http.ResponseWriter
	id    string
	owner managed.Owner
	sent  []byte // the body, if a handler has read it
}

// handler answers a request with a value that is sent as JSON, or with nil if it has answered itself.
type handler func(*request) (any, error)

// answer makes a handler one of net/http: with the owner, and with errors in the format of the API.
func (s *Server) answer(h handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		req := &request{Request: r, w: w, id: requestID()}
		defer s.recover(req)
		w.Header().Set("Request-Id", req.id)
		var err error
		if req.owner, err = s.cfg.Authorize(r, Key(r)); err != nil {
			req.fail(http.StatusUnauthorized, "authentication_error", "the key is missing or wrong")
			return
		}
		r.Body = http.MaxBytesReader(w, r.Body, BodyMax)
		v, err := h(req)
		switch {
		case err != nil:
			s.refuse(req, err)
		case v != nil:
			req.send(http.StatusOK, v)
		}
	})
}

// recover answers a request whose handler has panicked.
func (s *Server) recover(r *request) {
	p := recover()
	if p == nil {
		return
	}
	if p == http.ErrAbortHandler {
		panic(p)
	}
	s.cfg.Logger.Error("a request has panicked", zap.String("request", r.id), zap.Any("panic", p), zap.Stack("stack"))
	r.fail(http.StatusInternalServerError, "api_error", "the request failed; the log of the server says why")
}

// Key returns the key of a request: a bearer token, or the header X-Api-Key.
func Key(r *http.Request) string {
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if token = strings.TrimSpace(token); token != "" && strings.EqualFold(scheme, "bearer") {
		return token
	}
	return r.Header.Get("X-Api-Key")
}

func (r *request) send(status int, v any) {
	b, err := json.Marshal(v)
	if err != nil {
		status = http.StatusInternalServerError
		b = []byte(`{"type":"error","error":{"type":"api_error","message":"the answer is no JSON"}}`)
	}
	r.w.Header().Set("Content-Type", "application/json")
	r.w.WriteHeader(status)
	_, _ = r.w.Write(b)
}

// fail answers with an error.
func (r *request) fail(status int, kind, message string) {
	r.send(status, map[string]any{"type": "error", "request_id": r.id,
		"error": map[string]any{"type": kind, "message": message}})
}

// Forbid answers a request with 403 in the format of the API, for handlers in front of a Server.
func Forbid(w http.ResponseWriter, r *http.Request, message string) {
	req := &request{Request: r, w: w, id: requestID()}
	w.Header().Set("Request-Id", req.id)
	req.fail(http.StatusForbidden, "permission_error", message)
}

func requestID() string { return "req_" + rand.Text() }

// refuse answers with the error of a handler. Clients repeat a request on 409, 429 and 5xx. What they must
// not repeat gets 400, and 409 only says that an agent has changed.
func (s *Server) refuse(r *request, err error) {
	var e *managed.Error
	if tooLarge := new(http.MaxBytesError); errors.As(err, &tooLarge) {
		r.fail(http.StatusRequestEntityTooLarge, "request_too_large", fmt.Sprintf("the body has more than %d bytes", BodyMax))
		return
	}
	if !errors.As(err, &e) {
		if r.Context().Err() == nil {
			s.cfg.Logger.Error("a request failed", zap.String("request", r.id), zap.Error(err))
		}
		r.fail(http.StatusInternalServerError, "api_error", "the request failed; the log of the server says why")
		return
	}
	if e.Code == managed.Elsewhere && s.forward(r, e) {
		return
	}
	if e.Err != nil {
		s.cfg.Logger.Warn("a request was refused", zap.String("request", r.id), zap.String("code", string(e.Code)),
			zap.Error(e.Err))
	}
	status, kind := http.StatusBadRequest, "invalid_request_error"
	switch e.Code {
	case managed.NotFound:
		status, kind = http.StatusNotFound, "not_found_error"
	case managed.TooMany:
		status, kind = http.StatusTooManyRequests, "rate_limit_error"
		if e.Wait > 0 {
			r.w.Header().Set("Retry-After", strconv.FormatInt(int64((e.Wait+time.Second-1)/time.Second), 10))
			r.w.Header().Set("Retry-After-Ms", strconv.FormatInt(max(e.Wait.Milliseconds(), 1), 10))
		}
	case managed.Quota:
		status, kind = http.StatusTooManyRequests, "rate_limit_error"
		r.w.Header().Set("X-Should-Retry", "false")
	case managed.Overloaded, managed.Elsewhere:
		status, kind = 529, "overloaded_error"
	case managed.Storage, managed.Mismatch:
		status, kind = http.StatusInternalServerError, "api_error"
	case managed.Conflict:
		if strings.HasPrefix(r.URL.Path, "/v1/agents/") {
			status, kind = http.StatusConflict, "conflict_error"
			r.w.Header().Set("X-Should-Retry", "false")
		}
	}
	r.fail(status, kind, e.Error())
}

// refusal is an error of the request.
func refusal(param, format string, args ...any) error {
	return &managed.Error{Code: managed.Invalid, Param: param, Message: fmt.Sprintf(format, args...)}
}

// body reads the body of a request into a value. It refuses fields that the value does not have, and any
// parameter of the query.
func (r *request) body(to any) error {
	b, err := r.read()
	if err != nil {
		return err
	}
	if len(b) == 0 || b[0] != '{' {
		return refusal("", "the body must be a JSON object")
	}
	if err := managed.Decode(b, to); err != nil {
		return err
	}
	return r.query().done()
}

func (r *request) read() ([]byte, error) {
	b, err := io.ReadAll(r.Body)
	if err != nil && !errors.As(err, new(*http.MaxBytesError)) {
		return nil, refusal("", "the body ends too early")
	}
	r.sent = b
	return bytes.TrimSpace(b), err
}

// bare checks a request that has neither a body nor parameters.
func (r *request) bare() error {
	b, err := r.read()
	if err != nil {
		return err
	}
	if len(b) > 0 && string(b) != "{}" {
		return refusal("", "this request has no body")
	}
	return r.query().done()
}

// once reads what the client says of repetitions of its request. A library that counts its attempts repeats one
// whose answer it has lost.
func (r *request) once() managed.Once {
	o := managed.Once{Key: r.Header.Get("Idempotency-Key")}
	if n, err := strconv.Atoi(r.Header.Get("X-Stainless-Retry-Count")); err == nil {
		o.Repeated, o.Repeatable = n > 0, true
	}
	return o
}

// absent is a field that other servers of this API have. It may be null or empty.
type absent struct{}

// UnmarshalJSON refuses all values but null and an empty list.
func (absent) UnmarshalJSON(b []byte) error {
	if text := string(b); text != "null" && text != "[]" {
		return refusal("", "this server does not have this; leave it out")
	}
	return nil
}

// field is a field of a change, which null clears.
type field[T any] struct {
	given bool
	value T
}

// UnmarshalJSON reads a value or null.
func (f *field[T]) UnmarshalJSON(b []byte) error {
	var value T
	if string(b) != "null" {
		if err := managed.Decode(b, &value); err != nil {
			return err
		}
	}
	f.given, f.value = true, value
	return nil
}

// replace replaces what the field is of, if it is given.
func (f *field[T]) replace(to *T) {
	if f.given {
		*to = f.value
	}
}

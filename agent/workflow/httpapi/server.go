package httpapi

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/voicegw/voicegw/agent/managed"
	"github.com/voicegw/voicegw/agent/managed/api"
	"github.com/voicegw/voicegw/agent/workflow/exec"
	"github.com/voicegw/voicegw/internal/spelling"
)

// BodyMax is the largest body of a request, in bytes.
const BodyMax = 1 << 20

// Config configures a Server.
type Config struct {
	// Engine has the workflows. It is required.
	Engine *exec.Engine
	// Runtime runs them: its Programs and Shared are those of the Engine. It is required.
	Runtime *managed.Runtime
	// Authorize tells whose request it is, as for api.Config. It is required.
	Authorize func(r *http.Request, key string) (managed.Owner, error)
	// URL is where others reach this server, such as "https://agents.example.com", for A2A cards. It may be called at
	// any time after the server listens. It is required.
	URL func() string
	// Heartbeat is how often a stream without events sends a comment. Default 15 s.
	Heartbeat time.Duration
	// Logger receives errors of the journal and of the runtime. nil logs nothing.
	Logger *zap.Logger
}

// Server is an http.Handler. It is safe for concurrent use.
type Server struct {
	cfg Config
	mux *http.ServeMux

	writeMax time.Duration
	stop     chan struct{} // closed by Close

	mu     sync.Mutex
	closed bool
	tasks  sync.WaitGroup // of A2A, at work
}

// Close ends the tasks of A2A, which outlive their requests, and waits for them. They fail; their runs do not, and go
// on with their sessions. Call it before the Runtime is closed.
func (s *Server) Close() {
	s.mu.Lock()
	if !s.closed {
		s.closed = true
		close(s.stop)
	}
	s.mu.Unlock()
	s.tasks.Wait()
}

// task runs a task of A2A until it ends or the server is closed.
func (s *Server) task(ctx context.Context, run func(ctx context.Context) error) error {
	stops := &problem{http.StatusServiceUnavailable, string(managed.Overloaded),
		"the server stops; the run goes on, and its session has the answer", nil}
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return stops
	}
	s.tasks.Add(1)
	s.mu.Unlock()
	defer s.tasks.Done()
	ctx, cancel := context.WithCancelCause(ctx)
	ended := make(chan struct{})
	go func() { // ends before task returns
		defer close(ended)
		select {
		case <-s.stop:
			cancel(stops)
		case <-ctx.Done():
		}
	}()
	err := run(ctx)
	cancel(nil)
	<-ended
	if context.Cause(ctx) == error(stops) {
		return stops
	}
	return err
}

// New returns a Server.
func New(cfg Config) (*Server, error) {
	if cfg.Engine == nil || cfg.Runtime == nil || cfg.Authorize == nil || cfg.URL == nil {
		return nil, errors.New("httpapi: Config needs an Engine, a Runtime, Authorize and URL")
	}
	if cfg.Heartbeat <= 0 {
		cfg.Heartbeat = 15 * time.Second
	}
	if cfg.Logger == nil {
		cfg.Logger = zap.NewNop()
	}
	s := &Server{cfg: cfg, mux: http.NewServeMux(), writeMax: writeMax, stop: make(chan struct{})}
	for pattern, h := range map[string]handler{
		"GET /api/tools":                    s.listTools,
		"GET /api/workflows":                s.listWorkflows,
		"GET /api/agent-cards":              s.listCards,
		"POST /api/workflows/{name}/run":    s.run,
		"POST /api/workflows/{name}/stream": s.stream,
		"GET /api/workflows/{name}/stream":  s.stream,
		"/":                                 unknownRoute,
	} {
		s.mux.Handle(pattern, s.answer(h))
	}
	s.mux.HandleFunc("GET /health", func(w http.ResponseWriter, _ *http.Request) {
		send(w, http.StatusOK, map[string]any{"status": "ok", "booted": true})
	})
	s.handleA2A()
	return s, nil
}

// Paths are the paths at and below which a Server answers, as patterns of http.ServeMux.
func Paths() []string { return []string{"/health", "/api/", "/a2a/"} }

// ServeHTTP answers a request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.mux.ServeHTTP(w, r) }

// request is a request of an owner.
type request struct {
	*http.Request
	w     http.ResponseWriter
	owner managed.Owner
}

// handler answers a request with a value that is sent as JSON, or with nil if it has answered itself.
type handler func(*request) (any, error)

func (s *Server) answer(h handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		req := &request{Request: r, w: w}
		var err error
		if req.owner, err = s.cfg.Authorize(r, api.Key(r)); err != nil {
			fail(w, &problem{http.StatusUnauthorized, "unauthorized", "the token is missing or wrong", nil})
			return
		}
		r.Body = http.MaxBytesReader(w, r.Body, BodyMax)
		v, err := h(req)
		switch {
		case err != nil:
			s.refuse(req, err)
		case v != nil:
			send(req.w, http.StatusOK, v)
		}
	})
}

// problem is an error that the client learns.
type problem struct {
	status  int
	code    string
	message string
	more    map[string]any
}

// Error returns the message.
func (p *problem) Error() string { return p.message }

func invalid(format string, args ...any) error {
	return &problem{http.StatusUnprocessableEntity, "invalid", fmt.Sprintf(format, args...), nil}
}

func unknownRoute(r *request) (any, error) {
	return nil, &problem{http.StatusNotFound, "not_found", fmt.Sprintf("there is no %s %s", r.Method, r.URL.Path), nil}
}

// refuse answers with an error.
func (s *Server) refuse(r *request, err error) {
	p := problemOf(err)
	if wait := waitOf(err); wait > 0 {
		r.w.Header().Set("Retry-After", strconv.FormatInt(int64((wait+time.Second-1)/time.Second), 10))
	}
	if p.status >= http.StatusInternalServerError && p.code != "run_failed" && r.Context().Err() == nil {
		s.cfg.Logger.Error("a request failed", zap.String("path", r.URL.Path), zap.Error(err))
	}
	fail(r.w, p)
}

func waitOf(err error) time.Duration {
	if e := (*managed.Error)(nil); errors.As(err, &e) {
		return e.Wait
	}
	return 0
}

// problemOf is what the client learns of an error.
func problemOf(err error) *problem {
	var p *problem
	var e *managed.Error
	switch {
	case errors.As(err, &p):
		return p
	case errors.As(err, new(*http.MaxBytesError)):
		return &problem{http.StatusRequestEntityTooLarge, "too_large", fmt.Sprintf("the body has more than %d bytes",
			BodyMax), nil}
	case !errors.As(err, &e):
		return &problem{http.StatusInternalServerError, "internal", "the request failed; the log of the server says why", nil}
	}
	status := http.StatusInternalServerError
	switch e.Code {
	case managed.Invalid:
		status = http.StatusUnprocessableEntity
	case managed.NotFound:
		status = http.StatusNotFound
	case managed.Conflict:
		status = http.StatusConflict
	case managed.TooMany, managed.Quota:
		status = http.StatusTooManyRequests
	case managed.Overloaded, managed.Elsewhere, managed.Storage:
		status = http.StatusServiceUnavailable
	}
	return &problem{status, string(e.Code), e.Error(), nil}
}

func fail(w http.ResponseWriter, p *problem) { send(w, p.status, p.frame()) }

// frame is the problem as JSON has it.
func (p *problem) frame() map[string]any {
	body := map[string]any{"code": p.code, "message": p.message}
	for k, v := range p.more {
		body[k] = v
	}
	return map[string]any{"error": body}
}

func send(w http.ResponseWriter, status int, v any) {
	b, err := json.Marshal(v)
	if err != nil {
		status, b = http.StatusInternalServerError, []byte(`{"error":{"code":"internal","message":"the answer is no JSON"}}`)
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(append(b, '\n'))
}

// order is what a client asks of a workflow.
type order struct {
	Message string `json:"message"`
	// Events are answers to the calls that a run waits for, in the format of the sessions API, in place of a message.
	Events []managed.Event `json:"events"`
	// User is whose run it is, if the token does not tell.
	User    string `json:"user_id"`
	Session string `json:"session_id"` // to go on with; "": a new one
	// Cancel interrupts the run when the client goes away.
	Cancel bool `json:"cancel_on_disconnect"`
}

// order reads the body of a request, or the query of a GET.
func (r *request) order() (*order, error) {
	o := &order{}
	if r.Method == http.MethodGet {
		q := r.URL.Query()
		o.User, o.Session = q.Get("user_id"), q.Get("session_id")
		if o.Session == "" {
			return nil, invalid("give session_id, or POST a message")
		}
		return o, r.own(o)
	}
	b, err := io.ReadAll(r.Body)
	if err != nil {
		if errors.As(err, new(*http.MaxBytesError)) {
			return nil, err
		}
		return nil, invalid("the body ends too early")
	}
	if b = bytes.TrimSpace(b); len(b) == 0 || b[0] != '{' {
		return nil, invalid(`the body must be a JSON object such as {"message": "Hello"}`)
	}
	if err := managed.Decode(b, o); err != nil {
		return nil, err
	}
	switch {
	case o.Message != "" && len(o.Events) > 0:
		return nil, invalid("give a message or events, not both")
	case len(o.Events) > 0 && o.Session == "":
		return nil, invalid("events answer the calls of a run: give its session_id")
	case o.Message == "" && len(o.Events) == 0 && r.last() == "":
		return nil, invalid("message: it is missing")
	}
	return o, r.own(o)
}

// own makes the user of an order the owner.
func (r *request) own(o *order) error {
	if r.owner.User == "" {
		r.owner.User = o.User
	} else if o.User != "" && o.User != r.owner.User {
		return &problem{http.StatusForbidden, "forbidden", fmt.Sprintf("user_id is %q, and the token is for another user",
			o.User), nil}
	}
	return nil
}

// last is the number of the last event that a reader has.
func (r *request) last() string { return r.Header.Get("Last-Event-ID") }

// flow is the workflow that a request names.
func (s *Server) flow(name string) error {
	if s.cfg.Engine.Workflow(name) != nil {
		return nil
	}
	hint := ""
	if near := spelling.Nearest(name, s.cfg.Engine.Names()); near != "" {
		hint = fmt.Sprintf("; did you mean %q?", near)
	}
	return &problem{http.StatusNotFound, "not_found", fmt.Sprintf("there is no workflow %q%s", name, hint), nil}
}

// begin gives an order to a session: a new one, or that of the order. It returns the session and the number of the
// first event of the run.
func (s *Server) begin(ctx context.Context, owner managed.Owner, flow string, o *order) (*managed.Session, uint64,
	error) {
	rt := s.cfg.Runtime
	if o.Session == "" {
		one, err := rt.StartSession(ctx, owner, managed.SessionRequest{Agent: managed.SharedID(flow),
			Initial: []managed.Event{managed.Text(o.Message)}})
		return one, 1, err
	}
	one, err := s.session(ctx, owner, flow, o.Session)
	if err != nil {
		return nil, 0, err
	}
	events := o.Events
	if len(events) == 0 {
		if err := s.rests(ctx, owner, flow, one); err != nil {
			return nil, 0, err
		}
		events = []managed.Event{managed.Text(o.Message)}
	}
	sent, err := rt.Send(ctx, owner, one.ID, managed.Once{}, events...)
	if err != nil {
		return nil, 0, err
	}
	for _, ev := range sent {
		if ev.Seq > 0 {
			return one, ev.Seq, nil
		}
	}
	from, err := exec.RunBegin(ctx, rt, owner, one.ID) // the answers were there already
	return one, from, err
}

// rests refuses a message for a session whose run is not at its end.
func (s *Server) rests(ctx context.Context, owner managed.Owner, flow string, one *managed.Session) error {
	if one.Status == managed.Running || one.Status == managed.Rescheduling {
		return &problem{http.StatusConflict, "conflict", "a run of the session is at work; read it with GET /api/workflows/" +
			flow + "/stream?session_id=" + one.ID, nil}
	}
	idle := managed.Listing{Limit: 1, Newest: true, Keep: func(ev *managed.Event) bool {
		return ev.Type == managed.StatusIdle
	}}
	list, _, err := s.cfg.Runtime.ListEvents(ctx, owner, one.ID, idle)
	if err != nil {
		return err
	}
	if len(list) > 0 && list[0].StopReason != nil && list[0].StopReason.Type == managed.RequiresAction {
		return &problem{http.StatusConflict, "conflict", "the run of the session waits for answers: send them as events", nil}
	}
	return nil
}

// session finds a session of a workflow.
func (s *Server) session(ctx context.Context, owner managed.Owner, flow, id string) (*managed.Session, error) {
	one, err := s.cfg.Runtime.Session(ctx, owner, id)
	if err == nil && one.Agent.Name != flow {
		err = &problem{http.StatusNotFound, "not_found", fmt.Sprintf("there is no session %q of %s", id, flow), nil}
	}
	return one, err
}

// listTools lists what workflows may name as tools: tools of the operator's and built-in ones, and toolsets.
func (s *Server) listTools(*request) (any, error) {
	list := []map[string]any{}
	for _, d := range s.cfg.Engine.Declarations() {
		one := map[string]any{"name": d.Name, "description": d.Description}
		if d.ParametersJsonSchema != nil {
			one["parameters"] = d.ParametersJsonSchema
		}
		list = append(list, one)
	}
	sets := s.cfg.Engine.Toolsets()
	if sets == nil {
		sets = map[string][]string{}
	}
	return map[string]any{"tools": list, "toolsets": sets}, nil
}

// listWorkflows lists the workflows, with the reasons of those that are not proved.
func (s *Server) listWorkflows(*request) (any, error) {
	list := []map[string]any{}
	for _, name := range s.cfg.Engine.Names() {
		w := s.cfg.Engine.Workflow(name)
		var agents []string
		for _, a := range w.Agents {
			agents = append(agents, a.Name)
		}
		one := map[string]any{"name": name, "description": w.Description, "type": w.Main.Type, "agents": agents,
			"agent_id": managed.SharedID(name)}
		if w.Unverified != "" {
			one["unverified"] = w.Unverified
		}
		list = append(list, one)
	}
	return map[string]any{"workflows": list}, nil
}

// trimmed is an address without a slash at its end.
func trimmed(url string) string { return strings.TrimSuffix(url, "/") }

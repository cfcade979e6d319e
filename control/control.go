// Package control lets operators see and steer the calls of a gateway over HTTP, without code of their own.
//
//	h, err := control.New(control.Config{Gateway: gw, Authorize: who})
//	http.Handle("/v1/calls", h)
//	http.Handle("/v1/calls/", h)
//
// The net of a call decides what becomes of each request, as if the caller or the host had made it. Who asked for
// what is in the audit log; texts are not.
package control

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"net/http"
	"strings"
	"time"

	"go.uber.org/zap"

	"github.com/voicegw/voicegw"
	"github.com/voicegw/voicegw/internal/strictjson"
	"github.com/voicegw/voicegw/transport"
)

const (
	bodyMax = 64 << 10 // bytes of a request
	listMax = 1000     // calls in a list
	timeMax = 5 * time.Second

	stallMax   = time.Second // for the net of a call to finish a step
	retryAfter = "5"         // seconds
)

// Actor is who makes a request.
type Actor struct {
	// Name says in the audit log who it is.
	Name string
	// Tenant, if not empty, is the only tenant whose calls the actor may see: those with it as TenantLabel.
	Tenant string
}

// TenantLabel is the label of a call that has the tenant it belongs to.
const TenantLabel = "tenant"

// Config configures a handler.
type Config struct {
	// Gateway has the calls. It is required.
	Gateway *voicegw.Gateway
	// Authorize says who makes a request. Its error refuses the request; the client gets its text. It is required.
	Authorize func(*http.Request) (Actor, error)
	// Targets returns the addresses to which calls may be handed off, by name, for one request; nil lets the request name
	// any address. A nil function is the same as one that returns nil. It may return others later, and must be safe for
	// concurrent use.
	Targets func() map[string]string
	// Audit gets a line for each request that changes a call, whatever becomes of it: actor, call, action, result. It
	// is required.
	Audit *zap.Logger
}

// New returns a handler for /v1/calls and the paths below it. It is safe for concurrent use.
func New(cfg Config) (http.Handler, error) {
	if cfg.Gateway == nil || cfg.Authorize == nil || cfg.Audit == nil {
		return nil, errors.New("control: Config needs Gateway, Authorize and Audit")
	}
	if cfg.Targets == nil {
		cfg.Targets = func() map[string]string { return nil }
	}
	s := &server{cfg: cfg}
	for i := range s.turns {
		s.turns[i] = make(chan struct{}, 1)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /v1/calls", s.as(s.list))
	mux.HandleFunc("GET /v1/calls/{call}", s.as(s.show))
	mux.HandleFunc("POST /v1/calls/{call}/{action}", s.as(s.act))
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		refuse(w, &problem{http.StatusNotFound, "not_found", fmt.Sprintf("there is no %s %s; see docs/control.md", r.Method,
			r.URL.Path)})
	})
	return mux, nil
}

type server struct {
	cfg   Config
	turns [64]chan struct{} // by a hash of the call's id; each has room for the request that is carried out
}

// turn waits until no other request to the call is carried out, so that the audit log has the requests in the order in
// which the net gets them. The function that it returns ends the turn.
func (s *server) turn(ctx context.Context, call string) (end func(), err error) {
	h := fnv.New32a()
	_, _ = io.WriteString(h, call)
	one := s.turns[h.Sum32()%uint32(len(s.turns))]
	select {
	case one <- struct{}{}:
		return func() { <-one }, nil
	case <-ctx.Done():
		return nil, &problem{http.StatusServiceUnavailable, "busy",
			"other requests wait in this call; nothing was done, try again"}
	}
}

// problem is why a request is refused.
type problem struct {
	status  int
	code    string
	message string
}

// Error returns the message.
func (p *problem) Error() string { return p.message }

// refuse answers with an error.
func refuse(w http.ResponseWriter, err error) {
	p := &problem{http.StatusInternalServerError, "internal", err.Error()}
	errors.As(err, &p)
	if p.status == http.StatusServiceUnavailable {
		w.Header().Set("Retry-After", retryAfter)
	}
	answer(w, p.status, map[string]any{"error": map[string]string{"code": p.code, "message": p.message}})
}

func answer(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body) // the client may be gone
}

// as finds out who makes a request.
func (s *server) as(do func(http.ResponseWriter, *http.Request, Actor) error) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		who, err := s.cfg.Authorize(r)
		if err != nil {
			w.Header().Set("WWW-Authenticate", "Bearer")
			err = &problem{http.StatusUnauthorized, "unauthorized", err.Error()}
		} else {
			err = do(w, r, who)
		}
		if err != nil {
			refuse(w, err)
		}
	}
}

// Call is a call as a list has it.
type Call struct {
	ID       string            `json:"id"`
	Endpoint string            `json:"endpoint"`
	From     string            `json:"from,omitempty"`
	To       string            `json:"to,omitempty"`
	Client   string            `json:"client,omitempty"`
	Labels   map[string]string `json:"labels,omitempty"`
	State    *voicegw.State    `json:"state,omitempty"`
	// Unknown says why there is no State: the call does not answer.
	Unknown string `json:"state_unknown,omitempty"`
}

func callOf(s *voicegw.Session) Call {
	h := s.Hello()
	c := Call{ID: s.ID(), Endpoint: h.Endpoint, From: h.From, To: h.To, Client: h.Client, Labels: s.Labels()}
	state, err := s.StateWithin(stallMax)
	if err != nil {
		c.Unknown = err.Error()
	} else {
		c.State = &state
	}
	return c
}

// sees reports whether an actor may see a call.
func (a Actor) sees(s *voicegw.Session) bool {
	return a.Tenant == "" || s.Labels()[TenantLabel] == a.Tenant
}

func (s *server) list(w http.ResponseWriter, r *http.Request, who Actor) error {
	after, calls, more := r.URL.Query().Get("after"), []Call{}, false
	for _, session := range s.cfg.Gateway.Sessions() {
		if session.ID() <= after || !who.sees(session) {
			continue
		}
		if more = len(calls) == listMax; more {
			break
		}
		calls = append(calls, callOf(session))
	}
	answer(w, http.StatusOK, map[string]any{"calls": calls, "has_more": more})
	return nil
}

// session is a call that the actor may see.
func (s *server) session(r *http.Request, who Actor) (*voicegw.Session, error) {
	id := r.PathValue("call")
	session, ok := s.cfg.Gateway.Session(id)
	if !ok || !who.sees(session) {
		return nil, &problem{http.StatusNotFound, "not_found",
			fmt.Sprintf("no call %q is up; it has ended, or there was none", id)}
	}
	return session, nil
}

func (s *server) show(w http.ResponseWriter, r *http.Request, who Actor) error {
	session, err := s.session(r, who)
	if err == nil {
		answer(w, http.StatusOK, callOf(session))
	}
	return err
}

// request is the body of an action. Each action takes some of its fields.
type request struct {
	On     *bool          `json:"on"`
	Text   string         `json:"text"`
	Role   transport.Role `json:"role"`
	Target string         `json:"target"`
}

// act does something with a call.
func (s *server) act(w http.ResponseWriter, r *http.Request, who Actor) error {
	session, err := s.session(r, who)
	if err != nil {
		return err
	}
	name := r.PathValue("action")
	act, ok := actions[name]
	if !ok {
		return &problem{http.StatusNotFound, "not_found", fmt.Sprintf("there is no action %q; there are: %s", name,
			strings.Join(actionNames(), ", "))}
	}
	known := s.cfg.Targets() // read once: a tenant is checked against what the action then uses
	if name == "hand-off" && who.Tenant != "" && known == nil {
		return &problem{http.StatusForbidden, "forbidden", "the operator allows tenants no targets to hand calls off to"}
	}
	in, err := act.read(http.MaxBytesReader(w, r.Body, bodyMax))
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(r.Context(), timeMax)
	defer cancel()
	audit := func(err error) { s.audit(who, session, name, in, err) }
	do := func() error { return act.do(ctx, known, session, in) }
	if err = s.carryOut(ctx, session.ID(), do, audit); err == nil {
		answer(w, http.StatusOK, callOf(session))
	}
	return err
}

// carryOut does an action when the turn of its call comes. audit gets the result before the turn ends.
func (s *server) carryOut(ctx context.Context, call string, do func() error, audit func(error)) error {
	end, err := s.turn(ctx, call)
	if err != nil {
		audit(err)
		return err
	}
	defer end()
	err = asProblem(do())
	audit(err)
	return err
}

// audit notes who asked for what.
func (s *server) audit(who Actor, session *voicegw.Session, action string, in *request, err error) {
	fields := []zap.Field{zap.String("actor", who.Name), zap.String("call", session.ID()), zap.String("action", action)}
	if in.On != nil {
		fields = append(fields, zap.Bool("on", *in.On))
	}
	if in.Target != "" {
		fields = append(fields, zap.String("target", in.Target))
	}
	if in.Text != "" {
		fields = append(fields, zap.Int("text_bytes", len(in.Text)))
	}
	s.cfg.Audit.Info("control", append(fields, zap.Bool("done", err == nil), zap.Error(err))...)
}

// read reads the body of an action. An empty one is {}.
func (a *action) read(body io.Reader) (*request, error) {
	data, err := io.ReadAll(body)
	if err != nil {
		return nil, &problem{http.StatusRequestEntityTooLarge, "too_large",
			fmt.Sprintf("the request exceeds %d bytes", bodyMax)}
	}
	in := &request{}
	if len(strings.TrimSpace(string(data))) > 0 {
		if err := (strictjson.Decoder{}).Decode(data, in); err != nil {
			return nil, invalid("%v", err)
		}
	}
	return in, a.check(in)
}

func invalid(format string, args ...any) error {
	return &problem{http.StatusBadRequest, "invalid", fmt.Sprintf(format, args...)}
}

// asProblem is what an error of a session means to a client.
func asProblem(err error) error {
	var p *problem
	switch {
	case err == nil, errors.As(err, &p):
		return err
	case errors.Is(err, voicegw.ErrOver):
		return &problem{http.StatusConflict, "over", "the call is over"}
	case errors.Is(err, voicegw.ErrNotInNet):
		return &problem{http.StatusConflict, "not_configured", "the gateway's settings do not have this for its calls"}
	case errors.Is(err, voicegw.ErrTextLost):
		return &problem{http.StatusConflict, "text_lost", err.Error()}
	case errors.Is(err, voicegw.ErrStalled):
		return &problem{http.StatusServiceUnavailable, "busy",
			"too many requests wait in this call; nothing was done, try again"}
	case errors.Is(err, context.DeadlineExceeded):
		return &problem{http.StatusServiceUnavailable, "busy",
			"the call does not answer; it has the request and may still do it, so look at the call before you try again"}
	}
	return invalid("%v", err)
}

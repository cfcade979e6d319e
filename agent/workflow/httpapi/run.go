package httpapi

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"time"

	"github.com/voicegw/voicegw/agent/managed"
	"github.com/voicegw/voicegw/agent/workflow/exec"
)

// reading is a run that somebody reads.
type reading struct {
	s       *Server
	owner   managed.Owner
	flow    string
	session string
	after   uint64 // the run is not at rest before this event
	model   string
}

// read yields the events of a run from its begin on, and what has become of it with the last one. A run that waits is
// at its end unless it has its answers by now.
func (g *reading) read(ctx context.Context, yield func(ev *managed.Event, last *exec.Outcome) error) error {
	rt := g.s.cfg.Runtime
	begin, err := exec.RunBegin(ctx, rt, g.owner, g.session)
	if err != nil {
		return err
	}
	out := &exec.Outcome{Session: g.session}
	out.Usage.Model = g.model
	for ev, err := range rt.Events(ctx, g.owner, g.session, min(begin, max(g.after, 1)), true) {
		if err != nil {
			return err
		}
		rests := out.Add(g.flow, ev) && ev.Seq >= g.after
		if rests && out.Status == exec.Waiting {
			one, err := rt.Session(ctx, g.owner, g.session)
			if err != nil {
				return err
			}
			rests = one.LastSeq == ev.Seq
		}
		if rests {
			return yield(ev, out)
		}
		if err := yield(ev, nil); err != nil {
			return err
		}
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return errors.New("httpapi: the events of a session have ended")
}

// left is called when the client has gone away in a run. The run goes on, unless the client wanted it otherwise.
func (g *reading) left(ctx context.Context, o *order) {
	if o.Cancel && ctx.Err() != nil {
		_ = g.s.cfg.Runtime.Interrupt(context.WithoutCancel(ctx), g.owner, g.session)
	}
}

// run answers when the run is at rest.
func (s *Server) run(r *request) (any, error) {
	g, o, err := s.ordered(r)
	if err != nil {
		return nil, err
	}
	if err := r.patient(s.writeMax); err != nil {
		return nil, err
	}
	var out *exec.Outcome
	err = g.read(r.Context(), func(_ *managed.Event, last *exec.Outcome) error {
		out = last
		return nil
	})
	if err != nil {
		g.left(r.Context(), o)
		return nil, err
	}
	if p := failure(out); p != nil {
		return nil, p
	}
	return map[string]any{"result": out}, nil
}

// failure is the problem of a run that has not reached its end; nil if it has, or waits.
func failure(o *exec.Outcome) *problem {
	more := map[string]any{"session_id": o.Session}
	switch o.Status {
	case exec.Done, exec.Waiting:
		return nil
	case exec.Stopped:
		return &problem{http.StatusConflict, "interrupted", o.Failure, more}
	}
	if o.Code != "" {
		more["fault"] = o.Code
	}
	return &problem{http.StatusInternalServerError, "run_failed", o.Failure, more}
}

// ordered begins a run with the order of a request, or goes on reading one.
func (s *Server) ordered(r *request) (*reading, *order, error) {
	g := &reading{s: s, flow: r.PathValue("name")}
	if err := s.flow(g.flow); err != nil {
		return nil, nil, err
	}
	o, err := r.order()
	if err != nil {
		return nil, nil, err
	}
	g.owner = r.owner
	if r.Method == http.MethodGet || r.last() != "" {
		err = s.resume(r, g, o)
		return g, o, err
	}
	one, from, err := s.begin(r.Context(), r.owner, g.flow, o)
	if err != nil {
		return nil, nil, err
	}
	g.session, g.after, g.model = one.ID, from, one.Agent.Model.ID
	return g, o, nil
}

// resume goes on reading behind the event that a reader has.
func (s *Server) resume(r *request, g *reading, o *order) error {
	if o.Session == "" {
		return invalid("Last-Event-ID goes on with a run: give its session_id")
	}
	one, err := s.session(r.Context(), g.owner, g.flow, o.Session)
	if err != nil {
		return err
	}
	g.session, g.model = one.ID, one.Agent.Model.ID
	text := r.last()
	if text == "" {
		g.after, err = exec.RunBegin(r.Context(), s.cfg.Runtime, g.owner, g.session)
		return err
	}
	n, err := strconv.ParseUint(text, 10, 63)
	if err != nil {
		return invalid("Last-Event-ID: %q is no number of an event", text)
	}
	g.after = n + 1
	if one.Status == managed.Idle && n >= one.LastSeq || one.Status == managed.Terminated {
		return errNothing
	}
	return nil
}

// errNothing says that nothing comes behind the last event of a reader.
var errNothing = &problem{status: http.StatusNoContent}

// patient removes the server's deadlines, which are for short requests. Each write still has the given limit.
func (r *request) patient(limit time.Duration) error {
	c := http.NewResponseController(r.w)
	for _, lift := range []func(time.Time) error{c.SetReadDeadline, c.SetWriteDeadline} {
		if err := lift(time.Time{}); err != nil && !errors.Is(err, http.ErrNotSupported) {
			return err
		}
	}
	r.w = &paced{r.w, c, limit}
	return nil
}

// paced cuts off a reader that takes too long for one write.
type paced struct {
	http.ResponseWriter
	control *http.ResponseController
	limit   time.Duration
}

// Unwrap is for http.ResponseController.
func (p *paced) Unwrap() http.ResponseWriter { return p.ResponseWriter }

// Write writes within the limit.
func (p *paced) Write(b []byte) (int, error) {
	if err := p.hurry(); err != nil {
		return 0, err
	}
	return p.ResponseWriter.Write(b)
}

// Flush flushes within the limit. An error shows in the next Write.
func (p *paced) Flush() { _ = p.FlushError() }

// FlushError is for http.ResponseController.
func (p *paced) FlushError() error {
	if err := p.hurry(); err != nil {
		return err
	}
	return p.control.Flush()
}

func (p *paced) hurry() error {
	err := p.control.SetWriteDeadline(time.Now().Add(p.limit))
	if errors.Is(err, http.ErrNotSupported) {
		return nil
	}
	return err
}

package voicegw

import (
	"context"
	"errors"
	"slices"

	"github.com/voicegw/voicegw/live"
	"github.com/voicegw/voicegw/transport"
)

// Hooks let the integrator's code take part in calls. Each may be nil; each is
// called by goroutines of its call, which waits for it, and a panic ends that
// call alone.
type Hooks struct {
	// Begin is asked before a call is taken: hello is what the far end, and the
	// door, said of it. The plan may be nil. An error refuses the call; a
	// *transport.Refused says how.
	Begin func(ctx context.Context, hello *transport.Hello) (*Plan, error)
	// Running is told of a call that stands. The session is good until Ended.
	Running func(s *Session)
	// Event is told everything that the peer is told, but for audio, in that
	// order. It must not keep m.
	Event func(s *Session, m *transport.Message)
	// Digits gets what the caller entered during protected input.
	Digits func(s *Session, digits string)
	// Ended is told of a call that is over.
	Ended func(r Record)
}

// Plan is what one call shall be.
type Plan struct {
	// Setup replaces that of the Config where it is not nil.
	Setup *live.Setup
	// Dialer replaces that of the Config where it is not nil.
	Dialer live.Dialer
	// Tools come to those of the Config.
	Tools []Tool
	// Allow, if not nil, says which of all these the call may use: the model is
	// not told of the others, and gets no answer but an error if it calls one.
	Allow func(tool string) bool
	// Labels are found again in the Record.
	Labels map[string]string
	// Release, if not nil, is called once when the call is over.
	Release func()
}

// plan asks for the plan of a call and fills it in.
func (g *Gateway) plan(ctx context.Context, hello *transport.Hello) (*Plan, error) {
	p := &Plan{}
	if begin := g.cfg.Hooks.Begin; begin != nil {
		own, err := begin(ctx, hello)
		if err != nil {
			return nil, asRefused(err)
		}
		if own != nil {
			*p = *own
		}
	}
	if p.Dialer == nil {
		p.Dialer = g.cfg.Dialer
	}
	if p.Setup == nil {
		p.Setup = &g.cfg.Setup
	}
	if len(p.Tools) > 0 && g.cfg.Net.ToolSlots == 0 {
		p.release()
		return nil, &transport.Refused{Reason: transport.ReasonInternal,
			Err: errors.New("voicegw: Plan.Tools needs Config.Net.ToolSlots to be 1 or more")}
	}
	p.Tools = append(append([]Tool(nil), g.cfg.Tools...), p.Tools...)
	if p.Allow != nil {
		p.Tools = slices.DeleteFunc(p.Tools, func(t Tool) bool { return !p.Allow(t.Name) })
	}
	if err := checkTools(p.Tools); err != nil {
		p.release()
		return nil, &transport.Refused{Reason: transport.ReasonInternal, Err: err}
	}
	return p, nil
}

func (p *Plan) release() {
	if p.Release != nil {
		p.Release()
	}
}

// asRefused is an error of the integrator's as a refusal.
func asRefused(err error) error {
	var refused *transport.Refused
	var field *transport.FieldError
	if errors.As(err, &refused) || errors.As(err, &field) {
		return err
	}
	return &transport.Refused{Reason: transport.ReasonUnauthorized, Err: err}
}

package voicegw

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"unicode/utf8"

	"go.uber.org/zap"

	"github.com/voicegw/voicegw/audio"
	"github.com/voicegw/voicegw/live"
	"github.com/voicegw/voicegw/transport"
	"github.com/voicegw/voicegw/voicenets"
)

// Hooks are functions of the host that take part in calls. Each may be nil. A hook
// runs in a goroutine of its call, and the call does not end before it returns. A
// panic ends only that call.
type Hooks struct {
	// Begin decides whether to accept a call. hello is what the peer and its endpoint
	// say about it. The plan may be nil. An error refuses the call; a
	// *transport.Refused says how.
	Begin func(ctx context.Context, hello *transport.Hello) (*Plan, error)
	// Running is called when a call is up. The session is valid until Ended.
	Running func(s *Session)
	// Event gets every message to the peer, except audio, in order. It must not keep
	// m.
	Event func(s *Session, m *transport.Message)
	// Turn gets each turn after its end was sent to the peer, in order: the caller's turn before the
	// reply to it.
	Turn func(s *Session, t Turn)
	// Digits gets what the caller entered during protected input.
	Digits func(s *Session, digits string)
	// Message gets the messages of the caller's page, in order, when the call is up. name and data
	// have passed transport.CheckMessage. The page chooses their content, so do not trust it.
	Message func(s *Session, name string, data json.RawMessage)
	// Ended gets the record of a call that is over.
	Ended func(r Record)
}

// Plan configures one call.
type Plan struct {
	// Session, if not nil, replaces Config.Session.
	Session *SessionRules
	// Setup, if not nil, replaces Config.Setup.
	Setup *live.Setup
	// Instructions, if not nil, replaces Config.Instructions.
	Instructions map[string]string
	// SystemInstruction, if not empty, replaces that of Setup, the one that the hello names, and the client's own.
	SystemInstruction string
	// Greeting, if not empty, replaces Config.Greeting, which must not be empty, because the net of the call depends on
	// whether there is one.
	Greeting string
	// Dialer, if not nil, replaces Config.Dialer.
	Dialer live.Dialer
	// BaseTools, if not nil, replace Config.Tools. Metrics count those that Config.Tools does not name as other.
	BaseTools []Tool
	// Tools are added to them.
	Tools []Tool
	// Allow, if not nil, selects the tools that the call may use. The model does not
	// know the others and gets an error if it calls one.
	Allow func(tool string) bool
	// Labels are copied to the Record.
	Labels map[string]string
	// Release, if not nil, is called once when the call is over.
	Release func()

	activity audio.ActivityConfig    // of the detector
	refused  []*transport.FieldError // what the client asked for and does not get
}

// plan gets the plan of a call from Hooks.Begin and fills it in.
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
	if len(p.BaseTools)+len(p.Tools) > 0 && g.cfg.Net.ToolSlots == 0 {
		p.release()
		return nil, &transport.Refused{Reason: transport.ReasonInternal,
			Err: errors.New("voicegw: Plan.BaseTools and Plan.Tools need Config.Net.ToolSlots to be 1 or more")}
	}
	if err := p.greet(&g.cfg); err != nil {
		p.release()
		return nil, &transport.Refused{Reason: transport.ReasonInternal, Err: err}
	}
	base := p.BaseTools
	if base == nil {
		base = g.cfg.Tools
	}
	p.Tools = slices.Concat(base, p.Tools)
	if p.Allow != nil {
		p.Tools = slices.DeleteFunc(p.Tools, func(t Tool) bool { return !p.Allow(t.Name) })
	}
	if err := CheckTools(p.Tools); err != nil {
		p.release()
		return nil, &transport.Refused{Reason: transport.ReasonInternal, Err: err}
	}
	rules := g.cfg.Session
	if p.Session != nil {
		rules = *p.Session
	}
	if g.cfg.Net.ToolSlots == 0 {
		rules.Tools = Names{}
	}
	rules.Instructions = rules.Instructions && p.SystemInstruction == ""
	mode, refused, err := g.cfg.mode(*hello)
	if err != nil {
		p.release()
		return nil, err
	}
	p.refused = append(refused, rules.follow(hello, p)...)
	p.refused = append(p.refused, rules.followActivity(&hello.Session.Activity, p, g.cfg.Activity,
		detection(&g.cfg, &mode) == voicenets.GatewayVAD && mode.Detection != transport.DetectionPush)...)
	for _, f := range p.refused {
		g.cfg.Log.Info("a call does not follow what its client asks for", zap.String("client", hello.Client), zap.Error(f))
	}
	return p, nil
}

// greet fills in the greeting.
func (p *Plan) greet(cfg *Config) error {
	switch {
	case p.Greeting == "":
		p.Greeting = cfg.Greeting
	case cfg.Greeting == "":
		return errors.New("voicegw: Plan.Greeting needs Config.Greeting")
	case len(p.Greeting) > greetingLenMax || !utf8.ValidString(p.Greeting):
		return fmt.Errorf("voicegw: Plan.Greeting has %d bytes; at most %d of UTF-8 are possible", len(p.Greeting),
			greetingLenMax)
	}
	return nil
}

func (p *Plan) release() {
	if p.Release != nil {
		p.Release()
	}
}

// asRefused returns an error of Hooks.Begin as a refusal.
func asRefused(err error) error {
	var refused *transport.Refused
	var field *transport.FieldError
	if errors.As(err, &refused) || errors.As(err, &field) {
		return err
	}
	return &transport.Refused{Reason: transport.ReasonUnauthorized, Err: err}
}

package adkagent

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"sync/atomic"
	"time"

	adk "google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/agent/llmagent"
	"google.golang.org/adk/v2/model"
	"google.golang.org/adk/v2/session"
	"google.golang.org/adk/v2/tool"
	"google.golang.org/genai"

	"github.com/voicegw/voicegw"
	"github.com/voicegw/voicegw/live"
	"github.com/voicegw/voicegw/transport"
	"github.com/voicegw/voicegw/voicenets"
)

// LiveConfig configures a Live. Name and Gateway.Dialer are required.
type LiveConfig struct {
	// Name is the author of the model's events. "user" is reserved.
	Name string
	// Description tells other agents what this one does.
	Description string
	// Tools and Toolsets are what the model may call. A toolset is listed once for each call.
	Tools    []tool.Tool
	Toolsets []tool.Toolset
	// Callbacks around tools, as those of llmagent.Config.
	BeforeToolCallbacks  []llmagent.BeforeToolCallback
	AfterToolCallbacks   []llmagent.AfterToolCallback
	OnToolErrorCallbacks []llmagent.OnToolErrorCallback
	// Gateway configures the gateway that NewLive makes. It is a configuration and not a gateway,
	// because each live session plans its call in Hooks.Begin: its tools, its voice, its history. Your
	// own Hooks.Begin runs before. Gateway.Setup.SystemInstruction is the instruction of the agent.
	// New sets Net.ToolSlots to 2 if there are tools and it is 0. The tools of Gateway.Tools that have
	// a Call make no events.
	Gateway voicegw.Config
	// Run, if not nil, answers the runner's Run: the same session in text. By default Run fails.
	Run func(adk.InvocationContext) iter.Seq2[*session.Event, error]
	// Hello, if not nil, changes the hello of a call: its token, parameters, detection, half-duplex. The
	// rates must stay. An error refuses the session.
	Hello func(adk.InvocationContext, *transport.Hello) error
	// PlayoutDelay is the assumed time from yielding a reply to its playout, because ADK's clients do
	// not report it: 60 ms by default.
	PlayoutDelay time.Duration
}

const playoutDelayDefault = 60 * time.Millisecond

// Live is an agent of ADK whose live sessions are calls of a voicegw.Gateway, in place of ADK's own
// live flow: with its net, barge-in, budget, reconnects and tools. The stock runner takes it, and so
// does the endpoint /run_live of adkrest. All methods are safe for concurrent use. Close it at the
// end.
type Live struct {
	adk.Agent
	cfg   LiveConfig
	gw    *voicegw.Gateway
	tools *toolbox
	probe liveRunner

	droppedInput, droppedReply, droppedNotes, lateAudio atomic.Int64
}

// liveRunner is what the runner needs of an agent with live sessions.
type liveRunner interface {
	RunLive(adk.InvocationContext) (adk.LiveSession, iter.Seq2[*session.Event, error], error)
}

var _ liveRunner = (*Live)(nil)

// NewLive makes the agent and its gateway. The error names the field that is wrong.
func NewLive(cfg LiveConfig) (*Live, error) {
	if cfg.Name == "" || cfg.Name == "user" {
		return nil, fmt.Errorf("adkagent: LiveConfig.Name is %q; it must be a name, and %q is the caller's", cfg.Name, "user")
	}
	if cfg.PlayoutDelay < 0 {
		return nil, fmt.Errorf("adkagent: LiveConfig.PlayoutDelay is %v; it must not be negative", cfg.PlayoutDelay)
	}
	if cfg.PlayoutDelay == 0 {
		cfg.PlayoutDelay = playoutDelayDefault
	}
	keys, err := findContextKeys()
	if err != nil {
		return nil, err
	}
	l := &Live{cfg: cfg, tools: &toolbox{tools: cfg.Tools, sets: cfg.Toolsets, before: cfg.BeforeToolCallbacks,
		after: cfg.AfterToolCallbacks, failed: cfg.OnToolErrorCallbacks, keys: keys, tracer: newTracer()}}
	run := cfg.Run
	if run == nil {
		run = l.refuseText
	}
	if l.Agent, err = adk.New(adk.Config{Name: cfg.Name, Description: cfg.Description, Run: run}); err != nil {
		return nil, fmt.Errorf("adkagent: LiveConfig: %w", err)
	}
	probe, err := llmagent.New(llmagent.Config{Name: "probe", Model: probeModel{}})
	if err != nil {
		return nil, fmt.Errorf("adkagent: %w", err)
	}
	var ok bool
	if l.probe, ok = probe.(liveRunner); !ok {
		return nil, errNoLiveConfig
	}
	gwc := cfg.Gateway
	if (len(cfg.Tools) > 0 || len(cfg.Toolsets) > 0) && gwc.Net.ToolSlots == 0 {
		gwc.Net.ToolSlots = 2
	}
	gwc.Hooks.Begin = l.begin
	if l.gw, err = voicegw.New(gwc); err != nil {
		return nil, fmt.Errorf("adkagent: LiveConfig.Gateway: %w", err)
	}
	return l, nil
}

// refuseText answers Run without a LiveConfig.Run.
func (l *Live) refuseText(adk.InvocationContext) iter.Seq2[*session.Event, error] {
	return func(yield func(*session.Event, error) bool) {
		yield(nil, fmt.Errorf("adkagent: the agent %q only speaks: use RunLive, or set LiveConfig.Run", l.Name()))
	}
}

// FindAgent returns the agent with this name: l itself, where the embedded agent would return its own
// inside.
func (l *Live) FindAgent(name string) adk.Agent {
	if name == l.Name() {
		return l
	}
	return l.Agent.FindAgent(name)
}

// Gateway returns the gateway, for more endpoints beside ADK's and for its metrics. Its calls from other
// endpoints have the tools of LiveConfig.Gateway only.
func (l *Live) Gateway() *voicegw.Gateway { return l.gw }

// Nets returns the nets that calls may run; pass them to package voicenets/prove before you serve.
func (l *Live) Nets() []voicenets.Config { return l.gw.Nets() }

// Close ends all live sessions and closes the gateway.
func (l *Live) Close() error { return l.gw.Close() }

// LiveDropped counts what live sessions dropped at their limits, since NewLive.
type LiveDropped struct {
	// Input is audio of the caller that waited too long: see ErrLiveFull.
	Input time.Duration
	// Reply is audio of the model that a consumer did not take in time: more than 10 s waited.
	Reply time.Duration
	// Notes are partial events that a consumer did not take in time: more than 1,024 events waited.
	Notes int64
	// Late is audio of a reply that had ended.
	Late time.Duration
}

// Dropped returns what was dropped so far.
func (l *Live) Dropped() LiveDropped {
	return LiveDropped{Input: time.Duration(l.droppedInput.Load()), Reply: time.Duration(l.droppedReply.Load()),
		Notes: l.droppedNotes.Load(), Late: time.Duration(l.lateAudio.Load())}
}

// RunLive begins a live session, which is one call of the gateway. The runner calls it. The call begins
// when the first event is asked for, and ends with the iterator: the iterator owns every goroutine of
// the call and waits for them, tools included. It may be used once.
//
// The error names what the gateway cannot do of the LiveRunConfig; nothing is ignored.
//
// The iterator yields:
//   - audio of the model: inline data, 24 kHz PCM, 20 to 100 ms, at most the gateway's budget ahead of
//     playout
//   - transcripts, partial while they grow; then, once, the whole text, which the runner stores. The
//     author of the caller's is "user".
//   - Interrupted, partial, when a client must drop what it has not played. If the caller did not mean
//     it, the audio goes on afterwards.
//   - TurnComplete at the end of each reply, with the usage; with Interrupted if the reply was cut
//   - calls of tools and their responses, one for each call
//   - errors with a code, some of which do not end the call; and at last the error that does
//   - other messages of the gateway, partial, in CustomMetadata under "voicegw": the connection to the
//     model, speech, holds
//
// A tool runs when its call was stored: after yield has returned for it. No event waits for a slow
// consumer: see LiveDropped. A consumer that leaves 2,048 events ends the call.
func (l *Live) RunLive(ctx adk.InvocationContext) (adk.LiveSession, iter.Seq2[*session.Event, error], error) {
	c, err := l.newCall(ctx)
	if err != nil {
		return nil, nil, fmt.Errorf("adkagent: run live: %w", err)
	}
	return liveSession{c}, c.events, nil
}

// liveKey is the key of a live session in the context of its call.
type liveKey struct{}

// begin is Hooks.Begin of the gateway.
func (l *Live) begin(ctx context.Context, hello *transport.Hello) (*voicegw.Plan, error) {
	var plan *voicegw.Plan
	if own := l.cfg.Gateway.Hooks.Begin; own != nil {
		var err error
		if plan, err = own(ctx, hello); err != nil {
			return nil, err
		}
	}
	c, ok := ctx.Value(liveKey{}).(*liveCall)
	if !ok {
		return plan, nil // a call from another endpoint
	}
	if plan == nil {
		plan = &voicegw.Plan{}
	}
	if err := c.plan(plan); err != nil {
		if plan.Release != nil {
			plan.Release()
		}
		return nil, &transport.Refused{Reason: transport.ReasonInternal, Err: err}
	}
	return plan, nil
}

// plan puts what the session asks for into the plan of its call.
func (c *liveCall) plan(p *voicegw.Plan) error {
	gwc := &c.live.cfg.Gateway
	setup, dialer := gwc.Setup, gwc.Dialer
	if p.Setup != nil {
		setup = *p.Setup
	}
	if p.Dialer != nil {
		dialer = p.Dialer
	}
	c.want.apply(&setup)
	if err := setup.Check(); err != nil {
		return err
	}
	p.Setup, p.Session = &setup, &voicegw.SessionRules{Activity: true}
	p.Dialer = &recallingDialer{Dialer: dialer, handle: c.want.handle, history: c.history}
	p.Tools = append(p.Tools, c.offered...)
	return nil
}

// errNoLiveConfig means that this ADK is not the one that the package was written for.
var errNoLiveConfig = errors.New(
	"this version of ADK does not keep the LiveRunConfig where v2.2.0 does; call RunLive through its runner")

// probeModel is the model of the agent that finds the LiveRunConfig. It is never asked.
type probeModel struct{}

func (probeModel) Name() string          { return "probe" }
func (probeModel) Client() *genai.Client { return nil }
func (probeModel) GenerateContent(context.Context, *model.LLMRequest, bool) iter.Seq2[*model.LLMResponse, error] {
	return func(func(*model.LLMResponse, error) bool) {}
}

// live.Dialer is what a recallingDialer wraps.
var _ live.Dialer = (*recallingDialer)(nil)

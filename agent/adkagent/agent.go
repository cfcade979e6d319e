package adkagent

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"runtime"
	"time"

	"go.opentelemetry.io/otel/trace"
	"go.uber.org/zap"
	adk "google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/agent/llmagent"
	"google.golang.org/adk/v2/session"

	"github.com/voicegw/voicegw/agent"
	"github.com/voicegw/voicegw/petri/event"
)

// Options configure an Agent. The zero value is usable.
type Options struct {
	// Limits bound every turn.
	Limits agent.Limits
	// TransferTo names, by agent of the net, the agents that it may hand over to. An agent without an
	// entry follows ADK's rules: its sub-agents, its parent and its siblings, as far as llmagent.Config
	// allows it.
	TransferTo map[string][]string
	// Source makes ids and times reproducible. nil keeps those of the context.
	Source *Source
	// MaxNets is how many nets may run at a time, one for each session that is in use or was used
	// within Idle. Default 1000. A new session takes the place of the one that was idle longest; if none
	// is idle, its turn ends with TooManySessions.
	MaxNets int
	// Idle is how long a net is kept after its last turn. Default 10 min. The next turn starts a new
	// net, which goes on where the session is.
	Idle time.Duration
	// Store receives the events of the nets, for replay. nil keeps none. It is called with the session
	// of the net.
	Store func(Key) event.Store
	// Logger receives warnings and errors. nil logs nothing.
	Logger *zap.Logger
}

// What may go wrong with a turn besides the codes of package agent.
const (
	// TooManySessions means that Options.MaxNets nets run, and none is idle.
	TooManySessions agent.Code = "too_many_sessions"
	// BadConfirmation means that the answer to a request for a confirmation cannot be read.
	BadConfirmation agent.Code = "bad_confirmation"
	// NetFailed means that the net of the session broke. The next turn starts a new one.
	NetFailed agent.Code = "net_failed"
)

// ErrClosed means that the agent is closed.
var ErrClosed = errors.New("adkagent: the agent is closed")

// Agent is an agent of ADK that runs a net. It is safe for concurrent use. Close ends its nets.
type Agent struct {
	adk.Agent // made by agent.New of ADK, which has callbacks and spans

	core *core
	cfg  llmagent.Config
	subs []*Agent // of the same net
}

// core is what an Agent consists of. Running nets refer to it, not to the Agent.
type core struct {
	name     string
	members  map[string]*member
	guests   map[string]adk.Agent
	first    string
	source   *Source
	tracer   trace.Tracer
	programs programs
	nets     *nets
}

// New returns an agent with the configuration of one of ADK's LLM agents. Those of cfg.SubAgents that New
// made become parts of the same net, with their sub-agents; their Options do not count. Any other agent of
// ADK becomes a guest of the net: a turn that is handed over to it is run by its own Run, and the next
// turn begins with the agent that handed it over. The error names the setting that is wrong.
func New(cfg llmagent.Config, o Options) (*Agent, error) {
	if err := check(&cfg); err != nil {
		return nil, err
	}
	keys, err := findContextKeys()
	if err != nil {
		return nil, err
	}
	a := &Agent{cfg: cfg}
	var guests []adk.Agent
	for _, sub := range cfg.SubAgents {
		if own, ok := sub.(*Agent); ok && own.cfg.Name != "" {
			a.subs = append(a.subs, own)
		} else {
			guests = append(guests, sub)
		}
	}
	c := newCore(cfg.Name, o)
	t := &tree{core: c, keys: keys, root: &cfg, to: o.TransferTo}
	if err := t.add(a, nil); err != nil {
		return nil, err
	}
	if err := t.introduce(); err != nil {
		return nil, err
	}
	c.programs.make = func(begins string) (*agent.Program, error) { return t.program(begins, o.Limits) }
	if _, err := c.programs.get(c.first); err != nil {
		return nil, err
	}
	a.core = c
	return a, a.embed(cfg, guests)
}

// newCore returns what every Agent has.
func newCore(name string, o Options) *core {
	return &core{name: name, first: name, members: map[string]*member{}, guests: map[string]adk.Agent{},
		source: o.Source, tracer: newTracer(), nets: newNets(o)}
}

// Wrap returns an agent that runs a program of one's own. cfg.Run must be nil. Handlers find the
// invocation of a turn with Invocation. Turn.History is the session as ADK's agents see it, with the
// events of all agents of the program as their own.
func Wrap(p *agent.Program, cfg adk.Config, o Options) (*Agent, error) {
	switch {
	case p == nil:
		return nil, errors.New("adkagent: wrap: the program is nil")
	case cfg.Run != nil:
		return nil, fmt.Errorf("adkagent: wrap %q: Run must be nil; the program takes its place", cfg.Name)
	case cfg.Name == "" || cfg.Name == "user":
		return nil, fmt.Errorf("adkagent: wrap: the name %q must not be empty or \"user\"", cfg.Name)
	}
	c := newCore(cfg.Name, o)
	c.programs.make = func(string) (*agent.Program, error) { return p, nil }
	for _, ports := range p.Agents {
		c.members[ports.Agent] = nil
	}
	a := &Agent{core: c}
	return a, a.embed(llmagent.Config{Name: cfg.Name, Description: cfg.Description,
		BeforeAgentCallbacks: cfg.BeforeAgentCallbacks, AfterAgentCallbacks: cfg.AfterAgentCallbacks}, cfg.SubAgents)
}

// embed makes the agent of ADK inside.
func (a *Agent) embed(cfg llmagent.Config, subs []adk.Agent) error {
	inner, err := adk.New(adk.Config{
		Name: cfg.Name, Description: cfg.Description, SubAgents: subs, Run: a.core.run,
		BeforeAgentCallbacks: cfg.BeforeAgentCallbacks, AfterAgentCallbacks: cfg.AfterAgentCallbacks,
	})
	if err != nil {
		return fmt.Errorf("adkagent: agent %q: %w", cfg.Name, err)
	}
	a.Agent = inner
	runtime.AddCleanup(a, func(n *nets) { n.soon(n.close) }, a.core.nets)
	return nil
}

// FindAgent finds an agent by name. An agent of the net is found as the whole net.
func (a *Agent) FindAgent(name string) adk.Agent {
	if _, ok := a.core.members[name]; ok || name == a.core.name {
		return a
	}
	return a.FindSubAgent(name)
}

// Close ends the nets of all sessions, and the turns that run. Turns that begin later fail with
// ErrClosed. It waits for the tools and models that run, for up to five seconds. Sub-agents that became
// parts of the net need no Close.
func (a *Agent) Close() error {
	a.core.nets.close()
	return nil
}

// CloseSession ends the net of a session, and the turn that runs.
func (a *Agent) CloseSession(k Key) { a.core.nets.closeSession(k) }

// Running returns how many nets run.
func (a *Agent) Running() int { return a.core.nets.running() }

// OwnedBy lets the net of a session end when its owner is garbage: an object that lives as long as the
// session is in use, such as a connection. It is one of two ways to own a net: the other is CloseSession.
// Options.Idle ends nets that nobody owns.
func OwnedBy[T any](a *Agent, k Key, owner *T) {
	n := a.core.nets
	runtime.AddCleanup(owner, func(k Key) { n.soon(func() { n.closeSession(k) }) }, k)
}

// run is the Run of the agent inside.
func (c *core) run(ic adk.InvocationContext) iter.Seq2[*session.Event, error] {
	return func(yield func(*session.Event, error) bool) { c.turn(ic, yield) }
}

// Invocation returns the invocation of a turn for handlers of a wrapped program. ctx is the context of the
// handler, which the invocation then ends with. It returns nil for a turn of something else, and after the turn.
func Invocation(ctx context.Context, t *agent.Turn) adk.InvocationContext {
	r := runOf(t)
	if r == nil {
		return nil
	}
	return during(ctx, r.ic)
}

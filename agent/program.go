package agent

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"

	"google.golang.org/adk/v2/model"

	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/petri/runner"
	"github.com/voicegw/voicegw/verify"
)

// Part names a stock subnet.
type Part string

// The stock subnets of an agent, and those that all agents of a net share.
const (
	PartPrompt   Part = "prompt"
	PartModel    Part = "model"
	PartRouter   Part = "router"
	PartTools    Part = "tools"
	PartTransfer Part = "transfer"
	PartStep     Part = "step"
	PartGuest    Part = "guest" // in place of all others

	PartTurns   Part = "turns"
	PartSession Part = "session"
)

// Config describes a Program of stock subnets.
type Config struct {
	// Name is the name of the net. Default "agents".
	Name string
	// Agents are the agents of the net.
	Agents []Agent
	// Begins is the name of the agent with which a session begins. Default: the first one.
	Begins string
	// Limits bound every turn.
	Limits Limits
	// KeepsMessage means that the caller of Session.Run has stored the message of the user already, as
	// ADK's runner does. Otherwise it is the first event of a turn.
	KeepsMessage bool
	// Session replaces SessionWriter.
	Session func(Limits) *petri.Net
}

// Agent is one agent: a model with an instruction, tools and others to hand over to.
type Agent struct {
	// Name has letters, digits, "_" and "-", and begins with a letter. It is not "user".
	Name string
	// Description tells other agents' models what this agent is for.
	Description string
	// Instruction tells the model what to do.
	Instruction string
	// Model answers.
	Model model.LLM
	// Strategy answers in place of Model.
	Strategy Strategy
	// Tools are what the model may call. Their names are unique.
	Tools []Tool
	// TransferTo names the agents of the net that the model may hand over to.
	TransferTo []string
	// Hooks see what goes to the model and comes from it.
	Hooks Hooks
	// Work replaces what New makes of Instruction, Model and Tools.
	Work Work
	// Parts replaces stock subnets of the agent.
	Parts map[Part]func(Ports, Limits) *petri.Net
}

// Program is a net that runs sessions: what New makes, or a net of one's own. It must not change.
type Program struct {
	// Net is the net, open to its environment.
	Net *petri.Net
	// Handlers do the work of its tasks.
	Handlers []Handler
	// Inputs are automata for the environment places of the net other than UserIn, EndInvocation and
	// the results of Handlers. Prove closes the net with them.
	Inputs []*petri.Net
	// Agents are the places of its agents, whose transfers and requests Prove looks at.
	Agents []Ports
	// Requests is how many requests one turn may make to models.
	Requests int
	// AfterEnd names transitions, in full or by their last parts, that may fire although EndInvocation is
	// marked, besides those that take the result of a cancelled task or of the writer.
	AfterEnd []string
	// Lasting names places of the net that keep tokens between turns. A task whose in-flight place is among
	// them works for the session: the persist barrier does not hold it up.
	Lasting []string
	// RequestPath names places of the net on the way from Budget to a request, besides the stock ones: a
	// token there stands for one request.
	RequestPath []string
	// Resumes means that a turn which ends with Parked goes on as a turn that begins again with the same message.
	// Handlers then give again what they have given before: finished work is not done once more.
	Resumes bool
	// Version says what the program was made of, such as the hash of a file; "" says nothing. A durable turn that
	// parked, or that a crash stopped, goes on with the same version alone.
	Version string
	// Properties are what the net must keep besides what Prove claims for every Program. They may name
	// the places of the net.
	Properties []*verify.Property

	compiled *petri.Program
	shared   *shared
	cost     int            // how many requests one token of Budget is good for
	requests map[string]int // places of strategies, by full name: for how many requests a token stands
}

// shared is what the sessions of a program share.
type shared struct {
	once   sync.Once
	tasks  []runner.Handler
	spares runner.Spares
}

// handlers are those of a program, as the runner has them.
func (s *shared) handlers(p *Program) []runner.Handler {
	s.once.Do(func() {
		for _, h := range p.Handlers {
			s.tasks = append(s.tasks, h.handler)
		}
	})
	return s.tasks
}

// nameRule is what the name of an agent looks like.
var nameRule = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_-]{0,63}$`)

// New returns a Program of stock subnets. The error names the setting that is wrong.
func New(c Config) (*Program, error) {
	l, err := c.Limits.filled()
	if err != nil {
		return nil, err
	}
	if err := c.check(); err != nil {
		return nil, err
	}
	fill(&c.Name, "agents")
	p := &Program{Requests: (l.Reasks + 1) * c.cost(), cost: c.cost(), requests: map[string]int{}}
	byName := map[string]Ports{}
	for _, a := range c.Agents {
		ports := PortsOf(a.Name, l.ToolSlots)
		if len(a.Tools) == 0 && a.Work.Call == nil {
			ports = PortsOf(a.Name, 1) // for calls of tools that it does not have
		}
		if a.Strategy != nil {
			ports.Branches = branchTasks(ports, a.Strategy)
		}
		ports.Guest = a.Work.Next != nil
		byName[a.Name] = ports
		p.Agents = append(p.Agents, ports)
	}
	writer := c.Session
	if writer == nil {
		writer = SessionWriter
	}
	agents := slices.Clone(p.Agents)
	slices.SortStableFunc(agents, func(a, b Ports) int { return begins(c.Begins, b) - begins(c.Begins, a) })
	nets := []*petri.Net{Turns(l, !c.KeepsMessage, agents...), writer(l)}
	p.Handlers = append(p.Handlers, storeHandler())
	for i := range c.Agents {
		a := &c.Agents[i]
		var targets []Ports
		for _, to := range a.TransferTo {
			targets = append(targets, byName[to])
		}
		n, s, err := agentStep(a, byName[a.Name], l, targets...)
		if err != nil {
			return nil, err
		}
		if s != nil {
			maps.Copy(p.requests, s.requests)
			p.Properties = append(p.Properties, s.claims...)
		}
		nets = append(nets, n)
		p.Handlers = append(p.Handlers, a.handlers(byName[a.Name], c.describe(a))...)
	}
	if p.Net, err = petri.Compose(c.Name, nets...); err != nil {
		return nil, fmt.Errorf("agent: %w", err)
	}
	if err := p.compile(); err != nil {
		return p, err
	}
	p.Handlers = slices.DeleteFunc(p.Handlers, func(h Handler) bool { return !p.has(h) })
	return p, nil
}

// Beginning returns the program with sessions that begin with another of its agents, which is no guest. The
// programs share everything else.
func (p *Program) Beginning(name string) (*Program, error) {
	active, names := map[string]bool{}, []string(nil)
	var to *petri.Token
	for _, a := range p.Agents {
		if a.Guest {
			continue
		}
		active[a.Active.String()], names = true, append(names, a.Agent)
		if a.Agent == name {
			t := a.Active.Token(petri.Unit{})
			to = &t
		}
	}
	if to == nil {
		return nil, fmt.Errorf("agent: no session can begin with %q; the agents are: %s", name, strings.Join(names, ", "))
	}
	own := *p
	own.Net, own.compiled = moved(p.Net, active, *to), nil
	own.Net.Imported = true // an agent that nobody hands over to may be out of reach now
	return &own, own.compile()
}

// moved is a net whose initial token at one of some places is another one.
func moved(n *petri.Net, from map[string]bool, to petri.Token) *petri.Net {
	own := *n
	own.Init, own.Nets = slices.Clone(n.Init), slices.Clone(n.Nets)
	for i, t := range own.Init {
		if from[t.Place()] {
			own.Init[i] = to
		}
	}
	for i, part := range own.Nets {
		own.Nets[i] = moved(part, from, to)
	}
	return &own
}

// has reports whether the net has the task of a handler: parts of one's own may do without one.
func (p *Program) has(h Handler) bool {
	return slices.ContainsFunc(p.compiled.Tasks(), func(t petri.TaskInfo) bool {
		return p.compiled.Places()[t.Start].Name == h.start
	})
}

// stockPart is a stock subnet of an agent.
type stockPart struct {
	part Part
	net  func(Ports, Limits) *petri.Net
}

// begins is 1 for the agent of that name.
func begins(name string, p Ports) int {
	if p.Agent == name {
		return 1
	}
	return 0
}

// agentStep returns the whole step of an agent: its subnets, stock or its own, composed.
func agentStep(a *Agent, p Ports, l Limits, targets ...Ports) (*petri.Net, *plan, error) {
	var s *plan
	stock := []stockPart{
		{PartStep, StepLoop},
		{PartPrompt, PromptBuilder},
		{PartModel, func(p Ports, l Limits) (n *petri.Net) {
			if a.Strategy == nil {
				return ModelStep(p, l, a.Hooks.stages())
			}
			n, s = strategyStep(p, l, a.Hooks.stages(), a.Strategy)
			return n
		}},
		{PartRouter, Router},
		{PartTools, ToolDispatch},
		{PartTransfer, func(p Ports, _ Limits) *petri.Net { return TransferRouter(p, targets...) }},
	}
	if p.Guest {
		stock = stock[:0]
		stock = append(stock, stockPart{PartGuest, GuestStep})
	}
	var nets []*petri.Net
	used := 0
	for _, s := range stock {
		build := s.net
		if own, ok := a.Parts[s.part]; ok {
			build = own
			used++
		}
		if build != nil {
			nets = append(nets, build(p, l))
		}
	}
	if used != len(a.Parts) {
		return nil, nil, fmt.Errorf("agent: agent %q: Parts names a part that does not exist; the parts are "+
			"prompt, model, router, tools, transfer, step", a.Name)
	}
	n, err := petri.Compose(a.Name, nets...)
	if err != nil {
		return nil, nil, fmt.Errorf("agent: agent %q: %w", a.Name, err)
	}
	return n, s, nil
}

// check finds what is wrong with the agents.
func (c *Config) check() error {
	if len(c.Agents) == 0 {
		return fmt.Errorf("agent: Config.Agents is empty; give at least one agent")
	}
	seen := map[string]bool{}
	for _, a := range c.Agents {
		switch {
		case !nameRule.MatchString(a.Name) || a.Name == "user":
			return fmt.Errorf("agent: the name %q of an agent must begin with a letter, have up to 64 letters, digits, "+
				"\"_\" and \"-\", and not be \"user\"", a.Name)
		case seen[a.Name]:
			return fmt.Errorf("agent: two agents are named %q; give each a name of its own", a.Name)
		case a.Model == nil && a.Strategy == nil && a.Parts[PartModel] == nil && a.Work.Ask == nil && a.Work.Next == nil:
			return fmt.Errorf("agent: agent %q has no Model", a.Name)
		}
		if err := a.checkBranches(); err != nil {
			return err
		}
		seen[a.Name] = true
		tools := map[string]bool{transferTool: true}
		for _, t := range a.Tools {
			if t == nil || t.Name() == "" || tools[t.Name()] {
				return fmt.Errorf("agent: agent %q has a tool that is nil, or whose name is empty, used twice or %q",
					a.Name, transferTool)
			}
			tools[t.Name()] = true
		}
	}
	if c.Begins != "" && !seen[c.Begins] {
		return fmt.Errorf("agent: Config.Begins is %q, which is not the name of an agent", c.Begins)
	}
	for _, a := range c.Agents {
		for i, to := range a.TransferTo {
			if !seen[to] || to == a.Name || contains(a.TransferTo[:i], to) {
				return fmt.Errorf("agent: agent %q: TransferTo names %q, which must be another agent of the net, named once",
					a.Name, to)
			}
		}
	}
	return nil
}

// cost is how many requests one request of an agent makes at most.
func (c *Config) cost() int {
	most := 1
	for _, a := range c.Agents {
		if a.Strategy != nil {
			most = max(most, a.Strategy.cost())
		}
	}
	return most
}

func contains(list []string, s string) bool {
	for _, have := range list {
		if have == s {
			return true
		}
	}
	return false
}

// compile compiles the net once.
func (p *Program) compile() error {
	if p.compiled != nil {
		return nil
	}
	prog, err := petri.Compile(p.Net)
	if err != nil {
		return fmt.Errorf("agent: %w", err)
	}
	p.compiled, p.shared = prog, &shared{}
	return nil
}

// Compiled returns the compiled net, for drawings.
func (p *Program) Compiled() (*petri.Program, error) {
	if err := p.compile(); err != nil {
		return nil, err
	}
	return p.compiled, nil
}

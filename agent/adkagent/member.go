package adkagent

import (
	"fmt"
	"slices"
	"strings"

	adk "google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/agent/llmagent"

	"github.com/voicegw/voicegw/agent"
	"github.com/voicegw/voicegw/petri"
)

// member is one agent of a net with a model. It does not change once the net is made.
type member struct {
	cfg  llmagent.Config
	core *core
	box  toolbox
	// self is the agent in the contexts of callbacks and tools. nil means the agent that ADK runs.
	self adk.Agent
	// to are the agents that it may hand over to.
	to []target
	// global is the configuration whose GlobalInstruction counts.
	global *llmagent.Config
	// who tells the model which agent it is.
	who string
}

// target is an agent that another may hand over to.
type target struct{ name, description string }

// check finds what a net cannot do.
func check(c *llmagent.Config) error {
	refuse := func(field, why string) error {
		return fmt.Errorf("adkagent: agent %q: %s is set, %s", c.Name, field, why)
	}
	switch {
	case c.Model == nil:
		return fmt.Errorf("adkagent: agent %q has no Model", c.Name)
	case c.Mode != llmagent.ModeUnset && c.Mode != llmagent.ModeChat:
		return refuse("Mode", "but a net only runs chat agents; use llmagent.New for this agent")
	case c.InputSchema != nil:
		return refuse("InputSchema", "but agents as tools get text; use llmagent.New for this agent")
	}
	return nil
}

// tree makes the members of a net from the agents that are its parts.
type tree struct {
	core    *core
	keys    contextKeys
	root    *llmagent.Config
	to      map[string][]string
	configs []agent.Agent // in the order of the tree, without those of guests
	guests  []adk.Agent
}

// add adds an agent and those below it. parent is nil for the root.
func (t *tree) add(a, parent *Agent) error {
	c := a.cfg
	if _, twice := t.core.members[c.Name]; twice {
		return fmt.Errorf("adkagent: two agents are named %q; give each a name of its own", c.Name)
	}
	m := &member{cfg: c, core: t.core, global: t.root, box: toolbox{tools: c.Tools, sets: c.Toolsets,
		before: c.BeforeToolCallbacks, after: c.AfterToolCallbacks, failed: c.OnToolErrorCallbacks, keys: t.keys,
		tracer: t.core.tracer}}
	if parent != nil {
		m.self = a.Agent
	}
	t.core.members[c.Name] = m
	names, given := t.to[c.Name]
	if !given {
		names = targets(a, parent)
	}
	t.configs = append(t.configs, agent.Agent{Name: c.Name, Description: c.Description, TransferTo: names,
		Work: agent.Work{Ask: m.ask, Call: m.call}, Parts: map[agent.Part]func(agent.Ports, agent.Limits) *petri.Net{
			agent.PartPrompt: passPrompt}})
	for _, sub := range c.SubAgents {
		if own := a.part(sub); own != nil {
			if err := t.add(own, a); err != nil {
				return err
			}
			continue
		}
		if t.core.guests[sub.Name()] != nil {
			return fmt.Errorf("adkagent: two agents are named %q; give each a name of its own", sub.Name())
		}
		t.core.guests[sub.Name()] = sub
		t.guests = append(t.guests, sub)
	}
	return nil
}

// passPrompt takes the place of the stock subnet that builds a request: the task that asks the model builds
// it as well, which saves a goroutine for each request.
func passPrompt(p agent.Ports, _ agent.Limits) *petri.Net {
	return &petri.Net{
		Name: string(agent.PartPrompt), Ports: []petri.AnyPlace{p.Prompt, p.ModelRequest, agent.EndInvocation},
		Transitions: []petri.Transition{{Name: "pass_prompt", In: petri.Arcs{p.Prompt},
			Inhibit: petri.Arcs{agent.EndInvocation}, Out: petri.And(p.ModelRequest), Action: func(f *petri.Firing) {
				p.ModelRequest.Put(f, &agent.Request{Turn: p.Prompt.Get(f)})
			}}},
	}
}

// part returns the sub-agent as a part of the same net, or nil for a guest.
func (a *Agent) part(sub adk.Agent) *Agent {
	for _, own := range a.subs {
		if adk.Agent(own) == sub {
			return own
		}
	}
	return nil
}

// targets are the agents that one may hand over to by ADK's rules: its sub-agents, its parent, and its
// siblings.
func targets(a, parent *Agent) []string {
	var list []string
	add := func(name string) {
		if name != a.cfg.Name && !slices.Contains(list, name) {
			list = append(list, name)
		}
	}
	for _, sub := range a.cfg.SubAgents {
		add(sub.Name())
	}
	if parent == nil {
		return list
	}
	if !a.cfg.DisallowTransferToParent {
		add(parent.cfg.Name)
	}
	if !a.cfg.DisallowTransferToPeers {
		for _, peer := range parent.cfg.SubAgents {
			add(peer.Name())
		}
	}
	return list
}

// introduce tells every member about the agents that it may hand over to.
func (t *tree) introduce() error {
	for name := range t.to {
		if t.core.members[name] == nil {
			return fmt.Errorf("adkagent: Options.TransferTo has an entry for %q, which is not an agent of the net", name)
		}
	}
	for _, c := range t.configs {
		m := t.core.members[c.Name]
		for _, name := range c.TransferTo {
			to := target{name: name}
			if other := t.core.members[name]; other != nil {
				to.description = other.cfg.Description
			} else if g := t.core.guests[name]; g != nil {
				to.description = g.Description()
			}
			m.to = append(m.to, to)
		}
		m.who = m.identity()
	}
	return nil
}

// program makes the program of a net whose sessions begin with an agent.
func (t *tree) program(begins string, l agent.Limits) (*agent.Program, error) {
	list := slices.Clone(t.configs)
	if t.core.guests[begins] != nil {
		list = nil // a guest hands over to nobody
	}
	for _, g := range t.guests {
		if list != nil || g.Name() == begins {
			list = append(list, agent.Agent{Name: g.Name(), Description: g.Description(),
				Work: agent.Work{Next: (&guest{agent: g}).next}})
		}
	}
	p, err := agent.New(agent.Config{Name: strings.ReplaceAll(t.core.name, "-", "_"), Agents: list, Limits: l,
		Begins: begins, KeepsMessage: true})
	if err != nil {
		return nil, fmt.Errorf("adkagent: %w", err)
	}
	return p, nil
}

package main

import (
	"context"
	"fmt"
	"strings"

	"google.golang.org/genai"

	"github.com/voicegw/voicegw/agent"
	"github.com/voicegw/voicegw/agent/provider"
	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/petri/dot"
)

// agentNet is a net of stock agents, as `voicegw net` draws it.
type agentNet struct {
	name, doc string
	agents    []agent.Agent
}

// agentNets returns the nets of stock agents: one agent, and two that hand over to each other.
func agentNets() []agentNet {
	lookup := agent.FuncTool[struct{}]{Declares: &genai.FunctionDeclaration{Name: "lookup"},
		Do: func(context.Context, struct{}) (map[string]any, error) { return nil, nil }}
	of := func(name string, to ...string) agent.Agent {
		return agent.Agent{Name: name, Model: provider.Parrot{}, Tools: []agent.Tool{lookup}, TransferTo: to}
	}
	return []agentNet{
		{"agent", "an agent that runs up to two tools at a time", []agent.Agent{of("host")}},
		{"agent-transfer", "two agents that hand over to each other",
			[]agent.Agent{of("host", "cashier"), of("cashier", "host")}},
	}
}

// findAgentNet returns the net of agents with a name.
func findAgentNet(name string) (agentNet, bool) {
	for _, n := range agentNets() {
		if n.name == name {
			return n, true
		}
	}
	return agentNet{}, false
}

// build makes the net.
func (n agentNet) build() (*agent.Program, error) {
	return agent.New(agent.Config{Name: n.name, Agents: n.agents, Limits: agent.Limits{ToolSlots: 2, MaxCalls: 2}})
}

// program compiles the net.
func (n agentNet) program() (*petri.Program, error) {
	p, err := n.build()
	if err != nil {
		return nil, err
	}
	return p.Compiled()
}

// drawing returns the net, or the part at a path such as host/model, alone.
func (n agentNet) drawing(path string) (*petri.Program, dot.Options, error) {
	p, err := n.build()
	if err != nil {
		return nil, dot.Options{}, err
	}
	if path == "" {
		prog, err := p.Compiled()
		return prog, dot.Options{Title: n.name + ": " + n.doc}, err
	}
	sub := p.Net
	for part := range strings.SplitSeq(path, "/") {
		if sub, err = partOf(sub, part); err != nil {
			return nil, dot.Options{}, err
		}
	}
	prog, err := petri.Compile(petri.Alone(sub))
	return prog, dot.Options{Title: fmt.Sprintf("%s/%s: a part of %s", n.name, path, n.doc), Ports: petri.Shared(sub)}, err
}

// partOf returns a direct part of a net.
func partOf(n *petri.Net, name string) (*petri.Net, error) {
	var names []string
	for _, sub := range n.Nets {
		if sub.Name == name {
			return sub, nil
		}
		names = append(names, sub.Name)
	}
	if len(names) == 0 {
		return nil, usagef("%s has no part %q; it has no parts", n.Name, name)
	}
	return nil, usagef("%s has no part %q; %s", n.Name, name,
		suggest(name, names, "its parts are "+strings.Join(names, ", ")))
}

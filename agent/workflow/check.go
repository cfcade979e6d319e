package workflow

import (
	"maps"
	"slices"
	"strings"
)

// check finds what is wrong with a workflow whose values are right each by itself.
func (l *loader) check(w *Workflow, r Registry) {
	l.nameAgents(w)
	agents := w.Agents
	if w.Main != nil {
		agents = append(slices.Clip(agents), w.Main)
	}
	for _, a := range agents {
		l.checkRefs(w, a)
		l.checkBlock(w, a)
		l.checkLeaf(a)
		l.checkRegistry(w, a, r)
		l.checkTools(w, a, r)
		l.checkConfirm(a)
		l.checkExpression(w, a)
	}
	l.checkCycles(w, agents)
	l.checkUse(w)
	l.checkKeys(w)
	l.checkPlugins(w, r)
}

// nameAgents fills byName.
func (l *loader) nameAgents(w *Workflow) {
	for _, a := range w.Agents {
		switch old := w.byName[a.Name]; {
		case a.Name == "": // it has a finding
		case old != nil:
			l.add(Duplicate, a.At, "two agents are named `%s`; line %d has the other: give each a name of its own", a.Name,
				old.At.Line)
		case a.Name == "user" || a.Name == w.Name:
			l.add(Duplicate, a.At, "an agent must not be named `%s`: that is the name of the %s; choose another name", a.Name,
				map[bool]string{true: "person who asks", false: "workflow"}[a.Name == "user"])
			w.byName[a.Name] = a
		default:
			w.byName[a.Name] = a
		}
	}
}

// checkRefs finds names of agents that are not there.
func (l *loader) checkRefs(w *Workflow, a *Agent) {
	names := slices.Sorted(maps.Keys(w.byName))
	for _, r := range a.refs() {
		if w.byName[r.Name] == nil {
			l.lost = true
			l.add(UnknownRef, r.At, "there is no agent `%s`%s", r.Name, l.meant(r.Name, names, "the agents are"))
		}
	}
	seen := map[string]bool{}
	for _, r := range a.AgentTools {
		if seen[r.Name] {
			l.add(Duplicate, r.At, "`%s` is listed twice as a tool of `%s`", r.Name, a.Name)
		}
		seen[r.Name] = true
	}
}

// checkBlock checks what an agent contains.
func (l *loader) checkBlock(w *Workflow, a *Agent) {
	switch a.Type {
	case reactType, routedType:
		words := map[string]string{reactType: "agent", routedType: "router"}[a.Type]
		for i, r := range a.Children {
			if b := w.byName[r.Name]; i == 0 && b != nil && b.Type != "" && b.Type != llmType {
				l.add(BadValue, r.At, "the %s of %s block must be an llm agent; `%s` is %s agent", words, article(a.Type), r.Name,
					article(b.Type))
			}
		}
		seen := map[string]bool{}
		for i, r := range a.Children {
			if seen[r.Name] && a.Type == routedType {
				l.add(Duplicate, r.At, "`%s` is %s; a router hands over to other agents, each listed once", r.Name,
					map[bool]string{true: "the router", false: "listed already"}[r.Name == a.Children[0].Name])
			}
			seen[a.Children[i].Name] = true
		}
		if a.ThinkingBudget != nil && a.Planner != "builtin" {
			l.add(Unsupports, a.posOf("planner_config"), "planner_config has no effect without `planner: builtin`")
		}
	case dagType:
		l.checkDag(a)
	}
}

// checkDag checks the nodes of a dag.
func (l *loader) checkDag(a *Agent) {
	nodes, names := map[string]Node{}, []string(nil)
	for _, n := range a.Nodes {
		if _, twice := nodes[n.Agent.Name]; twice {
			l.add(Duplicate, n.Agent.At, "`%s` is the agent of two nodes; give the second node an agent of its own",
				n.Agent.Name)
			continue
		}
		nodes[n.Agent.Name] = n
		names = append(names, n.Agent.Name)
	}
	for _, n := range a.Nodes {
		seen := map[string]bool{}
		for _, d := range n.DependsOn {
			_, known := nodes[d.Name]
			switch {
			case seen[d.Name]:
				l.add(Duplicate, d.At, "`%s` depends on `%s` twice", n.Agent.Name, d.Name)
			case !known:
				l.add(UnknownRef, d.At, "`%s` depends on `%s`, which is no node here%s", n.Agent.Name, d.Name,
					l.meant(d.Name, names, "the nodes are"))
			}
			seen[d.Name] = true
		}
		for _, from := range slices.Sorted(maps.Keys(n.When)) {
			if !seen[from] {
				l.add(UnknownRef, n.Agent.At, "the `when` of `%s` names `%s`, which is not in its depends_on", n.Agent.Name, from)
			}
		}
		if n.Any && len(n.DependsOn) < 2 {
			l.add(BadValue, n.Agent.At, "`join: any` of `%s` needs two or more entries in depends_on", n.Agent.Name)
		}
	}
	l.checkRing(names, nodes)
}

// checkLeaf checks what a leaf needs.
func (l *loader) checkLeaf(a *Agent) {
	if a.Type != llmType && a.leaf() && a.OutputKey == "" {
		if _, wrong := a.pos["output_key"]; !wrong {
			l.add(Missing, a.At, "the %s agent `%s` has no `output_key`: nothing else holds its result", a.Type, a.Name)
		}
	}
	if _, set := a.pos["max_steps"]; set && len(a.Tools)+len(a.AgentTools) == 0 && a.Type == llmType {
		l.add(Unsupports, a.posOf("max_steps"), "max_steps has no effect without tools or agent_tools")
	}
	calls := len(a.AgentTools) > 0 || slices.ContainsFunc(a.Tools, func(t Tool) bool { return t.Name != exitLoop })
	if a.MaxSteps == 1 && calls {
		l.add(BadValue, a.posOf("max_steps"), "max_steps: 1 lets `%s` call something, and leaves no request in which it "+
			"could answer, so every call fails the run; write 2 or more", a.Name)
	}
	seen := map[string]bool{}
	for _, t := range a.Tools {
		switch {
		case t.Name == "transfer_to_agent":
			l.add(Unsupports, t.At, "transfer_to_agent is no tool here; hand over with an llm_routed block")
		case seen[t.Name]:
			l.add(Duplicate, t.At, "the tool `%s` is listed twice", t.Name)
		}
		seen[t.Name] = true
	}
	for _, r := range a.AgentTools {
		if seen[r.Name] {
			l.add(Duplicate, r.At, "`%s` is in tools and in agent_tools of `%s`; the model could not tell them apart: rename "+
				"the agent", r.Name, a.Name)
		}
	}
	hooks := []string{"before_agent", "after_agent", "before_model", "after_model", "before_tool", "after_tool"}
	for _, h := range slices.Sorted(maps.Keys(a.Callbacks)) {
		if short := strings.TrimSuffix(h, "_callback"); !slices.Contains(hooks, short) {
			l.add(UnknownKey, a.posOf("callbacks"), "`%s` is no callback%s", h, l.meant(short, hooks, "they are"))
		}
	}
}

// checkRegistry finds names that nothing is registered under.
func (l *loader) checkRegistry(w *Workflow, a *Agent, r Registry) {
	known := func(kind string, list []string, name string, at Pos, source string) {
		if list != nil && name != "" && !slices.Contains(list, name) {
			l.add(UnknownRef, at, "there is no %s `%s`%s%s", kind, name, l.meant(name, list, "there are"), source)
		}
	}
	const toolsFrom = "; tools come from the gateway's settings, from runtime.mcp_servers, or from Go"
	tools := r.Tools
	if tools != nil {
		tools = append(builtins(), tools...)
		for _, s := range w.Runtime.MCPServers {
			tools = append(tools, s.Name)
		}
	}
	for _, t := range a.Tools {
		if t.Name != "transfer_to_agent" {
			known("tool or toolset", tools, t.Name, t.At, toolsFrom)
		}
	}
	known("tool", tools, a.Tool, a.posOf("tool"), toolsFrom)
	known("function", r.Functions, a.Function, a.posOf("function"), "; functions are registered in Go, by name")
	for _, h := range slices.Sorted(maps.Keys(a.Callbacks)) {
		known("callback", r.Callbacks, a.Callbacks[h], a.posOf("callbacks"), "; callbacks are registered in Go, by name")
	}
	if r.Model != nil && a.Model != "" {
		if err := r.Model(a.Model); err != nil {
			l.add(UnknownRef, a.posOf("model"), "the model of `%s`: %v", a.Name, err)
		}
	}
}

// checkUse finds agents that nothing uses.
func (l *loader) checkUse(w *Workflow) {
	if w.Main == nil || l.lost {
		return // a name that is not there may mean one that nothing else uses
	}
	used := map[string]bool{}
	var mark func(a *Agent)
	mark = func(a *Agent) {
		for _, r := range a.refs() {
			if b := w.byName[r.Name]; b != nil && !used[r.Name] {
				used[r.Name] = true
				mark(b)
			}
		}
	}
	mark(w.Main)
	for _, a := range w.Agents {
		if a.Name != "" && !used[a.Name] && w.byName[a.Name] == a {
			l.add(Unreached, a.At, "nothing runs `%s`: neither the orchestration nor an agent that runs names it; use it, or "+
				"remove it", a.Name)
		}
	}
}

// checkKeys finds state keys that are read and that no agent writes.
func (l *loader) checkKeys(w *Workflow) {
	known := map[string]bool{}
	for _, key := range seeded() {
		known[key] = true
	}
	for _, a := range w.Agents {
		if slices.Contains(seeded(), a.OutputKey) {
			l.add(Duplicate, a.posOf("output_key"), "every run begins with `%s`; write another key", a.OutputKey)
		} else if a.OutputKey != "" {
			known[a.OutputKey] = true
		}
	}
	written := slices.Sorted(maps.Keys(known))
	for _, a := range w.Agents {
		for _, r := range a.reads {
			switch {
			case r.optional || known[r.key]:
			case lasting(r.key):
				l.add(ReadBeforeWrite, r.at, "`%s` reads `%s`, which no agent of this file writes: it is there only if something "+
					"else has written it before; read it with %s", a.Name, r.key, r.maybe())
			default:
				l.add(ReadBeforeWrite, r.at, "`%s` reads `%s`, which no agent writes%s", a.Name, r.key,
					l.meant(r.key, written, "the keys are"))
			}
		}
		l.checkOdd(w, a, known)
	}
}

// checkOdd finds what looks like a template and is none.
func (l *loader) checkOdd(w *Workflow, a *Agent, known map[string]bool) {
	for _, r := range a.odd {
		loose := r.form == inLoose
		switch {
		case loose && known[r.key]:
			l.add(Unsupports, r.at, "%s is not replaced by the key: write {%s}, without more braces or spaces", r.words, r.key)
		case loose:
		case r.key == "artifact" && a.Type == toolType:
			l.add(Unsupports, r.at, "%s has no effect in tool_config: an artifact can be put into the instruction of an llm "+
				"agent only", r.words)
		case r.key == "artifact" && w.Runtime.ArtifactService == "none":
			l.add(Unsupports, r.at, "%s needs artifacts: set runtime.artifact_service to in_memory or file", r.words)
		case known[r.key] && !strings.ContainsAny(r.words, " \t\n"):
			l.add(Unsupports, r.at, "%s is not replaced: a template names a whole key; take a part of `%s` with an expr agent, "+
				"and read the key that it writes", r.words, r.key)
		}
	}
}

package workflow

import (
	"regexp"
	"strconv"
	"strings"
	"time"

	"gopkg.in/yaml.v3"
)

// workflow builds the workflow from a checked tree.
func (l *loader) workflow(w *Workflow, root *yaml.Node) {
	w.Name, w.Description = l.str(root, "name"), l.str(root, "description")
	w.Unverified = l.str(root, "unverified")
	for _, n := range l.list(root, "agents") {
		if n.Kind == yaml.MappingNode {
			w.Agents = append(w.Agents, l.agent(w, n))
		}
	}
	if n := l.get(root, "orchestration"); n != nil {
		w.Main = l.agent(w, n)
		w.Main.Name, w.Main.At = w.Name, at(n)
	}
	w.Runtime = Runtime{MemoryService: "none", ArtifactService: "none", ArtifactDir: "./artifacts"}
	if n := l.get(root, "runtime"); n != nil {
		w.plugins = l.refs(n, "plugins")
		l.decode(n, &w.Runtime)
	}
	if n := l.get(root, "a2a"); n != nil {
		w.A2A = &Card{Version: "1.0.0"}
		l.decode(n, w.A2A)
	}
}

// decode fills a struct from a checked tree. What does not fit has a finding already.
func (l *loader) decode(n *yaml.Node, into any) {
	if n != nil && len(l.findings.list) == 0 {
		if err := n.Decode(into); err != nil {
			l.wrong(n, "%s", strings.TrimPrefix(err.Error(), "yaml: "))
		}
	}
}

// agent builds an agent, or the orchestration.
func (l *loader) agent(w *Workflow, n *yaml.Node) *Agent {
	a := &Agent{Name: l.str(n, "name"), Type: l.str(n, "type"), Description: l.str(n, "description"), At: at(n),
		Model: l.str(n, "model"), Instruction: l.str(n, "instruction"), AgentTools: l.refs(n, "agent_tools"),
		MaxSteps: l.whole(n, "max_steps", 8), WithoutContents: l.str(n, "include_contents") == "none",
		Callbacks: l.texts(n, "callbacks"), Planner: l.str(n, "planner"),
		Function: l.str(n, "function"), Expression: l.str(n, "expression"), Tool: l.str(n, "tool"),
		OutputKey: l.str(n, "output_key"), Timeout: l.duration(n, "timeout", 2*time.Minute), Attempts: 1,
		MaxIterations: l.whole(n, "max_iterations", 0), MaxHops: l.whole(n, "max_hops", 8),
		AnyEnd: l.str(n, "join") == "any", pos: map[string]Pos{}}
	pairs(n, func(k, v *yaml.Node) {
		if v.Tag != "!!null" {
			a.pos[k.Value] = at(v)
		}
	})
	if v := l.get(n, "name"); v != nil {
		a.At = at(v)
	}
	if a.Planner == "built_in" {
		a.Planner = "builtin"
	}
	l.numbers(a, n)
	l.maps(a, n)
	if r := l.get(n, "retry"); r != nil {
		a.Attempts, a.Delay = l.whole(r, "attempts", 2), l.duration(r, "delay", time.Second)
	}
	a.Children = l.children(n)
	for _, one := range l.list(n, "nodes") {
		if v := l.get(one, "agent"); v != nil {
			a.Nodes = append(a.Nodes, Node{Agent: Ref{v.Value, at(v)}, DependsOn: l.refs(one, "depends_on"),
				When: l.texts(one, "when"), Any: l.str(one, "join") == "any"})
		}
	}
	for _, v := range l.list(n, "tools") {
		a.Tools = append(a.Tools, l.tool(v)...)
	}
	l.reads(w, a, n)
	return a
}

// children are the agents of a block, the router first.
func (l *loader) children(n *yaml.Node) []Ref {
	var list []Ref
	for _, key := range []string{"router", "agent"} {
		if v := l.get(n, key); v != nil {
			list = append(list, Ref{v.Value, at(v)})
		}
	}
	return append(append(list, l.refs(n, "agents")...), l.refs(n, "sub_agents")...)
}

func (l *loader) tool(v *yaml.Node) []Tool {
	switch {
	case l.bad[v]:
		return nil
	case v.Kind != yaml.MappingNode:
		return []Tool{{Name: v.Value, At: at(v)}}
	}
	t := Tool{Name: v.Content[0].Value, At: at(v)}
	for _, p := range v.Content[1].Content {
		t.Patterns = append(t.Patterns, p.Value)
	}
	return []Tool{t}
}

func (l *loader) duration(n *yaml.Node, key string, def time.Duration) time.Duration {
	if d, err := time.ParseDuration(l.str(n, key)); err == nil {
		return d
	}
	return def
}

// numbers fills the settings of the model that may be absent.
func (l *loader) numbers(a *Agent, n *yaml.Node) {
	for key, to := range map[string]**float64{"temperature": &a.Temperature, "top_p": &a.TopP} {
		if x, err := strconv.ParseFloat(l.str(n, key), 64); err == nil {
			*to = &x
		}
	}
	for key, to := range map[string]**int{"max_output_tokens": &a.MaxOutputTokens, "top_k": &a.TopK} {
		if x, err := strconv.Atoi(l.str(n, key)); err == nil {
			*to = &x
		}
	}
	if c := l.get(n, "planner_config"); c != nil {
		if x, err := strconv.Atoi(l.str(c, "thinking_budget")); err == nil {
			a.ThinkingBudget = &x
		}
	}
}

// maps fills the mappings of any shape.
func (l *loader) maps(a *Agent, n *yaml.Node) {
	for key, to := range map[string]*map[string]any{"output_schema": &a.OutputSchema, "input_schema": &a.InputSchema,
		"tool_config": &a.ToolConfig} {
		if v := l.get(n, key); v != nil {
			if err := v.Decode(to); err != nil {
				l.wrong(v, "`%s`: %s", key, strings.TrimPrefix(err.Error(), "yaml: "))
			}
		}
	}
}

// Templates: {key} and {key?} in an instruction and in tool_config. {artifact.file} is a file of the session,
// not a key.
var (
	inInstruction = regexp.MustCompile(`\{((?:user:|app:|temp:)?[A-Za-z_][A-Za-z0-9_]*)(\??)\}`)
	inConfig      = regexp.MustCompile(`\{((?:user:|app:|temp:)?\w+)(\??)\}`)
)

// shared reports whether a key may have a value when a run begins: other runs write it, too.
func shared(key string) bool {
	return strings.HasPrefix(key, "user:") || strings.HasPrefix(key, "app:")
}

// reads collects the state keys that an agent reads.
func (l *loader) reads(w *Workflow, a *Agent, n *yaml.Node) {
	for _, v := range l.list(n, "input_keys") {
		if !l.bad[v] {
			key, optional := strings.CutSuffix(v.Value, "?")
			a.reads = append(a.reads, read{key: key, optional: optional || shared(key), at: at(v),
				words: "input_keys: " + v.Value})
			a.Inputs = append(a.Inputs, Input{key, optional})
		}
	}
	if v := l.get(n, "instruction"); v != nil {
		a.templates(w, v, inInstruction)
	}
	var walk func(v *yaml.Node)
	walk = func(v *yaml.Node) {
		if v.Kind == yaml.ScalarNode {
			a.templates(w, v, inConfig)
		}
		for i, c := range v.Content {
			if v.Kind != yaml.MappingNode || i%2 == 1 {
				walk(c)
			}
		}
	}
	if v := l.get(n, "tool_config"); v != nil {
		walk(v)
	}
}

// templates adds the keys of the templates in a text, with their own positions where the text is
// written as it is.
func (a *Agent) templates(w *Workflow, v *yaml.Node, rule *regexp.Regexp) {
	seen := map[string]bool{}
	for _, m := range rule.FindAllStringSubmatch(v.Value, -1) {
		if seen[m[0]] {
			continue
		}
		seen[m[0]] = true
		a.reads = append(a.reads, read{key: m[1], optional: m[2] != "" || shared(m[1]), at: w.find(at(v), m[0], v.Value), words: m[0]})
	}
}

// find is the position of words in a value that begins at a position, or that position.
func (w *Workflow) find(from Pos, words, value string) Pos {
	last := min(len(w.source), from.Line+strings.Count(value, "\n")+len(value)/40+2)
	for i := from.Line - 1; i >= 0 && i < last; i++ {
		line, skip := w.source[i], 0
		if i == from.Line-1 {
			skip = min(from.Column-1, len(line))
		}
		if c := strings.Index(line[skip:], words); c >= 0 {
			return Pos{i + 1, skip + c + 1}
		}
	}
	return from
}

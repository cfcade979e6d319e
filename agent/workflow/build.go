package workflow

import (
	"cmp"
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
		w.Runtime.MemoryService = cmp.Or(l.str(n, "memory_service"), "none")
		w.Runtime.ArtifactService = cmp.Or(l.str(n, "artifact_service"), "none")
		l.decode(n, &w.Runtime)
		l.checkServices(n)
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
	l.confirms(a, l.get(n, "require_confirmation"))
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
	l.checkSchema(a, "output_schema", l.get(n, "output_schema"), a.OutputSchema)
	l.checkSchema(a, "input_schema", l.get(n, "input_schema"), a.InputSchema)
}

// Templates of a text: {key}, or {key?} for a key that may be missing.
var (
	template = regexp.MustCompile(`\{((?:user:|app:|temp:)?[A-Za-z_][A-Za-z0-9_]*)(\??)\}`)
	dotted   = regexp.MustCompile(`\{([A-Za-z_][A-Za-z0-9_]*)\.[^{}?/\\]+\??\}`)
	loose    = regexp.MustCompile(`\{\{\s*((?:user:|app:|temp:)?[A-Za-z_]\w*)\??\s*\}\}|` +
		`\{\s+((?:user:|app:|temp:)?[A-Za-z_]\w*)\??\s*\}|\{((?:user:|app:|temp:)?[A-Za-z_]\w*)\??\s+\}`)
)

// Template is the rule by which an instruction and a tool_config read state: {key}, or {key?} for a key that
// may be missing. Submatch 1 is the key, with its prefix; submatch 2 is "?" or empty. Everything else is
// text: {4}, {"a": 1}, {a b}.
func Template() *regexp.Regexp { return template }

// reads collects the state keys that an agent reads, each once as it must be there and once as it may be
// missing.
func (l *loader) reads(w *Workflow, a *Agent, n *yaml.Node) {
	seen := map[string]bool{}
	add := func(r read) {
		if id := r.key + map[bool]string{true: "?"}[r.optional]; !seen[id] {
			seen[id] = true
			a.reads = append(a.reads, r)
		}
	}
	for _, v := range l.list(n, "input_keys") {
		if !l.bad[v] {
			key, optional := strings.CutSuffix(v.Value, "?")
			add(read{key: key, optional: optional, at: at(v), form: inInputKeys, words: v.Value})
			a.Inputs = append(a.Inputs, Input{key, optional})
		}
	}
	if v := l.get(n, "instruction"); v != nil {
		a.templates(w, v, seen, add)
	}
	var walk func(v *yaml.Node)
	walk = func(v *yaml.Node) {
		if v.Kind == yaml.ScalarNode {
			a.templates(w, v, seen, add)
		} else if key := bare(v); key != "" {
			l.add(BadValue, at(v), "{%s} without quotes is a mapping in YAML; write \"{%[1]s}\"", key)
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

// bare is the key of a template without quotes, which YAML reads as a mapping; "" if it is none.
func bare(v *yaml.Node) string {
	if v.Kind == yaml.MappingNode && v.Style&yaml.FlowStyle != 0 && len(v.Content) == 2 && v.Content[1].Tag == "!!null" &&
		v.Content[1].Value == "" && template.MatchString("{"+v.Content[0].Value+"}") {
		return v.Content[0].Value
	}
	return ""
}

// templates adds the keys of the templates in a text that were not seen before, with their own positions
// where the text is written as it is.
func (a *Agent) templates(w *Workflow, v *yaml.Node, seen map[string]bool, add func(read)) {
	if !strings.Contains(v.Value, "{") {
		return
	}
	f := w.finder(v)
	for _, m := range template.FindAllStringSubmatch(v.Value, -1) {
		if !seen[m[1]+m[2]] {
			add(read{key: m[1], optional: m[2] != "", at: f.next(m[0]), words: m[0]})
		}
	}
	for _, odd := range []struct {
		form readForm
		rule *regexp.Regexp
	}{{inDotted, dotted}, {inLoose, loose}} {
		f = w.finder(v)
		for _, m := range odd.rule.FindAllStringSubmatch(v.Value, -1) {
			if !seen[m[0]] {
				seen[m[0]] = true
				a.odd = append(a.odd, read{key: strings.Join(m[1:], ""), at: f.next(m[0]), form: odd.form, words: m[0]})
			}
		}
	}
}

// finder finds the templates of one value in the text of the file, in their order. It looks at no more of
// the text than a few times what the value has, so that many templates take no longer than their text.
type finder struct {
	lines    []string
	from, at Pos
	left     int // bytes to look at; negative: a template was not found, and the others are not looked for
}

func (w *Workflow) finder(v *yaml.Node) *finder {
	return &finder{lines: w.source, from: at(v), at: at(v), left: 1024 + 12*len(v.Value) + 80*strings.Count(v.Value, "\n")}
}

// next is the position of the next words, or that of the value.
func (f *finder) next(words string) Pos {
	for i, skip := f.at.Line-1, f.at.Column-1; i >= 0 && i < len(f.lines) && f.left >= 0; i, skip = i+1, 0 {
		line := f.lines[i]
		line = line[min(skip, len(line)):]
		line = line[:min(len(line), f.left+len(words))]
		if c := strings.Index(line, words); c >= 0 {
			f.at, f.left = Pos{i + 1, skip + c + 1}, f.left-c
			return f.at
		}
		f.left -= len(line) + 1
	}
	f.left = -1
	return f.from
}

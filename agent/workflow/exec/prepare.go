package exec

import (
	"context"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
	"google.golang.org/genai"

	"github.com/voicegw/voicegw/agent"
	"github.com/voicegw/voicegw/agent/managed"
	"github.com/voicegw/voicegw/agent/workflow"
)

// leaf is a use of an agent, with what its file names.
type leaf struct {
	workflow.Leaf
	tools   []string            // of Config.Tools
	servers []workflow.Tool     // MCP servers
	session []string            // tools of the session
	native  []*genai.Tool       // that the model's provider runs
	exits   bool                // it may call exit_loop
	asks    map[string][]string // tools, and MCP servers with patterns, whose calls wait for a confirmation
	hooks   []Hooks             // of plugins, then its own
	schema  *jsonschema.Resolved
	inputs  map[string]*jsonschema.Resolved // input_schema of agents that it may call, by name
	expr    func(context.Context, map[string]any) (any, error)
}

// AgentErrors are part of the error of Add: agents that ask for something nothing here can do, each with one reason.
type AgentErrors []AgentError

// AgentError is one of them.
type AgentError struct {
	Agent *workflow.Agent
	Err   error
}

// Error names the agents and their lines.
func (e AgentErrors) Error() string {
	var list []string
	for _, one := range e {
		list = append(list, fmt.Sprintf("line %d: `%s`: %v", one.Agent.At.Line, one.Agent.Name, one.Err))
	}
	return strings.Join(list, "; ")
}

// prepare finds everything that a workflow names.
func (e *Engine) prepare(c *workflow.Compiled) (*flow, error) {
	f := &flow{c: c, w: c.Workflow, leafs: map[string]*leaf{}, hooks: slices.Clone(e.cfg.Every)}
	if err := e.services(f); err != nil {
		return nil, err
	}
	var errs AgentErrors
	for _, one := range c.Leaves() {
		l := &leaf{Leaf: one, hooks: slices.Clone(f.hooks)}
		if err := e.prepareLeaf(f, l); err != nil {
			errs = append(errs, AgentError{one.Agent, err})
		}
		f.leafs[one.Path] = l
		f.users = f.users || l.shares()
	}
	if errs != nil {
		return nil, errs
	}
	return f, nil
}

func (e *Engine) prepareLeaf(f *flow, l *leaf) (err error) {
	a := l.Agent
	for _, name := range slices.Sorted(maps.Keys(a.Callbacks)) {
		if err := e.callback(l, strings.TrimSuffix(name, "_callback"), a.Callbacks[name]); err != nil {
			return err
		}
	}
	switch {
	case a.Function != "":
		if _, ok := e.cfg.Functions[a.Function]; !ok {
			return fmt.Errorf("there is no function %q; there are: %s; a program in Go registers functions", a.Function,
				names(e.cfg.Functions))
		}
	case a.Tool == userChoice:
		f.chooses, l.session = true, []string{userChoice}
	case a.Tool != "":
		if e.tools[a.Tool] == nil {
			return fmt.Errorf("there is no tool %q that an agent can be; there are: %s%s", a.Tool, names(e.tools), hint(a.Tool))
		}
		l.tools = []string{a.Tool}
	case a.Expression != "":
		if e.cfg.Expression == nil {
			return fmt.Errorf("expressions are not available here")
		}
		var keys []string
		for _, i := range a.Inputs {
			keys = append(keys, i.Name())
		}
		if l.expr, err = e.cfg.Expression(a.Expression, keys); err != nil {
			return fmt.Errorf("its expression: %w", err)
		}
	}
	for _, t := range a.Tools {
		if err := e.equip(f, l, t); err != nil {
			return err
		}
	}
	e.confirm(f, l)
	l.inputs = map[string]*jsonschema.Resolved{}
	for _, ref := range a.AgentTools {
		if in := f.w.Agent(ref.Name).InputSchema; in != nil {
			if l.inputs[ref.Name], err = workflow.ResolveSchema(in); err != nil {
				return fmt.Errorf("the input_schema of `%s`: %w", ref.Name, err)
			}
		}
	}
	if a.OutputSchema != nil {
		if l.schema, err = workflow.ResolveSchema(a.OutputSchema); err != nil {
			return fmt.Errorf("its output_schema: %w", err)
		}
	}
	return nil
}

// shares reports whether a leaf reads or writes state that sessions share.
func (l *leaf) shares() bool {
	a := l.Agent
	texts := []string{"{" + a.OutputKey, a.Instruction, workflow.TextOf(a.ToolConfig)}
	for _, i := range a.Inputs {
		texts = append(texts, "{"+i.Key)
	}
	return slices.ContainsFunc(texts, func(text string) bool {
		return strings.Contains(text, "{"+appPrefix) || strings.Contains(text, "{"+userPrefix)
	})
}

// equip gives a leaf a tool, or the tools of a toolset whose names match a pattern.
func (e *Engine) equip(f *flow, l *leaf, t workflow.Tool) error {
	list, set := e.cfg.Toolsets[t.Name]
	server := slices.ContainsFunc(f.w.Runtime.MCPServers, func(s workflow.MCPServer) bool { return s.Name == t.Name })
	native := nativeTools()[t.Name].tool
	if t.Patterns != nil && !set && !server {
		return fmt.Errorf("%q is no toolset, so it has no patterns", t.Name)
	}
	switch {
	case t.Name == exitTool:
		l.exits = true
	case native != nil:
		l.native = append(l.native, native)
	case slices.Contains(sessionTools(), t.Name):
		f.chooses = f.chooses || t.Name == userChoice
		l.session = append(l.session, t.Name)
	case set:
		n := len(l.tools)
		for _, name := range list {
			if matches(t.Patterns, name) && !slices.Contains(l.tools, name) {
				l.tools = append(l.tools, name)
			}
		}
		if len(l.tools) == n {
			return fmt.Errorf("no tool of %q matches %s; it has: %s", t.Name, strings.Join(t.Patterns, ", "),
				strings.Join(list, ", "))
		}
	case server:
		l.servers = append(l.servers, t)
	case e.tools[t.Name] != nil:
		l.tools = append(l.tools, t.Name)
	default:
		return fmt.Errorf("there is no tool %q; there are: %s%s", t.Name, names(e.tools), hint(t.Name))
	}
	return nil
}

// hint says where a tool comes from that only operators can give.
func hint(tool string) string {
	if tool != "storage" {
		return ""
	}
	return "; storage needs a folder: give --storage, or workflow.storage to serve"
}

// matches reports whether a name matches one of some patterns; none match everything.
func matches(patterns []string, name string) bool {
	return patterns == nil || slices.ContainsFunc(patterns, func(p string) bool {
		ok, err := path.Match(p, name)
		return ok && err == nil
	})
}

func names[V any](m map[string]V) string {
	if len(m) == 0 {
		return "none"
	}
	return strings.Join(slices.Sorted(maps.Keys(m)), ", ")
}

// uses are the tools that a leaf calls.
func (l *leaf) uses(tools map[string]agent.Tool) ([]agent.Tool, error) {
	all := slices.Clone(l.tools)
	if slices.Contains(l.session, userChoice) {
		all = append(all, userChoice)
	}
	var list []agent.Tool
	for _, name := range all {
		if tools[name] == nil {
			return nil, fmt.Errorf("the definition has no tool %q, which `%s` needs; if the workflow has changed since the "+
				"session began, start a new session", name, l.Agent.Name)
		}
		t := tools[name]
		if l.asks[name] != nil {
			var err error
			if t, err = managed.Confirmed(t); err != nil {
				return nil, err
			}
		}
		list = append(list, t)
	}
	for _, s := range l.servers {
		t := tools["mcp:"+s.Name]
		if t == nil {
			return nil, fmt.Errorf("the definition has no MCP server %q, which `%s` needs; if the workflow has changed since "+
				"the session began, start a new session", s.Name, l.Agent.Name)
		}
		if s.Patterns != nil {
			var err error
			if t, err = managed.Choose(t, s.Patterns...); err != nil {
				return nil, err
			}
		}
		if asks := l.asks[s.Name]; asks != nil {
			var err error
			if t, err = managed.Confirmed(t, asks...); err != nil {
				return nil, err
			}
		}
		list = append(list, t)
	}
	return list, nil
}

// confirm notes whose calls wait for a confirmation: tools, and MCP servers with patterns of the names of their tools.
func (e *Engine) confirm(f *flow, l *leaf) {
	l.asks = map[string][]string{}
	for _, c := range l.Agent.Confirm {
		patterns := c.Patterns
		if patterns == nil {
			patterns = []string{"*"}
		}
		for _, name := range e.cfg.Toolsets[c.Name] {
			if matches(patterns, name) {
				l.asks[name] = patterns
			}
		}
		l.asks[c.Name] = append(l.asks[c.Name], patterns...)
	}
	for _, s := range f.w.Runtime.MCPServers {
		if s.Confirm {
			l.asks[s.Name] = []string{"*"}
		}
	}
}

// callback adds the Go function of a hook.
func (e *Engine) callback(l *leaf, hook, name string) error {
	all, ok := e.cfg.Callbacks[name]
	if !ok {
		return fmt.Errorf("there is no callback %q; there are: %s; a program in Go registers callbacks", name,
			names(e.cfg.Callbacks))
	}
	var one Hooks
	has := false
	switch hook {
	case "before_agent":
		one.BeforeAgent, has = all.BeforeAgent, all.BeforeAgent != nil
	case "after_agent":
		one.AfterAgent, has = all.AfterAgent, all.AfterAgent != nil
	case "before_model":
		one.BeforeModel, has = all.BeforeModel, all.BeforeModel != nil
	case "after_model":
		one.AfterModel, has = all.AfterModel, all.AfterModel != nil
	case "before_tool":
		one.BeforeTool, has = all.BeforeTool, all.BeforeTool != nil
	case "after_tool":
		one.AfterTool, has = all.AfterTool, all.AfterTool != nil
	}
	if !has {
		return fmt.Errorf("the callback %q is no %s", name, hook)
	}
	l.hooks = append(l.hooks, one)
	return nil
}

// services finds what the runtime section asks for.
func (e *Engine) services(f *flow) error {
	rt := &f.w.Runtime
	f.remembers = rt.MemoryService != "none"
	switch rt.ArtifactService {
	case "in_memory":
		f.files = e.cfg.Artifacts
	case "file":
		if e.cfg.Files == nil {
			return fmt.Errorf("runtime.artifact_service: file needs a folder: give --storage, or workflow.storage to serve")
		}
		var err error
		if f.files, err = e.cfg.Files(rt.ArtifactDir); err != nil {
			return fmt.Errorf("runtime.artifact_dir: %w", err)
		}
	}
	for _, name := range rt.Plugins {
		if err := e.plugin(f, name); err != nil {
			return fmt.Errorf("runtime.plugins: %w", err)
		}
	}
	return nil
}

// serve adds to a definition what the workflow needs.
func (f *flow) serve(d *managed.Definition) {
	if f.chooses {
		d.Tools = append(d.Tools, choiceTool())
	}
	for _, s := range f.w.Runtime.MCPServers {
		one := managed.MCPServer{Type: "url", Name: s.Name, URL: s.URI, Credential: s.Credential, Command: s.Command,
			Args: s.Args}
		if s.Command != "" {
			one.Type = "stdio"
		}
		d.MCPServers = append(d.MCPServers, one)
		d.Tools = append(d.Tools, managed.ToolConfig{Type: managed.MCPToolset, Server: s.Name,
			Default: &managed.ToolPolicy{Permission: &managed.Permission{Type: managed.AlwaysAllow}}})
	}
}

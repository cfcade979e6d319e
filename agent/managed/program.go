package managed

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"google.golang.org/adk/v2/model"
	"google.golang.org/genai"

	"github.com/voicegw/voicegw/agent"
)

// program is an agent that is ready to answer turns.
type program struct {
	prog        *agent.Program
	tools       map[string]*boundTool
	parkTimeout time.Duration
	models      []string // that it asks

	named bool                 // the definition names it: events tell which agent they are of
	has   map[string]*hasTools // of a named program, by agent
	quiet map[string]bool      // agents whose partial responses are no beginnings of the whole one

	mu sync.Mutex
	at map[string]*agent.Program // prog, by the agent that turns begin with
}

// boundTool is a tool of an agent.
type boundTool struct {
	tool    *Tool // nil: the client runs it
	declare *genai.FunctionDeclaration
	policy  toolPolicy
	own     bool // of a program, not of the definition
}

// What follows when the outcome of a call is unknown.
const (
	tellUnknown  = "tell"
	retryUnknown = "retry"
	askUnknown   = "ask"
)

// toolPolicy is a ToolPolicy with its defaults.
type toolPolicy struct {
	permission string
	unknown    string
}

// newProgram makes the program of an agent.
func (r *Runtime) newProgram(ctx context.Context, a *Agent) (*program, error) {
	llm, err := r.model(a.Model.ID)
	if err != nil {
		return nil, err
	}
	if err := r.admits(a); err != nil {
		return nil, err
	}
	instructions, err := r.skills(a.Skills)
	if err != nil {
		return nil, err
	}
	p := &program{tools: map[string]*boundTool{}}
	for i := range a.Tools {
		if err := r.bind(ctx, p, &a.Tools[i], fmt.Sprintf("tools[%d]", i)); err != nil {
			return nil, err
		}
	}
	if a.Program != "" {
		return p, r.custom(ctx, a, p, a.System+instructions)
	}
	p.models = []string{a.Model.ID}
	one := agent.Agent{Instruction: a.System + instructions, Model: llm}
	for _, name := range slices.Sorted(maps.Keys(p.tools)) {
		one.Tools = append(one.Tools, declared{p.tools[name].declare})
	}
	from := &asker{agent: "agent", model: a.Model.ID, llm: llm}
	if p.prog, err = agent.New(programConfig(one, p, from, r.cfg.Limits)); err != nil {
		return nil, invalid("", "the agent cannot run: %v", err)
	}
	return p, nil
}

// programConfig is the configuration of the program of an agent. The session stores its messages itself. The
// net is the same for all agents: it has room for tools even if there are none.
func programConfig(a agent.Agent, p *program, from *asker, l Limits) agent.Config {
	a.Name = from.agent
	a.Work = agent.Work{Call: p.caller(nil),
		Ask: func(ctx context.Context, req *agent.Request) iter.Seq2[*model.LLMResponse, error] {
			return turnOf(req.Turn).ask(ctx, from, req)
		}}
	return agent.Config{Name: "managed", Agents: []agent.Agent{a}, KeepsMessage: true, Limits: l.Agent}
}

// bind adds a tool, or a set of tools, of a definition.
func (r *Runtime) bind(_ context.Context, p *program, c *ToolConfig, path string) error {
	switch c.Type {
	case CustomTool:
		d := &genai.FunctionDeclaration{Name: c.Name, Description: c.Description}
		var schema map[string]any
		if err := json.Unmarshal(c.InputSchema, &schema); err != nil {
			return invalid(path+".input_schema", "it is no JSON object: %v", err)
		}
		d.ParametersJsonSchema = schema
		if t := time.Duration(c.Timeout); t > 0 && (p.parkTimeout == 0 || t < p.parkTimeout) {
			p.parkTimeout = t
		}
		return p.add(path, &boundTool{declare: d, policy: toolPolicy{permission: AlwaysAllow}})
	case MCPToolset:
		return nil // the server lists its tools when a turn begins
	case AgentToolset:
		known := map[string]bool{}
		for i := range r.cfg.Tools {
			t := &r.cfg.Tools[i]
			known[t.Declaration.Name] = true
			if policy, on := c.policy(t.Declaration.Name, AlwaysAllow); on {
				if err := p.add(path, &boundTool{tool: t, declare: t.Declaration, policy: policy}); err != nil {
					return err
				}
			}
		}
		for i, own := range c.Configs {
			if !known[own.Name] {
				return invalid(fmt.Sprintf("%s.configs[%d].name", path, i), "there is no built-in tool %q; there are: %s",
					own.Name, strings.Join(slices.Sorted(maps.Keys(known)), ", "))
			}
		}
		return nil
	}
	return invalid(path+".type", "%q is none of %s, %s, %s", c.Type, CustomTool, AgentToolset, MCPToolset)
}

// add adds a tool whose name nothing else has.
func (p *program) add(path string, t *boundTool) error {
	if p.tools[t.declare.Name] != nil {
		return invalid(path, "two tools are called %q; give each a name of its own", t.declare.Name)
	}
	p.tools[t.declare.Name] = t
	return nil
}

// policy is the policy for a tool of a set, and whether the agent has the tool.
func (c *ToolConfig) policy(name, permission string) (p toolPolicy, on bool) {
	p, on = toolPolicy{permission: permission, unknown: tellUnknown}, true
	merge := func(own *ToolPolicy) {
		if own.Enabled != nil {
			on = *own.Enabled
		}
		if own.Permission != nil {
			p.permission = own.Permission.Type
		}
		if own.Unknown != "" {
			p.unknown = own.Unknown
		}
	}
	if c.Default != nil {
		merge(c.Default)
	}
	for i := range c.Configs {
		if c.Configs[i].Name == name {
			merge(&c.Configs[i])
		}
	}
	return p, on
}

// declared is a tool as the agent's net sees it. The calls are run by program.caller.
type declared struct{ d *genai.FunctionDeclaration }

func (d declared) Name() string                            { return d.d.Name }
func (d declared) Declaration() *genai.FunctionDeclaration { return d.d }
func (d declared) Call(context.Context, *agent.Call) (*agent.Reply, error) {
	return nil, fmt.Errorf("managed: %s is called outside of a turn", d.d.Name)
}

// caller runs calls of an agent's model, or leaves them to the client. nil is the only agent, which has all
// tools.
func (p *program) caller(has *hasTools) func(context.Context, *agent.Call) (*agent.Reply, error) {
	return func(ctx context.Context, c *agent.Call) (*agent.Reply, error) { return p.call(ctx, has, c) }
}

func (p *program) call(ctx context.Context, has *hasTools, c *agent.Call) (*agent.Reply, error) {
	r := turnOf(c.Turn)
	r.o.mu.Lock()
	t := r.o.toolOf(has, c.Call.Name)
	names := slices.AppendSeq(slices.Collect(maps.Keys(p.tools)), maps.Keys(r.o.st.bound))
	if has != nil {
		theirs := func(name string) bool { return !has.tool(name, r.o.st.bound[name]) }
		if names = slices.DeleteFunc(names, theirs); theirs(c.Call.Name) {
			t = nil
		}
	}
	r.o.mu.Unlock()
	switch {
	case t == nil:
		slices.Sort(names)
		text := fmt.Sprintf("there is no tool %q; the tools are: %s", c.Call.Name, strings.Join(names, ", "))
		return &agent.Reply{Fault: &agent.Fault{Code: agent.UnknownTool, Text: text}}, nil
	case p.named && p.prog.Resumes:
		return r.resumable(ctx, t, has, c.Call)
	case t.tool == nil:
		return r.wait(has, c.Call), nil
	case t.policy.permission == AlwaysDeny:
		return &agent.Reply{Response: failedResult(deniedByRule)}, nil
	case t.policy.permission == AlwaysAsk && !slices.Contains(r.t.info.Resume, c.Call.ID):
		return r.wait(has, c.Call), nil
	}
	return r.run(ctx, t, has, c.Call)
}

// tool reports whether the agent has a tool: one of its own, or one that is bound to an MCP server.
func (h *hasTools) tool(name string, b *boundName) bool {
	return h.names[name] || b != nil && h.chose(b.Server, b.Tool)
}

// chose reports whether the agent has a tool of an MCP server, by the server's own name for it.
func (h *hasTools) chose(server, tool string) bool {
	return slices.ContainsFunc(h.servers[server], func(p string) bool {
		ok, err := path.Match(p, tool)
		return p == "*" || ok && err == nil
	})
}

// use is the event of a call by an agent, and what the call waits for; "" if for nothing. The caller holds mu.
func (o *owned) use(of string, c *genai.FunctionCall) (*Event, callKind) {
	args := c.Args
	if args == nil {
		args = map[string]any{}
	}
	input, err := json.Marshal(args)
	if err != nil {
		input = []byte("{}")
	}
	ev := &Event{Type: AgentToolUse, Name: c.Name, Input: input, CallID: c.ID}
	t := o.toolOf(o.agent.has[of], c.Name)
	switch {
	case t == nil:
		return ev, ""
	case t.tool == nil:
		ev.Type = AgentCustomToolUse
		return ev, customCall
	case t.tool.Server != "":
		ev.Type, ev.MCPServer = AgentMCPToolUse, t.tool.Server
	}
	switch t.policy.permission {
	case AlwaysAsk:
		ev.Permission = "ask"
		return ev, confirmCall
	case AlwaysDeny:
		ev.Permission = "deny"
	default:
		ev.Permission = "allow"
	}
	return ev, ""
}

// contentOf is a message of the user as models see it.
func contentOf(blocks []Block) *genai.Content {
	c := &genai.Content{Role: genai.RoleUser}
	for _, b := range blocks {
		switch {
		case b.Source == nil:
			c.Parts = append(c.Parts, &genai.Part{Text: b.Text})
		case b.Source.Type == "text":
			c.Parts = append(c.Parts, &genai.Part{Text: b.Source.Data})
		case b.Source.Type == "url":
			c.Parts = append(c.Parts, &genai.Part{FileData: &genai.FileData{FileURI: b.Source.URL,
				MIMEType: b.Source.MediaType}})
		default:
			c.Parts = append(c.Parts, &genai.Part{InlineData: &genai.Blob{MIMEType: b.Source.MediaType,
				Data: b.Source.bytes()}})
		}
	}
	return c
}

// textOf is the text of blocks.
func textOf(blocks []Block) string {
	var list []string
	for _, b := range blocks {
		if b.Text != "" {
			list = append(list, b.Text)
		}
	}
	return strings.Join(list, "\n")
}

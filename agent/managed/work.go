package managed

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"

	"google.golang.org/adk/v2/model"
	"google.golang.org/genai"

	"github.com/voicegw/voicegw/agent"
	"github.com/voicegw/voicegw/agent/provider"
)

// ProgramFunc makes the program of an agent whose definition names it. It is called whenever such an agent
// is checked or a session of it comes into memory, and must then make the same program: the same agents,
// tools and hooks, and hooks that give the same for the same. It may be called concurrently. Sessions of the same
// definition share a program for up to five minutes, and may run it at the same time: its tools, hooks and closures
// must keep nothing of a session between calls. Its error refuses the agent, and its text is for the client.
type ProgramFunc func(ctx context.Context, w *Work) (*agent.Program, error)

// Work is what a ProgramFunc makes a program of. Its agents, branches and tools ask models and run calls
// as effects of the session: each is stored before it begins, and its result before the program sees it.
// A Work is for one call of a ProgramFunc.
type Work struct {
	// Definition is the one that names the program.
	Definition Definition
	// Instructions are those of the definition and of its skills.
	Instructions string

	rt *Runtime
	p  *program
}

// New is agent.New with the limits of the Runtime, unless c has its own. The session stores the messages of
// the user, so it sets Config.KeepsMessage.
func (w *Work) New(c agent.Config) (*agent.Program, error) {
	c.KeepsMessage = true
	if c.Limits == (agent.Limits{}) {
		c.Limits = w.rt.cfg.Limits.Agent
	}
	return agent.New(c)
}

// Tools are the tools of the definition, for Agent.Tools. An MCP server is one of them: it stands for all
// tools of the server.
func (w *Work) Tools() []agent.Tool {
	var list []agent.Tool
	for _, name := range slices.Sorted(maps.Keys(w.p.tools)) {
		if !w.p.tools[name].own {
			list = append(list, declared{w.p.tools[name].declare})
		}
	}
	for _, s := range w.Definition.MCPServers {
		list = append(list, toolset(s.Name))
	}
	return list
}

// Tool is a tool of the program's own. Its name must differ from those of all other tools. Policy.Name and
// Policy.Enabled have no effect.
func (w *Work) Tool(t Tool, policy ToolPolicy) (agent.Tool, error) {
	if t.Declaration == nil || !toolName.MatchString(t.Declaration.Name) || t.Call == nil {
		return nil, errors.New("managed: a tool of a program needs a Declaration with a name of 1 to 128 letters, digits, " +
			"\"_\" and \"-\", and a Call")
	}
	if err := policy.check("tools." + t.Declaration.Name); err != nil {
		return nil, err
	}
	set := ToolConfig{Default: &policy}
	own, _ := set.policy(t.Declaration.Name, AlwaysAllow)
	b := &boundTool{tool: &t, declare: t.Declaration, policy: own, own: true}
	return declared{t.Declaration}, w.p.add("", b)
}

// Agent returns an agent that works for sessions. It has the tools in a.Tools, which Tools and Tool make, and
// asks a model by name; "" is the model of the definition. An agent with a Strategy asks the models of its
// branches instead: see Branch.
func (w *Work) Agent(a agent.Agent, llm string) (agent.Agent, error) {
	call, err := w.Call(a.Name, a.Tools...)
	if err != nil {
		return a, err
	}
	a.Work.Call = call
	if a.Strategy != nil {
		w.p.quiet[a.Name] = true
		a.Hooks = decided(a.Name, a.Hooks)
		return a, nil
	}
	if a.Work.Ask, err = w.Ask(a.Name, llm); err != nil {
		return a, err
	}
	a.Model, err = w.rt.model(w.model(llm))
	return a, err
}

// Branch returns a branch for the strategy of an agent. It asks a model by name; "" is the model of the
// definition. The strategy's response is stored before the agent goes on with it, so that the same branches
// win after a crash. A request of a branch that was not needed any more has no end in the events.
func (w *Work) Branch(of, name, llm string) (agent.Branch, error) {
	from, err := w.asker(of, llm)
	if err != nil {
		return agent.Branch{}, err
	}
	from.branch = name
	return agent.Branch{Name: name, Do: func(ctx context.Context, req *agent.Request) (*model.LLMResponse, error) {
		var last *model.LLMResponse
		for resp, err := range turnOf(req.Turn).ask(ctx, from, req) {
			if err != nil {
				return nil, err
			}
			last = resp
		}
		return last, nil
	}}, nil
}

// Ask returns what asks a model for an agent of a net of one's own: see agent.Work.
func (w *Work) Ask(of, llm string) (func(context.Context, *agent.Request) iter.Seq2[*model.LLMResponse, error],
	error) {
	from, err := w.asker(of, llm)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, req *agent.Request) iter.Seq2[*model.LLMResponse, error] {
		return turnOf(req.Turn).ask(ctx, from, req)
	}, nil
}

// Call returns what runs calls for an agent of a net of one's own: see agent.Work. The tools are those that
// Tools and Tool make.
func (w *Work) Call(of string, tools ...agent.Tool) (func(context.Context, *agent.Call) (*agent.Reply, error), error) {
	has := &hasTools{agent: of, names: map[string]bool{}, servers: map[string][]string{},
		confirmed: map[string][]string{}}
	for _, t := range tools {
		if c, ok := t.(confirmed); ok {
			t, has.confirmed[c.Name()] = c.Tool, c.patterns
		}
		switch t := t.(type) {
		case declared:
			has.names[t.Name()] = true
		case toolset:
			has.servers[string(t)] = []string{"*"}
		case chosen:
			has.servers[string(t.toolset)] = t.patterns
		default:
			return nil, fmt.Errorf("managed: agent %q has a tool that no session can run; make it with Work.Tool", of)
		}
	}
	w.p.has[of] = has
	return w.p.caller(has), nil
}

// model is the name of a model.
func (w *Work) model(name string) string {
	if name == "" {
		return w.Definition.Model.ID
	}
	return name
}

// asker opens a model for an agent.
func (w *Work) asker(of, name string) (*asker, error) {
	name = w.model(name)
	llm, err := w.rt.model(name)
	if err != nil {
		return nil, err
	}
	w.p.models = append(w.p.models, name)
	return &asker{agent: of, model: name, llm: llm}, nil
}

// model opens a model by name.
func (r *Runtime) model(name string) (model.LLM, error) {
	ref, err := provider.ParseRef(name)
	if err != nil {
		return nil, invalid("model", "%v", err)
	}
	llm, err := r.cfg.Models.Open(ref)
	if err != nil {
		return nil, because(invalid("model", "%v", err), err)
	}
	return llm, nil
}

// asker asks a model for an agent, or for a branch of it.
type asker struct {
	agent, branch string
	model         string
	llm           model.LLM
}

// hasTools are the tools of an agent.
type hasTools struct {
	agent   string
	names   map[string]bool
	servers map[string][]string // MCP servers, with patterns of the names of their tools
	// confirmed are tools whose calls by the agent wait for a confirmation; of "mcp:" and an MCP server, by patterns.
	confirmed map[string][]string
}

// call is the agent in the journal, and the name of the effect of a call. A nil h is the only agent.
func (h *hasTools) call(id string) (author, name string) {
	if h == nil {
		return "", "tool/" + id
	}
	return h.agent, "tool/" + h.agent + "/" + id
}

// toolset stands for the tools of an MCP server, which are known when a turn begins.
type toolset string

func (t toolset) Name() string                          { return "mcp:" + string(t) }
func (toolset) Declaration() *genai.FunctionDeclaration { return nil }
func (t toolset) Call(context.Context, *agent.Call) (*agent.Reply, error) {
	return nil, fmt.Errorf("managed: the MCP server %q is called as a tool", string(t))
}

// TurnContext is what a program learns of the session that a turn belongs to.
type TurnContext struct {
	Session string // its id
	Owner   Owner
	Number  int // of the turn, from 1
	// State is what answers of earlier turns have left: the StateDelta of their events. It does not change
	// while the turn runs.
	State map[string]any
	// Local is for what a program wants to keep while it answers the turn. It is lost in a crash.
	Local *sync.Map

	r *turnRun
}

// ContextOf is the context of a turn of a program of this package.
func ContextOf(t *agent.Turn) *TurnContext {
	r := turnOf(t)
	r.o.mu.Lock()
	defer r.o.mu.Unlock()
	return &TurnContext{Session: r.o.id, Owner: r.o.st.info.Owner, Number: r.t.info.Number, State: r.t.values,
		Local: &r.local, r: r}
}

// Earlier is the conversation when the turn began, the message of the turn included, as an agent sees it: what
// others said and did is told as text.
func (c *TurnContext) Earlier(of string, v View) []*genai.Content {
	list, from := c.r.before, 0
	for i := len(list) - 1; i >= 0 && v.Turns > 0; i-- {
		if list[i].author == "" && !results(list[i].content) {
			from = i
			v.Turns--
		}
	}
	if v.Turns > 0 {
		from = 0
	}
	list = slices.DeleteFunc(slices.Clone(list[from:]), func(s said) bool {
		return s.author != "" && slices.Contains(v.Without, s.author)
	})
	return conversation(seenBy(of, list))
}

// View says what of a conversation an agent sees. The zero value is all of it.
type View struct {
	// Without are agents whose words are left out.
	Without []string
	// Turns is how many messages of the user are left, the last ones, with what follows them; 0: all.
	Turns int
}

// Choose returns the tools of an MCP server whose names, as the server has them, match one of some patterns of
// package path. t is one of Tools.
func Choose(t agent.Tool, patterns ...string) (agent.Tool, error) {
	all, ok := t.(toolset)
	if !ok {
		return nil, fmt.Errorf("managed: %s is no MCP server, so nothing can be chosen from it", t.Name())
	}
	for _, p := range patterns {
		if _, err := path.Match(p, ""); err != nil {
			return nil, fmt.Errorf("managed: the pattern %q of tools of %s: %w", p, t.Name(), err)
		}
	}
	return chosen{all, patterns}, nil
}

// chosen are some tools of an MCP server.
type chosen struct {
	toolset
	patterns []string
}

// turnOf is the attempt of the session that a turn of a program belongs to.
func turnOf(t *agent.Turn) *turnRun { return t.Host.(*turnRun) }

// custom makes the program that a definition names.
func (r *Runtime) custom(ctx context.Context, a *Agent, p *program, instructions string) error {
	program := r.cfg.Programs[a.Program]
	if program == nil {
		if len(r.cfg.Programs) == 0 {
			return invalid("program", "there is no program %q: the operator has none", a.Program)
		}
		return invalid("program", "there is no program %q; there are: %s", a.Program,
			strings.Join(slices.Sorted(maps.Keys(r.cfg.Programs)), ", "))
	}
	p.named, p.has, p.quiet = true, map[string]*hasTools{}, map[string]bool{}
	prog, err := program(ctx, &Work{Definition: a.Definition, Instructions: instructions, rt: r, p: p})
	switch {
	case CodeOf(err) != "":
		return err
	case err != nil:
		return invalid("program", "the program %q cannot be made: %v", a.Program, err)
	case prog == nil:
		return invalid("program", "the program %q is none: its function returned nil", a.Program)
	}
	p.prog = prog
	return nil
}

// beginning is the program with turns that begin with an agent; "" is the first one. The caller does not
// hold mu.
func (p *program) beginning(name string) (*agent.Program, error) {
	if name == "" {
		return p.prog, nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.at[name] == nil {
		prog, err := p.prog.Beginning(name)
		if err != nil {
			return nil, err
		}
		if p.at == nil {
			p.at = map[string]*agent.Program{}
		}
		p.at[name] = prog
	}
	return p.at[name], nil
}

// takesOver reports whether an agent of a program goes on with the next turn once it has one.
func (p *program) takesOver(name string) bool {
	return slices.ContainsFunc(p.prog.Agents, func(a agent.Ports) bool { return a.Agent == name && !a.Guest })
}

// decided are the hooks of an agent with a strategy: its response is an effect of its own. Which branches
// win is up to chance, so the response that the journal has stands after a crash.
func decided(of string, own agent.Hooks) agent.Hooks {
	with := own
	with.Before = func(ctx context.Context, req *agent.Request) (*model.LLMResponse, error) {
		r := turnOf(req.Turn)
		_, known := r.o.effect(r.decision(of, 1))
		if known != nil {
			r.answered(of, known.info)
			return known.info.Response, nil
		}
		if own.Before == nil {
			return nil, nil
		}
		return own.Before(ctx, req)
	}
	with.After = func(ctx context.Context, resp *agent.Response) (*model.LLMResponse, error) {
		if own.After != nil {
			next, err := own.After(ctx, resp)
			if err != nil {
				return nil, err
			}
			if next != nil {
				resp = &agent.Response{Turn: resp.Turn, Response: next}
			}
		}
		return turnOf(resp.Turn).decide(ctx, of, resp.Response)
	}
	return with
}

// decision is the key of the response of an agent's strategy to its request, or to the next one.
func (r *turnRun) decision(of string, next int) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.counts["decision/"+of] += next
	if next > 0 {
		r.spans[of] = 0
	}
	return fmt.Sprintf("decision/%s/%d", of, r.counts["decision/"+of])
}

// decide stores the response of a strategy.
func (r *turnRun) decide(ctx context.Context, of string, resp *model.LLMResponse) (*model.LLMResponse, error) {
	e := &effectInfo{Key: r.decision(of, 0), Kind: decisionEffect, Agent: of}
	r.mu.Lock()
	e.Span = r.spans[of]
	r.mu.Unlock()
	e.Response = r.identified(resp, of, e.Span)
	if err := r.finish(ctx, e); err != nil {
		return nil, err
	}
	r.answered(of, e)
	return e.Response, nil
}

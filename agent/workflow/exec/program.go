package exec

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"maps"
	"strings"
	"sync"

	"google.golang.org/adk/v2/model"
	"google.golang.org/adk/v2/session"
	"google.golang.org/genai"

	"github.com/voicegw/voicegw/agent"
	"github.com/voicegw/voicegw/agent/managed"
	"github.com/voicegw/voicegw/agent/workflow"
)

// ownPrefix begins the names of the tools by which a program runs what is no tool.
const ownPrefix = "run--"

// The tools of a program's own.
const (
	beginTool  = ownPrefix + "begin"
	setTool    = ownPrefix + "set"
	onceTool   = ownPrefix + "function"
	againTool  = ownPrefix + "function-again"
	searchTool = ownPrefix + "memory"
	filesTool  = ownPrefix + "files"
)

// caller runs a call as an effect: see managed.Work.Call.
type caller func(context.Context, *agent.Call) (*agent.Reply, error)

// program is the Worker of a workflow.
type program struct {
	e     *Engine
	f     *flow
	leafs map[string]*worker // by path
	begin caller
}

// worker does the work of one leaf.
type worker struct {
	*leaf
	p    *program
	ask  func(context.Context, *agent.Request) iter.Seq2[*model.LLMResponse, error]
	call caller // of the tools that it has
	own  caller
}

// program makes the program of a workflow.
func (e *Engine) program(f *flow, w *managed.Work) (*agent.Program, error) {
	p := &program{e: e, f: f, leafs: map[string]*worker{}}
	tools, err := e.bind(f, w)
	if err != nil {
		return nil, err
	}
	var own []agent.Tool
	for _, t := range e.ownTools() {
		one, err := w.Tool(t, managed.ToolPolicy{})
		if err != nil {
			return nil, err
		}
		own = append(own, one)
	}
	if p.begin, err = w.Call(f.w.Name+".begin", own...); err != nil {
		return nil, err
	}
	for path, l := range f.leafs {
		k := &worker{leaf: l, p: p}
		if k.own, err = w.Call(l.Author+".own", own...); err != nil {
			return nil, err
		}
		list, err := l.uses(tools)
		if err != nil {
			return nil, err
		}
		if k.call, err = w.Call(l.Author, list...); err != nil {
			return nil, err
		}
		if l.Agent.Model != "" {
			if k.ask, err = w.Ask(l.Author, l.Agent.Model); err != nil {
				return nil, err
			}
		}
		p.leafs[path] = k
	}
	return f.c.Program(p), nil
}

// bind makes the tools that leaves of a workflow use, by name.
func (e *Engine) bind(f *flow, w *managed.Work) (map[string]agent.Tool, error) {
	tools, own := map[string]agent.Tool{}, map[string]bool{}
	for _, t := range w.Tools() { // of the definition: those of the client, and MCP servers
		tools[t.Name()] = t
	}
	for _, l := range f.leafs {
		for _, name := range l.tools {
			switch old := tools[name]; {
			case own[name]:
				continue
			case old != nil:
				return nil, fmt.Errorf("exec: the definition has a tool %q, and the operator has one that `%s` needs; give the "+
					"one of the definition another name", name, l.Agent.Name)
			}
			t, err := w.Tool(*e.tools[name], managed.ToolPolicy{})
			if err != nil {
				return nil, err
			}
			tools[name], own[name] = t, true
		}
	}
	return tools, nil
}

// Do does the work of a leaf. It never panics because of a hook, a tool or a function.
func (p *program) Do(ctx context.Context, _ *agent.Session, j *workflow.Job) (res *workflow.Result, err error) {
	k := p.leafs[j.Path]
	if k == nil {
		return nil, fmt.Errorf("exec: the workflow has no leaf %q", j.Path)
	}
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("it panicked: %v", v)
		}
		if err != nil && (res == nil || !res.Repeated) {
			res = nil
		}
	}()
	r, err := p.run(ctx, j.Visit.Flow.Turn)
	if err != nil {
		return nil, err
	}
	if j.Calls != nil {
		return k.runCalls(ctx, r, j)
	}
	ctx, replay := managed.WithReplay(ctx)
	if res, err = k.work(ctx, r, j); errors.Is(err, errWaits) {
		return &workflow.Result{Deferred: true}, nil
	}
	if err != nil && replay.Known() {
		return &workflow.Result{Repeated: true}, err
	}
	return res, err
}

// work does one attempt, or one request to the model.
func (k *worker) work(ctx context.Context, r *run, j *workflow.Job) (*workflow.Result, error) {
	s := r.scope(j)
	if len(j.Visit.Steps) == 0 {
		for _, h := range k.hooks {
			if h.BeforeAgent == nil {
				continue
			}
			if out, err := h.BeforeAgent(ctx, s); err != nil || out != nil {
				return k.done(ctx, r, j, &workflow.Result{Output: out}, err)
			}
		}
	}
	switch {
	case k.ask != nil:
		res, err := k.answer(ctx, r, j)
		switch {
		case err != nil || len(res.Calls) > 0:
			return res, err
		case res.Route != "":
			return res, r.remember(ctx, j, res)
		}
		return k.done(ctx, r, j, res, nil)
	case k.Agent.Tool != "":
		out, err := k.runTool(ctx, r, j)
		return k.done(ctx, r, j, &workflow.Result{Output: out}, err)
	}
	in, err := r.inputs(j)
	if err != nil {
		return nil, err
	}
	var out any
	if k.expr != nil {
		named := map[string]any{}
		for _, i := range j.Agent.Inputs {
			named[i.Name()] = in[i.Key]
		}
		out, err = k.expr(ctx, named)
	} else {
		out, err = k.function(ctx, r, in)
	}
	return k.done(ctx, r, j, &workflow.Result{Output: out}, err)
}

// done completes the result of a leaf: its output is what its JSON says, so that it is the same when the
// journal gives it back.
func (k *worker) done(ctx context.Context, r *run, j *workflow.Job, res *workflow.Result, err error) (*workflow.Result,
	error) {
	if err != nil {
		return nil, err
	}
	s := r.scope(j)
	for _, h := range k.hooks {
		if h.AfterAgent == nil {
			continue
		}
		out, err := h.AfterAgent(ctx, s, res.Output)
		if err != nil {
			return nil, err
		}
		if out != nil {
			res.Output, res.Event = out, nil
		}
	}
	if res.Output, err = plain(res.Output); err != nil {
		return nil, err
	}
	if err := r.keeps(k.Agent, res.Output); err != nil {
		return nil, err
	}
	if res.Event == nil {
		res.Event = j.Visit.Flow.Turn.NewEvent(j.Author)
		res.Event.Content = genai.NewContentFromText(workflow.TextOf(res.Output), genai.RoleModel)
	}
	if err := r.share(ctx, k, res.Output); err != nil {
		return nil, err
	}
	return res, r.remember(ctx, j, res)
}

// outputMax is the largest output of an agent, in bytes of JSON: an event must fit into a record of the journal.
const outputMax = 256 << 10

// plain is a value as its JSON says.
func plain(v any) (next any, err error) {
	if text, ok := v.(string); ok && len(text) <= outputMax/6 { // six bytes a character at most
		return text, nil
	}
	b, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("its output is no JSON: %w", err)
	}
	if len(b) > outputMax {
		return nil, fmt.Errorf("its output has %d bytes; at most %d are allowed", len(b), outputMax)
	}
	return next, json.Unmarshal(b, &next)
}

// effect runs a tool of the program's own as an effect of the session. Its error is also that of the tool.
func effect(ctx context.Context, via caller, t *agent.Turn, id, name string, args map[string]any) (map[string]any,
	error) {
	result, err := call(ctx, via, t, &genai.FunctionCall{ID: id, Name: name, Args: args})
	if text, ok := result["error"].(string); err == nil && ok {
		return nil, errors.New(text)
	}
	return result, err
}

// errWaits means that a call waits for the client. The run parks, and comes back to the call when it goes on.
var errWaits = errors.New("the call waits for the client")

// call runs a call as an effect of the session. An error of the tool is a result.
func call(ctx context.Context, via caller, t *agent.Turn, c *genai.FunctionCall) (map[string]any, error) {
	reply, err := via(ctx, &agent.Call{Turn: t, Call: c})
	switch {
	case err != nil:
		return nil, err
	case reply.Deferred:
		return nil, errWaits
	case reply.Fault != nil && reply.Response == nil:
		return nil, errors.New(reply.Fault.Text)
	}
	return reply.Response, nil
}

// failed is why the result of a call is a failure.
func failed(result map[string]any) (string, bool) {
	text, ok := result["error"].(string)
	if ok && text != "" && (result["status"] == nil || result["status"] == "error") {
		return text, true
	}
	if result["status"] == "error" {
		return workflow.TextOf(result), true
	}
	return "", false
}

// function calls the function of a code agent.
func (k *worker) function(ctx context.Context, r *run, in map[string]any) (any, error) {
	name := onceTool
	if k.p.e.cfg.Functions[k.Agent.Function].Idempotent {
		name = againTool
	}
	result, err := effect(ctx, k.own, r.turn, "function", name, map[string]any{"name": k.Agent.Function, "inputs": in})
	return result["output"], err
}

// runTool calls the tool of a tool agent.
func (k *worker) runTool(ctx context.Context, r *run, j *workflow.Job) (any, error) {
	args, err := r.filled(j, k.Agent.ToolConfig)
	if err != nil {
		return nil, err
	}
	given, _ := args.(map[string]any)
	result, err := k.callTool(ctx, r, j, &genai.FunctionCall{ID: "tool", Name: k.Agent.Tool, Args: given})
	if err != nil {
		return nil, err
	}
	if text, ok := failed(result); ok {
		return nil, errors.New(text)
	}
	return valueOf(result), nil
}

// valueOf is what the result of a tool is worth: without the status of success, and `result` alone for itself.
func valueOf(result map[string]any) any {
	if result["status"] == "success" {
		result = maps.Clone(result)
		delete(result, "status")
	}
	if v, ok := result["result"]; ok && len(result) == 1 {
		return v
	}
	return result
}

// ownTools are the tools of a program's own.
func (e *Engine) ownTools() []managed.Tool {
	type work = func(context.Context, managed.ToolCall) (map[string]any, error)
	tool := func(name string, again bool, call work) managed.Tool {
		return managed.Tool{Declaration: &genai.FunctionDeclaration{Name: name}, Idempotent: again,
			Call: func(ctx context.Context, c managed.ToolCall) (map[string]any, error) {
				result, err := call(ctx, c)
				if err != nil {
					return nil, err // a result beside an error would be taken for one
				}
				return result, nil
			}}
	}
	function := func(ctx context.Context, c managed.ToolCall) (map[string]any, error) {
		name, _ := c.Args["name"].(string)
		in, err := plain(c.Args["inputs"]) // of its own: it may change them
		if err != nil {
			return nil, err
		}
		values, _ := in.(map[string]any)
		out, err := e.cfg.Functions[name].Call(ctx, values)
		if err != nil {
			return nil, err
		}
		return map[string]any{"output": out}, nil
	}
	return []managed.Tool{tool(beginTool, true, e.seed), tool(setTool, true, e.set), tool(onceTool, false, function),
		tool(againTool, true, function), tool(searchTool, true, e.search), tool(filesTool, true, e.files)}
}

// run is what the leaves of one run share.
type run struct {
	p    *program
	turn *agent.Turn
	ctx  *managed.TurnContext

	mu     sync.Mutex
	seeds  map[string]any // nil until they are read
	failed map[string]int // calls of tools, by path and tool
	sizes  map[string]int // of the values of state keys that the session keeps, in bytes of JSON
	said   []*session.Event
}

// run is that of a turn. Its seeds are read once, before any leaf of it works.
func (p *program) run(ctx context.Context, t *agent.Turn) (*run, error) {
	tc := managed.ContextOf(t)
	v, _ := tc.Local.LoadOrStore("run", &run{p: p, turn: t, ctx: tc, failed: map[string]int{}, sizes: map[string]int{}})
	r := v.(*run)
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.seeds != nil {
		return r, nil
	}
	args := map[string]any{}
	if p.f.users {
		args["app"], args["user"] = p.appPlace(), p.userPlace(tc.Owner)
	}
	seeds, err := effect(ctx, p.begin, t, "begin", beginTool, args)
	if err != nil {
		return nil, fmt.Errorf("the run cannot begin: %w", err)
	}
	if p.f.saves {
		if err := r.save(ctx); err != nil {
			return nil, err
		}
	}
	r.seeds = seeds
	return r, nil
}

// scope is what hooks learn.
func (r *run) scope(j *workflow.Job) *Scope {
	return &Scope{Workflow: r.p.f.w.Name, Agent: j.Agent, Path: j.Path, Session: r.ctx.Session, Owner: r.ctx.Owner,
		Value: func(key string) (any, bool) { return r.value(j, key) }, failures: func(tool string) int {
			r.mu.Lock()
			defer r.mu.Unlock()
			r.failed[j.Path+" "+tool]++
			return r.failed[j.Path+" "+tool]
		}}
}

// value is the value of a state key as a leaf sees it: what its path has written, then what the run began with,
// then what earlier runs of the session have left.
func (r *run) value(j *workflow.Job, key string) (any, bool) {
	if v, ok := j.Visit.Flow.State.Get(key); ok {
		return v, true
	}
	if v, ok := r.seeds[key]; ok {
		return v, true
	}
	if strings.Contains(key, ":") {
		return nil, false
	}
	v, ok := r.ctx.State[key]
	return v, ok
}

// inputs are the values of input_keys.
func (r *run) inputs(j *workflow.Job) (map[string]any, error) {
	in := map[string]any{}
	for _, i := range j.Agent.Inputs {
		v, ok := r.value(j, i.Key)
		if !ok && !i.Optional {
			return nil, missing(i.Key, "input_keys", `"`+i.Key+`?"`)
		}
		in[i.Key] = v
	}
	return in, nil
}

package adkagent

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
	"time"

	"go.opentelemetry.io/otel/trace"
	adk "google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/agent/llmagent"
	"google.golang.org/adk/v2/model"
	"google.golang.org/adk/v2/session"
	"google.golang.org/adk/v2/tool"
	"google.golang.org/adk/v2/tool/toolconfirmation"
	"google.golang.org/genai"

	"github.com/voicegw/voicegw/agent"
)

// toolbox runs calls of ADK tools the way ADK's own agent does: with plugins, callbacks, confirmations
// and spans. It is safe for concurrent use.
type toolbox struct {
	tools  []tool.Tool
	sets   []tool.Toolset
	before []llmagent.BeforeToolCallback
	after  []llmagent.AfterToolCallback
	failed []llmagent.OnToolErrorCallback

	keys   contextKeys
	tracer trace.Tracer // newTracer makes it
}

// The interfaces of ADK's tools, whose package others cannot import.
type (
	functionTool interface {
		tool.Tool
		Declaration() *genai.FunctionDeclaration
		Run(ctx adk.Context, args any) (map[string]any, error)
	}
	streamingTool interface {
		tool.Tool
		RunStream(ctx adk.Context, args any) iter.Seq2[string, error]
	}
	requestProcessor interface {
		ProcessRequest(ctx adk.Context, req *model.LLMRequest) error
	}
	deferrer interface{ DefersResponse() bool }
)

// toolResult is what one call came to.
type toolResult struct {
	// response is for the model. It is nil exactly if deferred.
	response map[string]any
	// actions are what the tool and its callbacks asked for. A confirmation that the tool requires is
	// among them.
	actions *session.EventActions
	// deferred means that the result comes later, as a message of the user.
	deferred bool
	// fault is what went wrong; response tells the model. nil if nothing did, or if the tool only wants
	// a confirmation.
	fault *agent.Fault
}

// pack lets the tools and toolsets add themselves to a request. req.Tools then holds the tools that the
// model may call, by name.
func (b *toolbox) pack(ctx adk.InvocationContext, req *model.LLMRequest) error {
	if len(b.tools) == 0 && len(b.sets) == 0 {
		return nil
	}
	in := adk.NewToolContext(ctx, "request", &session.EventActions{}, nil)
	list := b.tools
	for _, set := range b.sets {
		more, err := set.Tools(b.keys.readonly(ctx))
		if err != nil {
			return fmt.Errorf("list the tools of toolset %q: %w", set.Name(), err)
		}
		list = append(slices.Clip(list), more...)
	}
	for _, t := range list {
		p, ok := t.(requestProcessor)
		if !ok {
			return fmt.Errorf("the tool %q has no method ProcessRequest", t.Name())
		}
		if err := p.ProcessRequest(in, req); err != nil {
			return fmt.Errorf("add the tool %q: %w", t.Name(), err)
		}
	}
	for _, set := range b.sets {
		if p, ok := set.(requestProcessor); ok {
			if err := p.ProcessRequest(in, req); err != nil {
				return fmt.Errorf("add the toolset %q: %w", set.Name(), err)
			}
		}
	}
	return nil
}

// call runs one call. tools are those of the request that the call answers: LLMRequest.Tools after pack.
// confirmed is what the user said about the call, nil if the user was not asked. Errors and panics are
// results. ctx ends when nobody wants the result any more.
func (b *toolbox) call(ctx adk.InvocationContext, tools map[string]any, c *genai.FunctionCall,
	confirmed *toolconfirmation.ToolConfirmation) toolResult {
	spanCtx, end := startToolSpan(ctx, b.tracer, c)
	if spanCtx != nil {
		ctx = ctx.WithContext(spanCtx)
	}
	actions := &session.EventActions{StateDelta: map[string]any{}, ArtifactDelta: map[string]int64{}}
	in := adk.NewToolContext(ctx, c.ID, actions, confirmed)
	r := toolResult{actions: actions}
	t, _ := tools[c.Name].(tool.Tool)
	var err error
	switch run := runnable(t); {
	case run == nil:
		r.fault = &agent.Fault{Code: agent.UnknownTool, Tool: c.Name, Call: c.ID,
			Text: fmt.Sprintf("there is no tool %q; the tools are: %s", c.Name, strings.Join(slices.Sorted(maps.Keys(tools)),
				", "))}
		t = noTool(c.Name)
		r.response, err = b.onError(in, t, c.Args, errors.New(r.fault.Text))
	default:
		r.response, err = b.run(in, t, run, c.Args)
	}
	switch d, defers := t.(deferrer); {
	case err != nil:
		r.response = map[string]any{"error": brief(err)}
		r.fault = b.blame(r.fault, c, err)
	case r.response != nil:
		r.fault = nil
	case t.IsLongRunning() || defers && d.DefersResponse():
		r.deferred = true
	default:
		r.response = map[string]any{}
	}
	end(t.Description(), r.response, err)
	return r
}

// blame is the fault of a call that failed.
func (b *toolbox) blame(known *agent.Fault, c *genai.FunctionCall, err error) *agent.Fault {
	if known != nil || errors.Is(err, tool.ErrConfirmationRequired) {
		return known
	}
	return &agent.Fault{Code: agent.ToolFailed, Tool: c.Name, Call: c.ID, Text: brief(err)}
}

// brief is the text of an error without the stack that ADK adds to a panic: it is of no use to a model,
// and it differs from run to run.
func brief(err error) string {
	text, _, _ := strings.Cut(err.Error(), "\nstack: ")
	return text
}

// run runs a tool between its plugins and callbacks, in ADK's order.
func (b *toolbox) run(in adk.Context, t tool.Tool, run runFunc, args map[string]any) (map[string]any, error) {
	p := b.keys.plugins(in)
	var r map[string]any
	var err error
	if p != nil {
		r, err = p.RunBeforeToolCallback(in, t, args)
	}
	for _, cb := range b.before {
		if r != nil || err != nil {
			break
		}
		r, err = cb(in, t, args)
	}
	if r == nil && err == nil {
		r, err = run.safely(in, args)
	}
	if err != nil {
		if instead, failed := b.onError(in, t, args, err); instead != nil || failed != nil {
			r, err = instead, failed
		}
	}
	var changed map[string]any
	var failed error
	if p != nil {
		changed, failed = p.RunAfterToolCallback(in, t, args, r, err)
	}
	for _, cb := range b.after {
		if changed != nil || failed != nil {
			break
		}
		changed, failed = cb(in, t, args, r, err)
	}
	if changed != nil || failed != nil {
		return changed, failed
	}
	return r, err
}

// onError asks plugins and callbacks about a failure. Without an answer the failure stands.
func (b *toolbox) onError(in adk.Context, t tool.Tool, args map[string]any, failed error) (map[string]any, error) {
	if p := b.keys.plugins(in); p != nil {
		if r, err := p.RunOnToolErrorCallback(in, t, args, failed); r != nil || err != nil {
			return r, err
		}
	}
	for _, cb := range b.failed {
		if r, err := cb(in, t, args, failed); r != nil || err != nil {
			return r, err
		}
	}
	return nil, failed
}

// runFunc runs a tool.
type runFunc func(ctx adk.Context, args any) (map[string]any, error)

// runnable returns how a tool is run, or nil if it is not.
func runnable(t tool.Tool) runFunc {
	switch t := t.(type) {
	case streamingTool:
		return func(ctx adk.Context, args any) (map[string]any, error) {
			var all strings.Builder
			for part, err := range t.RunStream(ctx, args) {
				if err != nil {
					return nil, err
				}
				all.WriteString(part)
			}
			return map[string]any{"result": all.String()}, nil
		}
	case functionTool:
		return t.Run
	}
	return nil
}

// safely turns a panic into an error, so that callbacks see it.
func (run runFunc) safely(ctx adk.Context, args map[string]any) (r map[string]any, err error) {
	defer func() {
		if p := recover(); p != nil {
			r, err = nil, fmt.Errorf("panic: %v", p)
		}
	}()
	return run(ctx, args)
}

// longRunning returns the ids of the calls among parts whose tools may answer later.
func longRunning(tools map[string]any, c *genai.Content) []string {
	if c == nil {
		return nil
	}
	var ids []string
	for _, p := range c.Parts {
		if p == nil || p.FunctionCall == nil {
			continue
		}
		if t, ok := tools[p.FunctionCall.Name].(tool.Tool); ok && t.IsLongRunning() {
			ids = append(ids, p.FunctionCall.ID)
		}
	}
	return ids
}

// noTool is a tool that does not exist, for callbacks.
type noTool string

func (n noTool) Name() string      { return string(n) }
func (noTool) Description() string { return "there is no such tool" }
func (noTool) IsLongRunning() bool { return false }

// during returns an invocation whose context ends with that of a task: the values are those of the
// invocation, the end is that of the task.
func during(task context.Context, ic adk.InvocationContext) adk.InvocationContext {
	return ic.WithContext(taskContext{Context: ic, task: task})
}

// taskContext has the values of one context and the end of another.
type taskContext struct {
	context.Context
	task context.Context
}

func (c taskContext) Deadline() (time.Time, bool) { return c.task.Deadline() }
func (c taskContext) Done() <-chan struct{}       { return c.task.Done() }
func (c taskContext) Err() error                  { return c.task.Err() }

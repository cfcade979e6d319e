package adkagent

import (
	"context"
	"errors"
	"iter"
	"reflect"
	"strings"

	"go.opentelemetry.io/otel/trace"
	adk "google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/agent/llmagent"
	"google.golang.org/adk/v2/model"
	"google.golang.org/adk/v2/session"
	"google.golang.org/adk/v2/tool"
	"google.golang.org/genai"
)

// plugins are the runner's plugins.
type plugins interface {
	RunBeforeAgentCallback(ctx adk.Context) (*genai.Content, error)
	RunAfterAgentCallback(ctx adk.Context) (*genai.Content, error)
	RunBeforeModelCallback(ctx adk.Context, req *model.LLMRequest) (*model.LLMResponse, error)
	RunAfterModelCallback(ctx adk.Context, resp *model.LLMResponse, err error) (*model.LLMResponse, error)
	RunOnModelErrorCallback(ctx adk.Context, req *model.LLMRequest, err error) (*model.LLMResponse, error)
	RunBeforeToolCallback(ctx adk.Context, t tool.Tool, args map[string]any) (map[string]any, error)
	RunAfterToolCallback(ctx adk.Context, t tool.Tool, args, result map[string]any, err error) (map[string]any, error)
	RunOnToolErrorCallback(ctx adk.Context, t tool.Tool, args map[string]any, err error) (map[string]any, error)
}

// contextKeys are what ADK keeps in packages that others cannot import.
type contextKeys struct {
	plugin any          // the key of the runner's plugins in the context of a run
	reader reflect.Type // what toolsets and providers of instructions get: a pointer to a struct
}

// errNotThisADK means that this ADK is not the one that the package was written for.
var errNotThisADK = errors.New("adkagent: this version of ADK keeps its plugins or contexts elsewhere; use v2.2.0")

// plugins returns the plugins of the runner, or nil.
func (k contextKeys) plugins(ctx context.Context) plugins {
	p, _ := ctx.Value(k.plugin).(plugins)
	return p
}

// readonly returns an invocation as toolsets and providers of instructions get it from ADK's own agents.
// ADK's functions for them take nothing else.
func (k contextKeys) readonly(ic adk.InvocationContext) adk.ReadonlyContext {
	v := reflect.New(k.reader.Elem())
	v.Elem().FieldByName("Context").Set(reflect.ValueOf(ic))
	v.Elem().FieldByName("InvocationContext").Set(reflect.ValueOf(ic))
	return v.Interface().(adk.ReadonlyContext)
}

// findContextKeys finds the keys. ADK asks the context for its plugins before it runs an agent, and then the
// toolsets of the agent for their tools. So an agent of ADK whose toolset fails shows both.
func findContextKeys() (contextKeys, error) {
	p := &probe{}
	a, err := llmagent.New(llmagent.Config{Name: "probe", Model: p, Toolsets: []tool.Toolset{p}})
	if err != nil {
		return contextKeys{}, err
	}
	// The parent is not sampled, so the run leaves no span.
	unsampled := trace.NewSpanContext(trace.SpanContextConfig{TraceID: trace.TraceID{1}, SpanID: trace.SpanID{1}})
	l := &listener{Context: trace.ContextWithSpanContext(context.Background(), unsampled), agent: a, asked: map[any]bool{}}
	for range a.Run(l) { // it fails
	}
	for key := range l.asked {
		if strings.HasSuffix(reflect.TypeOf(key).PkgPath(), "/plugininternal/plugincontext") {
			p.keys.plugin = key
		}
	}
	if p.keys.plugin == nil || p.keys.reader == nil {
		return contextKeys{}, errNotThisADK
	}
	return p.keys, nil
}

// probe is a model that is not asked, and a toolset that fails.
type probe struct{ keys contextKeys }

func (*probe) Name() string { return "probe" }

func (*probe) GenerateContent(context.Context, *model.LLMRequest, bool) iter.Seq2[*model.LLMResponse, error] {
	return func(func(*model.LLMResponse, error) bool) {}
}

func (p *probe) Tools(ctx adk.ReadonlyContext) ([]tool.Tool, error) {
	t, want := reflect.TypeOf(ctx), reflect.TypeFor[adk.InvocationContext]()
	if t.Kind() == reflect.Pointer && t.Elem().Kind() == reflect.Struct {
		embedded, ok := t.Elem().FieldByName("Context")
		inner, ok2 := t.Elem().FieldByName("InvocationContext")
		if ok && ok2 && want.AssignableTo(embedded.Type) && want.AssignableTo(inner.Type) && t.Elem().NumField() == 2 {
			p.keys.reader = t
		}
	}
	return nil, errNotThisADK
}

// listener is an invocation that notes for which keys it is asked.
type listener struct {
	context.Context
	agent adk.Agent
	asked map[any]bool
}

func (l *listener) Value(key any) any {
	l.asked[key] = true
	return l.Context.Value(key)
}

// WithContext returns the invocation with another context.
func (l *listener) WithContext(ctx context.Context) adk.InvocationContext {
	return &listener{Context: ctx, agent: l.agent, asked: l.asked}
}

// WithICDelta returns the invocation with the changes that ADK makes when it runs an agent.
func (l *listener) WithICDelta(d *adk.InvocationContextDelta) adk.InvocationContext {
	own := *l
	if d != nil && d.Agent != nil {
		own.agent = *d.Agent
	}
	if d != nil && d.Context != nil {
		own.Context = *d.Context
	}
	return &own
}

func (l *listener) Agent() adk.Agent                { return l.agent }
func (l *listener) Artifacts() adk.Artifacts        { return nil }
func (l *listener) Memory() adk.Memory              { return nil }
func (l *listener) Session() session.Session        { return nil }
func (l *listener) InvocationID() string            { return "" }
func (l *listener) Branch() string                  { return "" }
func (l *listener) IsolationScope() string          { return "" }
func (l *listener) UserContent() *genai.Content     { return nil }
func (l *listener) RunConfig() *adk.RunConfig       { return nil }
func (l *listener) EndInvocation()                  {}
func (l *listener) Ended() bool                     { return false }
func (l *listener) ResumedInput(string) (any, bool) { return nil, false }

package adkagent

import (
	"context"
	"errors"
	"iter"
	"reflect"
	"strings"

	"go.opentelemetry.io/otel/trace"
	adk "google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/model"
	"google.golang.org/adk/v2/session"
	"google.golang.org/adk/v2/tool"
	"google.golang.org/genai"
)

// plugins are the runner's plugins.
type plugins interface {
	RunBeforeModelCallback(ctx adk.Context, req *model.LLMRequest) (*model.LLMResponse, error)
	RunAfterModelCallback(ctx adk.Context, resp *model.LLMResponse, err error) (*model.LLMResponse, error)
	RunOnModelErrorCallback(ctx adk.Context, req *model.LLMRequest, err error) (*model.LLMResponse, error)
	RunBeforeToolCallback(ctx adk.Context, t tool.Tool, args map[string]any) (map[string]any, error)
	RunAfterToolCallback(ctx adk.Context, t tool.Tool, args, result map[string]any, err error) (map[string]any, error)
	RunOnToolErrorCallback(ctx adk.Context, t tool.Tool, args map[string]any, err error) (map[string]any, error)
}

// contextKeys are the keys under which ADK keeps things in the context of a run.
type contextKeys struct{ plugin any }

// errNoPluginKey means that this ADK is not the one that the package was written for.
var errNoPluginKey = errors.New("adkagent: this version of ADK does not keep plugins in the context; use v2.2.0")

// plugins returns the plugins of the runner, or nil.
func (k contextKeys) plugins(ctx context.Context) plugins {
	p, _ := ctx.Value(k.plugin).(plugins)
	return p
}

// findContextKeys finds the keys. Their types belong to packages that others cannot import, but ADK asks
// the context for them before it runs an agent. So the context of a run that does nothing learns them.
func findContextKeys() (contextKeys, error) {
	idle, err := adk.New(adk.Config{Name: "idle", Run: func(adk.InvocationContext) iter.Seq2[*session.Event, error] {
		return func(func(*session.Event, error) bool) {}
	}})
	if err != nil {
		return contextKeys{}, err
	}
	// The parent is not sampled, so the run leaves no span.
	unsampled := trace.NewSpanContext(trace.SpanContextConfig{TraceID: trace.TraceID{1}, SpanID: trace.SpanID{1}})
	l := &listener{Context: trace.ContextWithSpanContext(context.Background(), unsampled), agent: idle, asked: map[any]bool{}}
	for range idle.Run(l) { // it yields nothing
	}
	for key := range l.asked {
		if strings.HasSuffix(reflect.TypeOf(key).PkgPath(), "/plugininternal/plugincontext") {
			return contextKeys{plugin: key}, nil
		}
	}
	return contextKeys{}, errNoPluginKey
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

func (l *listener) with(ctx context.Context) *listener {
	return &listener{Context: ctx, agent: l.agent, asked: l.asked}
}

func (l *listener) Agent() adk.Agent                                              { return l.agent }
func (l *listener) Artifacts() adk.Artifacts                                      { return nil }
func (l *listener) Memory() adk.Memory                                            { return nil }
func (l *listener) Session() session.Session                                      { return nil }
func (l *listener) InvocationID() string                                          { return "" }
func (l *listener) Branch() string                                                { return "" }
func (l *listener) IsolationScope() string                                        { return "" }
func (l *listener) UserContent() *genai.Content                                   { return nil }
func (l *listener) RunConfig() *adk.RunConfig                                     { return nil }
func (l *listener) EndInvocation()                                                {}
func (l *listener) Ended() bool                                                   { return false }
func (l *listener) ResumedInput(string) (any, bool)                               { return nil, false }
func (l *listener) WithContext(ctx context.Context) adk.InvocationContext         { return l.with(ctx) }
func (l *listener) WithICDelta(*adk.InvocationContextDelta) adk.InvocationContext { return l }

package adkagent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"strings"
	"sync"
	"testing"

	adk "google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/agent/llmagent"
	"google.golang.org/adk/v2/artifact"
	"google.golang.org/adk/v2/memory"
	"google.golang.org/adk/v2/model"
	"google.golang.org/adk/v2/runner"
	"google.golang.org/adk/v2/session"
	"google.golang.org/adk/v2/tool"
	"google.golang.org/adk/v2/tool/functiontool"
	"google.golang.org/genai"

	"github.com/voicegw/voicegw/agent"
	"github.com/voicegw/voicegw/agent/provider"
)

const app, user, sid = "app", "ada", "s1"

// world is a stock runner with our agent, or another one, over a session service.
type world struct {
	t   testing.TB
	r   *runner.Runner
	svc session.Service
}

func newWorld(t testing.TB, a adk.Agent, change ...func(*runner.Config)) *world {
	t.Helper()
	c := runner.Config{AppName: app, Agent: a, SessionService: session.InMemoryService(),
		ArtifactService: artifact.InMemoryService(), MemoryService: memory.InMemoryService(), AutoCreateSession: true}
	for _, f := range change {
		f(&c)
	}
	r, err := runner.New(c)
	if err != nil {
		t.Fatal(err)
	}
	if own, ok := a.(*Agent); ok {
		t.Cleanup(func() { _ = own.Close() })
	}
	return &world{t: t, r: r, svc: c.SessionService}
}

// over sets the session service of a runner.
func over(s session.Service) func(*runner.Config) {
	return func(c *runner.Config) { c.SessionService = s }
}

func mustNew(t testing.TB, c llmagent.Config, o Options) *Agent {
	t.Helper()
	if c.Name == "" {
		c.Name = "host"
	}
	a, err := New(c, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = a.Close() })
	return a
}

// run sends a message and returns every event as text, and the error.
func (w *world) run(ctx context.Context, c *genai.Content, id string, o ...runner.RunOption) ([]string, error) {
	var lines []string
	for ev, err := range w.r.Run(ctx, user, id, c, adk.RunConfig{}, o...) {
		if err != nil {
			return lines, err
		}
		lines = append(lines, line(ev))
	}
	return lines, nil
}

func (w *world) say(text string) ([]string, error) {
	return w.run(w.t.Context(), genai.NewContentFromText(text, genai.RoleUser), sid)
}

// must sends a message and checks the events.
func (w *world) must(text string, want ...string) {
	w.t.Helper()
	w.mustContent(genai.NewContentFromText(text, genai.RoleUser), want...)
}

func (w *world) mustContent(c *genai.Content, want ...string) {
	w.t.Helper()
	got, err := w.run(w.t.Context(), c, sid)
	if err != nil {
		w.t.Errorf("%s: %v", line(&session.Event{LLMResponse: response(c)}), err)
	}
	same(w.t, got, want)
}

func same(t testing.TB, got, want []string) {
	t.Helper()
	if a, b := strings.Join(got, "\n"), strings.Join(want, "\n"); a != b {
		t.Errorf("got\n%s\nwant\n%s", a, b)
	}
}

// events are the stored events of the session.
func (w *world) events() []*session.Event {
	w.t.Helper()
	got, err := w.svc.Get(w.t.Context(), &session.GetRequest{AppName: app, UserID: user, SessionID: sid})
	if err != nil {
		w.t.Fatal(err)
	}
	return eventsOf(got.Session)
}

// line is an event as text.
func line(ev *session.Event) string {
	var b strings.Builder
	b.WriteString(ev.Author)
	if ev.Branch != "" {
		b.WriteString("@" + ev.Branch)
	}
	if ev.Partial {
		b.WriteString(" partial")
	}
	for _, p := range partsOf(ev) {
		switch {
		case p.FunctionCall != nil:
			j, _ := json.Marshal(p.FunctionCall.Args)
			fmt.Fprintf(&b, " call %s%s", p.FunctionCall.Name, j)
		case p.FunctionResponse != nil:
			j, _ := json.Marshal(p.FunctionResponse.Response)
			fmt.Fprintf(&b, " result %s%s", p.FunctionResponse.Name, j)
		default:
			fmt.Fprintf(&b, " %q", p.Text)
		}
	}
	if n := len(ev.LongRunningToolIDs); n > 0 {
		fmt.Fprintf(&b, " long %d", n)
	}
	if to := ev.Actions.TransferToAgent; to != "" {
		b.WriteString(" transfer " + to)
	}
	for _, f := range agent.Faults(ev) {
		b.WriteString(" ! " + string(f.Code))
	}
	return b.String()
}

// turnList is a model that answers with one turn after another, for every caller.
type turnList struct {
	mu    sync.Mutex
	turns []provider.ScriptTurn
}

func inTurn(turns ...provider.ScriptTurn) *turnList { return &turnList{turns: turns} }

func (*turnList) Name() string { return "in turn" }

func (l *turnList) GenerateContent(ctx context.Context, _ *model.LLMRequest, stream bool,
) iter.Seq2[*model.LLMResponse, error] {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.turns) == 0 {
		return script().GenerateContent(ctx, &model.LLMRequest{}, stream)
	}
	t := l.turns[0]
	l.turns = l.turns[1:]
	return script(t).GenerateContent(ctx, &model.LLMRequest{}, stream)
}

func script(turns ...provider.ScriptTurn) *provider.Script { return &provider.Script{Turns: turns} }

func calls(list ...provider.ScriptCall) provider.ScriptTurn { return provider.ScriptTurn{Calls: list} }

func call(name string, args ...any) provider.ScriptCall {
	c := provider.ScriptCall{Name: name}
	for i := 0; i < len(args); i += 2 {
		if c.Args == nil {
			c.Args = map[string]any{}
		}
		c.Args[args[i].(string)] = args[i+1]
	}
	return c
}

func text(s string) provider.ScriptTurn { return provider.ScriptTurn{Text: s} }

func transfer(to string) provider.ScriptCall { return call("transfer_to_agent", "agent_name", to) }

// fn makes a function tool.
func fn[A any](t testing.TB, name string, do func(adk.Context, A) (map[string]any, error),
	change ...func(*functiontool.Config)) tool.Tool {
	t.Helper()
	c := functiontool.Config{Name: name, Description: "the tool " + name}
	for _, f := range change {
		f(&c)
	}
	made, err := functiontool.New(c, do)
	if err != nil {
		t.Fatal(err)
	}
	return made
}

type dayArgs struct {
	Day string `json:"day"`
}

// menu answers with the dish of a day.
func menu(t testing.TB) tool.Tool {
	return fn(t, "menu", func(_ adk.Context, a dayArgs) (map[string]any, error) {
		return map[string]any{"dish": "soup of " + a.Day}, nil
	})
}

func monday() provider.ScriptCall { return call("menu", "day", "monday") }

// mustFault checks that an error carries a fault.
func mustFault(t testing.TB, err error, code agent.Code) {
	t.Helper()
	var f *agent.Fault
	if !errors.As(err, &f) || f.Code != code {
		t.Errorf("the error is %v; want %s", err, code)
	}
}

// probeTool is a tool of package agent that looks at the invocation.
type probeTool struct{ seen *adk.InvocationContext }

func (probeTool) Name() string { return "probe" }

func (probeTool) Declaration() *genai.FunctionDeclaration {
	return &genai.FunctionDeclaration{Name: "probe"}
}

func (p probeTool) Call(ctx context.Context, c *agent.Call) (*agent.Reply, error) {
	ic := Invocation(ctx, c.Turn)
	*p.seen = ic
	return &agent.Reply{Response: map[string]any{"user": ic.Session().UserID()}}, nil
}

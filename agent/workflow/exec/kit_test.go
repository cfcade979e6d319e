package exec

import (
	"context"
	"fmt"
	"iter"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/adk/v2/artifact"
	"google.golang.org/adk/v2/model"
	"google.golang.org/genai"

	"github.com/voicegw/voicegw/agent/managed"
	"github.com/voicegw/voicegw/agent/provider"
	"github.com/voicegw/voicegw/agent/workflow"
	"github.com/voicegw/voicegw/journal"
	"github.com/voicegw/voicegw/journal/journaltest"
)

var ada = managed.Owner{Tenant: "acme", User: "ada"}

// mind is a model that answers what a function says. Its requests are kept.
type mind struct {
	do func(r *model.LLMRequest) provider.ScriptTurn

	mu    sync.Mutex
	asked []*model.LLMRequest
}

func (m *mind) Name() string { return "mind" }

func (m *mind) GenerateContent(ctx context.Context, r *model.LLMRequest, stream bool,
) iter.Seq2[*model.LLMResponse, error] {
	m.mu.Lock()
	m.asked = append(m.asked, r)
	m.mu.Unlock()
	s := &provider.Script{Turns: []provider.ScriptTurn{m.do(r)}, Repeat: true}
	return s.GenerateContent(ctx, r, stream)
}

// orders are the instruction of a request.
func orders(r *model.LLMRequest) string { return text(r.Config.SystemInstruction) }

// text is the text of contents; calls and results have their names.
func text(list ...*genai.Content) string {
	var all []string
	for _, c := range list {
		for _, p := range c.Parts {
			switch {
			case p.FunctionCall != nil:
				all = append(all, "call "+p.FunctionCall.Name)
			case p.FunctionResponse != nil:
				all = append(all, fmt.Sprintf("result %s %v", p.FunctionResponse.Name, p.FunctionResponse.Response))
			case p.Thought:
				all = append(all, "thought "+p.Text)
			default:
				all = append(all, p.Text)
			}
		}
	}
	return strings.Join(all, " | ")
}

func says(text string) provider.ScriptTurn { return provider.ScriptTurn{Text: text} }

func calls(list ...provider.ScriptCall) provider.ScriptTurn { return provider.ScriptTurn{Calls: list} }

// echo answers with the instruction.
func echo(r *model.LLMRequest) provider.ScriptTurn { return says(orders(r)) }

// house is a runtime with an engine and a session of its first workflow.
type house struct {
	*testing.T
	e       *Engine
	rt      *managed.Runtime
	model   *mind
	journal journal.Engine
	cfg     managed.Config
	session string
	last    uint64 // number of the last event that run has returned
}

// tools are the Config of most tests.
func tools() Config {
	look := managed.Tool{Declaration: &genai.FunctionDeclaration{Name: "look", Description: "looks"}, Idempotent: true,
		Call: func(_ context.Context, c managed.ToolCall) (map[string]any, error) {
			if c.Args["fail"] == true {
				return nil, fmt.Errorf("it is dark")
			}
			return map[string]any{"result": c.Args}, nil
		}}
	return Config{Tools: []managed.Tool{look}, Functions: map[string]Function{
		"join": {Call: func(_ context.Context, in map[string]any) (any, error) { return fmt.Sprint(in), nil }},
		"fail": {Call: func(context.Context, map[string]any) (any, error) { return nil, fmt.Errorf("no luck") }},
		"same": {Call: func(_ context.Context, in map[string]any) (any, error) { return in["x"], nil }},
	}, Expression: func(text string, keys []string) (func(context.Context, map[string]any) (any, error), error) {
		if text == "'bad'" {
			return nil, fmt.Errorf("it is no expression")
		}
		return func(_ context.Context, in map[string]any) (any, error) { return []any{text, in[keys[0]]}, nil }, nil
	}, Now: func() time.Time { return time.Date(2026, 11, 24, 22, 0, 0, 0, time.UTC) }}
}

// load compiles and proves a workflow.
func load(t testing.TB, e *Engine, text string) (*workflow.Compiled, *workflow.Report) {
	t.Helper()
	w, found := workflow.Load("flow.yaml", []byte(text), e.Registry())
	if len(found) > 0 {
		t.Fatal(found)
	}
	c, found := workflow.Compile(w)
	if len(found) > 0 {
		t.Fatal(found)
	}
	r, err := workflow.Verify(t.Context(), c)
	if err != nil || !r.Accepted() {
		t.Fatal(r.Findings, err)
	}
	return c, r
}

// newHouse begins a session of a workflow. do answers for all its models.
func newHouse(t *testing.T, text string, c Config, do func(*model.LLMRequest) provider.ScriptTurn) *house {
	t.Helper()
	e, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	h := &house{T: t, e: e, model: &mind{do: do}, journal: journaltest.NewMemory()}
	if err := e.Add(load(t, e, text)); err != nil {
		t.Fatal(err)
	}
	models := provider.NewResolver()
	for _, name := range []string{"mind", "gemini", "parrot"} {
		models.Add(name, func(provider.Ref) (model.LLM, error) { return h.model, nil })
	}
	d, err := e.Definition(e.Names()[0])
	if err != nil {
		t.Fatal(err)
	}
	h.cfg = managed.Config{Journal: h.journal, Models: models, Node: "a", Programs: e.Programs(),
		Limits: managed.Limits{Backoff: []time.Duration{time.Millisecond}}}
	h.open()
	a, err := h.rt.CreateAgent(t.Context(), ada, d)
	if err != nil {
		t.Fatal(err)
	}
	s, err := h.rt.StartSession(t.Context(), ada, managed.SessionRequest{Agent: a.ID})
	if err != nil {
		t.Fatal(err)
	}
	h.session = s.ID
	return h
}

func (h *house) open() {
	h.Helper()
	rt, err := managed.New(h.cfg)
	if err != nil {
		h.Fatal(err)
	}
	h.rt = rt
}

func (h *house) close() {
	h.Helper()
	if err := h.rt.Close(context.Background()); err != nil {
		h.Error(err)
	}
}

// run sends a message and returns the events of its run.
func (h *house) run(message string) []*managed.Event {
	h.Helper()
	return h.runWith(managed.Text(message))
}

// runWith sends an event and returns the events of its run.
func (h *house) runWith(ev managed.Event) []*managed.Event {
	h.Helper()
	if _, err := h.rt.Send(h.Context(), ada, h.session, managed.Once{}, ev); err != nil {
		h.Fatal(err)
	}
	var list []*managed.Event
	for ev, err := range h.rt.Events(h.Context(), ada, h.session, h.last+1, true) {
		if err != nil {
			h.Fatal(err)
		}
		list, h.last = append(list, ev), ev.Seq
		if ev.Type == managed.StatusIdle || ev.Type == managed.StatusTerminated {
			break
		}
	}
	return list
}

// said are the messages of events, with their agents.
func said(list []*managed.Event) string {
	var all []string
	for _, ev := range list {
		switch ev.Type {
		case managed.AgentMessage:
			all = append(all, ev.Agent+": "+ev.Content[0].Text)
		case managed.SessionError:
			all = append(all, "error: "+ev.Error.Message)
		}
	}
	return strings.Join(all, "\n")
}

// tells runs a message and compares what is said.
func (h *house) tells(message, want string) {
	h.Helper()
	if got := said(h.run(message)); got != want {
		h.Errorf("the run tells\n%s\nwant\n%s", got, want)
	}
}

// saveText gives the session a file.
func saveText(h *house, name, text string) error {
	_, err := h.e.cfg.Artifacts.Save(h.Context(), &artifact.SaveRequest{AppName: "w", UserID: userID(ada),
		SessionID: h.session, FileName: name, Part: genai.NewPartFromText(text)})
	return err
}

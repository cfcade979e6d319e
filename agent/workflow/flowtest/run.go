package flowtest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"google.golang.org/adk/v2/model"
	"google.golang.org/genai"

	"github.com/voicegw/voicegw/agent/managed"
	"github.com/voicegw/voicegw/agent/provider"
	"github.com/voicegw/voicegw/agent/workflow/exec"
	"github.com/voicegw/voicegw/journal/memory"
)

// Result is what became of a test.
type Result struct {
	Name  string
	Diffs []Diff // none: it passes
}

// Diff is something that differs from what a test expects.
type Diff struct{ What, Want, Got string }

// String is the difference for people: lines with "-" are expected, lines with "+" came.
func (d Diff) String() string {
	var b strings.Builder
	b.WriteString(d.What)
	for _, side := range []struct{ sign, text string }{{"-", d.Want}, {"+", d.Got}} {
		if side.text == "" {
			continue
		}
		for _, line := range strings.Split(side.text, "\n") {
			b.WriteString("\n  " + side.sign + " " + line)
		}
	}
	return b.String()
}

// Tester runs the tests of a file, one after the other.
type Tester struct {
	file *File

	mu    sync.Mutex
	now   *Case
	asked map[string]int  // requests to models by agent, calls by "tool NAME"
	none  map[string]bool // tools that were called and have no result
	state map[string]any
}

// New returns a Tester. Its Hooks must be those of the engine that Run gets.
func New(f *File) *Tester { return &Tester{file: f} }

// Hooks answer for models and tools. The tools transform, condition and exit_loop need no result: they are not asked
// of anybody.
func (t *Tester) Hooks() exec.Hooks {
	return exec.Hooks{
		BeforeModel: func(_ context.Context, s *exec.Scope, _ *model.LLMRequest) (*model.LLMResponse, error) {
			return t.answer(s.Agent.Name)
		},
		BeforeTool: func(_ context.Context, _ *exec.Scope, c *genai.FunctionCall) (map[string]any, error) {
			return t.result(c.Name)
		},
		AfterAgent: func(_ context.Context, s *exec.Scope, out any) (any, error) {
			if s.Agent.OutputKey != "" {
				t.mu.Lock()
				defer t.mu.Unlock()
				t.state[s.Agent.OutputKey] = out
			}
			return nil, nil
		},
	}
}

// answer is the next answer of the model of an agent.
func (t *Tester) answer(agent string) (*model.LLMResponse, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	n := t.asked[agent]
	t.asked[agent]++
	list := t.now.Answers[agent]
	if n >= len(list) {
		return nil, fmt.Errorf("the test has no answer %d of `%s`", n+1, agent)
	}
	a := list[n]
	if a.Error != "" {
		return nil, errors.New(a.Error)
	}
	c := &genai.Content{Role: genai.RoleModel}
	if a.Text != "" {
		c.Parts = append(c.Parts, &genai.Part{Text: a.Text})
	}
	for i, one := range a.Calls {
		c.Parts = append(c.Parts, &genai.Part{FunctionCall: &genai.FunctionCall{ID: fmt.Sprintf("%s-%d-%d", agent, n, i),
			Name: one.Name, Args: one.Args}})
	}
	return &model.LLMResponse{Content: c, TurnComplete: true, FinishReason: genai.FinishReasonStop}, nil
}

// result is the next result of a tool.
func (t *Tester) result(name string) (map[string]any, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	list := t.now.Tools[name]
	if len(list) == 0 {
		if slices.Contains([]string{"transform", "condition", "exit_loop", "transfer_to_agent"}, name) {
			return nil, nil
		}
		t.none[name] = true
		return nil, fmt.Errorf("the test has no result of the tool %s", name)
	}
	n := t.asked["tool "+name]
	t.asked["tool "+name]++
	v := list[min(n, len(list)-1)]
	if m, ok := v.(map[string]any); ok {
		return m, nil
	}
	return map[string]any{"result": v}, nil
}

// Run runs all tests of a workflow. An error means that they could not run.
func (t *Tester) Run(ctx context.Context, e *exec.Engine, flow string) ([]Result, error) {
	models, err := provider.Config{}.Resolver()
	if err != nil {
		return nil, err
	}
	parrot, err := models.Instead(provider.Ref{Provider: "parrot"}) // nobody asks it
	if err != nil {
		return nil, err
	}
	d, err := e.Definition(flow)
	if err != nil {
		return nil, err
	}
	rt, err := managed.New(managed.Config{Journal: memory.New(), Models: parrot, Programs: e.Programs(),
		Shared: []managed.Definition{d}, Limits: managed.Limits{Backoff: []time.Duration{time.Millisecond}}})
	if err != nil {
		return nil, err
	}
	defer func() { _ = rt.Close(context.WithoutCancel(ctx)) }()
	var list []Result
	for i := range t.file.Tests {
		r, err := t.one(ctx, rt, flow, &t.file.Tests[i])
		if err != nil {
			return nil, err
		}
		list = append(list, r)
	}
	return list, nil
}

func (t *Tester) one(ctx context.Context, rt *managed.Runtime, flow string, c *Case) (Result, error) {
	t.mu.Lock()
	t.now, t.asked, t.none, t.state = c, map[string]int{}, map[string]bool{}, map[string]any{}
	t.mu.Unlock()
	s, err := rt.StartSession(ctx, managed.Owner{}, managed.SessionRequest{Agent: managed.SharedID(flow),
		Initial: []managed.Event{managed.Text(c.Message)}})
	if err != nil {
		return Result{}, err
	}
	var o exec.Outcome
	var said []string
	for ev, err := range rt.Events(ctx, managed.Owner{}, s.ID, 1, true) {
		if err != nil {
			return Result{}, err
		}
		if ev.Type == managed.AgentMessage && ev.Agent != flow {
			text := ""
			for _, b := range ev.Content {
				text += b.Text
			}
			said = append(said, ev.Agent+": "+text)
		}
		if o.Add(flow, ev) {
			break
		}
	}
	if err := ctx.Err(); err != nil {
		return Result{}, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return Result{Name: c.Name, Diffs: t.compare(c, &o, said)}, nil
}

// compare compares a run with what its test expects; mu is held.
func (t *Tester) compare(c *Case, o *exec.Outcome, said []string) (list []Diff) {
	x := &c.Expect
	differ := func(what, want, got string) { list = append(list, Diff{what, want, got}) }
	switch {
	case o.Status == exec.Waiting:
		differ("the run waits for the client", "", fmt.Sprint(o.Waits))
	case o.Status != exec.Done && (x.Error == "" || !strings.Contains(o.Failure, x.Error)):
		differ("the run fails", x.Error, o.Failure)
	case o.Status == exec.Done && x.Error != "":
		differ("the run does not fail", x.Error, o.Content)
	}
	if x.Answer != nil && *x.Answer != o.Content {
		differ("answer", *x.Answer, o.Content)
	}
	for _, part := range x.Contains {
		if !strings.Contains(o.Content, part) {
			differ("answer contains", part, o.Content)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(x.State)) {
		got, ok := t.state[key]
		if !ok {
			differ("state "+key, asJSON(x.State[key]), "nothing has written it")
		} else if asJSON(got) != asJSON(x.State[key]) {
			differ("state "+key, asJSON(x.State[key]), asJSON(got))
		}
	}
	if x.Events != nil && !slices.Equal(x.Events, said) {
		differ("events", strings.Join(x.Events, "\n"), strings.Join(said, "\n"))
	}
	for _, agent := range slices.Sorted(maps.Keys(c.Answers)) {
		if n := len(c.Answers[agent]); n > t.asked[agent] {
			differ("answers of "+agent+" that were asked for", fmt.Sprint(n), fmt.Sprint(t.asked[agent]))
		}
	}
	for _, tool := range slices.Sorted(maps.Keys(t.none)) {
		differ("the tool "+tool+" was called, and the test has no result of it", "", "")
	}
	return list
}

// asJSON is a value as its JSON, with keys in order.
func asJSON(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(b)
}

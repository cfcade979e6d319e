package exec

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"
	"google.golang.org/adk/v2/memory"
	"google.golang.org/adk/v2/model"
	"google.golang.org/genai"

	"github.com/voicegw/voicegw/agent/managed"
	"github.com/voicegw/voicegw/agent/provider"
)

// traced are hooks that note their calls, and change what they see.
func traced(name string, notes *[]string, mu *sync.Mutex) Hooks {
	note := func(s *Scope, what string) {
		mu.Lock()
		defer mu.Unlock()
		*notes = append(*notes, name+" "+what+" "+s.Path)
	}
	return Hooks{
		BeforeAgent: func(_ context.Context, s *Scope) (any, error) { note(s, "before_agent"); return nil, nil },
		AfterAgent: func(_ context.Context, s *Scope, out any) (any, error) {
			note(s, "after_agent")
			return fmt.Sprint(out, "+", name), nil
		},
		BeforeModel: func(_ context.Context, s *Scope, r *model.LLMRequest) (*model.LLMResponse, error) {
			note(s, "before_model")
			r.Config.SystemInstruction.Parts[0].Text += "!"
			return nil, nil
		},
		AfterModel: func(_ context.Context, s *Scope, r *model.LLMResponse) (*model.LLMResponse, error) {
			note(s, "after_model")
			return nil, nil
		},
		BeforeTool: func(_ context.Context, s *Scope, c *genai.FunctionCall) (map[string]any, error) {
			note(s, "before_tool")
			return nil, nil
		},
		AfterTool: func(_ context.Context, s *Scope, c *genai.FunctionCall, result map[string]any) (map[string]any, error) {
			note(s, "after_tool")
			return map[string]any{"result": fmt.Sprint("seen by ", name)}, nil
		},
	}
}

// TestHooks calls the hooks of plugins, then those of agents, around agents, models and tools.
func TestHooks(t *testing.T) {
	var notes []string
	var mu sync.Mutex
	c := tools()
	c.Callbacks = map[string]Hooks{"mine": traced("mine", &notes, &mu)}
	c.Plugins = map[string]Hooks{"all": traced("all", &notes, &mu)}
	h := newHouse(t, agents(", tools: [look], callbacks: {before_agent: mine, after_agent_callback: mine, "+
		"before_model: mine, after_model: mine, before_tool: mine, after_tool: mine}", "a")+
		"orchestration: {type: sequential, agents: [a]}\nruntime: {plugins: [all]}", c,
		func(r *model.LLMRequest) provider.ScriptTurn {
			if heard := text(r.Contents...); strings.Contains(heard, "result") {
				return says(orders(r) + heard)
			}
			return calls(provider.ScriptCall{ID: "1", Name: "look"})
		})
	defer h.close()
	h.tells("go", "a: a!!go | call look | result look map[result:seen by mine]+all+mine\n"+
		"w: a!!go | call look | result look map[result:seen by mine]+all+mine")
	want := "all before_agent w/a, mine before_agent w/a, all before_model w/a, mine before_model w/a, " +
		"all after_model w/a, mine after_model w/a, all before_tool w/a, mine before_tool w/a, " +
		"all after_tool w/a, mine after_tool w/a, " +
		"all before_model w/a, mine before_model w/a, all after_model w/a, mine after_model w/a, all after_agent w/a, " +
		"mine after_agent w/a"
	if got := strings.Join(notes, ", "); got != want {
		t.Errorf("the hooks are\n%s, want\n%s", got, want)
	}
}

// TestShortcuts answers in hooks: in place of an agent, a model, a tool.
func TestShortcuts(t *testing.T) {
	c := tools()
	c.Callbacks = map[string]Hooks{
		"agent": {BeforeAgent: func(_ context.Context, s *Scope) (any, error) {
			v, ok := s.Value("timezone")
			return fmt.Sprint(s.Workflow, s.Owner.User, v, ok), nil
		}},
		"model": {BeforeModel: func(context.Context, *Scope, *model.LLMRequest) (*model.LLMResponse, error) {
			return &model.LLMResponse{Content: genai.NewContentFromText("from a hook", "model")}, nil
		}, AfterModel: func(_ context.Context, _ *Scope, r *model.LLMResponse) (*model.LLMResponse, error) {
			return &model.LLMResponse{Content: genai.NewContentFromText(text(r.Content)+", changed", "model")}, nil
		}},
		"broken": {BeforeAgent: func(context.Context, *Scope) (any, error) { panic("oh") }},
		"tool": {BeforeTool: func(context.Context, *Scope, *genai.FunctionCall) (map[string]any, error) {
			return map[string]any{"result": "no tool"}, nil
		}},
	}
	h := newHouse(t, `
name: w
agents:
  - {name: a, type: llm, model: mind, instruction: a, callbacks: {before_agent: agent}}
  - {name: b, type: llm, model: mind, instruction: b, callbacks: {before_model: model, after_model: model}}
  - {name: c, type: llm, model: mind, instruction: c, tools: [look], callbacks: {before_tool: tool}}
  - {name: d, type: llm, model: mind, instruction: d, callbacks: {before_agent: broken}}
orchestration: {type: sequential, agents: [a, b, c, d]}
`, c, func(r *model.LLMRequest) provider.ScriptTurn {
		if heard := text(r.Contents...); strings.Contains(heard, "result look") {
			return says(heard[strings.Index(heard, "result look"):])
		}
		return calls(provider.ScriptCall{ID: "1", Name: "look"})
	})
	defer h.close()
	h.tells("go", "a: wadaUTCtrue\nb: from a hook, changed\nc: result look map[result:no tool]\n"+
		"error: agent w/d: model_failed: it panicked: oh")
}

// TestReflection comments on three errors of a tool; the fourth stands. A tool agent fails at once.
func TestReflection(t *testing.T) {
	n := 0
	h := newHouse(t, agents(", tools: [look]", "a")+"orchestration: {type: sequential, agents: [a]}\n"+
		"runtime: {plugins: [reflect_and_retry]}", tools(), func(r *model.LLMRequest) provider.ScriptTurn {
		if n++; n == 5 {
			last := text(r.Contents[len(r.Contents)-1])
			return says(fmt.Sprint(strings.Count(text(r.Contents...), "Do not repeat the same call"), last))
		}
		return calls(provider.ScriptCall{ID: fmt.Sprint(n), Name: "look", Args: map[string]any{"fail": true}})
	})
	defer h.close()
	h.tells("go", "a: 3result look map[error:it is dark]\nw: 3result look map[error:it is dark]")
	w := newHouse(t, "name: w\nagents:\n  - {name: a, type: tool, tool: look, tool_config: {fail: true}, output_key: k}\n"+
		"orchestration: {type: sequential, agents: [a]}\nruntime: {plugins: [reflect_and_retry]}", tools(), echo)
	defer w.close()
	w.tells("go", "error: agent w/a: tool_failed: it is dark")
}

// TestLogging wants words of a conversation from debug_logging alone.
func TestLogging(t *testing.T) {
	for plugin, secret := range map[string]bool{"logging": false, "debug_logging": true} {
		core, seen := observer.New(zap.DebugLevel)
		c := tools()
		c.Logger = zap.New(core)
		h := newHouse(t, agents("", "secret")+"orchestration: {type: sequential, agents: [secret]}\nruntime: {plugins: ["+
			plugin+"]}", c, func(*model.LLMRequest) provider.ScriptTurn { return says("the password") })
		h.run("go")
		h.close()
		var all []string
		for _, e := range seen.All() {
			all = append(all, fmt.Sprint(e.Message, e.ContextMap()))
			if (e.Level == zap.DebugLevel) != secret {
				t.Errorf("%s logs at %v", plugin, e.Level)
			}
		}
		if got := strings.Join(all, " "); strings.Contains(got, "password") != secret || len(all) != 3 {
			t.Errorf("%s logs %s", plugin, got)
		}
	}
}

// TestFiles keeps the files of a message, and lets agents read them.
func TestFiles(t *testing.T) {
	h := newHouse(t, `
name: w
agents:
  - {name: a, type: llm, model: mind, instruction: "{artifact.plan.txt} {artifact.none?}.", tools: [load_artifacts]}
orchestration: {type: sequential, agents: [a]}
runtime: {artifact_service: in_memory, plugins: [save_files_as_artifacts]}
`, tools(), func(r *model.LLMRequest) provider.ScriptTurn {
		if heard := text(r.Contents...); strings.Contains(heard, "result load_artifacts") {
			return says(orders(r) + " / " + heard)
		}
		return calls(provider.ScriptCall{ID: "1", Name: "load_artifacts", Args: map[string]any{
			"artifact_names": []any{"artifact_1_1", "nothing"}}})
	})
	defer h.close()
	if err := saveText(h, "plan.txt", "the plan"); err != nil {
		t.Fatal(err)
	}
	got := said(h.runWith(managed.Event{Type: managed.UserMessage, Content: []managed.Block{{Type: "text", Text: "go"},
		{Type: "image", Source: &managed.Source{Type: "base64", MediaType: "image/png", Data: "aGk="}}}}))
	for _, want := range []string{"the plan .", "load_artifacts loads them: artifact_1_1, plan.txt",
		`go | [uploaded file: "artifact_1_1"] | call load_artifacts`, "The file artifact_1_1:",
		"The file nothing: | it cannot be loaded: "} {
		if !strings.Contains(got, want) {
			t.Errorf("the run tells\n%s\nwithout %s", got, want)
		}
	}
}

// TestMemory finds in a session what was said in another one of the same user.
func TestMemory(t *testing.T) {
	h := newHouse(t, `
name: w
agents:
  - {name: a, type: llm, model: mind, instruction: "I", tools: [load_memory, preload_memory]}
orchestration: {type: sequential, agents: [a]}
runtime: {memory_service: in_memory}
`, tools(), func(r *model.LLMRequest) provider.ScriptTurn {
		switch heard := text(r.Contents...); {
		case strings.Contains(heard, "result load_memory"):
			return says("found " + heard[strings.Index(heard, "result load_memory"):] + " / " + orders(r))
		case strings.Contains(heard, "name?"):
			return calls(provider.ScriptCall{ID: "1", Name: "load_memory", Args: map[string]any{"query": "Leonhard"}})
		}
		return says("Hello.")
	})
	defer h.close()
	h.tells("Call me Leonhard my name", "a: Hello.\nw: Hello.")
	h.session, h.last = h.other(ada), 0
	if got := said(h.run("What is my name?")); !strings.HasPrefix(got, "a: found result load_memory map[memories:"+
		"[user: Call me Leonhard my name]] / I\n\nWhat was said in earlier sessions, and may matter now:\n"+
		"- user: Call me Leonhard") {
		t.Errorf("the run tells %s", got)
	}
	bob := userID(managed.Owner{Tenant: "acme", User: "bob"})
	list, err := h.e.memories(t.Context(), &memory.SearchRequest{Query: "Leonhard", AppName: "w", UserID: bob})
	if err != nil || len(list) > 0 {
		t.Errorf("another user is told %v, %v", list, err)
	}
}

// TestContextFilter lets models see the last five messages of the user.
func TestContextFilter(t *testing.T) {
	h := newHouse(t, agents("", "a")+"orchestration: {type: sequential, agents: [a]}\n"+
		"runtime: {plugins: [context_filter]}", tools(), func(r *model.LLMRequest) provider.ScriptTurn { return says("ok") })
	defer h.close()
	for i := range 7 {
		h.run(fmt.Sprint("m", i))
	}
	if got := text(h.model.asked[6].Contents...); got != "m2 | ok | m3 | ok | m4 | ok | m5 | ok | m6" {
		t.Errorf("the model hears %s", got)
	}
	if got := text(h.model.asked[3].Contents...); got != "m0 | ok | m1 | ok | m2 | ok | m3" {
		t.Errorf("the model hears %s", got)
	}
}

package exec

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"google.golang.org/adk/v2/model"
	"google.golang.org/genai"

	"github.com/voicegw/voicegw/agent/managed"
	"github.com/voicegw/voicegw/agent/provider"
	"github.com/voicegw/voicegw/agent/workflow"
)

// fails runs a message and wants the run to fail with these words.
func (h *house) fails(message, want string) {
	h.Helper()
	if got := said(h.run(message)); !strings.Contains(got, "error: "+want) {
		h.Errorf("the run tells\n%s\nwant the error %s", got, want)
	}
}

// TestCallWithoutTools fails an agent without tools whose model calls one.
func TestCallWithoutTools(t *testing.T) {
	h := newHouse(t, agents("", "a", "b")+"orchestration: {type: sequential, agents: [a, b]}", tools(),
		func(*model.LLMRequest) provider.ScriptTurn { return calls(provider.ScriptCall{ID: "1", Name: "look"}) })
	defer h.close()
	h.fails("go", `agent w/a: model_failed: its model called "look", and it has no tools`)
}

// TestSilence leaves what has no words out of what others hear.
func TestSilence(t *testing.T) {
	content := func(parts ...*genai.Part) *genai.Content { return &genai.Content{Role: genai.RoleModel, Parts: parts} }
	list := heard("b", []workflow.Said{{Author: "a", Content: content(nil, genai.NewPartFromFunctionCall("look", nil))},
		{Author: "a", Content: content(&genai.Part{Text: "hm", Thought: true})}, {Author: "b", Content: content()},
		{Author: "a", Content: content(genai.NewPartFromText("yes"))},
		{Author: "b", Content: content(genai.NewPartFromText("no"))}})
	for _, c := range list {
		if len(c.Parts) == 0 {
			t.Error("a content has no parts")
		}
	}
	if got := text(list...); got != "[a] said: yes | no" {
		t.Errorf("the model hears %s", got)
	}
}

// TestRefusedAnswer fails an attempt whose answer was stopped, and keeps one that has reached its limit.
func TestRefusedAnswer(t *testing.T) {
	for finish, want := range map[genai.FinishReason]string{
		genai.FinishReasonSafety:            "refusal",
		genai.FinishReasonProhibitedContent: "refusal",
		genai.FinishReasonMaxTokens:         "a: half\nw: half",
		genai.FinishReasonOther:             "a: half\nw: half",
	} {
		h := newHouse(t, agents("", "a")+"orchestration: {type: sequential, agents: [a]}", tools(),
			func(*model.LLMRequest) provider.ScriptTurn { return provider.ScriptTurn{Text: "half", Finish: finish} })
		list := h.run("go")
		got := said(list)
		if why := list[len(list)-1].StopReason; got == "" && why != nil {
			got = why.Type
		}
		if got != want {
			t.Errorf("%s: the run tells\n%s\nwant\n%s", finish, got, want)
		}
		h.close()
	}
}

// TestExitSchema holds words beside exit_loop to output_schema.
func TestExitSchema(t *testing.T) {
	for words, want := range map[string]string{
		"no JSON": "error: agent w/a: model_failed: its answer is not the JSON",
		"":        "error: agent w/a: model_failed: its answer is not the JSON",
		"[3]":     "a: [3]\nw: [3]",
	} {
		h := newHouse(t, agents(", tools: [exit_loop], output_key: k, output_schema: {type: array}", "a")+
			"orchestration: {type: loop, agents: [a], max_iterations: 2}", tools(),
			func(*model.LLMRequest) provider.ScriptTurn {
				return provider.ScriptTurn{Text: words, Calls: []provider.ScriptCall{{ID: "1", Name: "exit_loop"}}}
			})
		if got := said(h.run("go")); !strings.HasPrefix(got, want) {
			t.Errorf("%q: the run tells\n%s\nwant\n%s", words, got, want)
		}
		h.close()
	}
}

// TestUserID wants no two owners to be one user.
func TestUserID(t *testing.T) {
	seen := map[string]managed.Owner{}
	for _, o := range []managed.Owner{{Tenant: "a", User: "x/y"}, {Tenant: "a/x", User: "y"}, {Tenant: "a%2Fx", User: "y"},
		{Tenant: "a"}, {User: "a"}} {
		if old, ok := seen[userID(o)]; ok {
			t.Errorf("%v and %v are one user", o, old)
		}
		seen[userID(o)] = o
	}
}

// TestOwnInputs lets a function change its inputs, and nobody else sees it.
func TestOwnInputs(t *testing.T) {
	c := tools()
	c.Functions["make"] = Function{Call: func(context.Context, map[string]any) (any, error) {
		return map[string]any{"list": []any{"first"}}, nil
	}}
	c.Functions["change"] = Function{Call: func(_ context.Context, in map[string]any) (any, error) {
		in["o"].(map[string]any)["list"].([]any)[0] = "changed"
		return "done", nil
	}}
	h := newHouse(t, `
name: w
agents:
  - {name: a, type: code, function: make, output_key: o}
  - {name: b, type: code, function: change, input_keys: [o], output_key: m}
  - {name: c, type: llm, model: mind, instruction: "{o}"}
orchestration: {type: sequential, agents: [a, b, c]}
`, c, echo)
	defer h.close()
	h.tells("go", `a: {"list":["first"]}`+"\nb: done\nc: "+`{"list":["first"]}`+"\nw: "+`{"list":["first"]}`)
}

// TestForeignTool refuses a definition with a tool in place of one of the operator.
func TestForeignTool(t *testing.T) {
	h := newHouse(t, `
name: w
agents:
  - {name: a, type: tool, tool: look, output_key: k}
orchestration: {type: sequential, agents: [a]}
`, tools(), echo)
	defer h.close()
	d, err := h.e.Definition("w")
	if err != nil {
		t.Fatal(err)
	}
	d.Tools = append(d.Tools, managed.ToolConfig{Type: managed.CustomTool, Name: "look", Description: "x",
		InputSchema: []byte(`{"type":"object"}`)})
	a, err := h.rt.CreateAgent(t.Context(), ada, d)
	if err == nil {
		_, err = h.rt.StartSession(t.Context(), ada, managed.SessionRequest{Agent: a.ID})
	}
	if err == nil || !strings.Contains(fmt.Sprint(err), `has a tool "look"`) {
		t.Errorf("the error is %v", err)
	}
}

// TestPlaceMax fails the run that writes too much of what sessions share. Those that follow go on.
func TestPlaceMax(t *testing.T) {
	for name, store := range map[string]func(h *house) Store{
		"memory":  func(*house) Store { return NewMemoryStore() },
		"journal": func(h *house) Store { return NewJournalStore(h.journal) },
	} {
		t.Run(name, func(t *testing.T) {
			c := tools()
			size := PlaceMax - len(`{"k":""}`)
			c.Functions["large"] = Function{Call: func(context.Context, map[string]any) (any, error) {
				return strings.Repeat("x", size), nil
			}}
			h := newHouse(t, `
name: w
agents:
  - {name: a, type: code, function: large, output_key: "app:k"}
orchestration: {type: sequential, agents: [a]}
`, c, echo)
			defer h.close()
			h.e.cfg.Store = store(h)
			for _, more := range []int{0, 1, 0} {
				got := said(h.run("go"))
				if want := "error: agent w/a: work_failed: exec: the state of app/w would have 102401 bytes"; more == 0 {
					if strings.Contains(got, "error") {
						t.Errorf("at the limit, the run tells %.60s...%s", got, got[max(0, len(got)-160):])
					}
				} else if !strings.HasPrefix(got, want) {
					t.Errorf("above the limit, the run tells %.60s...%s", got, got[max(0, len(got)-160):])
				}
				size += map[int]int{0: 1, 1: -1}[more]
			}
		})
	}
}

// TestStateMax fails the agent whose output is too much for the session. What is written twice counts once.
func TestStateMax(t *testing.T) {
	c := tools()
	c.Functions["large"] = Function{Call: func(context.Context, map[string]any) (any, error) {
		return strings.Repeat("x", 200_000), nil
	}}
	for key, want := range map[string]string{"a": "", "temp:c": "",
		"c": "error: agent w/c: work_failed: the outputs of the " +
			"run have 600006 bytes with that of `c` for the key \"c\"; at most 524288 are allowed"} {
		h := newHouse(t, fmt.Sprintf(`
name: w
agents:
  - {name: a, type: code, function: large, output_key: a}
  - {name: b, type: code, function: large, output_key: b}
  - {name: c, type: code, function: large, output_key: "%s"}
  - {name: d, type: code, function: join, output_key: d}
orchestration: {type: sequential, agents: [a, b, c, d]}
`, key), c, echo)
		got := said(h.run("go"))
		if strings.Contains(got, "error: ") != (want != "") || !strings.Contains(got, want) {
			t.Errorf("%s: the run tells ...%s", key, got[max(0, len(got)-200):])
		}
		h.close()
	}
}

// TestBranchMemory remembers what all branches say.
func TestBranchMemory(t *testing.T) {
	c := tools()
	for _, name := range []string{"one", "two"} {
		c.Functions[name] = Function{Call: func(context.Context, map[string]any) (any, error) { return "clue " + name, nil }}
	}
	h := newHouse(t, `
name: w
agents:
  - {name: a, type: code, function: one, output_key: x}
  - {name: b, type: code, function: two, output_key: y}
orchestration: {type: parallel, agents: [a, b]}
runtime: {memory_service: in_memory}
`, c, echo)
	defer h.close()
	h.run("go")
	got, err := h.e.search(t.Context(), managed.ToolCall{Args: map[string]any{"query": "clue", "app": "w",
		"user": userID(ada)}})
	list, _ := got["memories"].([]any)
	if err != nil || len(list) != 2 || !slices.Contains(list, any("a: clue one")) ||
		!slices.Contains(list, any("b: clue two")) {
		t.Errorf("the memory has %v, %v", list, err)
	}
}

// TestInputSchema tells the calling model that its arguments do not fit, and does not run the agent.
func TestInputSchema(t *testing.T) {
	h := newHouse(t, `
name: w
agents:
  - {name: boss, type: llm, model: mind, instruction: boss, agent_tools: [clerk]}
  - {name: clerk, type: llm, model: mind, instruction: clerk,
     input_schema: {type: object, required: [n], properties: {n: {type: integer}}}}
orchestration: {type: sequential, agents: [boss]}
`, tools(), func(r *model.LLMRequest) provider.ScriptTurn {
		heard := text(r.Contents...)
		switch {
		case orders(r) != "boss":
			return says("helped with " + heard)
		case strings.Contains(heard, "helped with"):
			return says("done")
		case strings.Contains(heard, "do not fit the input_schema of clerk"):
			return calls(provider.ScriptCall{ID: "2", Name: "clerk", Args: map[string]any{"n": 3}})
		case strings.Contains(heard, "result"):
			return says("nobody told: " + heard)
		}
		return calls(provider.ScriptCall{ID: "1", Name: "clerk", Args: map[string]any{"m": "bad"}})
	})
	defer h.close()
	h.tells("go", `clerk: helped with {"n":3}`+"\nboss: done\nw: done")
}

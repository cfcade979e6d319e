package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"testing"

	"google.golang.org/adk/v2/model"
	"google.golang.org/adk/v2/session"
	"google.golang.org/genai"

	"github.com/voicegw/voicegw/agent/provider"
)

// guests is a net of a host and a guest that says the given events, one turn after another.
func guests(l Limits, script []provider.ScriptTurn, events ...func() (*session.Event, error)) Config {
	n := -1
	return Config{Limits: l, Agents: []Agent{
		{Name: "host", Model: &provider.Script{Turns: script, Repeat: true}, Tools: []Tool{menu()},
			TransferTo: []string{"poet"}},
		{Name: "poet", Work: Work{Next: func(context.Context, *Turn) (*session.Event, error) {
			if n++; n < len(events) {
				return events[n]()
			}
			n = -1
			return nil, nil
		}}},
	}}
}

func says(text string, partial bool) func() (*session.Event, error) {
	return func() (*session.Event, error) {
		return &session.Event{Author: "poet", LLMResponse: model.LLMResponse{Partial: partial,
			Content: genai.NewContentFromText(text, genai.RoleModel)}}, nil
	}
}

// TestGuest hands one turn over to a guest. The next turn begins with the host again.
func TestGuest(t *testing.T) {
	script := []provider.ScriptTurn{calls(to("poet")), text("x"), text("x"), text("Again?")}
	k := start(t, newProgram(t, guests(Limits{}, script, says("A", true), says("Rose", false), says("is red", false))))
	defer k.close()
	k.must("a poem", Answered, `host step call transfer_to_agent{"agent_name":"poet"}`,
		`host step result transfer_to_agent{"result":"transferred"} transfer poet`,
		`poet partial "A"`, `poet step "Rose"`, `poet step "is red"`)
	k.must("thanks", Answered, `host answer "Again?"`)
}

func TestBadGuest(t *testing.T) {
	for _, bad := range []func() (*session.Event, error){
		func() (*session.Event, error) { return nil, errors.New("no muse") },
		func() (*session.Event, error) { panic("no muse") },
	} {
		k := start(t, newProgram(t, guests(Limits{}, []provider.ScriptTurn{calls(to("poet")), text("x"), text("Sorry.")},
			bad)))
		k.must("a poem", Failed, `host step call transfer_to_agent{"agent_name":"poet"}`,
			`host step result transfer_to_agent{"result":"transferred"} transfer poet`, `poet answer ! guest_failed`)
		k.must("well?", Answered, `host answer "Sorry."`)
		k.close()
	}
}

// TestBegins lets a session begin with another agent than the first.
func TestBegins(t *testing.T) {
	c := two(Limits{})
	c.Begins = "cook"
	k := start(t, newProgram(t, c))
	defer k.close()
	k.must("hello", Answered, `cook answer "hello"`)
	c.Begins = "waiter"
	if _, err := New(c); err == nil {
		t.Error("a session may begin with an agent that does not exist")
	}
}

// TestSeveralResponses lets a model answer one request with several whole responses: none is lost, and too many
// are an error.
func TestSeveralResponses(t *testing.T) {
	n := 2
	k := start(t, newProgram(t, Config{Agents: []Agent{{Name: "host", Work: Work{
		Ask: func(context.Context, *Request) iter.Seq2[*model.LLMResponse, error] {
			return func(yield func(*model.LLMResponse, error) bool) {
				for i := range n {
					if !yield(&model.LLMResponse{Content: genai.NewContentFromText(fmt.Sprint(i), genai.RoleModel)}, nil) {
						return
					}
				}
			}
		}}}}}))
	defer k.close()
	k.must("two", Answered, `host answer "0" "1"`)
	n = responsesMax + 1
	k.must("many", Failed, `host answer ! model_failed`)
}

// TestDeferred lets one tool, and then all tools of a response, answer later.
func TestDeferred(t *testing.T) {
	script := &provider.Script{Turns: []provider.ScriptTurn{calls(call("later"), call("menu")), text("skipped"),
		calls(call("later")), text("Done.")}}
	k := start(t, newProgram(t, Config{Agents: []Agent{{Name: "host", Work: Work{
		Ask: func(ctx context.Context, r *Request) iter.Seq2[*model.LLMResponse, error] {
			return script.GenerateContent(ctx, r.Request, r.Turn.Stream)
		},
		Call: func(_ context.Context, c *Call) (*Reply, error) {
			return &Reply{Deferred: c.Call.Name == "later", Response: map[string]any{"of": c.Call.Name}}, nil
		}}}}}))
	defer k.close()
	k.must("one", Answered, `host step call laternull call menunull`, `host answer result menu{"of":"menu"}`)
	k.must("all", Answered, `host step call laternull`)
	k.must("then", Answered, `host answer "Done."`)
}

// TestResume begins turns with calls in place of a request.
func TestResume(t *testing.T) {
	k := play(t, Limits{MaxCalls: 2}, []provider.ScriptTurn{text("Fine.")}, menu())
	defer k.close()
	var list []*genai.FunctionCall
	for i, name := range []string{"menu", "transfer_to_agent", "nothing", "menu"} {
		list = append(list, &genai.FunctionCall{ID: fmt.Sprint(i), Name: name})
	}
	end, err := k.s.Run(t.Context(), &Turn{ID: "t", Message: genai.NewContentFromText("go on", "user"), Resume: list,
		Emit: k.emit})
	want := `host step result menu{"dish":"soup"} result nothing{"error":"unknown_tool: there is no tool \"nothing\"; ` +
		`the tools are: menu"} result transfer_to_agent{"error":"not_run: a transfer cannot be resumed"} ` +
		`result menu{"error":"too_many_calls: a response may have 2 calls"} ! not_run ! too_many_calls ! unknown_tool`
	if err != nil || end.How != Answered || len(k.lines) != 3 || k.lines[1] != want {
		t.Errorf("%+v, %v: %q; want %s", end, err, k.lines, want)
	}
}

// TestBadTurn refuses turns that a net could not run. The session stays usable.
func TestBadTurn(t *testing.T) {
	k := play(t, Limits{}, []provider.ScriptTurn{text("Fine.")}, menu())
	defer k.close()
	for _, bad := range []*Turn{nil, {Resume: []*genai.FunctionCall{nil}},
		{Resume: []*genai.FunctionCall{{ID: "1", Name: "menu"}, {ID: "1", Name: "menu"}}}} {
		if end, err := k.s.Run(t.Context(), bad); err == nil {
			t.Errorf("%+v: %+v", bad, end)
		}
	}
	_, err := New(Config{Agents: []Agent{{Name: "host", Model: provider.Parrot{}, Tools: []Tool{FuncTool[int]{}}}}})
	if err == nil {
		t.Error("a tool without a declaration is taken")
	}
	k.must("hello", Answered, `host answer "Fine."`)
}

// TestRoughSize checks that the estimate is never smaller than the size.
func TestRoughSize(t *testing.T) {
	for _, v := range []any{map[string]any{"a\"": "b\x00é<", "n": 1.0e300, "l": []any{nil, true, "x", -1e-300}},
		map[string]any{"a": map[string]any{"b": []any{}}}, "", nil} {
		b, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		if n, ok := roughSize(v, 8); !ok || n < len(b) {
			t.Errorf("%s has %d bytes, estimated are %d, %v", b, len(b), n, ok)
		}
	}
	deep, itself := any("x"), map[string]any{}
	itself["x"] = itself
	for range 10 {
		deep = []any{deep}
	}
	for _, v := range []any{deep, itself, struct{}{}, map[string]any{"n": 1}} {
		if n, ok := roughSize(v, 8); ok {
			t.Errorf("a %T is estimated: %d", v, n)
		}
	}
}

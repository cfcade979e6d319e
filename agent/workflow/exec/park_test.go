package exec

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/adk/v2/model"

	"github.com/voicegw/voicegw/agent/managed"
	"github.com/voicegw/voicegw/agent/provider"
)

// TestChoice lets the user choose in the middle of a run, while another branch goes on. The process restarts
// meanwhile.
func TestChoice(t *testing.T) {
	h := newHouse(t, agents(", tools: [get_user_choice, look], output_key: k", "a")+
		strings.TrimPrefix(agents("", "b", "c"), "name: w\nagents:\n")+`
  - {name: both, type: parallel, sub_agents: [a, b]}
orchestration: {type: sequential, agents: [both, c]}`, tools(), func(r *model.LLMRequest) provider.ScriptTurn {
		heard := text(r.Contents...)
		switch {
		case orders(r) != "a":
			return says(orders(r) + " heard " + heard)
		case strings.Contains(heard, "result get_user_choice"):
			return says("a heard " + heard)
		}
		drinks := map[string]any{"options": []any{"tea", "coffee"}}
		return calls(provider.ScriptCall{ID: "1", Name: "get_user_choice", Args: drinks},
			provider.ScriptCall{ID: "2", Name: "look"})
	})
	defer func() { h.close() }()
	list := h.run("go")
	if got := said(list); got != "b: b heard go" {
		t.Errorf("the run tells %s before it waits", got)
	}
	var use *managed.Event
	for _, ev := range list {
		if ev.Type == managed.AgentCustomToolUse {
			use = ev
		}
	}
	if use == nil || use.Name != "get_user_choice" || use.Agent != "a" || !strings.Contains(string(use.Input), "coffee") {
		t.Fatalf("the user is asked %v", use)
	}
	h.close()
	h.open()
	got := said(h.runWith(managed.Event{Type: managed.UserCustomResult, CustomID: use.ID,
		Content: []managed.Block{{Type: "text", Text: "tea"}}}))
	if want := "a: a heard go | call get_user_choice | call look | result get_user_choice map[result:tea] | " +
		"result look map[result:<nil>]\n"; !strings.HasPrefix(got, want) ||
		!strings.Contains(got, "\nw: c heard go | [a] said: a heard") {
		t.Errorf("the run tells\n%s\nwant\n%s", got, want)
	}
	if n := len(h.model.asked); n != 4 {
		t.Errorf("models were asked %d times, want 4", n)
	}
}

// TestChoiceAgent asks the user by an agent of its own, without a model.
func TestChoiceAgent(t *testing.T) {
	h := newHouse(t, `
name: w
agents:
  - {name: ask, type: tool, tool: get_user_choice, tool_config: {options: ["{timezone}", b]}, output_key: choice}
  - {name: tell, type: llm, model: mind, instruction: "chosen: {choice}"}
orchestration: {type: sequential, agents: [ask, tell]}
`, tools(), echo)
	defer h.close()
	var use *managed.Event
	for _, ev := range h.run("go") {
		if ev.Type == managed.AgentCustomToolUse {
			use = ev
		}
	}
	if use == nil || use.Agent != "ask" || string(use.Input) != `{"options":["UTC","b"]}` {
		t.Fatalf("the user is asked %+v", use)
	}
	got := said(h.runWith(managed.Event{Type: managed.UserCustomResult, CustomID: use.ID,
		Content: []managed.Block{{Type: "text", Text: "b"}}}))
	if got != "ask: b\ntell: chosen: b\nw: chosen: b" {
		t.Errorf("the run tells %s", got)
	}
}

// TestRetryDelay wants the delays before further attempts once: a run that goes on, in another process here, does not
// wait again for what has failed before.
func TestRetryDelay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, tried := tools(), 0
		c.Functions["flaky"] = Function{Call: func(context.Context, map[string]any) (any, error) {
			if tried++; tried < 3 {
				return nil, errors.New("not yet")
			}
			return tried, nil
		}}
		h := newHouse(t, `
name: w
agents:
  - {name: a, type: code, function: flaky, output_key: k, retry: {attempts: 3, delay: 10m}}
  - {name: b, type: tool, tool: get_user_choice, tool_config: {options: ["{k}"]}, output_key: choice}
orchestration: {type: sequential, agents: [a, b]}
`, c, echo)
		defer func() { h.close() }()
		start := time.Now()
		var use *managed.Event
		for _, ev := range h.run("go") {
			if ev.Type == managed.AgentCustomToolUse {
				use = ev
			}
		}
		if use == nil || time.Since(start) < 20*time.Minute || tried != 3 {
			t.Fatalf("after %v and %d attempts the user is asked %v", time.Since(start), tried, use)
		}
		h.close()
		h.open()
		start = time.Now()
		got := said(h.runWith(managed.Event{Type: managed.UserCustomResult, CustomID: use.ID,
			Content: managed.Text("3").Content}))
		if !strings.Contains(got, "w: ") || time.Since(start) >= 10*time.Minute || tried != 3 {
			t.Errorf("after %v and %d attempts the run tells %s", time.Since(start), tried, got)
		}
	})
}

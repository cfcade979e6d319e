package exec

import (
	"strings"
	"testing"

	"google.golang.org/adk/v2/model"

	"github.com/voicegw/voicegw/agent/managed"
	"github.com/voicegw/voicegw/agent/provider"
)

// asking calls look once, and then tells what it has heard.
func asking(r *model.LLMRequest) provider.ScriptTurn {
	if heard := text(r.Contents...); strings.Contains(heard, "result look") {
		return says(heard)
	}
	return calls(provider.ScriptCall{ID: "1", Name: "look", Args: map[string]any{"x": 1}})
}

// asked is the call of a tool that waits for a confirmation.
func asked(t *testing.T, list []*managed.Event) *managed.Event {
	t.Helper()
	var use *managed.Event
	for _, ev := range list {
		if ev.Type == managed.AgentToolUse {
			if use != nil || ev.Permission != "ask" {
				t.Errorf("it asks for %+v", ev)
			}
			use = ev
		}
	}
	if last := list[len(list)-1]; use == nil || last.StopReason.Type != managed.RequiresAction {
		t.Fatalf("it asks for nothing, and rests because of %+v", last.StopReason)
	}
	return use
}

// TestConfirmation: a call of a tool that require_confirmation names waits until the client allows it. Another agent
// calls the same tool without asking. The process restarts while the call waits.
func TestConfirmation(t *testing.T) {
	for name, c := range map[string]struct {
		confirm string
		answer  managed.Event
		hears   string // the agent a
	}{
		"allowed": {"[look]", managed.Event{Result: "allow"}, "map[result:map[x:1]]"},
		"all":     {"true", managed.Event{Result: "allow"}, "map[result:map[x:1]]"},
		"refused": {"[look]", managed.Event{Result: "deny", DenyMessage: "not today"}, "map[error:not today]"},
		"a toolset": {"[{eyes: ['l*']}]", managed.Event{Result: "deny"},
			"map[error:Tool execution denied by user]"},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := tools()
			tool := "look"
			if strings.Contains(c.confirm, "eyes") {
				cfg.Toolsets, tool = map[string][]string{"eyes": {"look"}}, "{eyes: ['l*']}"
			}
			h := newHouse(t, agents(", tools: ["+tool+"], require_confirmation: "+c.confirm, "a")+
				strings.TrimPrefix(agents(", tools: [look]", "b"), "name: w\nagents:\n")+
				"orchestration: {type: parallel, agents: [b, a]}", cfg, asking)
			defer func() { h.close() }()
			list := h.run("go")
			if got, want := said(list), "b: go | call look | result look map[result:map[x:1]]"; got != want {
				t.Errorf("before it waits the run tells %s, want %s", got, want)
			}
			use := asked(t, list)
			if use.Agent != "a" || use.Name != "look" || string(use.Input) != `{"x":1}` {
				t.Errorf("it asks for %+v", use)
			}
			h.close()
			h.open()
			c.answer.Type, c.answer.ToolUseID = managed.UserConfirmation, use.ID
			got, want := said(h.runWith(c.answer)), "a: go | call look | result look "+c.hears
			if !strings.HasPrefix(got, want) {
				t.Errorf("the run tells %s, want %s", got, want)
			}
		})
	}
}

// TestConfirmationOfToolAgent: the agent waits. If the client refuses, its attempt fails.
func TestConfirmationOfToolAgent(t *testing.T) {
	for answer, want := range map[string]string{"allow": "a: {\"x\":1}\nw: {\"x\":1}",
		"deny": "error: agent w/a: tool_failed: Tool execution denied by user"} {
		h := newHouse(t, "name: w\nagents: [{name: a, type: tool, tool: look, tool_config: {x: 1}, output_key: k, "+
			"require_confirmation: true}]\norchestration: {type: sequential, agents: [a]}", tools(), echo)
		use := asked(t, h.run("go"))
		got := said(h.runWith(managed.Event{Type: managed.UserConfirmation, ToolUseID: use.ID, Result: answer}))
		if got != want {
			t.Errorf("with %s the run tells %s, want %s", answer, got, want)
		}
		h.close()
	}
}

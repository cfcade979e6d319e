package exec

import (
	"context"
	"strings"
	"testing"

	"google.golang.org/genai"

	"github.com/voicegw/voicegw/agent/managed"
	"github.com/voicegw/voicegw/agent/workflow"
)

// TestRefusals holds Add to what a file asks for that nothing here can do.
func TestRefusals(t *testing.T) {
	one := func(agent string) string {
		return "name: w\nagents:\n  - {name: a, " + agent + "}\norchestration: {type: sequential, agents: [a]}\n"
	}
	llm := func(more string) string { return one("type: llm, model: mind, instruction: i, " + more) }
	for _, c := range []struct{ text, want string }{
		{llm("tools: [http_request]"), `there is no tool "http_request"; there are: look`},
		{llm("tools: [{look: [a]}]"), `"look" is no toolset, so it has no patterns`},
		{llm("tools: [{set: [x*]}]"), `no tool of "set" matches x*; it has: look`},
		{llm("callbacks: {before_model: agent}"), `the callback "agent" is no before_model`},
		{one("type: tool, tool: http_request, output_key: k"), `there is no tool "http_request" that an agent can be`},
		{one("type: expr, expression: \"'bad'\", output_key: k"), "its expression: it is no expression"},
		{llm("") + "runtime: {artifact_service: file}", "artifact_service: file needs a folder: give --storage"},
	} {
		cfg := tools()
		cfg.Toolsets = map[string][]string{"set": {"look"}}
		nothing := func(context.Context, *Scope) (any, error) { return nil, nil }
		cfg.Callbacks = map[string]Hooks{"agent": {BeforeAgent: nothing}}
		e, err := New(cfg)
		if err != nil {
			t.Fatal(err)
		}
		if err := e.Add(load(t, e, c.text)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: the error is %v, want %s", c.text, err, c.want)
		}
	}
}

// TestAdd wants a report that accepts the workflow, and names that are not taken.
func TestAdd(t *testing.T) {
	e, err := New(tools())
	if err != nil {
		t.Fatal(err)
	}
	c, r := load(t, e, agents("", "a")+"orchestration: {type: sequential, agents: [a]}")
	refused := &workflow.Report{Findings: []workflow.Finding{{}}}
	for _, bad := range []*workflow.Report{nil, refused} {
		if err := e.Add(c, bad); err == nil || !strings.Contains(err.Error(), "is not accepted") {
			t.Errorf("Add with the report %v: %v", bad, err)
		}
	}
	if err := e.Add(c, &workflow.Report{Findings: refused.Findings, Unverified: "we know"}); err != nil {
		t.Error(err)
	}
	if err := e.Add(c, r); err == nil || !strings.Contains(err.Error(), `both have the name "w"`) {
		t.Errorf("Add twice: %v", err)
	}
	if _, err := e.Definition("x"); err == nil || !strings.Contains(err.Error(), `no workflow "x"; there are: w`) {
		t.Errorf("Definition: %v", err)
	}
}

// TestNew finds what is wrong with a Config.
func TestNew(t *testing.T) {
	tool := func(name string) managed.Tool {
		return managed.Tool{Declaration: &genai.FunctionDeclaration{Name: name},
			Call: func(context.Context, managed.ToolCall) (map[string]any, error) { return nil, nil }}
	}
	for want, c := range map[string]Config{
		"needs a Declaration":          {Tools: []managed.Tool{{}}},
		`two tools are called "a"`:     {Tools: []managed.Tool{tool("a"), tool("a")}},
		`"load_memory" of a tool`:      {Tools: []managed.Tool{tool("load_memory")}},
		`"exit_loop" of a tool`:        {Tools: []managed.Tool{tool("exit_loop")}},
		`"run--x" of a tool`:           {Tools: []managed.Tool{tool("run--x")}},
		`which Tools does not have`:    {Toolsets: map[string][]string{"s": {"a"}}},
		`the function "f" has no Call`: {Functions: map[string]Function{"f": {}}},
	} {
		if _, err := New(c); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("the error is %v, want %s", err, want)
		}
	}
}

// TestServers wants the MCP servers of a file in its definition, with a permission for all their tools.
func TestServers(t *testing.T) {
	e, err := New(tools())
	if err != nil {
		t.Fatal(err)
	}
	if err := e.Add(load(t, e, agents(", tools: [m, get_user_choice]", "a")+`orchestration: {type: sequential, agents: [a]}
runtime:
  mcp_servers:
    - {name: m, transport: http, uri: "https://tools.example/mcp", credential: github}
    - {name: n, transport: stdio, command: files, args: [-x]}
`)); err != nil {
		t.Fatal(err)
	}
	d, err := e.Definition("w")
	if err != nil {
		t.Fatal(err)
	}
	if got := workflow.TextOf(d); got != `{"name":"w","model":{"id":"mind"},"tools":[{"type":"custom",`+
		`"name":"get_user_choice","description":"Lets the user choose one of several options, and returns it.",`+
		`"input_schema":{"properties":{"options":{"description":"the options","items":{"type":"string"},`+
		`"type":"array"}},"required":["options"],"type":"object"}},`+
		`{"type":"mcp_toolset","mcp_server_name":"m","default_config":{"permission_policy":{"type":"always_allow"}}},`+
		`{"type":"mcp_toolset","mcp_server_name":"n","default_config":{"permission_policy":{"type":"always_allow"}}}],`+
		`"mcp_servers":[{"type":"url","name":"m","url":"https://tools.example/mcp","credential":"github"},`+
		`{"type":"stdio","name":"n","command":"files","args":["-x"]}],"program":"w"}` {
		t.Errorf("the definition is %s", got)
	}
}

// TestNative wants the tools of Gemini in requests to its models.
func TestNative(t *testing.T) {
	h := newHouse(t, strings.ReplaceAll(agents(", tools: [google_search, url_context, google_maps_grounding, "+
		"enterprise_web_search, look]", "a"), "model: mind", "model: gemini-2.5-flash")+
		"orchestration: {type: sequential, agents: [a]}", tools(), echo)
	defer h.close()
	h.run("go")
	list := h.model.asked[0].Config.Tools
	if len(list) != 5 || list[0].FunctionDeclarations[0].Name != "look" || list[1].GoogleSearch == nil ||
		list[2].URLContext == nil || list[3].GoogleMaps == nil || list[4].EnterpriseWebSearch == nil {
		t.Errorf("the tools are %s", workflow.TextOf(list))
	}
}

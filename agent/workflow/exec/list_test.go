package exec

import (
	"context"
	"slices"
	"strings"
	"testing"

	"google.golang.org/genai"

	"github.com/voicegw/voicegw/agent/managed"
	"github.com/voicegw/voicegw/agent/workflow"
)

func noCall(context.Context, managed.ToolCall) (map[string]any, error) { return nil, nil }

// TestDeclarations lists all that a file may name, and Load accepts each.
func TestDeclarations(t *testing.T) {
	e, err := New(Config{Tools: []managed.Tool{{Declaration: &genai.FunctionDeclaration{Name: "http_request",
		Description: "d", ParametersJsonSchema: map[string]any{"type": "object"}}, Call: noCall}},
		Toolsets: map[string][]string{"web": {"http_request"}}})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, d := range e.Declarations() {
		names = append(names, d.Name)
		if d.Description == "" {
			t.Errorf("%s is not described", d.Name)
		}
		called := slices.Contains([]string{"get_user_choice", "http_request", "load_artifacts", "load_memory"}, d.Name)
		if (d.ParametersJsonSchema != nil) != called {
			t.Errorf("%s has the parameters %v", d.Name, d.ParametersJsonSchema)
		}
	}
	want := "enterprise_web_search exit_loop get_user_choice google_maps_grounding google_search http_request " +
		"load_artifacts load_memory preload_memory url_context"
	if got := strings.Join(names, " "); got != want {
		t.Errorf("the tools are %s; want %s", got, want)
	}
	if sets := e.Toolsets(); len(sets) != 1 || len(sets["web"]) != 1 {
		t.Errorf("the toolsets are %v", sets)
	}
	for _, name := range append(names, "web") {
		text := "name: w\nagents:\n" +
			"  - {name: a, type: llm, model: gemini-2.5-flash, instruction: i, tools: [" + name + "]}\n" +
			"  - {name: l, type: loop, sub_agents: [a], max_iterations: 2}\n" +
			"orchestration: {type: sequential, agents: [l]}\n" +
			"runtime: {memory_service: in_memory, artifact_service: in_memory}\n"
		if _, found := workflow.Load("w.yaml", []byte(text), e.Registry()); len(found) > 0 {
			t.Errorf("%s: %v", name, found)
		}
	}
}

// TestUnverifiedReason is cut where metadata of agents ends.
func TestUnverifiedReason(t *testing.T) {
	for _, n := range []int{1, 512, 513} {
		e, err := New(Config{Functions: map[string]Function{"f": {Call: func(context.Context, map[string]any) (any, error) {
			return nil, nil
		}}}})
		if err != nil {
			t.Fatal(err)
		}
		reason := strings.Repeat("é", n)
		w, found := workflow.Load("w.yaml", []byte("name: w\nunverified: \""+reason+"\"\nagents:\n  - {name: a, type: code, "+
			"function: f, output_key: k}\norchestration: {type: sequential, agents: [a]}\n"), e.Registry())
		if len(found) > 0 {
			t.Fatal(found)
		}
		c, _ := workflow.Compile(w)
		r, err := workflow.Verify(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		if err := e.Add(c, r); err != nil {
			t.Fatal(err)
		}
		d, err := e.Definition("w")
		want := reason
		if n > 512 {
			want = strings.Repeat("é", 509) + "..."
		}
		if got := d.Metadata[UnverifiedKey]; err != nil || got != want {
			t.Errorf("%d characters: %q %v", n, got, err)
		}
	}
}

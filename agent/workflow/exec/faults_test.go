package exec

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"google.golang.org/adk/v2/model"
	"google.golang.org/genai"

	"github.com/voicegw/voicegw/agent/managed"
	"github.com/voicegw/voicegw/agent/provider"
)

// TestFaults gives each way in which an agent may fail its code.
func TestFaults(t *testing.T) {
	until := func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }
	c := tools()
	c.Tools = append(c.Tools, managed.Tool{Declaration: &genai.FunctionDeclaration{Name: "hang"}, Idempotent: true,
		Call: func(ctx context.Context, _ managed.ToolCall) (map[string]any, error) { return nil, until(ctx) }})
	c.Functions["hang"] = Function{Call: func(ctx context.Context, _ map[string]any) (any, error) {
		return nil, until(ctx)
	}}
	c.Expression = func(text string, _ []string) (func(context.Context, map[string]any) (any, error), error) {
		return func(context.Context, map[string]any) (any, error) { return nil, errors.New("no number") }, nil
	}
	think := func(r *model.LLMRequest) provider.ScriptTurn {
		switch orders(r) {
		case "call":
			return calls(provider.ScriptCall{ID: "1", Name: "look"})
		case "down":
			return provider.ScriptTurn{Error: "the provider is down"}
		}
		return says("three")
	}
	for _, one := range []struct{ agent, want string }{
		{"type: code, function: fail, output_key: k", "work_failed"},
		{"type: code, function: hang, output_key: k, timeout: 1ms", "work_timed_out"},
		{"type: code, function: fail, output_key: k, retry: {attempts: 2, delay: 1ms}", "work_failed"},
		{"type: expr, expression: 1 + 1, output_key: k", "work_failed"},
		{"type: tool, tool: look, tool_config: {fail: true}, output_key: k", "tool_failed"},
		{"type: tool, tool: hang, output_key: k, timeout: 1ms", "tool_timed_out"},
		{"type: llm, model: mind, instruction: call, tools: [look], max_steps: 2", "budget_spent"},
		{"type: llm, model: mind, instruction: say, output_schema: {type: integer}", "model_failed"},
		{"type: llm, model: mind, instruction: down", "model_request_failed_error"},
	} {
		h := newHouse(t, fmt.Sprintf("name: w\nagents:\n  - {name: a, %s}\n"+
			"orchestration: {type: sequential, agents: [a]}\n", one.agent), c, think)
		var out Outcome
		for _, ev := range h.run("go") {
			out.Add("w", ev)
		}
		if out.Status != Failed || out.Code != one.want || out.Failure == "" {
			t.Errorf("%s: %s, code %q, want %q: %s", one.agent, out.Status, out.Code, one.want, out.Failure)
		}
		h.close()
	}
}

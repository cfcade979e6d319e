package exec

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"google.golang.org/adk/v2/model"

	"github.com/voicegw/voicegw/agent/provider"
)

// agents are llm agents whose instruction is their name.
func agents(more string, names ...string) string {
	text := "name: w\nagents:\n"
	for _, n := range names {
		text += fmt.Sprintf("  - {name: %s, description: the %s, type: llm, model: mind, instruction: %s%s}\n", n, n, n, more)
	}
	return text
}

// TestBlocks runs each kind of block on a scripted model.
func TestBlocks(t *testing.T) {
	transfer := func(to string) provider.ScriptTurn {
		return calls(provider.ScriptCall{Name: "transfer_to_agent", Args: map[string]any{"agent_name": to}})
	}
	for _, c := range []struct {
		name, text string
		do         func(r *model.LLMRequest, heard string) provider.ScriptTurn
		want       string
	}{
		{"loop that exits", agents(", tools: [exit_loop], output_key: k", "a", "b") +
			"orchestration: {type: loop, agents: [a, b], max_iterations: 5}",
			func(r *model.LLMRequest, heard string) provider.ScriptTurn {
				if strings.Contains(heard, "[b] said: b1") || strings.HasPrefix(heard, "b") {
					return calls(provider.ScriptCall{Name: "exit_loop"})
				}
				return says(orders(r) + "1")
			}, "a: a1\nb: b1\nw: b1"},
		{"router", agents("", "r", "x", "y") + "orchestration: {type: llm_routed, router: r, agents: [x, y], max_hops: 3}",
			func(r *model.LLMRequest, heard string) provider.ScriptTurn {
				switch {
				case !strings.HasPrefix(orders(r), "r"):
					return says(orders(r) + " helps")
				case !strings.Contains(orders(r), "- x: the x\n- y: the y\n"):
					return says("nobody told me of x and y")
				case strings.Contains(heard, "y helps"):
					return says("done")
				}
				return transfer("y")
			}, "y: y helps\nr: done\nw: done"},
		{"unknown target", agents("", "r", "x") + "orchestration: {type: llm_routed, router: r, agents: [x]}",
			func(*model.LLMRequest, string) provider.ScriptTurn { return transfer("nobody") },
			"error: agent w/r: unknown_agent: it hands over to \"nobody\", which it may not"},
		{"agents as tools", agents(", agent_tools: [x], output_key: k", "a") + strings.TrimPrefix(agents(", input_schema: "+
			"{type: object, properties: {n: {type: integer}}}", "x"), "name: w\nagents:\n") +
			"orchestration: {type: sequential, agents: [a]}",
			func(r *model.LLMRequest, heard string) provider.ScriptTurn {
				switch {
				case orders(r) == "x":
					return says("x heard " + heard)
				case strings.Contains(heard, "result x"):
					return says("a heard " + heard)
				case len(r.Config.Tools[0].FunctionDeclarations) != 1 ||
					!strings.Contains(fmt.Sprint(r.Config.Tools[0].FunctionDeclarations[0].ParametersJsonSchema), "integer"):
					return says("x is not declared")
				}
				return calls(provider.ScriptCall{ID: "1", Name: "x", Args: map[string]any{"n": 3}})
			}, "x: x heard {\"n\":3}\na: a heard hello | call x | result x map[result:x heard {\"n\":3}]\n" +
				"w: a heard hello | call x | result x map[result:x heard {\"n\":3}]"},
		{"nested three deep", agents("", "a", "b", "c", "d") + `
  - {name: inner, type: sequential, sub_agents: [a, b]}
  - {name: middle, type: parallel, sub_agents: [inner, c]}
  - {name: outer, type: loop, sub_agents: [middle, d], max_iterations: 2}
` + "orchestration: {type: sequential, agents: [outer]}",
			func(r *model.LLMRequest, heard string) provider.ScriptTurn {
				if orders(r) == "d" {
					return says(fmt.Sprint("d after ", strings.Count(heard, "said: ")))
				}
				return says(orders(r))
			}, "d after 3; d after 6"},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := newHouse(t, c.text, tools(), func(r *model.LLMRequest) provider.ScriptTurn {
				return c.do(r, text(r.Contents...))
			})
			defer h.close()
			got := said(h.run("hello"))
			if c.name == "nested three deep" {
				var list []string
				for _, line := range strings.Split(got, "\n") {
					if text, ok := strings.CutPrefix(line, "d: "); ok {
						list = append(list, text)
					}
				}
				got = strings.Join(list, "; ")
			}
			if got != c.want {
				t.Errorf("the run tells\n%s\nwant\n%s", got, c.want)
			}
		})
	}
}

// TestDiamond wants the fast branch to go on while the slow one works, and an agent to hear its own branch alone.
func TestDiamond(t *testing.T) {
	signed := make(chan struct{})
	h := newHouse(t, agents("", "start", "slow", "fast", "sign", "merge")+`
orchestration:
  type: dag
  nodes:
    - {agent: start}
    - {agent: slow, depends_on: [start]}
    - {agent: fast, depends_on: [start]}
    - {agent: sign, depends_on: [fast]}
    - {agent: merge, depends_on: [slow, sign]}
`, tools(), func(r *model.LLMRequest) provider.ScriptTurn {
		switch orders(r) {
		case "slow":
			<-signed
		case "sign":
			defer close(signed)
		}
		return says(orders(r) + "(" + text(r.Contents...) + ")")
	})
	defer h.close()
	h.run("go")
	h.model.mu.Lock()
	defer h.model.mu.Unlock()
	heard := map[string]string{}
	for _, r := range h.model.asked {
		heard[orders(r)] = text(r.Contents...)
	}
	if got := heard["slow"]; got != "go | [start] said: start(go)" {
		t.Errorf("slow hears %s", got)
	}
	if got := heard["merge"]; got != "go | [start] said: start(go) | [slow] said: slow(go | [start] said: start(go)) | "+
		"[fast] said: fast(go | [start] said: start(go)) | "+
		"[sign] said: sign(go | [start] said: start(go) | [fast] said: fast(go | [start] said: start(go)))" {
		t.Errorf("merge hears %s", got)
	}
}

// TestFailure lets one branch fail: its sibling is cancelled, and the state of the session is as before.
func TestFailure(t *testing.T) {
	began, cancelled := make(chan struct{}), make(chan struct{})
	c := tools()
	works := false
	c.Functions["slow"] = Function{Call: func(ctx context.Context, _ map[string]any) (any, error) {
		if works {
			return "new", nil
		}
		close(began)
		<-ctx.Done()
		close(cancelled)
		return nil, ctx.Err()
	}}
	c.Functions["quick"] = Function{Call: func(context.Context, map[string]any) (any, error) {
		if works {
			return "quick", nil
		}
		<-began
		return nil, fmt.Errorf("no luck")
	}}
	h := newHouse(t, `
name: w
agents:
  - {name: before, type: llm, model: mind, instruction: "old is {old?}", output_key: seen}
  - {name: first, type: code, function: same, input_keys: ["x?"], output_key: old}
  - {name: slow, type: code, function: slow, output_key: s}
  - {name: quick, type: code, function: quick, output_key: x}
  - {name: both, type: parallel, sub_agents: [slow, quick]}
orchestration: {type: sequential, agents: [before, first, both]}
`, c, echo)
	defer h.close()
	h.tells("go", "before: old is \nfirst: null\nerror: agent w/both/quick: work_failed: no luck")
	<-cancelled
	works = true
	if got := said(h.run("again")); !strings.HasPrefix(got, "before: old is \nfirst: null\n") {
		t.Errorf("a run that failed has left state: %s", got)
	}
	if got := said(h.run("again")); !strings.HasPrefix(got, "before: old is \nfirst: quick\n") {
		t.Errorf("a run that ended has left no state: %s", got)
	}
}

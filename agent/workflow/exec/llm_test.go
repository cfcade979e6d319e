package exec

import (
	"fmt"
	"strings"
	"testing"

	"google.golang.org/adk/v2/model"
	"google.golang.org/genai"

	"github.com/voicegw/voicegw/agent/provider"
	"github.com/voicegw/voicegw/agent/workflow"
)

// TestPlanReact reads the tags of the planner: plans are thoughts, the final answer is the answer, and behind the
// first group of calls nothing counts.
func TestPlanReact(t *testing.T) {
	part := genai.NewPartFromText
	called := func(name string) *genai.Part { return genai.NewPartFromFunctionCall(name, nil) }
	j := job()
	j.React = &workflow.Agent{Planner: planReact}
	for _, c := range []struct {
		parts []*genai.Part
		want  string
	}{
		{[]*genai.Part{part("/*PLANNING*/ 1. look"), called("a"), called("b"), part("/*ACTION*/"), called("c")},
			"thought /*PLANNING*/ 1. look | call a | call b"},
		{[]*genai.Part{part("/*REASONING*/ so /*FINAL_ANSWER*/ no, /*FINAL_ANSWER*/ yes ")},
			"thought /*REASONING*/ so /*FINAL_ANSWER*/ no, /*FINAL_ANSWER*/ | yes"},
		{[]*genai.Part{part(" /*REPLANNING*/ x"), part("/*FINAL_ANSWER*/"), part("y")},
			"thought  /*REPLANNING*/ x | thought /*FINAL_ANSWER*/ | y"},
		{[]*genai.Part{part("plain"), nil}, "plain"},
		{[]*genai.Part{called("a"), called("b")}, "call a | call b"},
	} {
		if got := text(planned(j, &genai.Content{Parts: c.parts})); got != c.want {
			t.Errorf("the response is read as %s, want %s", got, c.want)
		}
	}
}

// TestPlanners runs both planners.
func TestPlanners(t *testing.T) {
	react := func(more string) string {
		return agents(", tools: [look]", "a") + "orchestration: {type: react, agent: a, " + more + "}"
	}
	h := newHouse(t, react("planner: plan_react"), tools(), func(r *model.LLMRequest) provider.ScriptTurn {
		switch heard := text(r.Contents...); {
		case !strings.Contains(orders(r), tagFinalAnswer):
			return says("not told how to plan")
		case strings.Contains(heard, "result look"):
			return says("/*REASONING*/ hm /*FINAL_ANSWER*/ " + heard)
		}
		return provider.ScriptTurn{Text: "/*PLANNING*/ look", Calls: []provider.ScriptCall{{ID: "1", Name: "look"}}}
	})
	defer h.close()
	h.tells("go", "a: go | /*PLANNING*/ look | call look | result look map[result:<nil>]\n"+
		"w: go | /*PLANNING*/ look | call look | result look map[result:<nil>]")
	b := newHouse(t, react("planner: builtin, planner_config: {thinking_budget: 99}"), tools(), echo)
	defer b.close()
	b.tells("go", "a: a\nw: a")
	if c := b.model.asked[0].Config.ThinkingConfig; c == nil || !c.IncludeThoughts || *c.ThinkingBudget != 99 {
		t.Errorf("the thinking is configured as %v", c)
	}
}

// TestSettings wants the settings of an agent in its requests.
func TestSettings(t *testing.T) {
	h := newHouse(t, agents(", temperature: 0.5, top_p: 0.25, top_k: 7, max_output_tokens: 99", "a")+
		"orchestration: {type: sequential, agents: [a]}", tools(), echo)
	defer h.close()
	h.run("go")
	r := h.model.asked[0]
	if c := r.Config; r.Model != "mind" || *c.Temperature != 0.5 || *c.TopP != 0.25 || *c.TopK != 7 ||
		c.MaxOutputTokens != 99 {
		t.Errorf("the request is %s", workflow.TextOf(r))
	}
}

// TestSchema holds answers to output_schema: the value is the output.
func TestSchema(t *testing.T) {
	const file = `
name: w
agents:
  - {name: a, type: llm, model: mind, instruction: a, output_key: k,
     output_schema: {type: object, required: [n], properties: {n: {type: integer, minimum: 3}}}%s}
  - {name: b, type: tool, tool: look, tool_config: {k: "{k}"}, output_key: l}
orchestration: {type: sequential, agents: [a, b]}
`
	for _, c := range []struct{ more, answer, want string }{
		{"", `{"n": 3}`, "a: {\"n\": 3}\nb: {\"k\":{\"n\":3}}\nw: {\"k\":{\"n\":3}}"},
		{"", "```json\n{\"n\": 4}\n```", "a: ```json\n{\"n\": 4}\n```\nb: {\"k\":{\"n\":4}}\nw: {\"k\":{\"n\":4}}"},
		{"", `{"n": 2}`, "error: agent w/a: model_failed: its answer does not fit output_schema"},
		{"", `three`, "error: agent w/a: model_failed: its answer is not the JSON that output_schema asks for"},
		{", tools: [look]", `{"n": 3}`, "a: {\"n\": 3}\nb: {\"k\":{\"n\":3}}\nw: {\"k\":{\"n\":3}}"},
	} {
		h := newHouse(t, fmt.Sprintf(file, c.more), tools(), func(*model.LLMRequest) provider.ScriptTurn {
			return says(c.answer)
		})
		if got := said(h.run("go")); !strings.HasPrefix(got, c.want) {
			t.Errorf("%s: the run tells\n%s\nwant\n%s", c.answer, got, c.want)
		}
		r := h.model.asked[0]
		told := strings.Contains(orders(r), "JSON Schema")
		if told == (r.Config.ResponseJsonSchema != nil) || told != (c.more != "") {
			t.Errorf("the schema is told by %q and %v", orders(r), r.Config.ResponseJsonSchema)
		}
		h.close()
	}
}

// TestContents lets an agent see no conversation but what was said last.
func TestContents(t *testing.T) {
	h := newHouse(t, agents(", include_contents: none", "a", "b")+"orchestration: {type: sequential, agents: [a, b]}",
		tools(), echo)
	defer h.close()
	h.run("first")
	h.run("second")
	var heard []string
	for _, r := range h.model.asked {
		heard = append(heard, text(r.Contents...))
	}
	if got := strings.Join(heard, "; "); got != "first; [a] said: a; second; [a] said: a" {
		t.Errorf("the models hear %s", got)
	}
	w := newHouse(t, agents("", "a", "b")+"orchestration: {type: sequential, agents: [a, b]}", tools(), echo)
	defer w.close()
	w.run("first")
	w.run("second")
	if got := text(w.model.asked[3].Contents...); got != "first | [a] said: a | b | second | [a] said: a" {
		t.Errorf("the model of b hears %s", got)
	}
}

// TestMixedExit runs the calls beside exit_loop; the loop ends with the answer that follows.
func TestMixedExit(t *testing.T) {
	h := newHouse(t, agents(", tools: [exit_loop, look]", "a")+
		"orchestration: {type: loop, agents: [a], max_iterations: 5}", tools(),
		func(r *model.LLMRequest) provider.ScriptTurn {
			if heard := text(r.Contents...); strings.Contains(heard, "result look") {
				return says(heard)
			}
			return calls(provider.ScriptCall{ID: "1", Name: "exit_loop"}, provider.ScriptCall{ID: "2", Name: "look"})
		})
	defer h.close()
	heard := "go | call exit_loop | call look | result exit_loop map[result:the loop ends once you have answered] | " +
		"result look map[result:<nil>]"
	h.tells("go", "a: "+heard+"\nw: "+heard)
}

package exec

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/voicegw/voicegw/agent/managed"
)

// TestTemplates holds templates to types, to text, and to keys that are missing. A value with braces is a value.
func TestTemplates(t *testing.T) {
	c := tools()
	c.Functions["values"] = Function{Call: func(context.Context, map[string]any) (any, error) {
		return map[string]any{"n": 3, "bomb": "{v}{v}{v}"}, nil
	}}
	h := newHouse(t, `
name: w
agents:
  - {name: v, type: code, function: values, output_key: v}
  - name: see
    type: tool
    tool: look
    tool_config: {whole: "{v}", part: "v is {v}", deep: [{a: ["{v}"]}, 7, null], none: "{x?}", no: "-{x?}-", "{v}": 1,
      "b": "{ n }"}
    output_key: seen
  - {name: tell, type: llm, model: mind,
     instruction: "{v} {x?}{\"a\": 1} {current_datetime} {timezone} {other:v} {temp:x?}{seen}"}
orchestration: {type: sequential, agents: [v, see, tell]}
`, c, echo)
	defer h.close()
	got := said(h.run("go"))
	for _, want := range []string{
		`see: {"b":"{ n }","deep":[{"a":[{"bomb":"{v}{v}{v}","n":3}]},7,null],"no":"--","none":null,` +
			`"part":"v is {\"bomb\":\"{v}{v}{v}\",\"n\":3}","whole":{"bomb":"{v}{v}{v}","n":3},"{v}":1}`,
		`tell: {"bomb":"{v}{v}{v}","n":3} {"a": 1} 2026-11-24T22:00:00Z UTC {other:v} {"b":`,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("the run tells\n%s\nwithout\n%s", got, want)
		}
	}
}

// TestMissing wants an error for a key that has no value, which names the key, where it stands and the way out.
func TestMissing(t *testing.T) {
	for agent, want := range map[string]string{
		`{name: a, type: llm, model: mind, instruction: "Hi {user:n}."}`: `agent w/a: model_failed: its instruction ` +
			`needs the state key "user:n", which has no value; write it before, or read it with {user:n?}`,
		`{name: a, type: tool, tool: look, tool_config: {a: ["{user:n}"]}, output_key: k}`: `its tool_config needs the ` +
			`state key "user:n", which has no value; write it before, or read it with {user:n?}`,
		`{name: a, type: code, function: same, input_keys: ["user:n"], output_key: k}`: `input_keys needs the state key ` +
			`"user:n", which has no value; write it before, or read it with "user:n?"`,
		`{name: a, type: expr, expression: "1", input_keys: ["user:n"], output_key: k}`: `the state key "user:n"`,
		`{name: a, type: llm, model: mind, instruction: "{artifact.plan.txt}"}`: `the artifact "plan.txt" in its ` +
			`instruction: `,
		`{name: a, type: tool, tool: look, tool_config: {fail: true}, output_key: k}`: `agent w/a: tool_failed: it is dark`,
		`{name: a, type: code, function: fail, output_key: k}`:                        `agent w/a: work_failed: no luck`,
	} {
		h := newHouse(t, "name: w\nunverified: the test\nagents:\n  - "+agent+"\n  - {name: b, type: code, function: join, "+
			"output_key: \"user:n\"}\norchestration: {type: sequential, agents: [a, b]}\n"+
			"runtime: {artifact_service: in_memory}", tools(), echo)
		if got := said(h.run("go")); !strings.HasPrefix(got, "error: ") || !strings.Contains(got, want) {
			t.Errorf("%s: the run tells %q, want %q", agent, got, want)
		}
		h.close()
	}
}

// FuzzTemplates puts any values into any text: nothing in a value is a template.
func FuzzTemplates(f *testing.F) {
	f.Add("a {v} {v?} {x?} {{v}}", "{v}")
	f.Add("{v}", "{{{}}}")
	f.Fuzz(func(t *testing.T, text, value string) {
		r := &run{p: &program{f: &flow{}}, ctx: &managed.TurnContext{},
			seeds: map[string]any{"v": value, "current_date": value}}
		got, err := r.instruct(t.Context(), job(), text)
		if err != nil {
			return
		}
		marked := inInstruction.ReplaceAllStringFunc(text, func(m string) string {
			if _, known := r.seeds[strings.Trim(m, "{?}")]; known {
				return value
			}
			return ""
		})
		if got != marked {
			t.Errorf("%q with %q is %q, want %q", text, value, got, marked)
		}
		if _, err := r.filled(job(), map[string]any{"a": []any{text, fmt.Sprint(text)}}); err != nil &&
			!strings.Contains(err.Error(), "state key") {
			t.Error(err)
		}
	})
}

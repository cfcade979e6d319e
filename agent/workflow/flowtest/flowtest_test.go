package flowtest

import (
	"context"
	"strings"
	"testing"

	"google.golang.org/genai"

	"github.com/voicegw/voicegw/agent/managed"
	"github.com/voicegw/voicegw/agent/workflow"
	"github.com/voicegw/voicegw/agent/workflow/exec"
)

// desk has an agent of each kind that tests script: a model, a model with a tool, and a tool.
const desk = `
name: desk
agents:
  - {name: plan, type: llm, model: parrot, instruction: Plan., tools: [look], output_key: plan}
  - {name: fetch, type: tool, tool: look, tool_config: {for: "{plan}"}, output_key: found}
orchestration: {type: sequential, agents: [plan, fetch]}
`

// play runs the tests of a text.
func play(t *testing.T, text string) []Result {
	t.Helper()
	f, err := Parse("desk_test.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	tests := New(f)
	look := managed.Tool{Declaration: &genai.FunctionDeclaration{Name: "look", Description: "looks"},
		Call: func(context.Context, managed.ToolCall) (map[string]any, error) {
			t.Error("a test has called a real tool")
			return nil, nil
		}}
	e, err := exec.New(exec.Config{Tools: []managed.Tool{look}, Every: []exec.Hooks{tests.Hooks()}})
	if err != nil {
		t.Fatal(err)
	}
	w, found := workflow.Load("desk.yaml", []byte(desk), e.Registry())
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
	list, err := tests.Run(t.Context(), e, "desk")
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// TestRun has a test that passes, one where everything differs, and runs that fail.
func TestRun(t *testing.T) {
	t.Parallel()
	got := play(t, `
tests:
  - name: passes
    message: Hello
    answers:
      plan:
        - {calls: [{name: look, args: {at: 1}}]}
        - second floor
    tools:
      look: [{n: 1}, {n: 2}]
    expect:
      answer: '{"n":2}'
      contains: [n, "2"]
      state: {plan: second floor, found: {n: 2}}
      events: ["plan: second floor", 'fetch: {"n":2}']
  - name: differs
    message: Hello
    answers:
      plan: [one, two]
    tools:
      look: [7]
    expect:
      answer: "8"
      contains: [x]
      state: {plan: two, none: 1}
      events: ["plan: one"]
      error: no luck
  - name: fails
    message: Hello
    answers:
      plan: [{error: no luck}]
    expect: {error: no luck}
  - name: lacks an answer
    message: Hello
  - name: lacks a result
    message: Hello
    answers: {plan: [one]}
  - name: goes on without a result
    message: Hello
    answers: {plan: [{calls: [{name: look}]}, one]}
`)
	var text []string
	for _, r := range got {
		line := r.Name
		for _, d := range r.Diffs {
			line += "\n" + d.String()
		}
		text = append(text, line)
	}
	for i, want := range []string{
		"passes",
		"differs\nthe run does not fail\n  - no luck\n  + 7\nanswer\n  - 8\n  + 7\nanswer contains\n  - x\n  + 7\n" +
			"state none\n  - 1\n  + nothing has written it\nstate plan\n  - \"two\"\n  + \"one\"\n" +
			"events\n  - plan: one\n  + plan: one\n  + fetch: 7\nanswers of plan that were asked for\n  - 2\n  + 1",
		"fails",
	} {
		if text[i] != want {
			t.Errorf("test %d:\n%s\nwant\n%s", i+1, text[i], want)
		}
	}
	for i, want := range map[int]string{3: "the test has no answer 1 of `plan`",
		4: "the test has no result of the tool look", 5: "the tool look was called, and the test has no result of it"} {
		if !strings.Contains(text[i], "the run fails\n  + ") || !strings.Contains(text[i], want) {
			t.Errorf("test %d:\n%s\nwant %s", i+1, text[i], want)
		}
	}
}

// TestParseRefuses shows the messages for files that are wrong.
func TestParseRefuses(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                       "it is empty",
		"tests: [":               "line 1",
		"[]":                     "line 1: the file must be a mapping",
		"test: []":               "line 1: `test` is no key of the file; did you mean `tests`?",
		"tests: []":              "it has 0 tests",
		"tests:\n- {nmae: a}":    "line 2: `nmae` is no key of a test; did you mean `name`?",
		"tests:\n- {message: a}": "test 1 has no name",
		"tests:\n- {name: a}":    "has no message",
		"tests: [{name: a, message: b}, {name: a, message: b}]":                 `two tests are called "a"`,
		"tests: [{name: a, message: b, expect: {anser: c}}]":                    "did you mean `answer`?",
		"tests: [{name: a, message: b, expect: c}]":                             "expect must be a mapping",
		"tests: [{name: a, message: b, answers: {x: [{txt: a}]}}]":              "did you mean `text`?",
		"tests: [{name: a, message: b, answers: {x: [{calls: [{nam: a}]}]}}]":   "did you mean `name`?",
		"tests: [{name: a, message: b, answers: {x: [{calls: [{args: {}}]}]}}]": "has no name",
		"tests: [{name: a, message: b, answers: {x: one}}]":                     "line 1",
		"tests: [{name: a, message: b, tools: {x: []}}]":                        "the tool x has no results",
		"tests: [{name: a, message: b, zzzzzzzz: 1}]":                           "the keys are: name, message",
		"a: " + strings.Repeat("x", FileMax):                                    "more than 1048576",
	} {
		if _, err := Parse("x_test.yaml", []byte(text)); err == nil || !strings.Contains(err.Error(), want) ||
			!strings.HasPrefix(err.Error(), "x_test.yaml: ") {
			t.Errorf("%.80q: %v; want %s", text, err, want)
		}
	}
}

// FuzzParse wants no text to make the parser panic.
func FuzzParse(f *testing.F) {
	f.Add("tests: [{name: a, message: b, answers: {x: [y, {calls: [{name: z}]}]}, expect: {answer: c}}]")
	f.Add("tests: &a [*a]")
	f.Add("&a {tests: *a}")
	f.Fuzz(func(t *testing.T, text string) {
		if got, err := Parse("x", []byte(text)); (got == nil) == (err == nil) {
			t.Errorf("%v %v", got, err)
		}
	})
}

package workflow

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// said are the rules and messages of the findings about a text, and of the warnings.
func said(t *testing.T, text string) (found, warned []string) {
	t.Helper()
	w, list := Load("w.yaml", []byte(text), Registry{})
	if w != nil {
		r, err := Verify(context.Background(), compiled(t, text))
		if err != nil {
			t.Fatal(err)
		}
		list = r.Findings
		for _, f := range r.Warnings {
			warned = append(warned, string(f.Rule)+": "+f.Message)
		}
	}
	for _, f := range list {
		found = append(found, string(f.Rule)+": "+f.Message)
	}
	return found, warned
}

// wants compares what is said with the beginnings of what must be said.
func wants(t *testing.T, name string, said, want []string) {
	t.Helper()
	if !slices.EqualFunc(said, want, strings.Contains) {
		t.Errorf("%s: got\n%s\nwant\n%s", name, strings.Join(said, "\n"), strings.Join(want, "\n"))
	}
}

// TestTemplates wants templates, and only them, to be reads.
func TestTemplates(t *testing.T) {
	const file = "name: w\nagents:\n  - {name: w1, type: code, function: f, output_key: topic}\n" +
		"  - {name: a, %s}\nruntime: {artifact_service: %s}\norchestration: {type: sequential, agents: [w1, a]}\n"
	llm := func(words string) string { return "type: llm, model: m, instruction: " + words }
	tool := func(words string) string {
		return "type: tool, tool: http_request, output_key: x, tool_config: " + words
	}
	for _, c := range []struct {
		agent string
		want  []string
	}{
		{llm(`'{topic} {none?} {user:name?} {4} {"a": 1} { nope } {a b} {} {a.b} {other.x?}'`), nil},
		{tool(`{a: '\d{4}', b: '{"a": 1}', c: "{\"a\": 1}", d: ['{topic}', {e: '{topic?}'}], "{nope}": 1, g: '{4?}'}`), nil},
		{llm(`'{none}'`), []string{"read_before_write: `a` reads `none`, which no agent writes"}},
		{tool(`{a: [{b: 'x {none} y'}]}`), []string{"read_before_write: `a` reads `none`"}},
		{tool(`{a: {topic}}`), []string{`bad_value: {topic} without quotes is a mapping in YAML; write "{topic}"`}},
		{llm(`{topic}`), []string{"bad_value: `instruction`: {topic} without quotes is a mapping"}},
		{llm(`'{topic.title} {topic.title}'`),
			[]string{"unsupported: {topic.title} is not replaced: a template names a whole key"}},
		{llm(`'{{topic}} { topic } {topic? } {{other}} { other }'`),
			[]string{"unsupported: {{topic}} is not replaced by the key: write {topic}", "unsupported: { topic } is not",
				"unsupported: {topic? } is not replaced", "read_before_write: `a` reads `other`"}},
		{llm(`'{artifact.plan.txt} {artifact.my plan?}'`), []string{"unsupported: {artifact.plan.txt} needs artifacts",
			"unsupported: {artifact.my plan?} needs artifacts"}},
	} {
		found, _ := said(t, fmt.Sprintf(file, c.agent, "none"))
		wants(t, c.agent, found, c.want)
	}
	found, _ := said(t, fmt.Sprintf(file, llm(`'{artifact.plan.txt}'`), "file"))
	wants(t, "artifacts are there", found, nil)
	found, _ = said(t, fmt.Sprintf(file, tool(`{a: '{artifact.plan.txt}'}`), "file"))
	wants(t, "in tool_config", found, []string{"unsupported: {artifact.plan.txt} has no effect in tool_config"})
}

// TestPrefixes wants keys with a prefix to be checked as those without.
func TestPrefixes(t *testing.T) {
	const file = "name: w\nagents:\n  - {name: a, type: code, function: f, output_key: %s, input_keys: [%s]}\n" +
		"  - {name: b, type: code, function: f, output_key: %s, input_keys: [%s]}\n" +
		"orchestration: {type: %s, agents: [a, b]}\n"
	for _, c := range []struct {
		args []any
		want []string
	}{
		{[]any{"'temp:x'", "", "y", "'temp:x'", "sequential"}, nil},
		{[]any{"'user:x'", "", "'app:y'", "'user:x', 'app:y?'", "sequential"}, nil},
		{[]any{"'user:x'", "", "'user:x'", "", "parallel"}, []string{"race: `a` and `b` both write `user:x`"}},
		{[]any{"'app:x'", "", "y", "'app:x?'", "parallel"}, []string{"race: `a` writes `app:x` while `b` reads it"}},
		{[]any{"'temp:x'", "", "'temp:x'", "", "parallel"}, []string{"race: `a` and `b` both write `temp:x`"}},
		{[]any{"'user:x'", "", "x", "", "parallel"}, nil},
		{[]any{"x", "'user:x'", "y", "", "sequential"},
			[]string{"read_before_write: `a` reads `user:x`, which no agent of this file writes: it is there only if " +
				"something else has written it before; read it with \"user:x?\""}},
		{[]any{"x", "'temp:y'", "z", "", "sequential"},
			[]string{"read_before_write: `a` reads `temp:y`, which no agent writes"}},
		{[]any{"x", "'user:y'", "'user:y'", "", "sequential"},
			[]string{"read_before_write: `a` reads `user:y`, which may not be written yet: an earlier run may have " +
				"written it, and the first run finds none; write it before, or read it with \"user:y?\""}},
		{[]any{"'session:x'", "", "y", "", "sequential"},
			[]string{"bad_value: `output_key` is \"session:x\", which is no name"}},
		{[]any{"'user:'", "", "y", "", "sequential"}, []string{"bad_value: `output_key` is \"user:\", which is no name"}},
		{[]any{"x", "'artifact.x'", "y", "", "sequential"}, []string{"bad_value: \"artifact.x\" is no name of a state key"}},
	} {
		found, _ := said(t, fmt.Sprintf(file, c.args...))
		wants(t, fmt.Sprint(c.args), found, c.want)
	}
}

// TestOverwrites warns only of agents that write one key in one run.
func TestOverwrites(t *testing.T) {
	const agents = "name: w\nagents:\n  - {name: a, type: code, function: f, output_key: %s}\n" +
		"  - {name: b, type: code, function: f, output_key: %s}\n  - {name: c, type: llm, model: m, instruction: i}\n" +
		"  - {name: d, type: code, function: f, output_key: %s}\n%s\n"
	routes := "orchestration: {type: dag, nodes: [{agent: c}, {agent: a, depends_on: [c], when: {c: x}}, " +
		"{agent: b, depends_on: [c], when: {c: default}}, {agent: d, depends_on: [a, b], join: any}]}"
	routed := "orchestration: {type: llm_routed, router: c, agents: [a, b, d]}"
	mixed := "  - {name: e, type: sequential, sub_agents: [a]}\n" + strings.ReplaceAll(routed, "[a, b, d]", "[e, b, d]")
	later := "  - {name: talk, type: llm_routed, router: c, sub_agents: [a, b]}\n" +
		"orchestration: {type: sequential, agents: [talk, d]}"
	for _, c := range []struct {
		args []any
		want []string
	}{
		{[]any{"k", "k", "x", routes}, nil},
		{[]any{"k", "x", "k", routes}, []string{"overwrites: `d` and `a` both write `k`"}},
		{[]any{"x", "k", "k", routes}, []string{"overwrites: `d` and `b` both write `k`"}},
		{[]any{"k", "k", "k", routes}, []string{"overwrites: `d` and `a` both write `k`"}},
		{[]any{"k", "k", "k", routed}, nil},
		{[]any{"k", "k", "x", mixed}, nil},
		{[]any{"k", "k", "x", later}, nil},
		{[]any{"x", "k", "k", later}, []string{"overwrites: `d` and `b` both write `k`"}},
		{[]any{"k", "k", "x", "orchestration: {type: sequential, agents: [c, a, b, d]}"},
			[]string{"overwrites: `b` and `a` both write `k`"}},
	} {
		found, warned := said(t, fmt.Sprintf(agents, c.args...))
		wants(t, fmt.Sprint(c.args), found, nil)
		wants(t, fmt.Sprint(c.args), warned, c.want)
	}
}

// TestMermaidNames wants different agents to have different ids.
func TestMermaidNames(t *testing.T) {
	c := compiled(t, "name: end\nagents:\n  - {name: a-b, type: code, function: f, output_key: x}\n"+
		"  - {name: a_b, type: code, function: f, output_key: y}\n  - {name: a, type: sequential, sub_agents: [b, b]}\n"+
		"  - {name: b, type: code, function: f, output_key: z}\n  - {name: a__b, type: code, function: f, output_key: v}\n"+
		"orchestration: {type: sequential, agents: [a-b, a_b, a, a__b]}\n")
	ids := map[string]string{}
	for _, b := range c.blocks {
		id := b.mermaidID()
		if other := ids[id]; other != "" || strings.EqualFold(id, "end") {
			t.Errorf("%s and %s have the id %s", other, b.path, id)
		}
		ids[id] = b.path
	}
	if len(ids) != 7 || !strings.Contains(c.Mermaid(), "end_a_0b --> end_a__b") {
		t.Errorf("%v\n%s", ids, c.Mermaid())
	}
}

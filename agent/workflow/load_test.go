package workflow_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
	"gopkg.in/yaml.v3"

	"github.com/voicegw/voicegw/agent/workflow"
)

const one = "name: w\nagents:\n  - {name: a, type: code, function: f, output_key: x}\n" +
	"orchestration: {type: sequential, agents: [a]}\n"

// TestLimits wants texts beyond the limits to be refused, quickly, with the limit.
func TestLimits(t *testing.T) {
	bomb := "a0: &a0 [x]\n"
	for i := 1; i < 30; i++ {
		bomb += fmt.Sprintf("a%d: &a%d [*a%d, *a%d]\n", i, i, i-1, i-1)
	}
	nested := "name: w\nagents:\n  - {name: a0, type: code, function: f, output_key: x}\n"
	for i := 1; i < 18; i++ {
		nested += fmt.Sprintf("  - {name: a%d, type: sequential, sub_agents: [a%d]}\n", i, i-1)
	}
	doubling := "name: w\nagents:\n  - {name: a0, type: code, function: f, output_key: x}\n"
	for i := 1; i < 10; i++ {
		doubling += fmt.Sprintf("  - {name: a%d, type: sequential, sub_agents: [a%d, a%d]}\n", i, i-1, i-1)
	}
	for name, c := range map[string][2]string{
		"size":      {strings.Repeat("# padding\n", 1<<20), "more than 1048576 bytes"},
		"aliases":   {bomb, "more than 50000 values"},
		"itself":    {"a: &a [*a]\n", ""},
		"depth":     {"a: " + strings.Repeat("[", 200) + strings.Repeat("]", 200), "nested more than 32 deep"},
		"empty":     {"", "the file is empty"},
		"no YAML":   {"a: [", "not valid YAML"},
		"documents": {one + "---\n" + one, "a second document"},
		"a list":    {"- a\n", "it must be a mapping"},
		"a merge":   {"base: &b {description: d}\n" + one + "<<: *b\n", "merge keys (<<) are not supported"},
		"levels":    {nested + "orchestration: {type: sequential, agents: [a17]}\n", "nested more than 16 deep"},
		"blocks":    {doubling + "orchestration: {type: sequential, agents: [a9]}\n", "more than 250 blocks"},
		"rounds": {strings.Replace(one, "{type: sequential", "{type: loop, max_iterations: 1001", 1),
			"it must be 1 to 1000"},
	} {
		_, found := judge(t, name, []byte(c[0]))
		if len(found) == 0 || !strings.Contains(fmt.Sprint(found), c[1]) {
			t.Errorf("%s: %v, want %q", name, found, c[1])
		}
	}
}

// TestPositions wants the exact place of a template in a text of several lines.
func TestPositions(t *testing.T) {
	text := "name: w\nagents:\n  - name: a\n    type: llm\n    model: m\n    instruction: |\n      First.\n" +
		"      Then use {nope}.\n" +
		"orchestration: {type: sequential, agents: [a]}\n"
	_, found := judge(t, "w.yaml", []byte(text))
	if len(found) != 1 || found[0].Line != 8 || found[0].Column != 16 || found[0].Rule != workflow.ReadBeforeWrite {
		t.Errorf("%v", found)
	}
}

// TestRegistry wants names that nothing is registered under to be refused.
func TestRegistry(t *testing.T) {
	r := workflow.Registry{Tools: []string{}, Functions: []string{"g"}, Callbacks: []string{},
		Model:  func(name string) error { return fmt.Errorf("no provider has %s", name) },
		Gemini: func(string) bool { return false }}
	text := "name: w\nagents:\n  - {name: a, type: code, function: h, output_key: x}\n" +
		"  - {name: b, type: llm, model: m, instruction: i, tools: [condtion, url_context], " +
		"callbacks: {before_model: log}}\n" +
		"orchestration: {type: sequential, agents: [a, b]}\n"
	_, found := workflow.Load("w.yaml", []byte(text), r)
	for _, want := range []string{"there is no function `h`; did you mean `g`?", "did you mean `condition`?",
		"`url_context` works with models of Gemini alone, and the model of `b` is `m`",
		"there is no callback `log`; callbacks are registered in Go", "no provider has m"} {
		if !strings.Contains(fmt.Sprint(found), want) {
			t.Errorf("no finding says %q: %v", want, found)
		}
	}
}

// TestReport writes a report, reads it again, and wants one that does not fit to be refused.
func TestReport(t *testing.T) {
	text, err := os.ReadFile("testdata/good/desk.yaml")
	if err != nil {
		t.Fatal(err)
	}
	compile := func(text []byte) *workflow.Compiled {
		w, found := workflow.Load("desk.yaml", text, registry())
		if w == nil {
			t.Fatal(found)
		}
		c, _ := workflow.Compile(w)
		return c
	}
	c := compile(text)
	r, err := workflow.Verify(context.Background(), c)
	if err != nil {
		t.Fatal(err)
	}
	data := r.Bytes()
	if !strings.HasPrefix(workflow.CertificateName(c.Workflow), "workflow-") {
		t.Error(workflow.CertificateName(c.Workflow))
	}
	again, err := workflow.ReadReport(context.Background(), data, c)
	if err != nil || !again.Proved() || !bytes.Equal(again.Bytes(), data) {
		t.Fatalf("%v", err)
	}
	other := compile(bytes.Replace(text, []byte("max_hops: 4"), []byte("max_hops: 3"), 1))
	if _, err := workflow.ReadReport(context.Background(), data, other); err == nil {
		t.Error("a report on another text was accepted")
	}
	for _, change := range [][2]string{{`"count": `, `"count": 1`}, {`"markings": "`, `"markings": "AA`},
		{`"path": "desk/s`, `"path": "x`}, {`"proved": true`, `"proved": false`},
		{`"method": "like `, `"method": "like desk/front/x`},
		{`"net": `, `"unverified": "because", "net": `},
		{`"method": "structure"`, `"method": "explored", "certificate": null`},
		{`"findings": null`, `"findings": [{"rule": "race"}]`},
		{`"rule": "overwrites"`, `"rule": "race"`}, {`"states": `, `"states": 1`}} {
		broken := bytes.Replace(data, []byte(change[0]), []byte(change[1]), 1)
		_, err := workflow.ReadReport(context.Background(), broken, c)
		if bytes.Equal(broken, data) || err == nil {
			t.Errorf("with %q a report was accepted", change[1])
		}
	}
}

// TestSchema wants the JSON Schema to accept the good files and to refuse what the tables refuse.
func TestSchema(t *testing.T) {
	var s jsonschema.Schema
	if err := json.Unmarshal(workflow.JSONSchema(), &s); err != nil {
		t.Fatal(err)
	}
	resolved, err := s.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	valid := func(text []byte) error {
		var v any
		if err := yaml.Unmarshal(text, &v); err != nil {
			t.Fatal(err)
		}
		b, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		var plain any
		if err := json.Unmarshal(b, &plain); err != nil {
			t.Fatal(err)
		}
		return resolved.Validate(plain)
	}
	for _, path := range files(t, "good") {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := valid(text); err != nil {
			t.Errorf("%s: %v", path, err)
		}
	}
	for _, change := range [][2]string{{"function: f, ", ""}, {"function", "functoin"}, {"type: code", "type: llm"},
		{"type: sequential", "type: loop"}, {"name: w", "names: w"}, {"agents: [a]}", "agents: []}"}} {
		if text := strings.Replace(one, change[0], change[1], 1); text == one || valid([]byte(text)) == nil {
			t.Errorf("with %q for %q it is accepted", change[1], change[0])
		}
	}
}

// TestVersion: the version of a file is that of what it says.
func TestVersion(t *testing.T) {
	const text = "name: w\nagents: [{name: a, type: tool, tool: f, tool_config: {x: 1, y: ~}, output_key: k}]\n" +
		"orchestration: {type: sequential, agents: [a]}\n"
	version := func(text string) string {
		w, found := workflow.Load("w.yaml", []byte(text), workflow.Registry{})
		if w == nil {
			t.Fatal(found)
		}
		return w.Version
	}
	want := version(text)
	for _, same := range [][2]string{{"name: w\n", "# A comment\nname: \"w\"\n\n"}, {"{x: 1, y: ~}", "{y: null, x: 1}"},
		{"{name: a, type: tool", "{type: tool, name: a"}} {
		if got := version(strings.Replace(text, same[0], same[1], 1)); got != want {
			t.Errorf("with %s the version is another one", same[1])
		}
	}
	for _, other := range [][2]string{{"x: 1", "x: '1'"}, {"x: 1", "x: 2"}, {"x: 1, y: ~", "x: [1], y: ~"},
		{"output_key: k", "output_key: k2"}, {"name: w", "name: v"}} {
		if got := version(strings.Replace(text, other[0], other[1], 1)); got == want {
			t.Errorf("with %s the version is the same", other[1])
		}
	}
}

// TestDeterminism wants the same report twice.
func TestDeterminism(t *testing.T) {
	for _, path := range append(files(t, "good"), files(t, "bad")...) {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		_, first := judge(t, path, text)
		_, second := judge(t, path, text)
		if fmt.Sprint(first) != fmt.Sprint(second) {
			t.Errorf("%s: two reports differ:\n%v\n%v", path, first, second)
		}
	}
}

// FuzzLoad wants every text to be loaded or refused, with positions within the text.
func FuzzLoad(f *testing.F) {
	for _, path := range append(files(f, "good"), files(f, "bad")...) {
		text, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Add([]byte("a: &a [*a]\n"))
	f.Add([]byte("? [a]\n: b\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		w, found := workflow.Load("w.yaml", text, registry())
		if (w == nil) == (len(found) == 0) {
			t.Fatalf("workflow %v, findings %v", w, found)
		}
		if w != nil {
			if c, more := workflow.Compile(w); c == nil {
				found = more
				if len(found) == 0 {
					t.Fatal("no net, and no finding")
				}
			}
		}
		lines := bytes.Count(text, []byte("\n")) + bytes.Count(text, []byte("\r")) + 2
		for _, one := range found {
			if one.Line < 1 || one.Line > lines || one.Column < 1 || one.Rule == "" || one.Message == "" ||
				one.File != "w.yaml" {
				t.Fatalf("%+v in %d lines", one, lines)
			}
		}
	})
}

// TestExpressionNames reads state with a prefix: an expression has "_" in place of its ":".
func TestExpressionNames(t *testing.T) {
	_, found := workflow.Load("w.yaml", []byte(`
name: w
agents:
  - {name: twice, type: expr, expression: "user_n + app_m", input_keys: ["user:n?", "app:m?"], output_key: k}
orchestration: {type: sequential, agents: [twice]}
`), workflow.Registry{})
	for _, f := range found {
		t.Errorf("%v", f)
	}
}

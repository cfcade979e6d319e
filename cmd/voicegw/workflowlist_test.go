package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestWorkflowInit writes a workflow that passes validate and its own tests, and overwrites nothing.
func TestWorkflowInit(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "flows")
	for _, c := range []struct {
		words  []string
		code   int
		stdout string
		stderr string
	}{
		{[]string{"init", "hello", "--dir", dir}, 0, "wrote " + dir + "/hello/workflow.yaml\n", ""},
		{[]string{"init", "hello", "--dir", dir}, 1, "", dir + "/hello is there already"},
		{[]string{"init", "1st", "--dir", dir}, 2, "", `"1st" is no name of a workflow`},
		{[]string{"init", "draft", "--dir", dir}, 2, "", `must not be called "draft"`},
		{[]string{"init"}, 2, "", "which name?"},
		{[]string{"validate", dir + "/hello/workflow.yaml"}, 0, "proved", ""},
		{[]string{"test", "hello", "--dir", dir}, 0, "ok    signs what the model has drafted\n", ""},
		{[]string{"run", "hello", "--dir", dir, "-m", "Hi"}, 0, "Hi -- hello\n", ""},
	} {
		code, stdout, stderr := flowCommand(c.words...)
		if code != c.code || !strings.Contains(stdout, c.stdout) || !strings.Contains(stderr, c.stderr) {
			t.Errorf("%q: exit code %d\n%s\n%s\nwant %d, %q and %q", c.words, code, stdout, stderr, c.code, c.stdout, c.stderr)
		}
	}
}

// TestWorkflowTest shows what differs, and what is wrong with files of tests.
func TestWorkflowTest(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if code, _, errs := flowCommand("init", "hello", "--dir", dir); code != 0 {
		t.Fatal(errs)
	}
	tests := filepath.Join(dir, "hello", "workflow_test.yaml")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(tests, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	try := func(code int, want string, words ...string) {
		t.Helper()
		got, stdout, stderr := flowCommand(append([]string{"test", "--dir", dir}, words...)...)
		if got != code || !strings.Contains(stdout+stderr, want) {
			t.Errorf("test %q: exit code %d\n%s%s\nwant %d with\n%s", words, got, stdout, stderr, code, want)
		}
	}
	write("tests: [{name: a, message: b, answers: {draft: [c]}, expect: {answer: d}}]")
	try(1, "FAIL  a\n      answer\n        - d\n        + c -- hello\n", "hello")
	try(1, "1 of 1 test failed", "hello")
	write("tests: [{name: a, massage: b}]")
	try(2, "workflow_test.yaml: line 1: `massage` is no key of a test; did you mean `message`?", "hello")
	if err := os.Remove(tests); err != nil {
		t.Fatal(err)
	}
	try(2, "workflow.yaml has no tests: write ", "hello")
	try(2, `there is no workflow "helo" in `+dir+`; did you mean "hello"?`, "helo")
	try(2, "no such file", "hello", "--tests", dir+"/none.yaml")
}

// TestWorkflowList lists what is accepted, what is not proved, and what is refused.
func TestWorkflowList(t *testing.T) {
	t.Parallel()
	dir := flowDir(t)
	text, err := os.ReadFile(filepath.Join(dir, "race.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	sure := strings.Replace(string(text), "name: race", "name: sure\nunverified: both are equal", 1)
	if err := os.WriteFile(filepath.Join(dir, "sure.yaml"), []byte(sure), 0o600); err != nil {
		t.Fatal(err)
	}
	twin := strings.Replace(sure, "name: sure", "name: shout", 1)
	if err := os.WriteFile(filepath.Join(dir, "twin.yaml"), []byte(twin), 0o600); err != nil {
		t.Fatal(err)
	}
	code, stdout, stderr := flowCommand("list", "--dir", dir)
	for _, want := range []string{`shout +\S+twin.yaml +refused: \S+shout\S*.yaml is named shout, too\n`,
		`divide +\S+ +accepted\n`, `race +\S+ +refused: 1 finding\n`, `shout +\S+ +accepted\n`,
		`sure +\S+ +accepted, unverified: both are equal\n`} {
		if !regexp.MustCompile(want).MatchString(stdout) || code != 0 {
			t.Errorf("list: %d %s\n%s\nwant %s", code, stderr, stdout, want)
		}
	}
	if code, _, stderr := flowCommand("list", "--dir", dir+"/none"); code != 2 ||
		!strings.Contains(stderr, "no such file") {
		t.Errorf("a directory that is not there: %d %s", code, stderr)
	}
}

// TestWorkflowTestsInDocs runs the tests in docs/workflows.md.
func TestWorkflowTestsInDocs(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, text := range map[string]string{"rates_test.yaml": snippet(t, "docs/workflows.md", "tests:").text,
		"rates.yaml": `
name: rates
agents:
  - {name: clerk, type: llm, model: parrot, instruction: Tell., tools: [http_request], output_key: rate}
orchestration: {type: sequential, agents: [clerk]}
`} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if code, stdout, stderr := flowCommand("test", "rates", "--dir", dir); code != 0 {
		t.Errorf("%d\n%s%s", code, stdout, stderr)
	}
}

// TestOpenAPIInDocs gives the toolset of docs/workflows.md to a workflow.
func TestOpenAPIInDocs(t *testing.T) {
	t.Setenv("CRM_TOKEN", "secret")
	dir := t.TempDir()
	for name, text := range map[string]string{"tools.yaml": snippet(t, "docs/workflows.md", "openapi_tools:").text,
		"crm.yaml": `
openapi: 3.0.3
info: {title: CRM, version: "1"}
servers: [{url: "https://crm.example"}]
paths:
  /customers:
    get: {operationId: listCustomers, responses: {"200": {description: all}}}
  /customers/one:
    get: {operationId: getCustomer, responses: {"200": {description: one}}}
  /secrets:
    get: {operationId: listSecrets, responses: {"200": {description: none}}}
`, "ask.yaml": `
name: ask
agents:
  - {name: clerk, type: llm, model: parrot, instruction: Ask., tools: [{crm: [crm_list*]}]}
orchestration: {type: sequential, agents: [clerk]}
`} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	words := []string{"run", filepath.Join(dir, "ask.yaml"), "-m", "Hello", "--openapi"}
	if code, stdout, stderr := flowCommand(append(words, filepath.Join(dir, "tools.yaml"))...); code != 0 ||
		stdout != "Hello\n" {
		t.Errorf("%d\n%s%s", code, stdout, stderr)
	}
	code, _, stderr := flowCommand(append(words, filepath.Join(dir, "none.yaml"))...)
	if code != exitUsage || !strings.Contains(stderr, "workflow.openapi: open ") {
		t.Errorf("without the file: %d %s", code, stderr)
	}
}

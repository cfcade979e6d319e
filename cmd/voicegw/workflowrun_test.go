package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/voicegw/voicegw/agent/workflow/exec"
)

// flowDir has workflows for the tests of the commands.
func flowDir(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"shout/workflow.yaml": `
name: shout
agents:
  - {name: draft, type: llm, model: gemini-2.5-flash, instruction: "Draft.", output_key: draft}
  - {name: loud, type: expr, expression: "draft.upper()", input_keys: [draft], output_key: loud}
orchestration: {type: sequential, agents: [draft, loud]}
`,
		"divide.yaml": `
name: divide
agents:
  - {name: half, type: expr, expression: "1 / 0", output_key: n}
orchestration: {type: sequential, agents: [half]}
`,
		"race.yaml": `
name: race
agents:
  - {name: a, type: expr, expression: "1", output_key: n}
  - {name: b, type: expr, expression: "2", output_key: n}
orchestration: {type: parallel, agents: [a, b]}
`,
		"keep.yaml": `
name: keep
agents:
  - {name: store, type: tool, tool: storage, tool_config: {path: x, action: append, data: x}, output_key: n}
orchestration: {type: sequential, agents: [store]}
`,
		"local.yaml": `
name: local
agents:
  - {name: a, type: llm, model: parrot, instruction: i, tools: [m]}
  - {name: b, type: llm, model: parrot, instruction: i, tools: [n]}
orchestration: {type: sequential, agents: [a, b]}
runtime:
  mcp_servers: [{name: m, transport: http, uri: "http://127.0.0.1:9/mcp"}, {name: n, transport: stdio, command: files}]
`,
		"large.yaml": "name: large\n" + strings.Repeat("# padding\n", 1<<20),
	} {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// flowCommand runs a command of workflows.
func flowCommand(words ...string) (code int, stdout, stderr string) {
	var out, errs bytes.Buffer
	code = run(append([]string{"workflow"}, words...), &out, &errs)
	return code, out.String(), errs.String()
}

func TestWorkflowRun(t *testing.T) {
	t.Parallel()
	dir := flowDir(t)
	for _, c := range []struct {
		words  []string
		code   int
		stdout string
		stderr string // in it
	}{
		{[]string{"shout", "-m", "Hello", "--model", "parrot"}, 0, "HELLO\n", "draft is done in "},
		{[]string{"shout", "-i", `{"message": "Hi"}`, "--model", "parrot"}, 0, "HI\n", "loud runs"},
		{[]string{dir + "/shout", "-m", "Hello", "--model", "parrot"}, 0, "HELLO\n", ""},
		{[]string{"shuot", "-m", "Hello"}, 2, "", `there is no workflow "shuot" in ` + dir + `; did you mean "shout"?`},
		{[]string{"shout"}, 2, "", "there is no message: give --message"},
		{[]string{"shout", "-i", `{"massage": "Hi"}`}, 2, "", "massage"},
		{[]string{"shout", "-m", "a", "-i", "{}"}, 2, "", "contradict"},
		{[]string{"shout", "-m", "a", "--session", "x"}, 2, "", "--session needs --data-dir"},
		{[]string{"shout", "-m", "a", "--model", "parot"}, 2, "", `did you mean "parrot"?`},
		{[]string{"shout", "-m", "a", "--allow", "nowhere/99"}, 2, "", "workflow.allow"},
		{[]string{dir + "/none.yaml", "-m", "a"}, 2, "", "no such file"},
		{[]string{"divide", "-m", "a"}, 1, "", "divide has failed: "},
		{[]string{"race", "-m", "a"}, 1, "", "race.yaml is refused: 1 finding\n"},
		{[]string{"large", "-m", "a"}, 1, "", "too_large: the file has more than 1048576 bytes"},
		{[]string{"local", "-m", "a"}, 2, "", `"http://127.0.0.1:9/mcp" of the MCP server "m" is a private address`},
		{[]string{"local", "-m", "a", "--mcp-private"}, 2, "", `the command "files" of the MCP server "n" is not allowed`},
		{[]string{"local", "-m", "a", "--mcp-private", "--mcp-commands", "files"}, 0, "[a] said: a\n",
			`mcp server "n": it cannot be started`},
		{[]string{"keep", "-m", "a"}, 2, "", "storage needs a folder: give --storage"},
		{[]string{"keep", "-m", "a", "--storage", dir + "/kept"}, 0, "{\"bytes\":1}\n", ""},
	} {
		code, stdout, stderr := flowCommand(append([]string{"run", "--dir", dir}, c.words...)...)
		if code != c.code || stdout != c.stdout || !strings.Contains(stderr, c.stderr) {
			t.Errorf("run %q: exit code %d\n%s\n%s\nwant %d, %q and %q", c.words, code, stdout, stderr, c.code,
				c.stdout, c.stderr)
		}
	}
	code, stdout, _ := flowCommand("run", "--dir", dir, "shout", "-m", "Hello", "--model", "parrot", "--json")
	var o exec.Outcome
	if err := json.Unmarshal([]byte(stdout), &o); err != nil || code != 0 || o.Content != "HELLO" ||
		o.Status != exec.Done ||
		o.Usage.Steps != 2 || o.Usage.LLMCalls != 1 || o.Usage.Model != "gemini-2.5-flash" {
		t.Errorf("as JSON: %d %v %s", code, err, stdout)
	}
}

// TestWorkflowRunAsks asks the person at the terminal, and says what it waits for if there is none.
func TestWorkflowRunAsks(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "ask.yaml")
	if err := os.WriteFile(file, []byte(`
name: ask
agents:
  - {name: clerk, type: llm, model: parrot, instruction: Ask., tools: [get_user_choice], output_key: choice}
orchestration: {type: sequential, agents: [clerk]}
`), 0o600); err != nil {
		t.Fatal(err)
	}
	const message = `call get_user_choice {"question": "Which one?", "options": ["red", "blue"]}`
	for said, want := range map[string]string{"2\n": "blue", "green\n": "green"} {
		var out, errs bytes.Buffer
		r := workflowRun{message: message, stdin: strings.NewReader(said), stdout: &out, stderr: &errs, terminal: true}
		if err := r.run(t.Context(), file); err != nil || out.String() != `get_user_choice: {"result":"`+want+`"}`+"\n" ||
			!strings.Contains(errs.String(), "Which one?\n  1. red\n  2. blue\nclerk asks. Your choice: ") {
			t.Errorf("with %q: %v\n%s\n%s", said, err, out.String(), errs.String())
		}
	}
	for _, terminal := range []bool{true, false} {
		var out bytes.Buffer
		r := workflowRun{message: message, stdin: strings.NewReader(""), stdout: &out, stderr: &out, terminal: terminal}
		err := r.run(t.Context(), file)
		var a *answer
		if !errors.As(err, &a) || a.code != exitOpen || !strings.Contains(a.text, "waits for the result of get_user_choice") {
			t.Errorf("nobody answers, terminal %v: %v", terminal, err)
		}
	}
}

// TestWorkflowRunConfirms asks the person at the terminal whether a call may begin, that of a tool and that of an MCP
// server. Without a terminal it says what it waits for.
func TestWorkflowRunConfirms(t *testing.T) {
	t.Parallel()
	var ran atomic.Int32
	s := mcp.NewServer(&mcp.Implementation{Name: "orders", Version: "1"}, nil)
	s.AddTool(&mcp.Tool{Name: "cancel", InputSchema: map[string]any{"type": "object"}},
		func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			ran.Add(1)
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "gone"}}}, nil
		})
	server := httptest.NewServer(mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s },
		&mcp.StreamableHTTPOptions{Stateless: true}))
	defer server.Close()
	flow := func(of, asks string) string {
		return writeFile(t, "flow.yaml", fmt.Appendf(nil, `
name: flow
agents: [{name: desk, type: llm, model: parrot, instruction: Help., tools: [condition, {orders: ["can*", "*"]}]%s}]
orchestration: {type: sequential, agents: [desk]}
runtime: {mcp_servers: [{name: orders, transport: http, uri: "%s/mcp"%s}]}
`, of, server.URL, asks))
	}
	const ask, denied = ", require_confirmation: true", `{"error":"Tool execution denied by user"}`
	for _, c := range []struct {
		name, file, call, said string
		code                   int
		stdout, stderr         string
		ran                    int32
	}{
		{"allowed", flow(ask, ""), `condition {"expression": "1 == 1"}`, "y\n", 0, "condition: {\"result\":true,",
			`desk wants to call condition with {"expression":"1 == 1"}. Allow it? [y/N] `, 0},
		{"refused", flow(ask, ""), `condition {"expression": "1 == 1"}`, "\n", 0, "condition: " + denied, "", 0},
		{"nobody there", flow(ask, ""), `condition {"expression": "1 == 1"}`, "", exitOpen, "", "", 0},
		{"a server, allowed", flow("", ask), "cancel {}", "yes\n", 0, "gone",
			"desk wants to call cancel with {}. Allow it? [y/N] ", 1},
		{"a server, refused", flow("", ask), "cancel {}", "no\n", 0, "cancel: " + denied, "", 0},
		{"one of its tools", flow(`, require_confirmation: [{orders: ["can*"]}]`, ""), "cancel {}", "no\n", 0, denied, "", 0},
		{"another one", flow(", require_confirmation: [condition]", ""), "cancel {}", "", 0, "gone", "", 1},
	} {
		ran.Store(0)
		var out, errs bytes.Buffer
		r := workflowRun{message: "call " + c.call, stdin: strings.NewReader(c.said), stdout: &out, stderr: &errs,
			terminal: true}
		r.mcp.Private = true
		err, code := r.run(t.Context(), c.file), 0
		if a := (*answer)(nil); errors.As(err, &a) {
			code = a.code
			if !strings.Contains(a.text, "waits for the confirmation of condition, which desk calls") {
				t.Errorf("%s: %s", c.name, a.text)
			}
		} else if err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		if code != c.code || !strings.Contains(out.String(), c.stdout) || !strings.Contains(errs.String(), c.stderr) ||
			ran.Load() != c.ran {
			t.Errorf("%s: exit code %d, %d calls ran\n%s\n%s", c.name, code, ran.Load(), out.String(), errs.String())
		}
	}
}

// TestWorkflowRunNeedsAKey says how to do without one.
func TestWorkflowRunNeedsAKey(t *testing.T) {
	t.Parallel()
	command(t, nil, "workflow", "run", "--dir", flowDir(t), "shout", "-m", "Hello").want(t, exitUsage,
		"it has no key; set GEMINI_API_KEY", "--model, such as parrot")
}

// TestWorkflowRunGoesOn kills a run in the middle of a dag. The next process goes on with it, and runs no node that is
// done again. With another file it does not.
func TestWorkflowRunGoesOn(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	reached := make(chan struct{})
	var asked atomic.Int32
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if asked.Add(1) == 1 {
			close(reached)
			<-r.Context().Done() // until its client is killed
			return
		}
		fmt.Fprint(w, "late")
	}))
	defer site.Close()
	file := filepath.Join(dir, "flow.yaml")
	text := fmt.Sprintf(`
name: flow
agents:
  - {name: left, type: tool, tool: storage, tool_config: {path: log, action: append, data: "left\n"}, output_key: l}
  - {name: right, type: tool, tool: storage, tool_config: {path: log, action: append, data: "right\n"}, output_key: r}
  - {name: wait, type: tool, tool: http_request, tool_config: {url: %q}, output_key: w}
  - {name: last, type: tool, tool: storage, tool_config: {path: log, action: append, data: "last\n"}, output_key: x}
orchestration:
  type: dag
  nodes:
    - {agent: left}
    - {agent: right}
    - {agent: wait, depends_on: [left, right]}
    - {agent: last, depends_on: [wait]}
`, site.URL)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	words := []string{"workflow", "run", file, "--data-dir", filepath.Join(dir, "data"), "--storage",
		filepath.Join(dir, "files"), "--allow", "127.0.0.1"}
	first := startWith(t, noProof, nil, nil, append(words, "-m", "go")...)
	<-reached
	first.signal(os.Kill)
	first.wait()
	id := regexp.MustCompile(`sesn_\w+`).FindString(first.stderr.String())
	write := func(text string) {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(strings.Replace(text, "name: last,", "name: last, timeout: 3s,", 1))
	startWith(t, noProof, nil, nil, append(words, "--session", id)...).result().want(t, exitFailed,
		`"flow" has changed since the run of session `+id+" began: it was version ", "Put the old one back")
	write("# A comment is no change.\n" + text)
	next := startWith(t, noProof, nil, nil, append(words, "--session", id)...).result()
	next.want(t, 0, "last is done")
	if log, err := os.ReadFile(filepath.Join(dir, "files", "log")); err != nil ||
		strings.Count(string(log), "left\n") != 1 ||
		strings.Count(string(log), "right\n") != 1 || strings.Count(string(log), "last\n") != 1 {
		t.Errorf("the nodes have left %q, %v", log, err)
	}
	if asked.Load() != 2 {
		t.Errorf("the site was asked %d times", asked.Load())
	}
	again := startWith(t, noProof, nil, nil, append(words, "--session", id)...).result()
	if again.want(t, 0); again.stdout != next.stdout {
		t.Errorf("a run that is done tells %q and then %q", next.stdout, again.stdout)
	}
	startWith(t, noProof, nil, nil, append(words, "--session", "sesn_none")...).result().want(t, exitUsage,
		`there is no session "sesn_none"`)
}

// TestFlowProgressNames names those agents that have worked longest, and counts the others.
func TestFlowProgressNames(t *testing.T) {
	t.Parallel()
	now := time.Now()
	p := &flowProgress{works: map[string]time.Time{}}
	for i, name := range []string{"f", "e", "d", "c", "b", "a"} {
		p.works[name] = now.Add(-time.Duration(i/2) * time.Second)
	}
	if got, want := p.longest(now), "a 2.0 s, b 2.0 s, c 1.0 s, d 1.0 s, and 2 more"; got != want {
		t.Errorf("%s; want %s", got, want)
	}
	delete(p.works, "a")
	delete(p.works, "b")
	if got, want := p.longest(now), "c 1.0 s, d 1.0 s, e 0.0 s, f 0.0 s"; got != want {
		t.Errorf("%s; want %s", got, want)
	}
	var out bytes.Buffer
	line := progress{w: &out, terminal: true}
	line.say("%s", strings.Repeat("é", terminalWidth+1))
	if got, want := out.String(), "\r\x1b[K"+strings.Repeat("é", terminalWidth-3)+"..."; got != want {
		t.Errorf("a long line became %q", got)
	}
}

// TestWorkflowRunTellsInOrder: an agent is done before the next one runs.
func TestWorkflowRunTellsInOrder(t *testing.T) {
	t.Parallel()
	file := writeFile(t, "flow.yaml", []byte(strings.ReplaceAll(firstWorkflow, "NAME", "flow")))
	for range 10 {
		_, _, stderr := flowCommand("run", file, "--message", "Hello")
		order := regexp.MustCompile(`(?s)draft runs\n.*draft is done in [^\n]*: Hello\n.*sign runs\n.*` +
			`sign is done in [^\n]*: Hello -- flow\n`)
		if !order.MatchString(stderr) || strings.Count(stderr, " is done") != 2 {
			t.Fatal(stderr)
		}
	}
}

// TestWorkflowRunLogs: the plugins logging and debug_logging write to stderr, and only the latter writes what is said.
func TestWorkflowRunLogs(t *testing.T) {
	t.Parallel()
	const words = `"text":"Good morning"`
	for plugins, want := range map[string][]string{
		"":              nil,
		"logging":       {"INFO  agent starts  {", "INFO  model answered  {", "INFO  agent done  {"},
		"debug_logging": {"DEBUG  agent starts  {", "DEBUG  model answered  {", words},
	} {
		file := writeFile(t, "flow.yaml", fmt.Appendf(nil, `
name: flow
agents: [{name: greet, type: llm, model: parrot, instruction: Greet.}]
orchestration: {type: sequential, agents: [greet]}
runtime: {plugins: [%s]}
`, plugins))
		code, stdout, stderr := flowCommand("run", file, "--message", "Good morning")
		if code != 0 || stdout != "Good morning\n" {
			t.Errorf("%s: exit code %d, %q\n%s", plugins, code, stdout, stderr)
		}
		for _, text := range want {
			if !strings.Contains(stderr, text) {
				t.Errorf("%s: there is no %q in\n%s", plugins, text, stderr)
			}
		}
		if (plugins == "") == strings.Contains(stderr, "agent starts") ||
			(plugins == "debug_logging") != strings.Contains(stderr, words) {
			t.Errorf("%q logs\n%s", plugins, stderr)
		}
	}
}

// TestFlowProgressLogs: on a terminal, a line of the log takes the place of the line with those at work.
func TestFlowProgressLogs(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	p := &flowProgress{w: &out, line: &progress{w: &out, terminal: true}, began: time.Now(),
		works: map[string]time.Time{"a": time.Now()}}
	p.status()
	p.line.next = time.Time{} // a moment later
	p.logger().Info("agent starts")
	want := "\r\x1b[K1 at work: a T\r\x1b[K T  INFO  agent starts\n\r\x1b[K1 at work: a T"
	if got := regexp.MustCompile(` *\d+\.\d s`).ReplaceAllString(out.String(), " T"); got != want {
		t.Errorf("the terminal gets %q, want %q", got, want)
	}
}

// TestWorkflowRunKeepsState: what a run keeps for its user is in the next one with the same --data-dir and --user.
func TestWorkflowRunKeepsState(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := writeFile(t, "flow.yaml", []byte(`
name: flow
agents:
  - {name: see, type: expr, expression: 'user_seen or "new here"', input_keys: ["user:seen?"], output_key: saw}
  - {name: mark, type: expr, expression: '"seen before"', output_key: "user:seen"}
  - {name: tell, type: expr, expression: saw, input_keys: [saw], output_key: said}
orchestration: {type: sequential, agents: [see, mark, tell]}
`))
	for _, c := range []struct{ user, want string }{{"ada", "new"}, {"ada", "seen before"}, {"bob", "new"}} {
		code, stdout, stderr := flowCommand("run", file, "--message", "x", "--data-dir", dir, "--user", c.user)
		if code != 0 || !strings.Contains(stdout, c.want) {
			t.Errorf("%s: exit code %d, %q; want %q\n%s", c.user, code, stdout, c.want, stderr)
		}
	}
}

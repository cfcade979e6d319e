package main

import (
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/voicegw/voicegw/live/sim"
)

// TestCallAgents: in a call of `serve` an agent answers a function of the model, and another one gets the record of
// the call with what was said. The next process has the sessions of both.
func TestCallAgents(t *testing.T) {
	t.Parallel()
	script, err := sim.ParseScenario("orders", `on text 1: call orders {"message":"Where is order 7?"}`)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for _, name := range []string{"orders", "clerk"} {
		text := []byte("name: " + name + "\nmodel: parrot\n")
		if err := os.WriteFile(filepath.Join(dir, name+".yaml"), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	tools := writeFile(t, "tools.json", []byte(`[{"name":"orders","description":"knows all orders","agent":"orders"}]`))
	args := []string{"--model-base-url", faultyModel(t, sim.Config{Scenario: script}), "--agents", dir, "--data-dir",
		t.TempDir(), "--session-tools-file", tools, "--after-call-agent", "clerk", "--after-call-transcripts"}
	s := startServe(t, []string{"VOICEGW_GREETING=Greet."}, args...)
	command(t, nil, "call", "--url", s.voiceURL, "--in", speech(t, "hello")).want(t, 0, "heard")
	s.end() // when the call has ended, the record of it is stored
	s = startServe(t, []string{"VOICEGW_GREETING=Greet."}, args...)
	defer s.end()
	list := command(t, nil, "sessions", "list", "--url", s.url)
	if n := strings.Count(list.stdout, "sesn_"); n != 2 {
		t.Fatalf("there are %d sessions, want 2: %s%s", n, list.stdout, list.stderr)
	}
	for _, line := range strings.Split(strings.TrimSpace(list.stdout), "\n") {
		id, _, _ := strings.Cut(line, " ")
		told := command(t, nil, "sessions", "export", id, "--url", s.url)
		if strings.Contains(line, "orders") {
			told.want(t, 0, `"text":"Where is order 7?"`)
			continue
		}
		told.want(t, 0, `\"reason\":\"caller_hung_up\"`, `\"who\":\"model\"`, `\"sessions\":[\"sesn_`)
	}
}

// TestCallWorkflows follows docs/workflows-serve.md: a workflow answers a function of the embedded model in a call, and
// another one works after the call.
func TestCallWorkflows(t *testing.T) {
	t.Parallel()
	const page = "docs/workflows-serve.md"
	script, err := sim.ParseScenario("orders", snippet(t, page, "on text 1: ").text)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for _, name := range []string{"orders", "wrap_up"} {
		text := []byte(snippet(t, page, "name: "+name+"\n").text)
		if err := os.WriteFile(filepath.Join(dir, name+".yaml"), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	files := filepath.Join(t.TempDir(), "files")
	args := []string{"--model-base-url", faultyModel(t, sim.Config{Scenario: script}), "--workflows", dir, "--data-dir",
		t.TempDir(), "--workflow-storage", files, "--session-tools-file", writeFile(t, "tools.json",
			[]byte(snippet(t, page, "[{").text)), "--after-call-agent", "wrap_up"}
	s := startServe(t, []string{"VOICEGW_GREETING=Greet the caller."}, args...)
	command(t, nil, "call", "--url", s.voiceURL, "--in", speech(t, "hello")).want(t, 0, "heard")
	s.end() // when the call has ended, the record of it is stored
	s = startServe(t, []string{"VOICEGW_GREETING=Greet the caller."}, args...)
	defer s.end()
	list := command(t, nil, "sessions", "list", "--url", s.url)
	for name, want := range map[string]string{"orders": `"content":"Order 7 leaves today."`,
		"wrap_up": `\"reason\":\"caller_hung_up\"`} {
		id := regexp.MustCompile(`(sesn_\w+)\s.*\b` + name + `\b`).FindStringSubmatch(list.stdout)
		if id == nil {
			t.Errorf("there is no session of %s: %s%s", name, list.stdout, list.stderr)
			continue
		}
		_, told := get(t, http.DefaultClient, s.url+"api/workflows/"+name+"/stream?session_id="+id[1])
		if !strings.Contains(told, "event: done\n") || !strings.Contains(told, want) {
			t.Errorf("%s has done\n%s\nwant %s", name, told, want)
		}
	}
	if kept, err := os.ReadFile(filepath.Join(files, "calls.txt")); strings.Count(string(kept), `"caller_hung_up"`) != 1 {
		t.Errorf("the workflow has kept %q, %v", kept, err)
	}
}

// TestCallAgentsRefused names an agent that is not there.
func TestCallAgentsRefused(t *testing.T) {
	t.Parallel()
	write := func(text string) string { return writeFile(t, "tools.json", []byte(text)) }
	one := write(`[{"name":"orders","description":"d","agent":"orders"}]`)
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"--session-tools-file", one}, `an agent answers the function "orders", and there are no agents`},
		{[]string{"--session-tools-file", one, "--data-dir", t.TempDir()},
			`: the function orders: there is no agent "orders" in the directories of the settings agents and workflows`},
		{[]string{"--after-call-agent", "clerk", "--data-dir", t.TempDir()}, `after_call.agent: there is no agent "clerk"`},
		{[]string{"--after-call-agent", "clerk"}, "after_call.agent"},
		{[]string{"--session-tools-file", write(`[{"name":"a","agent":"b","scheduling":"soon"}]`), "--data-dir", t.TempDir()},
			`a: scheduling is "soon"; interrupt, when_idle and silent are possible`},
		{[]string{"--session-tools-file", write(`[{"name":"a","scheduling":"silent"}]`)}, "beside agent"},
		{[]string{"--session-tools-file", write(`[{"name":"a","agent":"b","scheduling":"silent"}]`), "--data-dir",
			t.TempDir(), "--model-base-url", "wss://live.example", "--model-name", "gemini-3.1-flash-live-preview"},
			`a: scheduling is "silent", but gemini-3.1-flash-live-preview does not speak while a function runs; leave it out`},
		{[]string{"--session-tools-file", write(`[{"name":"a","agent":"b"}]`), "--data-dir", t.TempDir(),
			"--model-base-url", "wss://live.example", "--model-name", "gemini-3.8-live-extended-thinking"},
			"a: gemini-3.8-live-extended-thinking does not wait for functions; set scheduling"},
	} {
		p := startWith(t, noProof, oneKind, nil, append([]string{"serve", "--listen", "127.0.0.1:0"}, c.args...)...)
		if code, _ := p.wait(); code != exitUsage || !strings.Contains(p.stderr.String(), c.want) {
			t.Errorf("%q: exit code %d: %s, want %q", c.args, code, p.stderr.String(), c.want)
		}
	}
}

package main

import (
	"os"
	"path/filepath"
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
	} {
		p := startWith(t, noProof, oneKind, nil, append([]string{"serve", "--listen", "127.0.0.1:0"}, c.args...)...)
		if code, _ := p.wait(); code != exitUsage || !strings.Contains(p.stderr.String(), c.want) {
			t.Errorf("%q: exit code %d: %s, want %q", c.args, code, p.stderr.String(), c.want)
		}
	}
}

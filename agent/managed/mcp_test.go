//go:build unix

package managed

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/voicegw/voicegw/agent/provider"
)

// TestMCPCall calls a tool of a process: its output is in the second request to the model.
func TestMCPCall(t *testing.T) {
	file := filepath.Join(t.TempDir(), "notes.txt")
	if err := os.WriteFile(file, []byte("the secret is 42"), 0o600); err != nil {
		t.Fatal(err)
	}
	h := newMCPHouse(t, nil, withServers("files"), one("read_file", map[string]any{"path": file}))
	h.ask(Text("Read it"))
	h.tells(`mes, running, mes', use read_file, done, "Done.", idle end_turn`)
	h.heard("the secret is 42", "mcp_tc_001")
	if len(h.model.seen) != 2 {
		t.Errorf("the model is asked %d times", len(h.model.seen))
	}
	use, done := h.find(AgentMCPToolUse), h.find(AgentMCPToolResult)
	if use.MCPServer != "files" || use.Permission != "allow" || done.MCPUseID != use.ID || *done.IsError {
		t.Errorf("%+v, %+v", use, done)
	}
}

// TestMCPFailures has servers that fail in the middle of a call. The next call reaches a server that works.
func TestMCPFailures(t *testing.T) {
	for tool, want := range map[string]string{
		"die": "it has ended", "hang": "did not answer within", "garbage": "which is no message",
		"big": "bytes; at most", "huge": "a message of more than",
	} {
		t.Run(tool, func(t *testing.T) {
			t.Parallel()
			h := newMCPHouse(t, func(c *Config) { c.Limits.Agent.ToolTimeout = 6 * time.Second }, withServers("files"),
				[]provider.ScriptTurn{calls(provider.ScriptCall{Name: "pid"}), calls(provider.ScriptCall{Name: tool}),
					calls(provider.ScriptCall{Name: "pid"}), says("Done.")})
			h.ask(Text("Go"))
			h.tells(fmt.Sprintf(`mes, running, mes', use pid, done, use %s, done, use pid, done, "Done.", idle end_turn`, tool))
			var results []string
			for _, ev := range h.events() {
				if ev.Type == AgentMCPToolResult {
					results = append(results, ev.Content[0].Text)
				}
			}
			if !strings.Contains(results[1], want) {
				t.Errorf("the result is %s, want %q", results[1], want)
			}
			if again := results[0] == results[2]; strings.Contains(results[2], "error") || again != (tool == "big") {
				t.Errorf("the server was %s before and is %s now", results[0], results[2])
			}
			if tool != "big" && !strings.Contains(results[1], `mcp server \"files\"`) {
				t.Errorf("%s does not name the server", results[1])
			}
		})
	}
}

// TestMCPEnds kills the processes of a session that ends, even one that hangs.
func TestMCPEnds(t *testing.T) {
	h := newMCPHouse(t, nil, withServers("files"), one("pid", nil))
	h.ask(Text("Go"))
	pid := 0
	if _, err := fmt.Sscanf(h.result(), `{"result":"%d"}`, &pid); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(pid, 0); err != nil {
		t.Fatalf("the process %d does not run: %v", pid, err)
	}
	if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	h.restart()
	if err := syscall.Kill(pid, 0); err == nil {
		t.Errorf("the process %d still runs", pid)
	}
}

// TestMCPUnreachable goes on without servers that do not start, and tells so once in a turn.
func TestMCPUnreachable(t *testing.T) {
	d := withServers("mute", "files", "noise")
	h := newMCPHouse(t, func(c *Config) { c.Limits.MCPStart = 3 * time.Second }, d, one("pid", nil))
	h.ask(Text("Go"))
	h.tells(`mes, running, mes', error retrying, error retrying, use pid, done, "Done.", idle end_turn`)
	told := map[string]string{}
	for _, ev := range h.events() {
		if ev.Type == SessionError {
			if ev.Error.Type != "mcp_connection_failed_error" {
				t.Errorf("the error is %+v", ev.Error)
			}
			told[ev.Error.Server] = ev.Error.Message
		}
	}
	if !strings.Contains(told["mute"], "did not start within 3s") || !strings.Contains(told["noise"], "Welcome") {
		t.Errorf("it tells %v", told)
	}
}

// TestMCPNames has tools of the same name: a built-in, and those of two servers.
func TestMCPNames(t *testing.T) {
	d := withServers("files1", "files2")
	d.Tools = append(d.Tools, ToolConfig{Type: AgentToolset})
	d.MCPServers[1].Args = append(d.MCPServers[1].Args, "WHO=second")
	ran := map[string]int{}
	h := newMCPHouse(t, nil, d, []provider.ScriptTurn{calls(provider.ScriptCall{Name: "env"}),
		calls(provider.ScriptCall{Name: "files2__env"}), calls(provider.ScriptCall{Name: "pid"}), says("Done.")},
		counting("pid", ran, nil))
	h.ask(Text("Go"))
	h.tells(`mes, running, mes', use env, done, use files2__env, done, use pid, done, "Done.", idle end_turn`)
	var results []string
	for _, ev := range h.events() {
		if ev.Type == AgentMCPToolResult {
			results = append(results, ev.Content[0].Text)
		}
	}
	if len(results) != 2 || strings.Contains(results[0], "WHO=second") || !strings.Contains(results[1], "WHO=second") {
		t.Errorf("the results are %s", results)
	}
	if len(ran) != 1 {
		t.Errorf("the built-in tool ran %d times", len(ran))
	}
	offers := h.offers()
	slices.Sort(offers)
	if len(slices.Compact(slices.Clone(offers))) != len(offers) || !slices.Contains(offers, "files1__pid") {
		t.Errorf("the model has the tools %v", offers)
	}
	h.restart()
	before := offers
	h.ask(Text("Go"))
	if offers = h.offers(); !slices.Equal(before, slices.Sorted(slices.Values(offers))) {
		t.Errorf("the model has the tools %v after a restart, and had %v", offers, before)
	}
}

// TestMCPEnvironment gives a process nothing of the environment but what the operator lists.
func TestMCPEnvironment(t *testing.T) {
	t.Setenv("VOICEGW_TEST_SECRET", "hunter2")
	t.Setenv("VOICEGW_TEST_LISTED", "yes")
	list := func(c *Config) { c.CommandEnv = []string{"VOICEGW_TEST_LISTED"} }
	h := newMCPHouse(t, list, withServers("files"), one("env", nil))
	h.ask(Text("Go"))
	if got := h.result(); strings.Contains(got, "hunter2") || !strings.Contains(got, "VOICEGW_TEST_LISTED=yes") ||
		!strings.Contains(got, "PATH=") {
		t.Errorf("the process has the environment %s", got)
	}
}

// TestMCPAsks asks before a call, by default.
func TestMCPAsks(t *testing.T) {
	for answer, want := range map[string]string{"allow": `"result"`, "deny": "not today"} {
		t.Run(answer, func(t *testing.T) {
			d := withServers("files")
			d.Tools[0].Default = nil
			h := newMCPHouse(t, nil, d, one("pid", nil))
			h.ask(Text("Go"))
			h.tells(`mes, running, mes', use pid, idle requires_action 1`)
			use := h.find(AgentMCPToolUse)
			if use.Permission != "ask" {
				t.Errorf("the permission is %q", use.Permission)
			}
			h.restart()
			ev := Event{Type: UserConfirmation, ToolUseID: use.ID, Result: answer}
			if answer == "deny" {
				ev.DenyMessage = want
			}
			h.ask(ev)
			if got := h.result(); !strings.Contains(got, want) {
				t.Errorf("the result is %s", got)
			}
		})
	}
}

// TestMCPGroup lets a server die whose child holds its output. The child goes with it.
func TestMCPGroup(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	over := make(chan error, 1)
	go func() {
		_, err := os.ReadFile(pipe) // until no process writes any more
		over <- err
	}()
	h := newMCPHouse(t, nil, withServers("files"), []provider.ScriptTurn{
		calls(provider.ScriptCall{Name: "fork", Args: map[string]any{"path": pipe}}),
		calls(provider.ScriptCall{Name: "die"}), says("Done.")})
	h.ask(Text("Go"))
	h.tells(`mes, running, mes', use fork, done, use die, done, "Done.", idle end_turn`)
	if got := h.result(); !strings.Contains(got, "it has ended") {
		t.Errorf("the result is %s", got)
	}
	select {
	case err := <-over:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(time.Minute):
		t.Error("the child of the server still runs")
	}
}

// TestMCPStops lets a server stop reading. A call whose arguments no longer fit into the pipe ends in time.
func TestMCPStops(t *testing.T) {
	stop := Tool{Declaration: counting("stop", nil, nil).Declaration}
	d := withServers("files")
	d.Tools = append(d.Tools, ToolConfig{Type: AgentToolset})
	h := newMCPHouse(t, func(c *Config) { c.Limits.Agent.ToolTimeout = 3 * time.Second }, d,
		[]provider.ScriptTurn{calls(provider.ScriptCall{Name: "pid"}), calls(provider.ScriptCall{Name: "stop"}),
			calls(provider.ScriptCall{Name: "read_file", Args: map[string]any{"path": strings.Repeat("x", 200<<10)}}),
			calls(provider.ScriptCall{Name: "env"}), says("Done.")}, stop)
	h.cfg.Tools[0].Call = func(context.Context, ToolCall) (map[string]any, error) {
		pid := 0
		if _, err := fmt.Sscanf(h.result(), `{"result":"%d"}`, &pid); err != nil {
			return nil, err
		}
		return map[string]any{}, syscall.Kill(pid, syscall.SIGSTOP)
	}
	h.ask(Text("Go"))
	h.heard("did not answer within 2.5s", "PATH=")
}

// TestMCPInterrupt interrupts a session whose server takes long to start.
func TestMCPInterrupt(t *testing.T) {
	h := newMCPHouse(t, func(c *Config) { c.Limits.MCPStart = time.Hour }, withServers("mute"), one("pid", nil))
	if _, err := h.rt.Send(t.Context(), ada, h.session, Once{}, Text("Go")); err != nil {
		t.Fatal(err)
	}
	for ev, err := range h.rt.Events(t.Context(), ada, h.session, 0, true) {
		if err != nil {
			t.Fatal(err)
		}
		if ev.Type == StatusRunning {
			break
		}
	}
	h.ask(Event{Type: UserInterrupt})
	if got := letters(h.events()); !strings.HasSuffix(got, "int', idle end_turn") {
		t.Errorf("the session tells %s", got)
	}
}

// TestMCPDisabled has a toolset with one tool.
func TestMCPDisabled(t *testing.T) {
	on, off := true, false
	d := withServers("files")
	d.Tools[0].Default.Enabled = &off
	d.Tools[0].Configs = []ToolPolicy{{Name: "env", Enabled: &on}}
	h := newMCPHouse(t, nil, d, one("pid", nil))
	h.ask(Text("Go"))
	h.heard("there is no tool")
	if got := h.offers(); !slices.Equal(got, []string{"env"}) {
		t.Errorf("the model has the tools %v", got)
	}
	if use := h.find(AgentToolUse); use.Name != "pid" {
		t.Errorf("%+v", use)
	}
}

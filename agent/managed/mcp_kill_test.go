package managed

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"google.golang.org/adk/v2/model"

	"github.com/voicegw/voicegw/agent/provider"
	"github.com/voicegw/voicegw/journal/jetstream"
)

// Environment of the process that is killed in the middle of a call of an MCP server.
const (
	mcpChildDir  = "VOICEGW_TEST_MCP_CHILD_DIR"  // the directory of its journal
	mcpChildTool = "VOICEGW_TEST_MCP_CHILD_TOOL" // the tool that the model calls
)

// mcpChild runs a session with one call until it is killed.
func mcpChild(dir string) int {
	err := func() error {
		ctx := context.Background()
		engine, err := jetstream.Open(ctx, jetstream.Config{Dir: filepath.Join(dir, "journal")})
		if err != nil {
			return err
		}
		rt, err := mcpRuntime(engine, dir, os.Getenv(mcpChildTool))
		if err != nil {
			return err
		}
		d := withServers("files", "noise")
		d.Name, d.Model.ID = "desk", "script"
		if os.Getenv(mcpChildTool) == "note_retry" {
			d.Tools[0].Configs = []ToolPolicy{{Name: "note", Unknown: "retry"}}
		}
		a, err := rt.CreateAgent(ctx, ada, d)
		if err != nil {
			return err
		}
		s, err := rt.StartSession(ctx, ada, SessionRequest{Agent: a.ID})
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, "session"), []byte(s.ID), 0o600); err != nil {
			return err
		}
		_, err = rt.Send(ctx, ada, s.ID, Once{}, Text("Go"))
		if err == nil {
			select {}
		}
		return err
	}()
	fmt.Fprintln(os.Stderr, err)
	return 1
}

// mcpRuntime is a runtime whose model calls a tool that notes its calls in a file.
func mcpRuntime(engine *jetstream.Engine, dir, tool string) (*Runtime, error) {
	models := provider.NewResolver()
	script := &provider.Script{Turns: one(strings.TrimSuffix(tool, "_retry"),
		map[string]any{"path": filepath.Join(dir, "calls")})}
	models.Add("script", func(provider.Ref) (model.LLM, error) { return script, nil })
	return New(Config{Journal: engine, Models: models, Node: "child", Commands: []string{os.Args[0]}})
}

// TestMCPKill kills the process in the middle of a call. A call that may be repeated is; of another, the outcome is
// unknown.
func TestMCPKill(t *testing.T) {
	for tool, want := range map[string]string{"note": "outcome_unknown", "note_again": "noted again",
		"note_retry": "noted again"} {
		t.Run(tool, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			cmd := exec.Command(os.Args[0])
			cmd.Env = append(os.Environ(), mcpChildDir+"="+dir, mcpChildTool+"="+tool)
			var complaint strings.Builder
			cmd.Stderr = &complaint
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			tick := time.NewTicker(10 * time.Millisecond)
			defer tick.Stop()
			for range 6000 {
				<-tick.C
				if b, err := os.ReadFile(filepath.Join(dir, "calls")); err == nil && len(b) > 0 {
					break
				}
			}
			_ = cmd.Process.Kill()
			if err := cmd.Wait(); err == nil || complaint.Len() > 0 {
				t.Fatalf("the process was not killed: %v, %s", err, complaint.String())
			}
			recoverMCP(t, dir, tool, want)
		})
	}
}

// recoverMCP lets the session go on, and holds the result of the call to what the test wants.
func recoverMCP(t *testing.T, dir, tool, want string) {
	t.Helper()
	engine, err := jetstream.Open(t.Context(), jetstream.Config{Dir: filepath.Join(dir, "journal")})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = engine.Close() }()
	rt, err := mcpRuntime(engine, dir, tool)
	if err != nil {
		t.Fatal(err)
	}
	id, err := os.ReadFile(filepath.Join(dir, "session"))
	if err != nil {
		t.Fatal(err)
	}
	h := &mcpHouse{house: house{T: t, engine: engine, rt: rt, session: string(id)}}
	defer h.close()
	if _, err := rt.Recover(t.Context()); err != nil {
		t.Fatal(err)
	}
	h.idle()
	called := strings.TrimSuffix(tool, "_retry")
	h.tells(fmt.Sprintf(`mes, running, mes', error retrying, use %s, done, "Done.", idle end_turn`, called))
	if got := h.result(); !strings.Contains(got, want) {
		t.Errorf("the result is %s, want %s", got, want)
	}
	b, err := os.ReadFile(filepath.Join(dir, "calls"))
	if n := strings.Count(string(b), "called"); err != nil || (n == 1) != (tool == "note") || n > 2 {
		t.Errorf("the tool was called %d times, %v", n, err)
	}
}

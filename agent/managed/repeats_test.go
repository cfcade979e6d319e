package managed

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/voicegw/voicegw/agent"
	"github.com/voicegw/voicegw/agent/provider"
)

// repeatsAt plays a story with one call of a tool, and a crash at a commit. It returns the result of the call, how
// often the tool ran, and whether there was such a commit.
func repeatsAt(t *testing.T, at int, action string) (result string, ran int, crashed bool) {
	in(t, func(t *testing.T) {
		m := &mind{name: "script", do: func(heard string) provider.ScriptTurn {
			if strings.HasPrefix(heard, "result") {
				return says("Done.")
			}
			return calls(provider.ScriptCall{Name: "files", ID: "c1", Args: map[string]any{"action": action}})
		}}
		times := map[string]int{}
		files := counting("files", times, nil)
		files.Repeats = func(args map[string]any) bool { return args["action"] == "read" }
		h := newProgramHouse(t, all(agent.Agent{Name: "script"}), Definition{Tools: []ToolConfig{{Type: AgentToolset}}},
			[]*mind{m}, files)
		defer func() { h.close() }()
		dead := h.dieAt(at)
		h.until("go", func() error {
			_, err := h.rt.Send(h.Context(), ada, h.session, Once{Key: "go"}, Text("Go"))
			synctest.Wait()
			crashed = crashed || dead.Load()
			h.restartAfter(dead)
			return err
		})
		result, ran = h.find(AgentToolResult).Content[0].Text, total(times)
	})
	return result, ran, crashed
}

// TestRepeats repeats a call after a crash if its arguments allow it, and only then.
func TestRepeats(t *testing.T) {
	for action, repeated := range map[string]bool{"read": true, "write": false} {
		twice, unknown := 0, 0
		for at, more := 1, true; more; at++ {
			var result string
			var ran int
			result, ran, more = repeatsAt(t, at, action)
			if strings.Contains(result, "outcome_unknown") {
				unknown++
			}
			if ran > 1 {
				twice++
			}
		}
		if (twice > 0) != repeated || (unknown > 0) == repeated {
			t.Errorf("%s: it ran twice %d times, and its outcome was unknown %d times", action, twice, unknown)
		}
	}
}

// TestResultBesideError gives the model the result of a call that failed, where there is one, and calls it an error.
func TestResultBesideError(t *testing.T) {
	for _, result := range []map[string]any{nil, {"status_code": 404.0, "error": "not there"}} {
		in(t, func(t *testing.T) {
			m := &mind{name: "script", do: func(heard string) provider.ScriptTurn {
				if strings.HasPrefix(heard, "result") {
					return says("Done.")
				}
				return calls(provider.ScriptCall{Name: "files", ID: "c1"})
			}}
			files := counting("files", map[string]int{}, nil)
			files.Call = func(context.Context, ToolCall) (map[string]any, error) { return result, errors.New("it failed") }
			h := newProgramHouse(t, all(agent.Agent{Name: "script"}), Definition{Tools: []ToolConfig{{Type: AgentToolset}}},
				[]*mind{m}, files)
			defer h.close()
			h.send(Text("Go"))
			want := `{"error":"it failed"}`
			if result != nil {
				want = `{"error":"not there","status_code":404}`
			}
			if got := h.find(AgentToolResult); got.Content[0].Text != want || !*got.IsError {
				t.Errorf("the result is %s, an error %t; want %s", got.Content[0].Text, *got.IsError, want)
			}
		})
	}
}

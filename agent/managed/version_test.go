package managed

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// TestChangedProgram restarts a session whose workflow has changed meanwhile. One at rest takes the new file with its
// next message. One that is in a run, at work or parked, is refused until the old file is back, and can be archived.
func TestChangedProgram(t *testing.T) {
	changed := strings.Replace(releaseFlow, "instruction: Ship", "instruction: Ship it", 1)
	same := "# A comment, and another order of keys.\n" + strings.Replace(releaseFlow,
		"name: fetch, type: tool", "type: tool, name: 'fetch'", 1)
	program := func(t *testing.T, text string) map[string]ProgramFunc {
		return map[string]ProgramFunc{"own": flow(t, text, "look", "delete_file", "deploy")}
	}
	refused := func(h *house, events ...Event) {
		h.Helper()
		h.refused(Conflict, `"own" has changed since the run of session `+h.session+" began: it was version ", events...)
		h.refused(Conflict, "Put the old one back (of a workflow: its file), or archive the session", events...)
		if err := h.rt.GoOn(h.Context(), ada, h.session); CodeOf(err) != Conflict {
			h.Errorf("it goes on: %v", err)
		}
	}
	t.Run("parked", func(t *testing.T) {
		in(t, func(t *testing.T) {
			h := releaseHouse(t, map[string]int{})
			defer func() { h.close() }()
			h.send(Text("Release"))
			time.Sleep(time.Minute)
			synctest.Wait()
			h.tells(releaseBegins)
			answer := resultFor(h.find(AgentCustomToolUse).ID, "ok")
			h.cfg.Programs = program(t, changed)
			h.restart()
			refused(h, answer)
			refused(h, Text("And again"))
			h.cfg.Programs = program(t, same)
			h.restart()
			h.send(answer)
			time.Sleep(time.Minute)
			synctest.Wait()
			h.send(confirm(h.find(AgentToolUse).ID, "allow", ""))
			time.Sleep(time.Minute)
			synctest.Wait()
			h.status(Idle)
			h.cfg.Programs = program(t, changed)
			h.restart()
			h.send(Text("And again"))
			time.Sleep(time.Minute)
			synctest.Wait()
			if s := h.status(Idle); s.Turns < 2 {
				t.Errorf("the changed workflow had no turn: %d", s.Turns)
			}
		})
	})
	t.Run("running", func(t *testing.T) {
		in(t, func(t *testing.T) {
			h := releaseHouse(t, map[string]int{})
			h.cfg.Tools[0] = counting("look", map[string]int{}, func(ctx context.Context) error {
				<-ctx.Done()
				return ctx.Err()
			})
			h.restart()
			h.send(Text("Release"))
			h.cfg.Programs = program(t, changed)
			h.restart()
			defer func() { h.close() }()
			if n, err := h.rt.Recover(t.Context()); n != 0 || err != nil {
				t.Errorf("%d sessions go on, %v", n, err)
			}
			h.status(Running)
			refused(h, Text("And again"))
			if s, err := h.rt.ArchiveSession(t.Context(), ada, h.session); err != nil || s.Status != Terminated {
				t.Errorf("archive: %v", err)
			}
		})
	})
}

package managed

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/voicegw/voicegw/agent/provider"
)

// TestMismatch kills the process in the middle of a turn and goes on with a program that lacks the tool. Where the
// journal tells another story than the program, the session ends and shows both; it stays readable.
func TestMismatch(t *testing.T) {
	ended, over := 0, false
	for at := 1; !over; at++ {
		in(t, func(t *testing.T) {
			h := newHouse(t, Definition{Tools: []ToolConfig{{Type: AgentToolset}}},
				[]provider.ScriptTurn{calls(provider.ScriptCall{Name: "look", ID: "c1"}), says("Done.")},
				counting("look", map[string]int{}, nil))
			defer func() { h.close() }()
			dead := h.dieAt(at)
			_, err := h.rt.Send(t.Context(), ada, h.session, Once{}, Text("Look"))
			synctest.Wait()
			if over = !dead.Load(); over || err != nil {
				return
			}
			old := h.rt
			h.cfg.Tools = nil
			h.open()
			dead.Store(false)
			if _, err := h.rt.Recover(t.Context()); err != nil {
				t.Fatal(err)
			}
			_ = old.Close(context.Background())
			time.Sleep(time.Minute)
			synctest.Wait()
			s, err := h.rt.Session(t.Context(), ada, h.session)
			if err != nil {
				t.Fatal(err)
			}
			if s.Status != Terminated {
				return
			}
			ended++
			if ev := h.find(SessionError); !strings.Contains(ev.Error.Message, "journal_mismatch") ||
				!strings.Contains(ev.Error.Message, "look is done") || ev.Error.Retry.Type != "terminal" {
				t.Errorf("the session ends with %+v", ev.Error)
			}
			h.refused(Conflict, "ended", Text("Still there?"))
		})
	}
	if ended == 0 {
		t.Error("no session noticed that its journal tells another story")
	}
}

// TestSlowToolIsNoMismatch kills the process around a call that took too long and then ended after all. The session
// goes on with what the model was told.
func TestSlowToolIsNoMismatch(t *testing.T) {
	const want = `mes, running, mes', use look, done, "Done.", idle end_turn`
	over := false
	for at := 1; !over; at++ {
		in(t, func(t *testing.T) {
			h := newHouse(t, Definition{Tools: []ToolConfig{{Type: AgentToolset}}},
				[]provider.ScriptTurn{calls(provider.ScriptCall{Name: "look", ID: "c1"}), says("Done.")},
				counting("look", map[string]int{}, func(ctx context.Context) error {
					<-ctx.Done()
					return nil // it has happened
				}))
			defer func() { h.close() }()
			dead := h.dieAt(at)
			_, err := h.rt.Send(t.Context(), ada, h.session, Once{}, Text("Look"))
			time.Sleep(2 * time.Minute)
			synctest.Wait()
			if over = !dead.Load(); err != nil {
				return
			}
			old := h.rt
			h.open()
			dead.Store(false)
			if _, err := h.rt.Recover(t.Context()); err != nil {
				t.Fatal(err)
			}
			_ = old.Close(context.Background())
			time.Sleep(3 * time.Minute)
			synctest.Wait()
			h.tells(want)
		})
	}
}

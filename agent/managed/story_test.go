package managed

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/voicegw/voicegw/agent/provider"
)

func TestHello(t *testing.T) {
	in(t, func(t *testing.T) {
		h := newHouse(t, Definition{}, []provider.ScriptTurn{says("Hello!"), says("Again.")})
		defer h.close()
		h.tells("")
		h.status(Idle)
		h.send(Text("Hi"))
		h.tells(`mes, running, mes', "Hello!", idle end_turn`)
		h.restart()
		h.send(Text("Hi"))
		h.tells(`mes, running, mes', "Hello!", idle end_turn, mes, running, mes', "Again.", idle end_turn`)
	})
}

func deploy() Definition {
	return Definition{Tools: []ToolConfig{{Type: CustomTool, Name: "deploy", Description: "deploys",
		InputSchema: []byte(`{"type":"object"}`)}}}
}

func TestCustomTool(t *testing.T) {
	for name, restart := range map[string]bool{"in one process": false, "over a restart": true} {
		t.Run(name, func(t *testing.T) {
			in(t, func(t *testing.T) {
				h := newHouse(t, deploy(), []provider.ScriptTurn{calls(provider.ScriptCall{Name: "deploy", ID: "c1"},
					provider.ScriptCall{Name: "deploy", ID: "c2"}), says("Deployed.")})
				defer h.close()
				h.send(Text("Deploy"))
				h.tells(`mes, running, mes', use deploy, use deploy, idle requires_action 2`)
				if restart {
					h.restart()
				}
				first := h.find(StatusIdle).StopReason.EventIDs
				h.refused(Invalid, "there is no call", Event{Type: UserCustomResult, CustomID: "sevt_x"})
				h.refused(Invalid, "waits for a custom", Event{Type: UserConfirmation, ToolUseID: first[0], Result: "allow"})
				result := func(id string) Event {
					return Event{Type: UserCustomResult, CustomID: id, Content: []Block{{Type: "text", Text: "ok"}}}
				}
				h.send(result(first[1]))
				h.send(result(first[1])) // without effect
				if restart {
					h.restart()
				}
				h.send(result(first[0]))
				h.tells(`mes, running, mes', use deploy, use deploy, idle requires_action 2, result, idle requires_action 1, ` +
					`result, running, "Deployed.", idle end_turn`)
				h.send(result(first[0])) // without effect
			})
		})
	}
}

func TestConfirm(t *testing.T) {
	for name, c := range map[string]struct {
		answer Event
		calls  int
		want   string
	}{
		"allow": {Event{Type: UserConfirmation, Result: "allow"}, 1,
			`mes, running, mes', use delete_file, idle requires_action 1, allow, running, done, "Ok.", idle end_turn`},
		"deny": {Event{Type: UserConfirmation, Result: "deny", DenyMessage: "no"}, 0,
			`mes, running, mes', use delete_file, idle requires_action 1, deny, running, done, "Ok.", idle end_turn`},
	} {
		t.Run(name, func(t *testing.T) {
			in(t, func(t *testing.T) {
				ran := map[string]int{}
				h := newHouse(t, Definition{Tools: []ToolConfig{{Type: AgentToolset,
					Default: &ToolPolicy{Permission: &Permission{Type: AlwaysAsk}}}}},
					[]provider.ScriptTurn{calls(provider.ScriptCall{Name: "delete_file", ID: "t1"}), says("Ok.")},
					counting("delete_file", ran, nil))
				defer h.close()
				h.send(Text("Delete it"))
				c.answer.ToolUseID = h.find(AgentToolUse).ID
				h.restart()
				h.send(c.answer)
				h.tells(c.want)
				if len(ran) != c.calls {
					t.Errorf("the tool ran %v", ran)
				}
			})
		})
	}
}

func TestInterrupt(t *testing.T) {
	in(t, func(t *testing.T) {
		h := newHouse(t, deploy(), []provider.ScriptTurn{calls(provider.ScriptCall{Name: "deploy", ID: "c1"}), says("Yes.")})
		defer h.close()
		h.send(Event{Type: UserInterrupt})
		h.tells(`int, int'`)
		h.send(Text("Deploy"))
		h.send(Event{Type: UserInterrupt})
		h.tells(`int, int', mes, running, mes', use deploy, idle requires_action 1, int, int', idle end_turn`)
		h.send(Text("Still there?"))
		h.tells(`int, int', mes, running, mes', use deploy, idle requires_action 1, int, int', idle end_turn, ` +
			`mes, running, mes', "Yes.", idle end_turn`)
	})
}

func TestPause(t *testing.T) {
	in(t, func(t *testing.T) {
		h := newHouse(t, Definition{}, []provider.ScriptTurn{says("Hello!")})
		defer h.close()
		if err := h.rt.Pause(t.Context(), ada, h.session); err != nil {
			t.Fatal(err)
		}
		h.send(Text("Hi"))
		h.restart()
		synctest.Wait()
		h.tells(`mes`)
		if err := h.rt.Resume(t.Context(), ada, h.session); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		h.tells(`mes, running, mes', "Hello!", idle end_turn`)
	})
}

func TestArchiveAndDelete(t *testing.T) {
	in(t, func(t *testing.T) {
		h := newHouse(t, Definition{}, []provider.ScriptTurn{says("Hello!")})
		defer h.close()
		h.send(Text("Hi"))
		for range 2 {
			s, err := h.rt.ArchiveSession(t.Context(), ada, h.session)
			if err != nil || s.Status != Terminated || s.ArchivedAt == nil {
				t.Fatalf("%+v, %v", s, err)
			}
		}
		h.refused(Conflict, "ended", Text("Hi"))
		h.tells(`mes, running, mes', "Hello!", idle end_turn, terminated`)
		if err := h.rt.DeleteSession(t.Context(), ada, h.session); err != nil {
			t.Fatal(err)
		}
		h.refused(NotFound, "there is no session", Text("Hi"))
	})
}

// TestRecover: a process that starts wakes the sessions that have work, and leaves those that wait for somebody asleep.
func TestRecover(t *testing.T) {
	timeout := deploy()
	timeout.Tools[0].Timeout = Duration(time.Hour)
	for name, test := range map[string]struct {
		def  Definition
		do   func(h *house)
		want int
	}{
		"idle":                 {deploy(), func(*house) {}, 0},
		"waits for the client": {deploy(), func(h *house) { h.send(Text("Deploy")) }, 0},
		"waits for an hour":    {timeout, func(h *house) { h.send(Text("Deploy")) }, 1},
		"paused, with a message": {deploy(), func(h *house) {
			if err := h.rt.Pause(h.Context(), ada, h.session); err != nil {
				h.Fatal(err)
			}
			h.send(Text("Deploy"))
			h.send(Text("Deploy"))
		}, 0}, // a session that is paused rests, whatever waits
	} {
		t.Run(name, func(t *testing.T) {
			in(t, func(t *testing.T) {
				h := newHouse(t, test.def, []provider.ScriptTurn{calls(provider.ScriptCall{Name: "deploy"})})
				test.do(h)
				h.close()
				h.open()
				defer h.close()
				if n, err := h.rt.Recover(t.Context()); n != test.want || err != nil {
					t.Errorf("%d sessions are woken, %v; want %d", n, err, test.want)
				}
				synctest.Wait()
			})
		})
	}
}

func TestPassivation(t *testing.T) {
	in(t, func(t *testing.T) {
		h := newHouse(t, Definition{}, []provider.ScriptTurn{says("Hello!")})
		defer h.close()
		h.send(Text("Hi"))
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		if n := len(h.rt.active); n != 0 {
			t.Errorf("%d sessions are in memory", n)
		}
		h.status(Idle)
	})
}

// TestLateResult: a result for a call that an interrupt has cancelled answers no call of the next turn.
func TestLateResult(t *testing.T) {
	in(t, func(t *testing.T) {
		h := newHouse(t, deploy(), []provider.ScriptTurn{calls(provider.ScriptCall{Name: "deploy", ID: "c1"}),
			calls(provider.ScriptCall{Name: "deploy", ID: "c2"}), says("Deployed.")})
		defer h.close()
		h.send(Text("Deploy"))
		first := h.find(AgentCustomToolUse).ID
		h.send(Event{Type: UserInterrupt}, Text("Again"), Event{Type: UserCustomResult, CustomID: first})
		h.tells(`mes, running, mes', use deploy, idle requires_action 1, int, mes, result, int', idle end_turn, ` +
			`running, mes', use deploy, idle requires_action 1`)
		h.send(Event{Type: UserCustomResult, CustomID: h.find(StatusIdle).StopReason.EventIDs[0]})
		h.tells(`mes, running, mes', use deploy, idle requires_action 1, int, mes, result, int', idle end_turn, ` +
			`running, mes', use deploy, idle requires_action 1, result, running, "Deployed.", idle end_turn`)
	})
}

// TestEventsMax: a session that has all its events takes no more of the user.
func TestEventsMax(t *testing.T) {
	in(t, func(t *testing.T) {
		h := newHouse(t, Definition{}, []provider.ScriptTurn{says("Hello!")})
		h.close()
		h.cfg.Limits.Events = 3
		h.open()
		defer h.close()
		h.send(Text("Hi"))
		h.refused(Conflict, "3 events", Text("Hi"))
		h.tells(`mes, running, mes', "Hello!", idle end_turn`)
	})
}

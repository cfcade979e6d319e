package managed

import (
	"strings"
	"testing"

	"github.com/voicegw/voicegw/agent/provider"
	"github.com/voicegw/voicegw/journal"
)

// permitted is the set of tools with a default permission, and one for delete_file.
func permitted(def, own string) Definition {
	set := ToolConfig{Type: AgentToolset, Default: &ToolPolicy{Permission: &Permission{Type: def}}}
	if own != "" {
		set.Configs = []ToolPolicy{{Name: "delete_file", Permission: &Permission{Type: own}}}
	}
	return Definition{Tools: []ToolConfig{set}}
}

// f4 begins a session whose model calls delete_file once, with the fixture's id.
func f4(t *testing.T, engine journal.Engine, d Definition) (h *house, llm *recorder, ran map[string]int) {
	t.Helper()
	ran = map[string]int{}
	llm = recording(calls(provider.ScriptCall{ID: "tu_delete_001", Name: "delete_file"}), says("Well."))
	h = newHouseOn(t, engine, d, llm, fixtureTools(ran)...)
	h.say(Text("Delete it"))
	return h, llm, ran
}

func confirm(id, result, why string) Event {
	return Event{Type: UserConfirmation, ToolUseID: id, Result: result, DenyMessage: why}
}

// TestF4RunsOnceAfterAllow: the tool does not run before the client allows it, and then once, however often it does.
func TestF4RunsOnceAfterAllow(t *testing.T) {
	onEngines(t, func(t *testing.T, engine journal.Engine) {
		h, llm, ran := f4(t, engine, permitted(AlwaysAllow, AlwaysAsk))
		defer h.close()
		h.restart()
		if len(ran) != 0 {
			t.Errorf("the tool ran before it was allowed: %v", ran)
		}
		h.say(confirm("tu_delete_001", "allow", ""))
		h.post(confirm("tu_delete_001", "allow", ""))
		h.restart()
		h.tells(`mes, running, mes', use delete_file, idle requires_action 1, allow, running, done, "Well.", idle end_turn`)
		if total(ran) != 1 {
			t.Errorf("the tool ran %v", ran)
		}
		if got := llm.result(t, 2, "tu_delete_001"); got != `{"result":"delete_file is done"}` {
			t.Errorf("the model got %s", got)
		}
	})
}

func total(ran map[string]int) int {
	n := 0
	for _, times := range ran {
		n += times
	}
	return n
}

// TestF4Deny: a call that the client denies does not run. The model gets the reason.
func TestF4Deny(t *testing.T) {
	for why, want := range map[string]string{"not on a Friday": "not on a Friday", "": deniedDefault} {
		t.Run(want, func(t *testing.T) {
			onEngines(t, func(t *testing.T, engine journal.Engine) {
				h, llm, ran := f4(t, engine, permitted(AlwaysAllow, AlwaysAsk))
				defer h.close()
				h.say(confirm("tu_delete_001", "deny", why))
				if got := llm.result(t, 2, "tu_delete_001"); got != `{"error":"`+want+`"}` {
					t.Errorf("the model got %s", got)
				}
				if len(ran) != 0 {
					t.Errorf("the tool ran %v", ran)
				}
			})
		})
	}
}

// TestF4Permissions: the permission of a tool goes before the default, in both directions.
func TestF4Permissions(t *testing.T) {
	for _, c := range []struct {
		name, def, own string
		runs           int
		compat, model  string
	}{
		{"ask by default, allowed by its own", AlwaysAsk, AlwaysAllow, 1, "r t m i", `{"result":"delete_file is done"}`},
		{"deny by default, allowed by its own", AlwaysDeny, AlwaysAllow, 1, "r t m i", `{"result":"delete_file is done"}`},
		{"allow by default, denied by its own", AlwaysAllow, AlwaysDeny, 0, "r t m i", "denied: "},
		{"ask by default, denied by its own", AlwaysAsk, AlwaysDeny, 0, "r t m i", "denied: "},
		{"deny by default", AlwaysDeny, "", 0, "r t m i", "denied: "},
		{"ask by default", AlwaysAsk, "", 0, "r t", ""},
		{"deny by default, ask by its own", AlwaysDeny, AlwaysAsk, 0, "r t", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			onEngines(t, func(t *testing.T, engine journal.Engine) {
				h, llm, ran := f4(t, engine, permitted(c.def, c.own))
				defer h.close()
				if got := short(h.compat()); got != c.compat {
					t.Errorf("the session tells %s, want %s", got, c.compat)
				}
				if total(ran) != c.runs {
					t.Errorf("the tool ran %v, want %d times", ran, c.runs)
				}
				if c.model != "" {
					if got := llm.result(t, 2, "tu_delete_001"); !strings.Contains(got, c.model) {
						t.Errorf("the model got %s, want %s", got, c.model)
					}
				}
			})
		})
	}
}

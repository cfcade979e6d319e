package managed

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/voicegw/voicegw/agent"
	"github.com/voicegw/voicegw/agent/provider"
)

// unknownHouse begins a session whose tool asks when the outcome of a call is unknown. If the call needs a
// confirmation, the model calls another tool beside it: it has a result by then, so that all runs have the same
// commits.
func unknownHouse(t *testing.T, ran map[string]int, permission string) (*house, *mind) {
	t.Helper()
	m := &mind{name: "script", do: func(heard string) provider.ScriptTurn {
		switch {
		case heard == "Pay" && permission == AlwaysAllow:
			return calls(provider.ScriptCall{Name: "pay", ID: "c1"})
		case heard == "Pay":
			return calls(provider.ScriptCall{Name: "pay", ID: "c1"}, provider.ScriptCall{Name: "look", ID: "c2"})
		case strings.HasPrefix(heard, "result"):
			return says("Done.")
		}
		return says("Bye.")
	}}
	f := all(agent.Agent{Name: "script"})
	d := Definition{Tools: []ToolConfig{{Type: AgentToolset, Configs: []ToolPolicy{{Name: "pay", Unknown: "ask",
		Permission: &Permission{Type: permission}}, {Name: "look", Unknown: "retry"}}}}}
	return newProgramHouse(t, f, d, []*mind{m}, counting("pay", ran, nil), counting("look", map[string]int{}, nil)), m
}

// payTimes counts the calls of pay: one key alone may have been used.
func payTimes(t *testing.T, ran map[string]int) (n int) {
	t.Helper()
	if len(ran) > 1 {
		t.Errorf("the call was made with several keys: %v", ran)
	}
	return total(ran)
}

// restartAfter begins anew if the process is dead, as after a kill.
func (h *house) restartAfter(dead *atomic.Bool) {
	h.Helper()
	synctest.Wait()
	if !dead.Load() {
		return
	}
	old := h.rt
	h.open()
	dead.Store(false)
	if _, err := h.rt.Recover(h.Context()); err != nil {
		h.Error(err)
	}
	_ = old.Close(context.Background())
	time.Sleep(time.Minute)
	synctest.Wait()
}

// payAt plays the story with crashes at two commits. The client answers what it is asked. It returns how often the
// client was asked and allowed, and whether there were both commits.
func payAt(t *testing.T, first, second int, permission, answer string, ran map[string]int) (asked int, h *house,
	both bool) {
	h, _ = unknownHouse(t, ran, permission)
	dead, crashes := h.dieAt(first), 0
	restart := func() {
		if synctest.Wait(); dead.Load() {
			if crashes++; crashes == 1 && second > 0 {
				next := h.dieAt(second)
				next.Store(true)
				dead = next
			}
		}
		h.restartAfter(dead)
	}
	send := func(key string, ev Event) {
		h.until(key, func() error {
			_, err := h.rt.Send(h.Context(), ada, h.session, Once{Key: key}, ev)
			restart()
			return err
		})
		restart()
	}
	send("pay", Text("Pay"))
	for i := range 4 {
		idle := h.find(StatusIdle)
		if idle.StopReason.Type != RequiresAction {
			break
		}
		if payTimes(t, ran) > asked+1 {
			t.Errorf("killed at %d and %d: the call was made %d times, and repeated with leave %d times", first, second,
				payTimes(t, ran), asked)
		}
		if idle.StopReason.Detail == "outcome_unknown" {
			asked++
			send(answer+string(rune('0'+i)), confirm(idle.StopReason.EventIDs[0], answer, ""))
			continue
		}
		send("first", confirm(idle.StopReason.EventIDs[0], "allow", ""))
	}
	return asked, h, crashes == 2 || second == 0 && crashes == 1
}

// judgePay holds the session to its end.
func judgePay(t *testing.T, h *house, asked int, answer string, ran map[string]int) {
	t.Helper()
	told := letters(h.events())
	if !strings.HasSuffix(told, `"Done.", idle end_turn`) || strings.Contains(told, "error") {
		t.Errorf("the session tells %s", told)
	}
	if n := payTimes(t, ran); n > asked+1 || n == 0 && answer == "allow" {
		t.Errorf("the call was made %d times; the client was asked %d times", n, asked)
	}
	result := ""
	for _, ev := range h.events() {
		if ev.Type == AgentToolResult && strings.Contains(ev.Content[0].Text, "pay is done") ||
			ev.Type == AgentToolResult && strings.Contains(ev.Content[0].Text, "outcome_unknown") {
			result += ev.Content[0].Text
		}
	}
	want := `{"result":"pay is done"}`
	if asked > 0 && answer == "deny" {
		want = `{"error":"` + unknownOutcome + `"}`
	}
	if result != want {
		t.Errorf("the model gets %s, want %s", result, want)
	}
}

// TestUnknownInterrupted tells the model that a call may have happened when nobody answers whether to repeat it.
func TestUnknownInterrupted(t *testing.T) {
	for at, found := 1, false; !found; at++ {
		in(t, func(t *testing.T) {
			ran := map[string]int{}
			h, m := unknownHouse(t, ran, AlwaysAllow)
			defer func() { h.close() }()
			dead := h.dieAt(at)
			_, _ = h.rt.Send(t.Context(), ada, h.session, Once{Key: "pay"}, Text("Pay"))
			synctest.Wait()
			if !dead.Load() {
				t.Fatal("the outcome was never unknown")
			}
			h.restartAfter(dead)
			if _, err := h.rt.Send(t.Context(), ada, h.session, Once{Key: "pay"}, Text("Pay")); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Minute)
			synctest.Wait()
			idle := h.find(StatusIdle).StopReason
			if found = idle.Detail == "outcome_unknown"; !found {
				return
			}
			use := h.find(AgentToolUse)
			h.refused(Invalid, "waits for a confirm, not", Event{Type: UserCustomResult, CustomID: idle.EventIDs[0],
				Content: []Block{{Type: "text", Text: "paid"}}})
			h.send(Event{Type: UserInterrupt})
			h.send(Text("Well?"))
			if last := h.find(AgentToolResult); use == nil || !strings.Contains(last.Content[0].Text, "outcome_unknown") {
				t.Errorf("the result is %+v", last)
			}
			if total(ran) != 1 || len(m.asked) == 0 {
				t.Errorf("the call was made %v", ran)
			}
			h.refused(Invalid, "waits no longer", confirm(idle.EventIDs[0], "allow", ""))
		})
	}
}

package managed

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/adk/v2/model"

	"github.com/voicegw/voicegw/agent/provider"
)

// sideFlow has a call of the client beside two requests to a model, and a model that waits for both.
const sideFlow = `name: side
agents:
  - {name: wait, type: tool, tool: deploy, output_key: a}
  - {name: one, type: llm, model: m, instruction: One}
  - {name: two, type: llm, model: m, instruction: Two}
  - {name: tell, type: llm, model: m, instruction: "Told {a}"}
orchestration:
  type: dag
  nodes:
    - {agent: wait}
    - {agent: one}
    - {agent: two, depends_on: [one]}
    - {agent: tell, depends_on: [wait, two]}
`

// TestRunExhausted: a run that has failed for good leaves no call open. The next one asks the client anew.
func TestRunExhausted(t *testing.T) {
	in(t, func(t *testing.T) {
		down := true
		m := &mind{name: "m", do: func(heard string) provider.ScriptTurn {
			if down && heard == "Two" {
				return says("") // an empty answer may be better the next time
			}
			return says("Said " + heard)
		}}
		h := newProgramHouse(t, flow(t, sideFlow, "deploy"), deploy(), []*mind{m})
		defer func() { h.close() }()
		h.send(Text("Go"))
		time.Sleep(time.Hour)
		synctest.Wait()
		if got := h.find(StatusIdle).StopReason.Type; got != RetriesExhausted {
			t.Fatalf("the session tells %s", letters(h.events()))
		}
		first := h.find(AgentCustomToolUse).ID
		h.refused(Invalid, "waits no longer", resultFor(first, "late"))
		down = false
		h.send(Text("Again"))
		time.Sleep(time.Minute)
		synctest.Wait()
		second := h.find(AgentCustomToolUse).ID
		if ids := h.find(StatusIdle).StopReason.EventIDs; second == first || len(ids) != 1 || ids[0] != second {
			t.Fatalf("%v wait; the calls are %s and %s: %s", ids, first, second, letters(h.events()))
		}
		h.send(resultFor(second, "ok"))
		time.Sleep(time.Minute)
		synctest.Wait()
		if got := letters(h.events()); !strings.HasSuffix(got, `"Said Told ok", "Said Told ok", idle end_turn`) {
			t.Errorf("the session tells %s", got)
		}
	})
}

// spentWithCall is a session whose run has reached its budget while a call waits for the client, with the call's id.
func spentWithCall(t *testing.T) (h *house, use string) {
	t.Helper()
	m := &mind{name: "m", do: func(heard string) provider.ScriptTurn { return says("Said " + heard) }}
	h = newProgramHouse(t, flow(t, sideFlow, "deploy"), deploy(), []*mind{m})
	h.close()
	h.cfg.Models = provider.NewResolver()
	h.cfg.Models.Add("m", func(provider.Ref) (model.LLM, error) { return costly{m}, nil })
	h.open()
	h.raise(&Budget{Type: "limit", MaxTokens: 50})
	h.send(Text("Go"))
	time.Sleep(time.Minute)
	synctest.Wait()
	if got := h.find(StatusIdle).StopReason.Type; got != BudgetReached {
		t.Fatalf("the session tells %s", letters(h.events()))
	}
	return h, h.find(AgentCustomToolUse).ID
}

// TestRunBudgetKeepsCalls: calls that wait when the budget is reached wait on. They take their answers, and the run
// goes on with them once it has more to spend.
func TestRunBudgetKeepsCalls(t *testing.T) {
	for name, early := range map[string]bool{"answered at the budget": true, "answered later": false} {
		t.Run(name, func(t *testing.T) {
			in(t, func(t *testing.T) {
				h, use := spentWithCall(t)
				defer func() { h.close() }()
				if early {
					h.send(resultFor(use, "ok"))
				}
				h.restart()
				h.raise(nil)
				time.Sleep(time.Minute)
				synctest.Wait()
				if !early {
					h.send(resultFor(use, "ok"))
					time.Sleep(time.Minute)
					synctest.Wait()
				}
				got := letters(h.events())
				if !strings.HasSuffix(got, `"Said Told ok", "Said Told ok", idle end_turn`) ||
					strings.Count(got, "use deploy") != 1 {
					t.Errorf("the session tells %s", got)
				}
			})
		})
	}
}

// TestRunInventedCall: a model that has no tools calls one of the client. Nobody waits for that call; the call of the
// run that waits beside it takes its answer.
func TestRunInventedCall(t *testing.T) {
	in(t, func(t *testing.T) {
		m := &mind{name: "m", do: func(heard string) provider.ScriptTurn {
			if heard == "Two" {
				return calls(provider.ScriptCall{ID: "c1", Name: "deploy"})
			}
			return says("Said " + heard)
		}}
		h := newProgramHouse(t, flow(t, strings.Replace(sideFlow, "depends_on: [wait, two]", "depends_on: [wait]", 1),
			"deploy"), deploy(), []*mind{m})
		defer func() { h.close() }()
		h.send(Text("Go"))
		time.Sleep(time.Minute)
		synctest.Wait()
		ids := h.find(StatusIdle).StopReason.EventIDs
		if len(ids) != 1 {
			t.Fatalf("%v wait: %s", ids, letters(h.events()))
		}
		h.send(resultFor(ids[0], "ok"))
		time.Sleep(time.Minute)
		synctest.Wait()
		if got := letters(h.events()); !strings.HasSuffix(got, `idle end_turn`) || !strings.Contains(got, "Said Told ok") {
			t.Errorf("the session tells %s", got)
		}
	})
}

// TestEndedWithoutEffect gives a call its result whose effect the turn does not have.
func TestEndedWithoutEffect(t *testing.T) {
	s := newState()
	s.turn = &turn{effects: map[string]*effect{}}
	s.calls = []*openCall{{Event: "e", ID: "c1", Name: "deploy", Kind: customCall, Effect: "tool/wait/c1/1"}}
	r := &record{Kind: recordEvents}
	s.expire(r)
	if len(r.Effects) != 1 || r.Effects[0].Key != "tool/wait/c1/1" || !r.Effects[0].Failed || r.Effects[0].Use != "e" {
		t.Errorf("the record is %+v", r)
	}
}

// TestRunPassedCall: a call that an agent had no time to begin does not begin when the run goes on behind a park.
func TestRunPassedCall(t *testing.T) {
	const text = "name: slow\nagents:\n  - {name: a, type: llm, model: a, instruction: A, tools: [look, pay], " +
		"timeout: 10s, retry: {attempts: 2, delay: 1s}}\n  - {name: wait, type: tool, tool: deploy, output_key: b}\n" +
		"orchestration: {type: sequential, agents: [a, wait]}\n"
	in(t, func(t *testing.T) {
		ran, asked := map[string]int{}, 0
		m := &mind{name: "a", do: func(string) provider.ScriptTurn {
			if asked++; asked == 1 {
				return calls(provider.ScriptCall{ID: "c1", Name: "look"}, provider.ScriptCall{ID: "c2", Name: "pay"})
			}
			return says("I gave up.")
		}}
		slow := func(ctx context.Context) error {
			<-ctx.Done()
			return ctx.Err()
		}
		h := newProgramHouse(t, flow(t, text, "look", "pay", "deploy"), Definition{Tools: []ToolConfig{deploy().Tools[0],
			{Type: AgentToolset}}}, []*mind{m}, counting("look", map[string]int{}, slow), counting("pay", ran, nil))
		defer func() { h.close() }()
		h.send(Text("Go"))
		time.Sleep(10 * time.Minute)
		synctest.Wait()
		h.send(resultFor(h.find(AgentCustomToolUse).ID, "ok"))
		time.Sleep(time.Minute)
		synctest.Wait()
		if got := letters(h.events()); !strings.HasSuffix(got, "idle end_turn") || asked != 2 || total(ran) != 0 {
			t.Errorf("the model is asked %d times, the tool ran %v: %s", asked, ran, got)
		}
	})
}

// TestRunBudgetInterrupt: a call that waits when the budget is reached waits no longer once the run is interrupted.
func TestRunBudgetInterrupt(t *testing.T) {
	in(t, func(t *testing.T) {
		h, use := spentWithCall(t)
		defer func() { h.close() }()
		if err := h.rt.Interrupt(t.Context(), ada, h.session); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		h.restart()
		h.refused(Invalid, "waits no longer", resultFor(use, "late"))
		h.raise(nil)
		time.Sleep(time.Minute)
		synctest.Wait()
		if got := letters(h.events()); !strings.HasSuffix(got, "int', session.updated") {
			t.Errorf("the session tells %s", got)
		}
	})
}

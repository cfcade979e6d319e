package managed

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/genai"

	"github.com/voicegw/voicegw/agent"
	"github.com/voicegw/voicegw/agent/provider"
)

// deaf is a tool that ignores its context: its first call takes a minute. Later calls return at once, or behind the
// second message.
func deaf(next time.Duration) Tool {
	n := 0
	return Tool{Declaration: &genai.FunctionDeclaration{Name: "look"}, Idempotent: true,
		Call: func(context.Context, ToolCall) (map[string]any, error) {
			counted.Lock()
			n++
			nth := n
			counted.Unlock()
			if nth == 1 {
				time.Sleep(time.Minute)
				return map[string]any{"result": "late"}, nil
			}
			time.Sleep(next)
			return map[string]any{"result": "in time"}, nil
		}}
}

const fetchFlow = "name: one\nagents:\n  - {name: fetch, type: tool, tool: look, output_key: a}\n" +
	"orchestration: {type: sequential, agents: [fetch]}\n"

// deafHouses begin sessions whose turn calls the tool: as an agent does it, and as a workflow does it.
func deafHouses(next time.Duration) map[string]func(*testing.T) *house {
	d := Definition{Tools: []ToolConfig{{Type: AgentToolset}}}
	return map[string]func(*testing.T) *house{
		"agent": func(t *testing.T) *house {
			m := &mind{name: "script", do: func(heard string) provider.ScriptTurn {
				if strings.HasPrefix(heard, "Go") {
					return calls(provider.ScriptCall{ID: "c1", Name: "look"})
				}
				return says("I have heard " + heard)
			}}
			return newProgramHouse(t, all(agent.Agent{Name: "script"}), d, []*mind{m}, deaf(next))
		},
		"workflow": func(t *testing.T) *house {
			return newProgramHouse(t, flow(t, fetchFlow, "look"), d, []*mind{{name: "none"}}, deaf(next))
		},
	}
}

// TestLateTool: what a tool returns once its turn was interrupted is not stored, neither when no turn is open nor as
// the result of the same call in the next turn. The log stays readable.
func TestLateTool(t *testing.T) {
	for name, c := range map[string]struct{ before, next time.Duration }{
		"between turns":    {before: time.Hour},
		"in the next turn": {before: 20 * time.Second, next: 50 * time.Second},
	} {
		for kind, begin := range deafHouses(c.next) {
			t.Run(name+"/"+kind, func(t *testing.T) {
				in(t, func(t *testing.T) {
					h := begin(t)
					defer func() { h.close() }()
					h.send(Text("Go"))
					time.Sleep(time.Second)
					if err := h.rt.Interrupt(t.Context(), ada, h.session); err != nil {
						t.Fatal(err)
					}
					time.Sleep(c.before)
					h.send(Text("Go"))
					time.Sleep(45 * time.Second) // the first call has returned, and the second one, if it takes long, has not
					h.restart()
					time.Sleep(time.Hour)
					synctest.Wait()
					told := letters(h.events())
					if !strings.HasSuffix(told, "idle end_turn") || strings.Contains(told, "error") {
						t.Errorf("the session tells %s", told)
					}
					var heard string
					for _, ev := range h.events() {
						for _, b := range ev.Content {
							heard += b.Text
						}
					}
					if strings.Contains(heard, "late") || !strings.Contains(heard, "in time") {
						t.Errorf("the session has heard %s", heard)
					}
				})
			})
		}
	}
}

// TestStrayEffect refuses an effect outside of a turn, and reads a log that has one.
func TestStrayEffect(t *testing.T) {
	s, stray := newState(), &record{Kind: recordFinish, Effect: &effectInfo{Key: "tool/c1/1", Kind: toolEffect}}
	for i, r := range []*record{{Kind: recordSession, Session: &sessionInfo{ID: "s"}}, stray,
		{Kind: recordInput, Events: []*Event{{Type: UserMessage, ID: "m"}}}} {
		if err := s.apply(uint64(i+1), r); err != nil {
			t.Fatal(err)
		}
	}
	if len(s.messages) != 1 || s.records != 3 {
		t.Errorf("behind it the state has %d messages, and %d records", len(s.messages), s.records)
	}
	for _, r := range []*record{stray, {Kind: recordStart, Effect: stray.Effect}, {Kind: recordEnd, End: &turnEnd{}},
		{Kind: recordEvents, Effects: []*effectInfo{stray.Effect}}} {
		o := &owned{id: "s", st: s} // it has no log: an append would panic
		if _, err := o.put(r); err == nil || !strings.Contains(err.Error(), "no turn is open") {
			t.Errorf("a record of the kind %s is refused with %v", r.Kind, err)
		}
	}
}

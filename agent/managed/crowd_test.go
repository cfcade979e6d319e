package managed

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"google.golang.org/adk/v2/session"
	"google.golang.org/genai"

	"github.com/voicegw/voicegw/agent"
	"github.com/voicegw/voicegw/agent/managed/life"
	"github.com/voicegw/voicegw/agent/provider"
	"github.com/voicegw/voicegw/journal/journaltest"
)

// TestCrowdOfCalls lets two authors of a program call more tools of the client than may wait. Those that come too late
// get an error, and the turn goes on when the others have their answers; also after a restart in between.
func TestCrowdOfCalls(t *testing.T) {
	const each = 40
	in(t, func(t *testing.T) {
		turns, deferred, refused := 0, 0, 0
		f := func(_ context.Context, w *Work) (*agent.Program, error) {
			var list []func(context.Context, *agent.Call) (*agent.Reply, error)
			for _, who := range []string{"left", "right"} {
				call, err := w.Call(who, w.Tools()...)
				if err != nil {
					return nil, err
				}
				list = append(list, call)
			}
			var turn *agent.Turn
			n := 0
			next := func(ctx context.Context, now *agent.Turn) (*session.Event, error) {
				if now != turn {
					turn, n, turns = now, 0, turns+1
				}
				n++
				who := []string{"left", "right"}[n%2]
				ev := &session.Event{Author: who}
				ev.Content = &genai.Content{Role: genai.RoleModel}
				switch {
				case turns == 2:
					if n > 1 {
						return nil, nil
					}
					ev.Content = genai.NewContentFromText("done", genai.RoleModel)
				case n <= 2:
					for i := range each {
						ev.Content.Parts = append(ev.Content.Parts, &genai.Part{FunctionCall: &genai.FunctionCall{
							ID: fmt.Sprint("crowd-", who, i), Name: "deploy"}})
					}
				case n <= 4:
					ev.Content.Role = genai.RoleUser
					for i := range each {
						c := &genai.FunctionCall{ID: fmt.Sprint("crowd-", who, i), Name: "deploy"}
						reply, err := list[n%2](ctx, &agent.Call{Turn: now, Call: c})
						if err != nil {
							return nil, err
						}
						if reply.Deferred {
							deferred++
							continue
						}
						refused++
						ev.Content.Parts = append(ev.Content.Parts, &genai.Part{FunctionResponse: &genai.FunctionResponse{
							ID: c.ID, Name: c.Name, Response: reply.Response}})
					}
				default:
					return nil, nil
				}
				return ev, nil
			}
			return w.New(agent.Config{Agents: []agent.Agent{{Name: "both", Work: agent.Work{Next: next}}}})
		}
		h := newProgramHouse(t, f, deploy(), []*mind{{name: "none"}})
		defer func() { h.close() }()
		h.send(Text("Go"))
		ids := h.find(StatusIdle).StopReason.EventIDs
		if deferred != life.CallsMax || refused != 2*each-life.CallsMax || len(ids) != life.CallsMax {
			t.Fatalf("%d calls wait, %d are refused, the client is told of %d", deferred, refused, len(ids))
		}
		h.restart()
		for _, id := range ids {
			h.send(Event{Type: UserCustomResult, CustomID: id, Content: []Block{{Type: "text", Text: "ok"}}})
		}
		time.Sleep(time.Minute)
		if got := letters(h.events()); !strings.HasSuffix(got, `running, "done", idle end_turn`) {
			t.Errorf("the session tells ...%s", got[max(0, len(got)-300):])
		}
	})
}

// TestRefusedCallsDoNotWait: a call of a tool of the client that the agent refuses has its result, so nobody waits for
// another one.
func TestRefusedCallsDoNotWait(t *testing.T) {
	in(t, func(t *testing.T) {
		llm := recording(calls(provider.ScriptCall{ID: "c1", Name: "deploy"}, provider.ScriptCall{ID: "c2", Name: "deploy"}),
			says("Well."))
		h := newHouseOn(t, journaltest.NewMemory(), deploy(), llm)
		h.cfg.Limits.Agent.MaxCalls = 1
		h.restart()
		defer func() { h.close() }()
		h.send(Text("Deploy"))
		h.send(resultFor("c1", "ok"))
		h.tells(`mes, running, mes', use deploy, use deploy, idle requires_action 1, result, running, "Well.", idle end_turn`)
		h.refused(Invalid, "waits no longer", resultFor("c2", "late"))
		if got := llm.result(t, 2, "c2"); !strings.Contains(got, "a response may have 1 calls") {
			t.Errorf("the model got %s", got)
		}
	})
}

package adkagent

import (
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"
	"time"

	adk "google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/agent/llmagent"
	"google.golang.org/adk/v2/agent/workflowagent"
	"google.golang.org/adk/v2/agent/workflowagents/loopagent"
	"google.golang.org/adk/v2/agent/workflowagents/parallelagent"
	"google.golang.org/adk/v2/agent/workflowagents/sequentialagent"
	"google.golang.org/adk/v2/model"
	"google.golang.org/adk/v2/session"
	"google.golang.org/adk/v2/tool"
	"google.golang.org/adk/v2/tool/functiontool"
	"google.golang.org/adk/v2/workflow"
	"google.golang.org/genai"

	"github.com/voicegw/voicegw/agent"
	"github.com/voicegw/voicegw/agent/provider"
)

// small bounds the states of a proof.
func small() Options {
	return Options{Limits: agent.Limits{Reasks: 1, ToolSlots: 1, MaxCalls: 2}}
}

func stockAgent(t testing.TB, name string, m model.LLM, tools ...tool.Tool) adk.Agent {
	t.Helper()
	a, err := llmagent.New(llmagent.Config{Name: name, Description: "is " + name, Model: m, Tools: tools})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// TestTransfers hands over between agents of one net, and goes on with the right one when the net is gone.
func TestTransfers(t *testing.T) {
	m := &spy{LLM: inTurn(calls(transfer("cook")), text("I cook."), text("Still cooking."), calls(transfer("baker")),
		text("I bake."), calls(transfer("host")), text("Back."))}
	baker := mustNew(t, llmagent.Config{Name: "baker", Description: "bakes", Model: m}, Options{})
	cook := mustNew(t, llmagent.Config{Name: "cook", Description: "cooks", Model: m, Instruction: "Cook.",
		SubAgents: []adk.Agent{baker}}, Options{})
	a := mustNew(t, llmagent.Config{Model: m, SubAgents: []adk.Agent{cook}, GlobalInstruction: "Be kind."},
		Options{TransferTo: map[string][]string{"cook": {"baker", "host"}}})
	w := newWorld(t, a)
	const ok = ` result transfer_to_agent{"result":"transferred"}`
	w.must("food", `host call transfer_to_agent{"agent_name":"cook"}`, "host"+ok+" transfer cook", `cook "I cook."`)
	a.CloseSession(Key{app, user, sid})
	w.must("still?", `cook "Still cooking."`)
	if n := a.Running(); n != 1 {
		t.Errorf("%d nets run", n)
	}
	w.must("bread", `cook call transfer_to_agent{"agent_name":"baker"}`, "cook"+ok+" transfer baker", `baker "I bake."`)
	w.must("pay", `baker call transfer_to_agent{"agent_name":"host"}`,
		`baker result transfer_to_agent{"error":"unknown_agent: no agent has this name; the agents are: cook"}`+
			` ! unknown_agent`,
		`baker "Back."`)
	if asked := m.requests()[1]; !strings.Contains(asked, "[host] called tool `transfer_to_agent`") {
		t.Errorf("the cook gets %s", asked)
	}
	if a.FindAgent("cook") != adk.Agent(a) || a.FindAgent("host") != adk.Agent(a) || a.FindAgent("nobody") != nil {
		t.Error("agents of the net are not found as the net")
	}
}

// TestMemberCallbacks runs the callbacks of an agent that gets a turn by a transfer.
func TestMemberCallbacks(t *testing.T) {
	var log []string
	answer := ""
	cfg := llmagent.Config{Name: "cook", Model: inTurn(text("I cook."), text("I cook."), text("I cook.")),
		BeforeAgentCallbacks: []adk.BeforeAgentCallback{func(ctx adk.Context) (*genai.Content, error) {
			log = append(log, "before "+ctx.AgentName())
			if answer == "" {
				return nil, nil
			}
			return genai.NewContentFromText(answer, genai.RoleModel), nil
		}},
		AfterAgentCallbacks: []adk.AfterAgentCallback{func(ctx adk.Context) (*genai.Content, error) {
			log = append(log, "after "+ctx.AgentName())
			return genai.NewContentFromText("Enjoy.", genai.RoleModel), ctx.State().Set("cooked", true)
		}}}
	cook := mustNew(t, cfg, Options{})
	w := newWorld(t, mustNew(t, llmagent.Config{Model: inTurn(calls(transfer("cook"))), SubAgents: []adk.Agent{cook}},
		Options{}))
	w.must("food", `host call transfer_to_agent{"agent_name":"cook"}`,
		`host result transfer_to_agent{"result":"transferred"} transfer cook`, `cook "I cook."`, `cook "Enjoy."`)
	answer = "Closed."
	w.must("more", `cook "Closed."`, `cook "Enjoy."`)
	same(t, log, []string{"before cook", "after cook", "before cook", "after cook"})
}

// TestGuests hands over to an agent of ADK, which has a tool and streams. The next turn begins with the host.
func TestGuests(t *testing.T) {
	poet := stockAgent(t, "poet", inTurn(calls(monday()), text("A rose.")), menu(t))
	m := inTurn(calls(transfer("poet")), text("Nice, was it?"))
	w := newWorld(t, mustNew(t, llmagent.Config{Model: m, SubAgents: []adk.Agent{poet}}, Options{}))
	w.must("a poem", `host call transfer_to_agent{"agent_name":"poet"}`,
		`host result transfer_to_agent{"result":"transferred"} transfer poet`, `poet call menu{"day":"monday"}`,
		`poet result menu{"dish":"soup of monday"}`, `poet "A rose."`)
	w.must("thanks", `host "Nice, was it?"`)
	answeredOnce(t, w.events())
}

// TestGuestConfirms lets a tool of a guest require a confirmation: the answer goes to the guest.
func TestGuestConfirms(t *testing.T) {
	pay := fn(t, "pay", func(adk.Context, dayArgs) (map[string]any, error) { return map[string]any{"paid": true}, nil },
		func(c *functiontool.Config) { c.RequireConfirmation = true })
	clerk := stockAgent(t, "clerk", inTurn(calls(call("pay", "day", "monday")), text("Paid.")), pay)
	w := newWorld(t, mustNew(t, llmagent.Config{Model: inTurn(calls(transfer("clerk")),
		text("Anything else?")), SubAgents: []adk.Agent{clerk}}, Options{}))
	got, err := w.say("pay")
	if err != nil || len(got) != 5 {
		t.Fatalf("%q, %v", got, err)
	}
	w.mustContent(respond("adk_request_confirmation", map[string]any{"confirmed": true})(w.events()),
		`clerk result pay{"paid":true}`, `clerk "Paid."`)
	w.must("thanks", `host "Anything else?"`)
}

// custom is an agent of ADK that yields what it is given.
func custom(t testing.TB, name string, run func(ic adk.InvocationContext, yield func(*session.Event,
	error) bool)) adk.Agent {
	t.Helper()
	a, err := adk.New(adk.Config{Name: name, Description: name,
		Run: func(ic adk.InvocationContext) iter.Seq2[*session.Event, error] {
			return func(yield func(*session.Event, error) bool) { run(ic, yield) }
		}})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// TestBadGuests lets guests fail, panic, never stop, and hang until they are stopped.
func TestBadGuests(t *testing.T) {
	says := func(ic adk.InvocationContext) *session.Event {
		e := session.NewEvent(ic, ic.InvocationID())
		e.Content = genai.NewContentFromText("la", genai.RoleModel)
		return e
	}
	for name, c := range map[string]struct {
		run  func(ic adk.InvocationContext, yield func(*session.Event, error) bool)
		want string
	}{
		"fails": {func(_ adk.InvocationContext, yield func(*session.Event, error) bool) {
			yield(nil, fmt.Errorf("no muse"))
		}, "poet ! guest_failed"},
		"panics": {func(adk.InvocationContext, func(*session.Event, error) bool) { panic("no muse") }, "poet ! guest_failed"},
		"never stops": {func(ic adk.InvocationContext, yield func(*session.Event, error) bool) {
			for yield(says(ic), nil) {
			}
		}, "poet ! guest_failed"},
		"hangs": {func(ic adk.InvocationContext, _ func(*session.Event, error) bool) { <-ic.Done() },
			"poet ! guest_timed_out"},
	} {
		t.Run(name, func(t *testing.T) {
			m := inTurn(calls(transfer("poet")), text("Sorry."))
			cfg := llmagent.Config{Model: m, SubAgents: []adk.Agent{custom(t, "poet", c.run)},
				IncludeContents: llmagent.IncludeContentsNone}
			w := newWorld(t, mustNew(t, cfg, Options{Limits: agent.Limits{GuestTimeout: 300 * time.Millisecond}}))
			got, err := w.say("a poem")
			if last := got[len(got)-1]; err != nil || last != c.want || len(got) > guestEventsMax+3 {
				t.Errorf("%d events, the last one is %s, %v; want %s", len(got), last, err, c.want)
			}
			if got, err := w.say("well?"); err != nil || len(got) == 0 {
				t.Errorf("afterwards: %q, %v", got, err)
			}
		})
	}
}

// TestParents makes our agent a child of ADK's agents, beside ADK's own, as often as they want it.
func TestParents(t *testing.T) {
	leaf := func(name string, turns ...provider.ScriptTurn) adk.Agent {
		return mustNew(t, llmagent.Config{Name: name, Model: inTurn(turns...), Tools: []tool.Tool{menu(t)}}, Options{})
	}
	t.Run("sequential", func(t *testing.T) {
		a, err := sequentialagent.New(sequentialagent.Config{AgentConfig: adk.Config{Name: "both", SubAgents: []adk.Agent{
			leaf("one", calls(monday()), text("First.")), stockAgent(t, "two", inTurn(text("Second."))), leaf("three",
				text("Third."))}}})
		if err != nil {
			t.Fatal(err)
		}
		w := newWorld(t, a)
		got, err := w.say("go")
		if err != nil || len(got) != 5 || got[2] != `one "First."` || !strings.HasPrefix(got[4], "three") {
			t.Errorf("%q, %v", got, err)
		}
	})
	t.Run("loop", func(t *testing.T) {
		exit := fn(t, "exit", func(ctx adk.Context, _ struct{}) (map[string]any, error) {
			ctx.Actions().Escalate, ctx.Actions().SkipSummarization = true, true
			return map[string]any{}, nil
		})
		child := mustNew(t, llmagent.Config{Name: "one", Model: inTurn(text("Again."), text("Again."), calls(call("exit"))),
			Tools: []tool.Tool{exit}}, Options{})
		a, err := loopagent.New(loopagent.Config{MaxIterations: 10, AgentConfig: adk.Config{Name: "loop",
			SubAgents: []adk.Agent{child}}})
		if err != nil {
			t.Fatal(err)
		}
		newWorld(t, a).must("go", `one "Again."`, `one "Again."`, `one call exitnull`, `one result exit{}`)
	})
	t.Run("parallel", func(t *testing.T) {
		a, err := parallelagent.New(parallelagent.Config{AgentConfig: adk.Config{Name: "both", SubAgents: []adk.Agent{
			leaf("one", calls(monday()), text("First.")), leaf("two", calls(monday()), text("Second."))}}})
		if err != nil {
			t.Fatal(err)
		}
		w := newWorld(t, a)
		got, err := w.say("go")
		slices.Sort(got)
		want := []string{`one@both.one "First."`, `one@both.one call menu{"day":"monday"}`,
			`one@both.one result menu{"dish":"soup of monday"}`, `two@both.two "Second."`,
			`two@both.two call menu{"day":"monday"}`, `two@both.two result menu{"dish":"soup of monday"}`}
		if err != nil {
			t.Error(err)
		}
		same(t, got, want)
	})
	t.Run("workflow", func(t *testing.T) {
		one, err := workflow.NewAgentNode(leaf("one", calls(monday()), text("First.")), workflow.NodeConfig{})
		if err != nil {
			t.Fatal(err)
		}
		two, err := workflow.NewAgentNode(leaf("two", text("Second.")),
			workflow.NodeConfig{})
		if err != nil {
			t.Fatal(err)
		}
		a, err := workflowagent.New(workflowagent.Config{Name: "flow", Edges: workflow.Chain(workflow.Start, one, two)})
		if err != nil {
			t.Fatal(err)
		}
		got, err := newWorld(t, a).say("go")
		if err != nil || len(got) < 4 {
			t.Errorf("%q, %v", got, err)
		}
	})
}

// TestChildOfStock hands over from ADK's own agent to ours.
func TestChildOfStock(t *testing.T) {
	child := mustNew(t, llmagent.Config{Name: "cook", Model: inTurn(text("I cook.")), Tools: []tool.Tool{
		menu(t)}}, Options{})
	root, err := llmagent.New(llmagent.Config{Name: "host", Model: inTurn(calls(transfer("cook")), text("Host again.")),
		SubAgents: []adk.Agent{child}})
	if err != nil {
		t.Fatal(err)
	}
	got, err := newWorld(t, root).say("food")
	if err != nil || len(got) != 3 || !strings.HasPrefix(got[2], "cook") {
		t.Errorf("%q, %v", got, err)
	}
}

// TestWrap runs a program of one's own.
func TestWrap(t *testing.T) {
	var seen adk.InvocationContext
	p, err := agent.New(agent.Config{Agents: []agent.Agent{{Name: "desk", Model: provider.Parrot{},
		Hooks: agent.Hooks{}, Tools: []agent.Tool{probeTool{&seen}}}}, KeepsMessage: true})
	if err != nil {
		t.Fatal(err)
	}
	a, err := Wrap(p, adk.Config{Name: "desk_net"}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	w := newWorld(t, a)
	w.must("hello", `desk "hello"`)
	w.must("call probe", `desk call probenull`, `desk result probe{"user":"ada"}`, `desk "probe: {\"user\":\"ada\"}"`)
	if seen == nil {
		t.Error("the tool has no invocation")
	}
	for _, c := range []adk.Config{{}, {Name: "user"}, {Name: "x",
		Run: func(adk.InvocationContext) iter.Seq2[*session.Event,
			error] {
			return nil
		}}} {
		if _, err := Wrap(p, c, Options{}); err == nil {
			t.Errorf("%+v is accepted", c)
		}
	}
	if _, err := Wrap(nil, adk.Config{Name: "x"}, Options{}); err == nil {
		t.Error("no program is accepted")
	}
}

// TestGuestSpeaksAsMember lets a guest store an event without maps in the name of a member with an output key.
func TestGuestSpeaksAsMember(t *testing.T) {
	poet, err := adk.New(adk.Config{Name: "poet", Run: func(adk.InvocationContext) iter.Seq2[*session.Event, error] {
		return func(yield func(*session.Event, error) bool) {
			yield(&session.Event{Author: "host", LLMResponse: model.LLMResponse{
				Content: genai.NewContentFromText("Rose", genai.RoleModel)}}, nil)
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	c := waiter(t, script(calls(provider.ScriptCall{Name: transferTool, Args: map[string]any{"agent_name": "poet"}})))
	c.SubAgents, c.OutputKey = []adk.Agent{poet}, "said"
	newWorld(t, mustNew(t, c, Options{})).must("a poem", `host call transfer_to_agent{"agent_name":"poet"}`,
		`host result transfer_to_agent{"result":"transferred"} transfer poet`, `host "Rose"`)
}

// TestEndlessGuest ends the turn of a guest that says partial events for ever.
func TestEndlessGuest(t *testing.T) {
	poet, err := adk.New(adk.Config{Name: "poet", Run: func(adk.InvocationContext) iter.Seq2[*session.Event, error] {
		return func(yield func(*session.Event, error) bool) {
			for yield(&session.Event{Author: "poet", LLMResponse: model.LLMResponse{Partial: true}}, nil) {
			}
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	c := waiter(t, script(calls(provider.ScriptCall{Name: transferTool, Args: map[string]any{"agent_name": "poet"}})))
	c.SubAgents = []adk.Agent{poet}
	got, err := newWorld(t, mustNew(t, c, Options{})).say("a poem")
	if err != nil || got[len(got)-1] != "poet ! guest_failed" {
		t.Errorf("%d events, %v; the last is %s", len(got), err, got[len(got)-1])
	}
}

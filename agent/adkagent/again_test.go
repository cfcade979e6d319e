package adkagent

import (
	"context"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	adk "google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/agent/llmagent"
	"google.golang.org/adk/v2/agent/workflowagents/loopagent"
	"google.golang.org/adk/v2/model"
	"google.golang.org/adk/v2/session"
	"google.golang.org/adk/v2/tool"
	"google.golang.org/adk/v2/tool/functiontool"
	"google.golang.org/genai"
)

// looping repeats an agent three times in one invocation.
func looping(t testing.TB, child adk.Agent) adk.Agent {
	t.Helper()
	a, err := loopagent.New(loopagent.Config{MaxIterations: 3, AgentConfig: adk.Config{Name: "loop",
		SubAgents: []adk.Agent{child}}})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// TestWaitingTurn lets a turn wait for the one before: its request has the answer of that one, although its
// session was read earlier.
func TestWaitingTurn(t *testing.T) {
	answer, entered, release := blocker()
	m := &spy{LLM: answer}
	a := mustNew(t, waiter(t, m), Options{})
	w := newWorld(t, a, over(Sessions(session.InMemoryService())))
	var turns sync.WaitGroup
	over := make(chan struct{}, 2)
	say := func() {
		turns.Go(func() {
			defer func() { over <- struct{}{} }()
			if got, err := w.say("hello"); err != nil || len(got) != 1 {
				t.Errorf("%q, %v", got, err)
			}
		})
	}
	say()
	select {
	case <-entered:
	case <-over:
		t.Fatal("the first turn ended before it asked the model")
	}
	say()
	until(t, "the second turn", func() bool {
		n := a.core.nets
		n.mu.Lock()
		defer n.mu.Unlock()
		return n.all[Key{app, user, sid}].users == 2
	})
	close(release)
	turns.Wait()
	if asked := m.requests(); len(asked) != 2 || !strings.Contains(asked[1], "Done.") {
		t.Errorf("the second request lacks the first answer: %q", asked)
	}
}

// TestSourceRepeats runs an agent several times in one invocation: every id is another one.
func TestSourceRepeats(t *testing.T) {
	src := NewSource("a", time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC))
	child := mustNew(t, waiter(t, inTurn(calls(monday()), text("a"), calls(monday()), text("b"), text("c"))),
		Options{Source: src})
	w := newWorld(t, looping(t, child))
	n := 0
	for _, err := range w.r.Run(src.Context(t.Context()), user, sid, hello(), adk.RunConfig{}) {
		if n++; err != nil {
			t.Fatal(err)
		}
	}
	ids := map[string]bool{}
	var last time.Time
	for _, e := range w.events() {
		if ids[e.ID] || !e.Timestamp.After(last) {
			t.Errorf("the event %s at %v comes again, or is not later than the one before", e.ID, e.Timestamp)
		}
		ids[e.ID], last = true, e.Timestamp
	}
	answeredOnce(t, w.events())
	if n != 7 || len(ids) != 8 {
		t.Errorf("%d events, %d are stored", n, len(ids))
	}
}

// TestConfirmedOnce runs a confirmed call once, although the agent runs again in the same invocation.
func TestConfirmedOnce(t *testing.T) {
	paid := 0
	pay := fn(t, "pay", func(adk.Context, dayArgs) (map[string]any, error) {
		paid++
		return map[string]any{"paid": true}, nil
	}, func(c *functiontool.Config) { c.RequireConfirmation = true })
	m := inTurn(calls(call("pay", "day", "monday")), text("a"), text("b"), text("c"), text("d"), text("e"))
	child := mustNew(t, llmagent.Config{Name: "host", Model: m, Tools: []tool.Tool{pay}}, Options{})
	w := newWorld(t, looping(t, child))
	if got, err := w.say("pay"); err != nil || paid != 0 {
		t.Errorf("%q, %v; paid %d times", got, err, paid)
	}
	answer := respond("adk_request_confirmation", map[string]any{"confirmed": true})(w.events())
	if got, err := w.run(t.Context(), answer, sid); err != nil || paid != 1 {
		t.Errorf("%q, %v; paid %d times", got, err, paid)
	}
}

// TestGoexit ends the goroutine of the caller in the middle of a turn: the session goes on.
func TestGoexit(t *testing.T) {
	m := says(func(_ context.Context, yield func(*model.LLMResponse, error) bool) {
		yield(&model.LLMResponse{Content: genai.NewContentFromText("Fine.", genai.RoleModel)}, nil)
	})
	w := newWorld(t, mustNew(t, waiter(t, m), Options{}))
	var caller sync.WaitGroup
	caller.Go(func() {
		for range w.r.Run(t.Context(), user, sid, hello(), adk.RunConfig{}) {
			runtime.Goexit()
		}
	})
	caller.Wait()
	w.must("again", `host "Fine."`)
}

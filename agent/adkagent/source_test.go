package adkagent

import (
	"context"
	"slices"
	"strings"
	"testing"

	adk "google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/agent/llmagent"
	"google.golang.org/adk/v2/agent/workflowagents/parallelagent"
	"google.golang.org/adk/v2/agent/workflowagents/sequentialagent"
	"google.golang.org/adk/v2/model"
	"google.golang.org/adk/v2/platform"
	"google.golang.org/adk/v2/runner"
	"google.golang.org/adk/v2/session"
)

type llmConfig = llmagent.Config

func waiterNamed(t testing.TB, name string, m model.LLM) llmConfig {
	c := waiter(t, m)
	c.Name = name
	return c
}

func newID(ctx context.Context) string { return platform.NewUUID(ctx) }

func parallel(t testing.TB, list ...adk.Agent) adk.Agent {
	t.Helper()
	a, err := parallelagent.New(parallelagent.Config{AgentConfig: adk.Config{Name: "both", SubAgents: list}})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func sequence2(t testing.TB, list ...adk.Agent) adk.Agent {
	t.Helper()
	a, err := sequentialagent.New(sequentialagent.Config{AgentConfig: adk.Config{Name: "both", SubAgents: list}})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// newWorldOf is a world that does not keep its agent.
func newWorldOf(t testing.TB, a adk.Agent) *world {
	t.Helper()
	r, err := runner.NewInMemory(app, a)
	if err != nil {
		t.Fatal(err)
	}
	return &world{t: t, r: r}
}

func createSession(t testing.TB, s session.Service, ctx context.Context) string {
	t.Helper()
	got, err := s.Create(ctx, &session.CreateRequest{AppName: app, UserID: user})
	if err != nil {
		t.Fatal(err)
	}
	return got.Session.ID()
}

func eventsIn(t testing.TB, s session.Service, id string) []*session.Event {
	t.Helper()
	got, err := s.Get(t.Context(), &session.GetRequest{AppName: app, UserID: user, SessionID: id})
	if err != nil {
		t.Fatal(err)
	}
	return eventsOf(got.Session)
}

// branches are events as JSON, each after its branch.
func branches(list []*session.Event) []string {
	var out []string
	for _, e := range list {
		out = append(out, e.Branch+asJSON(e))
	}
	return out
}

// branchSorted sorts by branch and keeps the order in each: who comes first of two branches is up to ADK.
func branchSorted(list []string) []string {
	slices.SortStableFunc(list, func(a, b string) int {
		a, _, _ = strings.Cut(a, "{")
		b, _, _ = strings.Cut(b, "{")
		return strings.Compare(a, b)
	})
	return list
}

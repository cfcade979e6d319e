package managed_test

import (
	"context"
	"testing"

	"google.golang.org/adk/v2/model"

	"github.com/voicegw/voicegw/agent/managed"
	"github.com/voicegw/voicegw/agent/provider"
	"github.com/voicegw/voicegw/journal/journaltest"
)

// TestPagesBehindSharedAgents: the first page may end with the shared agents, and the next ones have the rest.
func TestPagesBehindSharedAgents(t *testing.T) {
	models := provider.NewResolver()
	models.Add("script", func(provider.Ref) (model.LLM, error) { return &provider.Script{}, nil })
	d := managed.Definition{Name: "desk", Model: managed.ModelRef{ID: "script"}}
	rt, err := managed.New(managed.Config{Journal: journaltest.NewMemory(), Models: models,
		Shared: []managed.Definition{d}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = rt.Close(context.Background()) })
	o := managed.Owner{Tenant: "acme"}
	for range 3 {
		if _, err := rt.CreateAgent(t.Context(), o, d); err != nil {
			t.Fatal(err)
		}
	}
	for _, reverse := range []bool{false, true} {
		seen, after := map[string]bool{}, ""
		for page := 0; page == 0 || after != "" && page < 10; page++ {
			list, next, err := rt.Agents(t.Context(), o, false, managed.Page{Limit: 1, After: after, Reverse: reverse})
			if err != nil {
				t.Fatal(err)
			}
			for _, a := range list {
				seen[a.ID] = true
			}
			after = next
		}
		if len(seen) != 4 {
			t.Errorf("reverse %t: the pages have %d agents, want 4", reverse, len(seen))
		}
	}
}

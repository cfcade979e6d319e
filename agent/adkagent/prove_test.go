//go:build !race

package adkagent

import (
	"context"
	"testing"

	adk "google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/agent/llmagent"

	"github.com/voicegw/voicegw"
	"github.com/voicegw/voicegw/agent"
	"github.com/voicegw/voicegw/agent/provider"
	"github.com/voicegw/voicegw/live"
	"github.com/voicegw/voicegw/verify"
	"github.com/voicegw/voicegw/voicenets/prove"
)

// mustProve proves every program of an agent: one for each agent with which a session may begin.
func mustProve(t *testing.T, a *Agent) {
	t.Helper()
	var names []string
	for name := range a.core.members {
		names = append(names, name)
	}
	for name := range a.core.guests {
		names = append(names, name)
	}
	for _, name := range names {
		p, err := a.core.programs.get(name)
		if err != nil {
			t.Fatal(err)
		}
		r, err := agent.Prove(t.Context(), p, verify.Config{Max: 1 << 20})
		if err != nil {
			t.Fatal(err)
		}
		if r.Outcome() != verify.Proved {
			t.Errorf("beginning with %s: %s; never fires: %v", name, r.Outcome(), r.Idle)
			for _, report := range r.Reports {
				for _, v := range report.Results {
					if v.Outcome != verify.Proved {
						t.Errorf("%s: %s: %.300s", v.Property.Name, v.Outcome, v.Reason)
					}
				}
			}
		}
	}
}

func TestProve(t *testing.T) {
	mustProve(t, mustNew(t, waiter(t, provider.Parrot{}), Options{Limits: agent.Limits{Reasks: 2, ToolSlots: 2,
		MaxCalls: 2}}))
	cook := mustNew(t, llmagent.Config{Name: "cook", Model: provider.Parrot{}}, Options{})
	guest := stockAgent(t, "poet", provider.Parrot{})
	mustProve(t, mustNew(t, llmagent.Config{Model: provider.Parrot{}, SubAgents: []adk.Agent{cook}}, small()))
	mustProve(t, mustNew(t, llmagent.Config{Model: provider.Parrot{}, SubAgents: []adk.Agent{guest}}, small()))
}

// TestLiveNetsAreProved proves what runs.
func TestLiveNetsAreProved(t *testing.T) {
	l, err := NewLive(LiveConfig{Name: "a", Gateway: voicegw.Config{Dialer: live.Wire{APIKey: "k"}, OneMode: true}})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	proofs, err := prove.Sessions(context.Background(), nil, l.Nets()...)
	if err != nil || len(proofs) != 1 {
		t.Errorf("%d proofs, %v", len(proofs), err)
	}
}

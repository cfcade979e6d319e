package agent

import (
	"context"
	"testing"
	"time"

	"google.golang.org/adk/v2/model"
)

func say(name, what string) Branch {
	return Branch{Name: name, Do: func(context.Context, *Request) (*model.LLMResponse, error) { return words(what), nil }}
}

func firstOf(list []*Attempt) *model.LLMResponse { return list[0].Out }

// strategies are small ones of every kind.
func strategies() map[string]Strategy {
	return map[string]Strategy{
		"race":   Race{Tiers: [][]Branch{{say("a", "A"), say("b", "B")}}},
		"tiers":  Race{Patience: time.Second, Tiers: [][]Branch{{say("a", "A")}, {say("b", "B")}}},
		"quorum": Quorum{K: 2, Branches: []Branch{say("a", "A"), say("b", "B"), say("c", "C")}, Merge: firstOf},
		"optimistic": Optimistic{Draft: say("draft", "A"), Check: say("critic", ""), Fallback: say("slow", "B"),
			Patience: time.Second},
		"batch": Batch{Workers: 2, Max: 2, Do: say("part", "A"),
			Split: func(r *Request) []*model.LLMRequest { return []*model.LLMRequest{r.Request, r.Request} },
			Merge: func(c *Collected) *model.LLMResponse { return words("all") },
			Show:  func(c *Collected) *model.LLMResponse { return words("some") }},
	}
}

func TestProveStrategies(t *testing.T) {
	for name, st := range strategies() {
		t.Run(name, func(t *testing.T) {
			r := mustProve(t, newProgram(t, Config{Limits: Limits{Reasks: 1, ToolSlots: 1, MaxCalls: 1},
				Agents: []Agent{{Name: "host", Strategy: st}}}))
			for _, report := range r.Reports {
				t.Logf("%s: %d markings", report.Net, report.Graph.States())
			}
		})
	}
}

//go:build !race

package agent

import (
	"slices"
	"strings"
	"testing"

	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/verify"
)

func TestProveStrategies(t *testing.T) {
	for name, st := range strategies() {
		t.Run(name, func(t *testing.T) {
			r := mustProve(t, newProgram(t, strategic(st)))
			for _, report := range r.Reports {
				t.Logf("%s: %d markings", report.Net, report.Graph.States())
			}
		})
	}
	t.Run("hooks", func(t *testing.T) {
		c := strategic(strategies()["tiers"])
		c.Agents[0].Hooks = allHooks()
		mustProve(t, newProgram(t, c))
	})
	t.Run("two agents", func(t *testing.T) {
		c := two(Limits{Reasks: 1, ToolSlots: 1, MaxCalls: 1})
		c.Agents[1].Model, c.Agents[1].Strategy = nil, strategies()["tiers"]
		mustProve(t, newProgram(t, c))
	})
}

// TestStrategyMutants breaks one arc of each pattern, and expects that a claim about it is refuted.
func TestStrategyMutants(t *testing.T) {
	without := func(list petri.Arcs, ending string) petri.Arcs {
		return slices.DeleteFunc(slices.Clone(list), func(a petri.AnyArc) bool {
			return strings.HasSuffix(petri.ArcPlace(a).String(), ending)
		})
	}
	for _, c := range []struct {
		strategy, net, transition, claim string
		breaks                           func(t *petri.Transition)
	}{
		{"race", "first", "reach", "losers are cancelled of host",
			func(t *petri.Transition) { t.Reset = without(t.Reset, "b_in_flight") }},
		{"race", "first", "reach", "nothing is left", func(t *petri.Transition) { t.In = without(t.In, "open") }},
		{"race", "first", "give_up", "deadlock-free",
			func(t *petri.Transition) { t.In[1] = t.In[1].(petri.Arc).Exactly(3) }},
		{"tiers", "first", "begin", "tier 1 waits of host", func(t *petri.Transition) {
			t.Out = petri.And(append(t.Out.Arcs(), petri.Place[*Request]("b_job").Passing("request"))...)
		}},
		{"tiers", "first", "start_tier1", "budget",
			func(t *petri.Transition) { t.In, t.Read = nil, append(t.Read, t.In...) }},
		{"quorum", "first", "reach", "the first 2 decide of host", func(t *petri.Transition) {
			t.In[1] = t.In[1].(petri.Arc).Exactly(3)
		}},
		{"optimistic", "optimistic", "lose_patience", "checked once of host",
			func(t *petri.Transition) { t.Reset = without(t.Reset, "in_flight") }},
		{"optimistic", "", "fall_back", "deadlock-free", func(t *petri.Transition) { t.Out = petri.Split{} }},
		{"optimistic", "", "propose", "draft or fallback of host", func(t *petri.Transition) {
			t.Out = petri.And(append(t.Out.Arcs(), petri.Place[*Request]("fallback_job").Passing(asked))...)
		}},
		{"batch", "gather", "abort", "nothing is left", func(t *petri.Transition) { t.Reset = without(t.Reset, "pending") }},
		{"batch", "gather", "complete", "no job without a collector of host", func(t *petri.Transition) {
			t.Inhibit = without(t.Inhibit, "pending")
		}},
		{"batch", "gather", "collect", "collector is readable of host", func(t *petri.Transition) {
			t.Out, t.Action = petri.Split{}, nil
		}},
	} {
		t.Run(c.strategy+" "+c.transition, func(t *testing.T) {
			p := newProgram(t, strategic(strategies()[c.strategy]))
			n := part(t, p, strings.TrimSuffix("host/model/strategy/"+c.net, "/"))
			c.breaks(transition(t, n, c.transition))
			p.compiled = nil
			r, err := Prove(t.Context(), p, verify.Config{Max: 1 << 14})
			if err != nil {
				t.Fatal(err)
			}
			var refuted []string
			for _, report := range r.Reports {
				for _, v := range report.Results {
					if v.Outcome == verify.Refuted {
						refuted = append(refuted, v.Property.Name)
					}
				}
			}
			if !slices.Contains(refuted, c.claim) {
				t.Errorf("%q is not refuted, but %q", c.claim, refuted)
			}
		})
	}
}

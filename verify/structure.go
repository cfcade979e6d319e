package verify

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/verify/claim"
	"github.com/voicegw/voicegw/verify/netmodel"
	"github.com/voicegw/voicegw/verify/structure"
)

// Answered says that in every state the net answers at once whatever arrives at an environment
// place that decides something: wherever a token lies there, a transition is enabled that needs it
// and fires at once. The places in except are skipped, named in full or by their last parts.
//
// The structure and the flows of the net decide it: they can show that a place is always empty when
// the net rests. If they do not show it, the verdict is Unknown.
func Answered(except ...string) *Property {
	return &Property{
		Name: "answered", Doc: "whatever comes from outside is answered at once, in every state",
		Claim: claim.Structural{},
		Check: func(_ context.Context, pass *Pass) (Verdict, error) {
			m := pass.Model()
			var open []string
			r := structure.NewCapacities(m)
			for i := range m.Places {
				p := &m.Places[i]
				if p.Env && !p.Payload && !netmodel.NamedBy(except, p.Name) && !r.AlwaysEmptied(p, int32(len(m.Order))) {
					open = append(open, p.Name)
				}
			}
			if len(open) > 0 {
				return unknown(byStructure, Unsupported, "the structure does not show that a token never stays in %s",
					strings.Join(open, ", ")), nil
			}
			return proved(byStructure, "nothing found"), nil
		},
	}
}

const byStructure = "structure"

// structural makes a property that lists problems in the text of a net.
func structural(name, doc string, problems func(m *netmodel.Model) ([]string, error)) *Property {
	return &Property{Name: name, Doc: doc, Claim: claim.Structural{},
		Check: func(_ context.Context, pass *Pass) (Verdict, error) {
			list, err := problems(pass.Model())
			if err != nil {
				return Verdict{}, err
			}
			if len(list) > 0 {
				return refuted(byStructure, "%s", strings.Join(list, "; ")), nil
			}
			return proved(byStructure, "nothing found"), nil
		}}
}

// FreshCommits says that each of the transitions takes or reads a token of the current generation,
// so that none commits what belongs to an earlier turn.
func FreshCommits(names ...string) *Property {
	doc := "what commits looks at the turn generation"
	return structural("fresh commits", doc, func(m *netmodel.Model) ([]string, error) {
		ts, err := m.Named(names...)
		if err != nil {
			return nil, err
		}
		var out []string
		for _, t := range ts {
			if !slices.ContainsFunc(m.Transitions[t].Arcs, looksFresh) {
				out = append(out, m.Transitions[t].Name+" neither takes nor reads a fresh token")
			}
		}
		return out, nil
	})
}

func looksFresh(a petri.ArcInfo) bool {
	return (a.Kind == petri.InArc || a.Kind == petri.ReadArc) && slices.Contains(strings.Split(a.Label, ","), "fresh")
}

// SingleWriter says that at most one transition produces at each of the places.
func SingleWriter(places ...string) *Property {
	doc := "each of the places is filled by one transition"
	return structural("single writer", doc, func(m *netmodel.Model) ([]string, error) {
		var out []string
		for _, name := range places {
			i, err := m.Lookup(name)
			if err != nil {
				return nil, err
			}
			if w := writers(m, i); len(w) > 1 {
				out = append(out, fmt.Sprintf("%s is filled by %s", m.Places[i].Name, strings.Join(w, " and ")))
			}
		}
		return out, nil
	})
}

func writers(m *netmodel.Model, place int) []string {
	var out []string
	for t := range m.Transitions {
		if slices.ContainsFunc(m.Transitions[t].Arcs, func(a petri.ArcInfo) bool {
			return a.Kind == petri.OutArc && a.Place == place
		}) {
			out = append(out, m.Transitions[t].Name)
		}
	}
	return out
}

// explicitly sets the check of a property about markings: exploration without time finds no bad
// marking.
func (p *Property) explicitly() *Property {
	p.Check = func(ctx context.Context, pass *Pass) (Verdict, error) {
		bad, err := claim.BadMarkings(p.Claim, pass.Model())
		if err != nil {
			return Verdict{}, err
		}
		g, err := pass.Graph(ctx)
		if err != nil {
			return Verdict{}, err
		}
		found := -1
		g.Each(func(i int, m []int32) bool {
			if bad(m) {
				found = i
			}
			return found < 0
		})
		if found >= 0 {
			return counterexample(g, g.PathTo(found), "reached: %s", g.Model.Format(g.Marking(found, nil))), nil
		}
		return whole(g, "none of %d markings satisfies it", g.States()), nil
	}
	return p
}

// Restart is a firing that restarts a wait: it takes and gives back a token that a timed transition
// needs.
type Restart struct {
	Transition, Timer string
	Wait              time.Duration
}

// Restarts lists the firings that restart waits of the net by taking and giving back a token. This
// may be intended, as in a debounce, or a mistake.
func Restarts(m *netmodel.Model) []Restart {
	var out []Restart
	for i := range m.Modes {
		md := &m.Modes[i]
		for _, c := range md.Lowers {
			u := m.Timed()[c]
			if u == md.Transition || m.Transitions[u].Outside || !refills(m, md, u) {
				continue
			}
			out = append(out, Restart{m.Transitions[md.Transition].Name, m.Transitions[u].Name, m.Transitions[u].When.Earliest})
		}
	}
	return slices.Compact(out)
}

// refills reports whether a mode takes a token from a slot that u needs and gives it back.
func refills(m *netmodel.Model, md *netmodel.Mode, u int32) bool {
	for _, k := range md.Take {
		back := slices.ContainsFunc(md.Branches, func(b netmodel.Branch) bool {
			return slices.ContainsFunc(b.Put, func(p netmodel.Put) bool { return p.Slot == k.Slot })
		})
		for i := m.First[u]; back && i < m.First[u+1]; i++ {
			if slices.ContainsFunc(m.Modes[i].Needs.Bounds, func(c petri.Bound) bool { return c.Slot == k.Slot && c.Min > 0 }) {
				return true
			}
		}
	}
	return false
}

package verify

import (
	"context"
	"slices"
	"time"

	"github.com/voicegw/voicegw/verify/claim"
	"github.com/voicegw/voicegw/verify/explore"
	"github.com/voicegw/voicegw/verify/netmodel"
)

// EachMove makes a property from a claim about moves.
func EachMove(c claim.Move) *Property {
	p := &Property{Name: c.Name, Doc: c.Doc, Claim: c}
	p.Check = func(ctx context.Context, pass *Pass) (Verdict, error) {
		claim, err := c.Bind(pass.Model())
		if err != nil {
			return Verdict{}, err
		}
		g, err := pass.Graph(ctx)
		if err != nil {
			return Verdict{}, err
		}
		return pass.seek(ctx, g, "it breaks the claim", claim.Bad, whole(g, "no move of %d markings breaks it", g.States()))
	}
	return p
}

// CheckMoves checks claims about moves together, in one pass over the graph.
func CheckMoves(ctx context.Context, pass *Pass, props ...*Property) ([]Verdict, error) {
	g, err := pass.Graph(ctx)
	if err != nil {
		return nil, err
	}
	claims := make([]*claim.BoundMove, len(props))
	out := make([]Verdict, len(props))
	for i, p := range props {
		if claims[i], err = claim.BadMoves(p.Claim, g.Model); err != nil {
			return nil, err
		}
		out[i] = whole(g, "no move of %d markings breaks it", g.States())
	}
	look := newMoveIndex(g.Model, claims)
	err = g.EachMove(ctx, func(state int, from []int32, chain []netmodel.Step, to []int32) bool {
		look.broken(from, chain, to, func(i int) {
			way := explore.Path{State: -1}
			if state >= 0 {
				way = g.PathTo(state)
			}
			way.Steps = append(way.Steps, chain...)
			out[i] = counterexample(g, way, "a move to %s", g.Model.Format(to))
			look.drop(i)
		})
		return look.open > 0
	})
	return out, err
}

// Loosely is Never for an expression whose names the net may lack. A missing place holds no token.
// A transition that is missing or that fires at once is never enabled. So a claim about a whole net
// can be checked on its parts.
func Loosely(expr string) *Property {
	p := Never(expr)
	p.Claim = claim.Never{Expr: expr, Loose: true}
	return p.explicitly()
}

// Waits says that a transition fires exactly when it has been enabled for the given time without a
// break, neither sooner nor later. The structure of the net proves it; a run in which the
// transition fires at another time refutes it.
func Waits(transition string, wait time.Duration) *Property {
	claim := claim.Wait{Transition: transition, Wait: wait}
	p := &Property{Name: transition + " after " + wait.String(), Waits: []string{transition}, Claim: claim,
		Doc: transition + " fires when it was possible for " + wait.String()}
	p.Check = func(ctx context.Context, pass *Pass) (Verdict, error) {
		m := pass.Model()
		exact, err := claim.Exact(m)
		if err != nil {
			return Verdict{}, err
		}
		if exact {
			return proved("structure", "its interval is that"), nil
		}
		ts, err := m.Named(transition)
		if err != nil {
			return Verdict{}, err
		}
		g, err := pass.Graph(ctx)
		if err != nil {
			return Verdict{}, err
		}
		fires := func(_ []int32, chain []netmodel.Step, _ []int32) bool {
			return slices.ContainsFunc(chain, func(s netmodel.Step) bool { return s.Transition == ts[0] })
		}
		return pass.seek(ctx, g, "it fires at another time", fires,
			unknown(explicit, Spurious, "%s was not seen to fire", transition))
	}
	return p
}

// waysMax is the most moves that are replayed on the machine.
const waysMax = 1000

// seek looks for a move that satisfies is and that the machine takes, and returns the refutation by
// it. Without such a move it returns otherwise; but if time forbids the ways to the moves that it
// found, it returns Unknown in place of Proved.
func (p *Pass) seek(ctx context.Context, g *explore.Graph, ends string, is func([]int32, []netmodel.Step, []int32) bool,
	otherwise Verdict) (Verdict, error) {
	v, tries := otherwise, 0
	err := g.EachMove(ctx, func(state int, from []int32, chain []netmodel.Step, to []int32) bool {
		if !is(from, chain, to) {
			return true
		}
		way := explore.Path{State: -1}
		if state >= 0 {
			way = g.PathTo(state)
		}
		way.Steps = append(way.Steps, chain...)
		r := counterexample(g, way, "%s: %s", ends, g.Model.Format(to))
		if r.Outcome == Refuted && p.Takes(r.Witness) {
			v = r
			return false
		}
		if v.Outcome == Proved {
			v = unknown(explicit, Spurious, "%s, but time forbids the ways there that were found", ends)
		}
		tries++
		return tries < waysMax
	})
	return v, err
}

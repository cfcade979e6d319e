package verify

import (
	"context"
	"fmt"

	"github.com/voicegw/voicegw/verify/claim"
	"github.com/voicegw/voicegw/verify/explore"
)

// AfterNever says that once a marking has satisfied the first expression, no marking satisfies the
// second, including that same marking.
func AfterNever(first, then string) *Property {
	return &Property{
		Name: fmt.Sprintf("after %s never %s", first, then), Doc: "the second is never true once the first was",
		Claim: claim.After{First: first, Then: then},
		Check: func(ctx context.Context, pass *Pass) (Verdict, error) {
			g, a, b, err := pass.two(ctx, first, then)
			if err != nil {
				return Verdict{}, err
			}
			after := g.Forward(a, nil)
			for i, is := range after.In {
				if is && b[i] {
					return counterexample(g, g.PathThrough(after, i), "reached afterwards: %s",
						g.Model.Format(g.Marking(i, nil))), nil
				}
			}
			return whole(g, "%d markings", g.States()), nil
		},
	}
}

// LeadsTo says that whenever the first expression is true, the second is true then or later. It
// assumes strong fairness: a way of firing that is open infinitely often is taken infinitely often.
// It is proved only for nets whose every wait is open, because a wait can close ways.
func LeadsTo(first, then string) *Property {
	return &Property{
		Name: fmt.Sprintf("%s leads to %s", first, then), Doc: "after the first, the second always comes (strong fairness)",
		Claim: claim.LeadsTo{First: first, Then: then},
		Check: func(ctx context.Context, pass *Pass) (Verdict, error) {
			g, a, b, err := pass.two(ctx, first, then)
			if err != nil {
				return Verdict{}, err
			}
			back := g.Backward(b)
			region := g.Forward(a, b)
			for i, is := range region.In {
				if is && !back[i] && g.Complete {
					return counterexample(g, g.PathThrough(region, i), "from here it can never come: %s",
						g.Model.Format(g.Marking(i, nil))), nil
				}
			}
			v := whole(g, "%d markings, strong fairness", g.States())
			if v.Outcome == Proved && !g.Model.Timeless() {
				return sized(g, unknown(explicit, Unsupported, "it holds if time is ignored; a wait may close the way")), nil
			}
			return v, nil
		},
	}
}

// two evaluates two expressions in every state.
func (p *Pass) two(ctx context.Context, first, then string) (g *explore.Graph, a, b []bool, err error) {
	if g, err = p.Graph(ctx); err != nil {
		return nil, nil, nil, err
	}
	if a, err = g.Truth(first); err == nil {
		b, err = g.Truth(then)
	}
	return g, a, b, err
}

package verify

import (
	"context"
	"fmt"
	"strings"

	"github.com/voicegw/voicegw/verify/claim"
	"github.com/voicegw/voicegw/verify/explore"
	"github.com/voicegw/voicegw/verify/netmodel"
	"github.com/voicegw/voicegw/verify/walk"
)

const explicit = "explicit"

// DeadlockFree says that the net comes to rest only in its final place or with all tokens in
// declared sinks. A dead marking with a token anywhere else, or with no token at all, refutes it.
func DeadlockFree() *Property {
	return &Property{
		Name: "deadlock-free", Doc: "the net never rests with a token outside its sinks", Claim: claim.DeadlockFree{},
		Check: func(ctx context.Context, pass *Pass) (Verdict, error) {
			g, err := pass.Graph(ctx)
			if err != nil {
				return Verdict{}, err
			}
			for _, i := range g.Deadlocks() {
				return counterexample(g, g.PathTo(i), "nothing is enabled: %s", g.Model.Format(g.Marking(i, nil))), nil
			}
			return whole(g, "%d markings, no deadlock", g.States()), nil
		},
	}
}

// Never says that no marking satisfies an expression (see expr.Parse). As for Reach, it covers only
// markings in which the net rests. It also covers moves of waiting frames in the middle of a chain.
func Never(expr string) *Property {
	return &Property{
		Name: "never " + expr, Doc: "no marking at rest satisfies " + expr, Claim: claim.Never{Expr: expr},
		Check: func(ctx context.Context, pass *Pass) (Verdict, error) {
			g, c, i, err := pass.search(ctx, expr)
			if err != nil {
				return Verdict{}, err
			}
			if i >= 0 {
				return counterexample(g, g.PathTo(i), "reached: %s", g.Model.Format(g.Marking(i, nil))), nil
			}
			if i := g.FindPassing(c); i >= 0 {
				steps, marking := g.PathToPassing(i)
				return Refute(g.Model, explicit, steps, g.States(), "a frame that waits moves in passing: %s",
					g.Model.Format(marking)), nil
			}
			return whole(g, "none of %d markings satisfies it", g.States()), nil
		},
	}
}

// Reach says that some marking satisfies an expression. Its witness is a proof. Only markings in
// which the net rests count: no transition is enabled that fires at once, or the run has ended.
// Under Interleave every marking counts.
func Reach(expr string) *Property {
	return &Property{
		Name: "reach " + expr, Doc: "some marking at rest satisfies " + expr, Claim: claim.Reach{Expr: expr},
		Check: func(ctx context.Context, pass *Pass) (Verdict, error) {
			g, _, i, err := pass.search(ctx, expr)
			if err != nil {
				return Verdict{}, err
			}
			if i < 0 {
				v := whole(g, "none of %d markings satisfies it", g.States())
				if v.Outcome == Proved {
					v.Outcome = Refuted
				}
				return v, nil
			}
			v := counterexample(g, g.PathTo(i), "reached: %s", g.Model.Format(g.Marking(i, nil)))
			if v.Outcome == Refuted {
				v.Outcome = Proved
			}
			return v, nil
		},
	}
}

// Mutex says that at most one of the places is marked at a time.
func Mutex(places ...string) *Property {
	p := Never(claim.Mutex(places...).Expr)
	p.Name = "mutex " + strings.Join(places, " ")
	p.Doc = "at most one of the places is marked at a time"
	return p
}

// Bounded says that a place never holds more than n tokens.
func Bounded(place string, n int) *Property {
	p := Never(claim.Bound(place, n).Expr)
	p.Name = fmt.Sprintf("bound %s <= %d", place, n)
	p.Doc = fmt.Sprintf("%s never holds more than %d tokens", place, n)
	return p
}

// WithinCapacity says three things: no firing exceeds the capacity of a place; no chain of firings
// at one instant is endless; no environment place that decides something turns a token away, except
// the places listed in mayRefuse, in full or by their last parts.
func WithinCapacity(mayRefuse ...string) *Property {
	claim := claim.Capacity{MayRefuse: mayRefuse}
	return &Property{
		Name: "capacity", Doc: "no place exceeds its capacity, none that decides refuses a token", Claim: claim,
		Check: func(ctx context.Context, pass *Pass) (Verdict, error) {
			g, err := pass.Graph(ctx)
			if err != nil {
				return Verdict{}, err
			}
			for _, f := range g.Faults {
				return counterexample(g, g.PathToFault(f), "%s", walk.Describe(g.Model, f.Fault)), nil
			}
			for _, r := range g.Refusals {
				if claim.Allows(g.Model.Places[r.Place].Name) {
					continue
				}
				return counterexample(g, g.PathToRefusal(r), "%s is full and refuses the token of %s",
					g.Model.Places[r.Place].Name, g.Model.Name(r.Step)), nil
			}
			return whole(g, "%d markings, every place within its capacity", g.States()), nil
		},
	}
}

// Fires says that every transition fires in some state: a proof about transitions that never fire
// is vacuous. With names, only those transitions are checked.
func Fires(names ...string) *Property {
	p := &Property{Name: "fires", Doc: "every transition fires somewhere", Claim: claim.Fires{Transitions: names}}
	if len(names) > 0 {
		p.Name += " " + strings.Join(names, " ")
		p.Doc = "each of the transitions fires somewhere"
	}
	p.Check = func(ctx context.Context, pass *Pass) (Verdict, error) {
		ts, err := pass.Model().Named(names...)
		if err != nil {
			return Verdict{}, err
		}
		g, err := pass.Graph(ctx)
		if err != nil {
			return Verdict{}, err
		}
		return firesAll(g, ts), nil
	}
	return p
}

func firesAll(g *explore.Graph, ts []int32) Verdict {
	var never, untimely []string
	for _, t := range ts {
		switch name := g.Model.Transitions[t].Name; {
		case !g.Fires(t):
			never = append(never, name)
		case !g.Timely(t):
			untimely = append(untimely, name)
		}
	}
	switch {
	case len(never) > 0 && g.Complete:
		return sized(g, refuted(explicit, "never fires: %s", strings.Join(never, ", ")))
	case len(never) > 0:
		return sized(g, unknown(explicit, Capped, "not seen within %d markings: %s", g.States(), strings.Join(never, ", ")))
	case len(untimely) > 0:
		return sized(g, unknown(explicit, Unsupported, "fires if time is ignored: %s", strings.Join(untimely, ", ")))
	}
	return sized(g, proved(explicit, "all of %d transitions fire", len(ts)))
}

// search finds the first marking that satisfies an expression, or -1.
func (p *Pass) search(ctx context.Context, expr string) (*explore.Graph, *netmodel.Cond, int, error) {
	c, err := p.Model().Bind(expr)
	if err != nil {
		return nil, nil, -1, err
	}
	g, err := p.Graph(ctx)
	if err != nil {
		return nil, nil, -1, err
	}
	found := -1
	g.Each(func(i int, m []int32) bool {
		if c.Holds(m) {
			found = i
		}
		return found < 0
	})
	return g, c, found, nil
}

// whole is a proof if the graph is complete.
func whole(g *explore.Graph, format string, args ...any) Verdict {
	for _, f := range g.Faults {
		// If a transition of a slice exceeds a capacity, the whole net does so too and ends, or the
		// transition is not part of it.
		if f.Kind == walk.Endless || g.Model.Program().Whole() == nil {
			return sized(g, unknown(explicit, Faulty, "the net faults: %s", walk.Describe(g.Model, f.Fault)))
		}
	}
	if !g.Complete {
		return sized(g, unknown(explicit, Capped, "nothing found within %d markings, and there are more", g.States()))
	}
	v := sized(g, proved(explicit, format, args...))
	if g.Reduced {
		v.Reason += " (reduced)"
	}
	return v
}

func sized(g *explore.Graph, v Verdict) Verdict {
	v.States = g.States()
	return v
}

// counterexample is a refutation by a run without time, if some timing allows the run.
func counterexample(g *explore.Graph, p explore.Path, format string, args ...any) Verdict {
	return Refute(g.Model, explicit, p.Steps, g.States(), format, args...)
}

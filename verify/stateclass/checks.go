package stateclass

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/voicegw/voicegw/verify"
	"github.com/voicegw/voicegw/verify/check"
	"github.com/voicegw/voicegw/verify/claim"
	"github.com/voicegw/voicegw/verify/expr"
	"github.com/voicegw/voicegw/verify/netmodel"
	"github.com/voicegw/voicegw/verify/walk"
)

const method = "state classes"

// Of returns the graph of a pass's program, explored once for each Options. An Options.Max of 0
// means the Max of the pass.
func Of(ctx context.Context, pass *verify.Pass, o Options) (*Graph, error) {
	if o.Max == 0 {
		o.Max = pass.Config.Max
	}
	if o.Progress == nil {
		o.Progress = pass.Config.Progress
	}
	keep := slices.Clone(o.Keep)
	slices.Sort(keep)
	key := fmt.Sprintf("state classes %d %d %v %q %v", o.Merge, o.Max, o.Relax, keep, o.TimersFirst)
	g, err := pass.Once(key, func() (any, error) { return Explore(ctx, pass.Model(), o) })
	if err != nil {
		return nil, err
	}
	return g.(*Graph), nil
}

// DeadlockFree is verify.DeadlockFree with time.
func DeadlockFree(o Options) *verify.Property {
	p := verify.DeadlockFree()
	p.Requires = []*verify.Property{TimeDiverges(o)}
	p.Check = func(ctx context.Context, pass *verify.Pass) (verify.Verdict, error) {
		g, err := Of(ctx, pass, o)
		if err != nil {
			return verify.Verdict{}, err
		}
		for _, c := range g.Dead() {
			if m := g.Marking(c, nil); !g.Model.AtRest(m) {
				return g.refute(g.PathTo(c), "nothing is enabled: %s", g.Model.Format(m)), nil
			}
		}
		return g.certified(ctx, pass, p, g.whole("%d classes, %d markings, no deadlock", g.Classes(), g.Markings()))
	}
	return p
}

// certified makes a certificate of a proof, if the pass asks for one, and has the checker go
// through it. A proof that the checker does not confirm does not count.
func (g *Graph) certified(ctx context.Context, pass *verify.Pass, p *verify.Property,
	v verify.Verdict) (verify.Verdict, error) {
	if v.Outcome != verify.Proved || !pass.Config.Certify {
		return v, nil
	}
	c, err := g.Certify(p.Claim)
	if err == nil {
		err = c.Check(ctx, g.Model, p.Claim)
	}
	switch {
	case errors.Is(err, check.ErrCertificate):
		return verify.Solver.By(method, g.Classes(), "%v", err), nil
	case err != nil:
		return v, err
	}
	v.Certificate = c
	return v, nil
}

// Never is verify.Never with time.
func Never(expr string, o Options) *verify.Property { return safety(verify.Never(expr), expr, o) }

// Bounded is verify.Bounded with time.
func Bounded(place string, n int, o Options) *verify.Property {
	return safety(verify.Bounded(place, n), fmt.Sprintf("%q > %d", place, n), o)
}

// Mutex is verify.Mutex with time.
func Mutex(o Options, places ...string) *verify.Property {
	return safety(verify.Mutex(places...), claim.Mutex(places...).Expr, o)
}

// safety gives a property the check that no class satisfies an expression.
func safety(p *verify.Property, bad string, o Options) *verify.Property {
	p.Requires = []*verify.Property{TimeDiverges(o)}
	p.Check = func(ctx context.Context, pass *verify.Pass) (verify.Verdict, error) {
		g, c, err := search(ctx, pass, bad, o)
		if err != nil {
			return verify.Verdict{}, err
		}
		if c >= 0 {
			return g.refute(g.PathTo(c), "reached: %s", g.Model.Format(g.Marking(c, nil))), nil
		}
		return g.unlessPassing(ctx, pass, p)
	}
	return p
}

// unlessPassing is a proof unless a waiting frame breaks the property in passing.
func (g *Graph) unlessPassing(ctx context.Context, pass *verify.Pass, p *verify.Property) (verify.Verdict, error) {
	steps, marking, err := g.findPassing(p)
	switch {
	case err != nil:
		return verify.Verdict{}, err
	case marking != nil:
		return g.refute(steps, "a frame that waits moves in passing: %s", g.Model.Format(marking)), nil
	}
	return g.certified(ctx, pass, p, g.whole("none of %d classes", g.Classes()))
}

// Reach is verify.Reach with time.
func Reach(expr string, o Options) *verify.Property {
	p := verify.Reach(expr)
	p.Check = func(ctx context.Context, pass *verify.Pass) (verify.Verdict, error) {
		g, c, err := search(ctx, pass, expr, o)
		switch {
		case err != nil:
			return verify.Verdict{}, err
		case c >= 0:
			v := g.refute(g.PathTo(c), "reached: %s", g.Model.Format(g.Marking(c, nil)))
			if v.Outcome == verify.Refuted {
				v.Outcome = verify.Proved
			}
			return v, nil
		case !g.Complete:
			return g.capped(), nil
		default:
			return verify.Refuted.By(method, g.Classes(), "none of %d classes satisfies it", g.Classes()), nil
		}
	}
	return p
}

// search finds the first class that satisfies an expression, or -1.
func search(ctx context.Context, pass *verify.Pass, text string, o Options) (*Graph, int, error) {
	e, err := expr.Parse(text)
	if err != nil {
		return nil, -1, err
	}
	c, err := pass.Model().BindExpr(e)
	if err != nil {
		return nil, -1, err
	}
	g, err := Of(ctx, pass, o)
	if err != nil {
		return nil, -1, err
	}
	return g, g.find(c), nil
}

// find is the first live class that satisfies a condition, or -1.
func (g *Graph) find(c *netmodel.Cond) int { return g.first(c.Holds) }

// first is the first live class with a bad marking, or -1.
func (g *Graph) first(bad func(marking []int32) bool) int {
	found := -1
	g.Each(func(i int, m []int32) bool {
		if bad(m) {
			found = i
		}
		return found < 0
	})
	return found
}

// WithinCapacity is verify.WithinCapacity with time.
func WithinCapacity(o Options, mayRefuse ...string) *verify.Property {
	p := verify.WithinCapacity(mayRefuse...)
	p.Requires = []*verify.Property{TimeDiverges(o)}
	p.Check = func(ctx context.Context, pass *verify.Pass) (verify.Verdict, error) {
		g, err := Of(ctx, pass, o)
		if err != nil {
			return verify.Verdict{}, err
		}
		for _, f := range g.Faults {
			return g.refute(g.pathToFault(f), "%s", walk.Describe(g.Model, f.Fault)), nil
		}
		for _, r := range g.Refusals {
			if keeps(mayRefuse, g.Model.Place(r.Place)) {
				continue
			}
			return g.refute(g.pathToRefusal(r), "%s is full and refuses the token of %s",
				g.Model.Place(r.Place), g.Model.Name(r.Step)), nil
		}
		return g.certified(ctx, pass, p, g.whole("%d classes, every place within its capacity", g.Classes()))
	}
	return p
}

// Fires is verify.Fires with time. It never relaxes waits, because the result would not be exact.
func Fires(o Options, names ...string) *verify.Property {
	p := verify.Fires(names...)
	o.Relax, o.Keep = false, nil
	p.Check = func(ctx context.Context, pass *verify.Pass) (verify.Verdict, error) {
		ts, err := pass.Model().Named(names...)
		if err != nil {
			return verify.Verdict{}, err
		}
		g, err := Of(ctx, pass, o)
		if err != nil {
			return verify.Verdict{}, err
		}
		var never []string
		for _, t := range ts {
			if !g.fires(t) {
				never = append(never, g.Model.Transition(t))
			}
		}
		switch {
		case len(never) == 0:
			return verify.Proved.By(method, g.Classes(), "all of %d transitions fire", len(ts)), nil
		case g.Complete:
			return verify.Refuted.By(method, g.Classes(), "never fires: %s", strings.Join(never, ", ")), nil
		default:
			return g.capped(), nil
		}
	}
	return p
}

// whole is a proof if the graph is complete.
func (g *Graph) whole(format string, args ...any) verify.Verdict {
	if len(g.Faults) > 0 {
		return verify.Faulty.By(method, g.Classes(), "the net faults: %s",
			walk.Describe(g.Model, g.Faults[0].Fault))
	}
	if !g.Complete {
		return g.capped()
	}
	return verify.Proved.By(method, g.Classes(), format, args...)
}

func (g *Graph) capped() verify.Verdict {
	return verify.Capped.By(method, g.Classes(), "nothing found within %d classes, and there are more",
		len(g.classes))
}

func (g *Graph) refute(steps []netmodel.Step, format string, args ...any) verify.Verdict {
	return verify.Refute(g.Model, method, steps, g.Classes(), format, args...)
}

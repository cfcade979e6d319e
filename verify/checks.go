package verify

import (
	"context"
	"fmt"
	"strings"

	"github.com/voicegw/voicegw/petri"
)

const (
	explicit     = "explicit"
	deadlockFree = "deadlock-free" // a claim
)

// DeadlockFree says that the net never comes to rest but in its final place or
// with all tokens in declared sinks. A dead marking with a token anywhere else,
// or with no token at all, refutes it.
func DeadlockFree() *Property {
	return &Property{
		Name: "deadlock-free", Doc: "the net never rests with a token outside its sinks", Claim: deadlockFree,
		Bad: func(m *Model) (func([]int32) bool, error) {
			return func(marking []int32) bool { return m.dead(marking) && !m.AtRest(marking) }, nil
		},
		Check: func(ctx context.Context, pass *Pass) (Verdict, error) {
			g, err := pass.Graph(ctx)
			if err != nil {
				return Verdict{}, err
			}
			for _, i := range g.Deadlocks() {
				return g.counterexample(g.PathTo(i), "nothing is enabled: %s", g.Model.Format(g.Marking(i, nil))), nil
			}
			return g.whole("%d markings, no deadlock", g.States()), nil
		},
	}
}

// Never says that no marking satisfies an expression (see ParseExpr). Only
// markings count in which the net rests, as for Reach, and moves of frames that
// wait in the midst of a chain.
func Never(expr string) *Property {
	return &Property{
		Name: "never " + expr, Doc: "no marking at rest satisfies " + expr, Claim: "never " + expr, Safety: true, Expr: expr,
		Bad: func(m *Model) (func([]int32) bool, error) {
			c, err := m.bind(expr)
			if err != nil {
				return nil, err
			}
			return c.Holds, nil
		},
		BadPassing: func(m *Model, waits func(int32) bool) (PassingCond, error) {
			c, err := m.bind(expr)
			if err != nil {
				return nil, err
			}
			return c.Passing(waits), nil
		},
		Check: func(ctx context.Context, pass *Pass) (Verdict, error) {
			g, c, i, err := pass.search(ctx, expr)
			if err != nil {
				return Verdict{}, err
			}
			if i >= 0 {
				return g.counterexample(g.PathTo(i), "reached: %s", g.Model.Format(g.Marking(i, nil))), nil
			}
			if i := g.findPassing(c); i >= 0 {
				steps, marking := g.pathToPassing(i)
				return g.Model.Refute(explicit, steps, g.States(), "a frame that waits moves in passing: %s",
					g.Model.Format(marking)), nil
			}
			return g.whole("none of %d markings satisfies it", g.States()), nil
		},
	}
}

// Reach says that some marking satisfies an expression. Its witness is a proof.
// Only markings count in which the net rests: where nothing is enabled at once,
// or the run has ended. Under Interleave every marking counts.
func Reach(expr string) *Property {
	return &Property{
		Name: "reach " + expr, Doc: "some marking at rest satisfies " + expr, Expr: expr,
		Breaks: func(r *Trace) (int, bool) {
			c, err := r.Model.bind(expr)
			if err != nil {
				return 0, false
			}
			return r.First(c.Holds)
		},
		Check: func(ctx context.Context, pass *Pass) (Verdict, error) {
			g, _, i, err := pass.search(ctx, expr)
			if err != nil {
				return Verdict{}, err
			}
			if i < 0 {
				v := g.whole("none of %d markings satisfies it", g.States())
				if v.Outcome == Proved {
					v.Outcome = Refuted
				}
				return v, nil
			}
			v := g.counterexample(g.PathTo(i), "reached: %s", g.Model.Format(g.Marking(i, nil)))
			if v.Outcome == Refuted {
				v.Outcome = Proved
			}
			return v, nil
		},
	}
}

// Mutex says that at most one of the places is marked at a time.
func Mutex(places ...string) *Property {
	var pairs []string
	for i, a := range places {
		for _, b := range places[i+1:] {
			pairs = append(pairs, fmt.Sprintf("%q >= 1 && %q >= 1", a, b))
		}
	}
	p := Never(strings.Join(pairs, " || "))
	p.Name = "mutex " + strings.Join(places, " ")
	p.Doc = "at most one of the places is marked at a time"
	return p
}

// Bounded says that a place never holds more than n tokens.
func Bounded(place string, n int) *Property {
	p := Never(fmt.Sprintf("%q > %d", place, n))
	p.Name = fmt.Sprintf("bound %s <= %d", place, n)
	p.Doc = fmt.Sprintf("%s never holds more than %d tokens", place, n)
	return p
}

// WithinCapacity says that no firing exceeds the capacity of a place, that no
// chain of firings at one instant is endless, and that no environment place
// that decides something turns a token away, those excepted that may: in full
// or by their last parts.
func WithinCapacity(mayRefuse ...string) *Property {
	claim := strings.Join(append([]string{"capacity"}, mayRefuse...), " ")
	return &Property{
		Name: "capacity", Doc: "no place exceeds its capacity, none that decides refuses a token", Claim: claim,
		MayRefuse: mayRefuse, Safety: true, Local: true,
		Check: func(ctx context.Context, pass *Pass) (Verdict, error) {
			g, err := pass.Graph(ctx)
			if err != nil {
				return Verdict{}, err
			}
			for _, f := range g.Faults {
				return g.counterexample(g.PathToFault(f), "%s", g.Model.describe(f.Fault)), nil
			}
			for _, r := range g.Refusals {
				if kept(mayRefuse, g.Model.places[r.Place].Name) {
					continue
				}
				return g.counterexample(g.pathToRefusal(r), "%s is full and refuses the token of %s",
					g.Model.places[r.Place].Name, g.Model.Name(r.Step)), nil
			}
			return g.whole("%d markings, every place within its capacity", g.States()), nil
		},
	}
}

func (m *Model) describe(f Fault) string {
	if f.Kind == Endless {
		return fmt.Sprintf("more than %d firings at one instant; then %s", petri.MaxChain, m.Name(f.Step))
	}
	p := &m.places[f.Place]
	return fmt.Sprintf("%s exceeds the capacity of %s, %d", m.Name(f.Step), p.Name, p.Max)
}

// pathToRefusal is a way on which the refusal happens, and on until the net rests.
func (g *Graph) pathToRefusal(r RefusalAt) Path {
	p := Path{State: -1}
	if r.From >= 0 {
		p.Steps = g.PathTo(r.From).Steps
	}
	var chain []Step
	w := g.Model.NewWalker(func() {}, nil)
	w.Turned = func(have Refusal) {
		if chain == nil && have == r.Refusal {
			chain = append([]Step{}, w.Chain...)
		}
	}
	w.Record = true
	if r.From < 0 {
		w.Start()
	} else {
		w.Fire(g.Marking(r.From, nil), r.First)
	}
	p.Steps = g.Model.Settled(append(p.Steps, chain...))
	return p
}

// ChainBound says that at most n firings follow one another at one instant
// after an injection or a timer.
func ChainBound(n int) *Property {
	return &Property{
		Name: fmt.Sprintf("chain <= %d", n), Doc: "the longest run of firings at one instant",
		Check: func(ctx context.Context, pass *Pass) (Verdict, error) {
			g, err := pass.Graph(ctx)
			if err != nil {
				return Verdict{}, err
			}
			if g.Chain > n || len(g.Faults) > 0 {
				return refuted(explicit, "%d firings at one instant, %d faults", g.Chain, len(g.Faults)), nil
			}
			return g.whole("at most %d", g.Chain), nil
		},
	}
}

// Fires says that every transition fires somewhere: a proof about transitions
// that never fire is vacuous. With names, only those are asked for.
func Fires(names ...string) *Property {
	p := &Property{Name: "fires", Doc: "every transition fires somewhere"}
	if len(names) > 0 {
		p.Name += " " + strings.Join(names, " ")
		p.Doc = "each of the transitions fires somewhere"
	}
	p.Check = func(ctx context.Context, pass *Pass) (Verdict, error) {
		ts, err := pass.Model().named(names)
		if err != nil {
			return Verdict{}, err
		}
		g, err := pass.Graph(ctx)
		if err != nil {
			return Verdict{}, err
		}
		return g.firesAll(ts), nil
	}
	return p
}

// Named finds transitions by name, in full or as last parts; no names mean all.
func (m *Model) Named(names ...string) ([]int32, error) { return m.named(names) }

func (m *Model) named(names []string) ([]int32, error) {
	var out []int32
	if len(names) == 0 {
		for t := range m.transitions {
			out = append(out, int32(t))
		}
	}
	b := &binder{m: m}
	for _, n := range names {
		i, problem := lookup(b.transitionNames(), n)
		if i < 0 {
			b.fail("transition", n, problem)
			return nil, b.err
		}
		if m.transitions[i].Projected {
			b.fail("transition", n, notExact)
			return nil, b.err
		}
		out = append(out, int32(i))
	}
	return out, nil
}

func (g *Graph) firesAll(ts []int32) Verdict {
	var never, untimely []string
	for _, t := range ts {
		switch name := g.Model.transitions[t].Name; {
		case !g.Fires(t):
			never = append(never, name)
		case !g.timely(t):
			untimely = append(untimely, name)
		}
	}
	switch {
	case len(never) > 0 && g.Complete:
		return g.sized(refuted(explicit, "never fires: %s", strings.Join(never, ", ")))
	case len(never) > 0:
		return g.sized(unknown(explicit, Capped, "not seen within %d markings: %s", g.States(), strings.Join(never, ", ")))
	case len(untimely) > 0:
		return g.sized(unknown(explicit, Unsupported, "fires if time is ignored: %s", strings.Join(untimely, ", ")))
	}
	return g.sized(proved(explicit, "all of %d transitions fire", len(ts)))
}

// timely reports whether a transition that fires without time fires with it:
// whether the way to its first firing has a schedule.
func (g *Graph) timely(t int32) bool {
	if g.Model.timeless() {
		return true
	}
	for _, o := range g.origins(t) {
		if !o.seen {
			continue
		}
		if _, ok := g.Model.Schedule(g.wayTo(o)); ok {
			return true
		}
	}
	return false
}

func (g *Graph) wayTo(o origin) []Step {
	var steps []Step
	if o.from >= 0 {
		steps = g.PathTo(int(o.from)).Steps
		if !o.frame {
			steps = append(steps, o.first)
		}
	}
	return steps
}

// search finds the first marking that satisfies an expression, or -1.
func (p *Pass) search(ctx context.Context, expr string) (*Graph, *Cond, int, error) {
	c, err := p.Model().bind(expr)
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

// bind parses an expression and looks up its names.
func (m *Model) bind(expr string) (*Cond, error) {
	e, err := ParseExpr(expr)
	if err != nil {
		return nil, err
	}
	return e.Bind(m)
}

// whole is a proof if the graph is complete.
func (g *Graph) whole(format string, args ...any) Verdict {
	for _, f := range g.Faults {
		// Where a transition of a slice exceeds a capacity the whole does so too, and
		// ends, or is not there at all.
		if f.Kind == Endless || g.Model.prog.Whole() == nil {
			return g.sized(unknown(explicit, Faulty, "the net faults: %s", g.Model.describe(f.Fault)))
		}
	}
	if !g.Complete {
		return g.sized(unknown(explicit, Capped, "nothing found within %d markings, and there are more", g.States()))
	}
	v := g.sized(proved(explicit, format, args...))
	if g.Reduced {
		v.Reason += " (reduced)"
	}
	return v
}

func (g *Graph) sized(v Verdict) Verdict {
	v.States = g.States()
	return v
}

// counterexample is a refutation by a run without time, if some timing allows
// the run.
func (g *Graph) counterexample(p Path, format string, args ...any) Verdict {
	return g.Model.Refute(explicit, p.Steps, g.States(), format, args...)
}

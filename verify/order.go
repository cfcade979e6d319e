package verify

import (
	"context"
	"fmt"
)

// AfterNever says that once a marking has satisfied the first expression, none
// ever satisfies the second again (the same marking included).
func AfterNever(first, then string) *Property {
	return &Property{
		Name: fmt.Sprintf("after %s never %s", first, then), Doc: "the second is never true once the first was",
		Safety: true, Expr: "(" + first + ") && (" + then + ")",
		Breaks: func(r *Trace) (int, bool) { return r.after(first, then) },
		Check: func(ctx context.Context, pass *Pass) (Verdict, error) {
			g, a, b, err := pass.two(ctx, first, then)
			if err != nil {
				return Verdict{}, err
			}
			after := g.forward(a, nil)
			for i, is := range after.in {
				if is && b[i] {
					return g.counterexample(g.pathThrough(after, i), "reached afterwards: %s",
						g.Model.Format(g.Marking(i, nil))), nil
				}
			}
			return g.whole("%d markings", g.States()), nil
		},
	}
}

// after finds where the second expression is true once the first was.
func (r *Trace) after(first, then string) (int, bool) {
	a, err := r.Model.bind(first)
	if err != nil {
		return 0, false
	}
	b, err := r.Model.bind(then)
	if err != nil {
		return 0, false
	}
	began := false
	return r.First(func(m []int32) bool {
		began = began || a.Holds(m)
		return began && b.Holds(m)
	})
}

// lacks reports whether the first expression is true on a run and the second never
// is from there on; the end is where that shows.
func (r *Trace) lacks(first, then string) (int, bool) {
	if _, comes := r.after(first, then); comes {
		return 0, false
	}
	_, began := r.after(first, "true()")
	return len(r.Steps) - 1, began
}

// LeadsTo says that whenever the first expression is true, the second becomes
// true later or at once, under strong fairness: a way of firing that is open
// infinitely often is taken infinitely often. It is proved only for nets whose
// every wait is open, because a wait can close ways.
func LeadsTo(first, then string) *Property {
	return &Property{
		Name: fmt.Sprintf("%s leads to %s", first, then), Doc: "after the first, the second always comes (strong fairness)",
		Breaks: func(r *Trace) (int, bool) { return r.lacks(first, then) },
		Check: func(ctx context.Context, pass *Pass) (Verdict, error) {
			g, a, b, err := pass.two(ctx, first, then)
			if err != nil {
				return Verdict{}, err
			}
			back := g.backward(b)
			region := g.forward(a, b)
			for i, is := range region.in {
				if is && !back[i] && g.Complete {
					return g.counterexample(g.pathThrough(region, i), "from here it can never come: %s",
						g.Model.Format(g.Marking(i, nil))), nil
				}
			}
			v := g.whole("%d markings, strong fairness", g.States())
			if v.Outcome == Proved && !g.Model.timeless() {
				return g.sized(unknown(explicit, Unsupported, "it holds if time is ignored; a wait may close the way")), nil
			}
			return v, nil
		},
	}
}

// two evaluates two expressions in every state.
func (p *Pass) two(ctx context.Context, first, then string) (g *Graph, a, b []bool, err error) {
	if g, err = p.Graph(ctx); err != nil {
		return nil, nil, nil, err
	}
	if a, err = g.truth(first); err == nil {
		b, err = g.truth(then)
	}
	return g, a, b, err
}

// truth evaluates an expression in every state.
func (g *Graph) truth(expr string) ([]bool, error) {
	e, err := ParseExpr(expr)
	if err != nil {
		return nil, err
	}
	c, err := e.Bind(g.Model)
	if err != nil {
		return nil, err
	}
	out := make([]bool, g.States())
	g.Each(func(i int, m []int32) bool {
		out[i] = c.Holds(m)
		return true
	})
	return out, nil
}

// region is a set of states found by a search, with the edge each was found by.
type region struct {
	in   []bool
	from []int32 // -1: where the search began
	by   []Edge
}

// forward finds what is reachable from some states without entering others.
func (g *Graph) forward(from, without []bool) *region {
	n := g.States()
	r := &region{in: make([]bool, n), from: fill(n, -1), by: make([]Edge, n)}
	var queue []int32
	for i := range n {
		if from[i] && (without == nil || !without[i]) {
			r.in[i] = true
			queue = append(queue, int32(i))
		}
	}
	for len(queue) > 0 {
		i := queue[0]
		queue = queue[1:]
		for _, e := range g.From(int(i)) {
			if r.in[e.To] || without != nil && without[e.To] {
				continue
			}
			r.in[e.To], r.from[e.To], r.by[e.To] = true, i, e
			queue = append(queue, int32(e.To))
		}
	}
	return r
}

// backward finds the states from which some states can be reached.
func (g *Graph) backward(to []bool) []bool {
	n := g.States()
	heads := make([]int32, n+1)
	for _, e := range g.edges {
		heads[e.To+1]++
	}
	for i := range n {
		heads[i+1] += heads[i]
	}
	back := make([]int32, len(g.edges))
	next := append([]int32(nil), heads...)
	for i := range n {
		for _, e := range g.From(i) {
			back[next[e.To]] = int32(i)
			next[e.To]++
		}
	}
	out := append([]bool(nil), to...)
	var queue []int32
	for i, is := range to {
		if is {
			queue = append(queue, int32(i))
		}
	}
	for len(queue) > 0 {
		i := queue[0]
		queue = queue[1:]
		for _, j := range back[heads[i]:heads[i+1]] {
			if !out[j] {
				out[j] = true
				queue = append(queue, j)
			}
		}
	}
	return out
}

// pathThrough returns a way from the start to where a search began and on to a
// state it found.
func (g *Graph) pathThrough(r *region, state int) Path {
	var edges []Edge
	var froms []int
	i := state
	for r.from[i] >= 0 {
		edges, froms = append(edges, r.by[i]), append(froms, int(r.from[i]))
		i = int(r.from[i])
	}
	p := g.PathTo(i)
	for k := len(edges) - 1; k >= 0; k-- {
		chain, _ := g.chain(froms[k], edges[k].Step, edges[k].To)
		p.Steps = append(p.Steps, chain...)
	}
	p.State = state
	return p
}

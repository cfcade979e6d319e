package explore

import (
	"github.com/voicegw/voicegw/verify/netmodel"
)

// Truth evaluates an expression in every state.
func (g *Graph) Truth(expr string) ([]bool, error) {
	c, err := g.Model.Bind(expr)
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

// Region is a set of states found by a search, and for each state the edge by which it was found.
type Region struct {
	In   []bool  // by state: it was found
	from []int32 // -1: a state where the search began
	by   []Edge
}

// Forward finds the states reachable from some states without entering others.
func (g *Graph) Forward(from, without []bool) *Region {
	n := g.States()
	r := &Region{In: make([]bool, n), from: netmodel.Fill(n, -1), by: make([]Edge, n)}
	var queue []int32
	for i := range n {
		if from[i] && (without == nil || !without[i]) {
			r.In[i] = true
			queue = append(queue, int32(i))
		}
	}
	for len(queue) > 0 {
		i := queue[0]
		queue = queue[1:]
		for _, e := range g.From(int(i)) {
			if r.In[e.To] || without != nil && without[e.To] {
				continue
			}
			r.In[e.To], r.from[e.To], r.by[e.To] = true, i, e
			queue = append(queue, int32(e.To))
		}
	}
	return r
}

// Backward finds the states from which some states can be reached.
func (g *Graph) Backward(to []bool) []bool {
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

// PathThrough returns a path from the start to a state where a search began, and on to a state that
// it found.
func (g *Graph) PathThrough(r *Region, state int) Path {
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

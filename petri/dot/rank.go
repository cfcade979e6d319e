package dot

import "github.com/voicegw/voicegw/petri"

// The layout follows Sugiyama, Tagawa and Toda 1981, from left to right: ranks, then the order
// within ranks, then coordinates.

// rankEdge is an edge during the layout, directed from the lower to the higher rank.
type rankEdge struct{ lo, hi, weight int }

// An arc that spans more ranks than this leads to a reference. Arcs that move tokens within the net
// may be longer than others.
const (
	farRanks     = 3
	farFlowRanks = 6
	farPortRanks = 1 // to a port or an environment place, in a drawing with ports
)

// setRanks ranks every node and adds references.
func (pn *panel) setRanks() {
	pn.rank()
	pn.addRefs()
	pn.dropEmptyRanks()
}

// rank reverses back arcs, gives every node a higher rank than those that lead to it, moves
// connected nodes together, and cuts the arcs that are still long.
func (pn *panel) rank() {
	order := pn.flowOrder()
	edges := make([]rankEdge, len(pn.edges))
	for i := range pn.edges {
		e := &pn.edges[i]
		l := rankEdge{lo: e.from, hi: e.to, weight: 1}
		if e.kind == petri.InArc || e.kind == petri.OutArc {
			l.weight = 3
		}
		if order[l.lo] > order[l.hi] {
			l.lo, l.hi = l.hi, l.lo
			e.back = true
		}
		edges[i] = l
	}
	pn.longestPaths(edges, order)
	for range 8 {
		pn.pull(edges)
	}
	pn.dropEmptyRanks()
	pn.cutFar()
}

// cutFar replaces long arcs with references.
func (pn *panel) cutFar() {
	kept := pn.edges[:0]
	for _, e := range pn.edges {
		span := pn.nodes[e.to].rank - pn.nodes[e.from].rank
		if most := pn.mostRanks(&e); -most <= span && span <= most {
			kept = append(kept, e)
			continue
		}
		pn.far = append(pn.far, pn.cut(e))
	}
	pn.edges = kept
}

// cut separates an edge from its place.
func (pn *panel) cut(e edge) farArc {
	f := farArc{edge: e}
	f.edge.back = false
	if e.toPlace() {
		f.place, f.edge.to = pn.nodes[e.to].place, elsewhere
	} else {
		f.place, f.edge.from = pn.nodes[e.from].place, elsewhere
	}
	return f
}

func (pn *panel) mostRanks(e *edge) int {
	if pn.crosses(e) {
		return farPortRanks
	}
	if e.kind == petri.InArc || e.kind == petri.OutArc && !pn.p.Places()[pn.nodes[e.to].place].Out {
		return farFlowRanks
	}
	return farRanks
}

// crosses reports whether an arc, in a drawing with ports, leads to a port, an environment place or
// an output.
func (pn *panel) crosses(e *edge) bool {
	if pn.shared == nil {
		return false
	}
	place := pn.nodes[e.from].place
	if e.toPlace() {
		place = pn.nodes[e.to].place
	}
	p := &pn.p.Places()[place]
	return pn.shared[place] || p.Env || p.Out
}

// addRefs adds references beside the transitions that need them. Transitions of one rank share a
// reference.
func (pn *panel) addRefs() {
	type spot struct{ place, rank int }
	at := map[spot]int{}
	for _, f := range pn.far {
		e, rank := f.edge, 0
		if e.from == elsewhere {
			rank = pn.nodes[e.to].rank - 1
		} else {
			rank = pn.nodes[e.from].rank + 1
		}
		s := spot{f.place, rank}
		if _, ok := at[s]; !ok {
			at[s] = pn.addPlace(f.place, true)
			pn.nodes[at[s]].rank = rank
		}
		if e.from == elsewhere {
			e.from = at[s]
		} else {
			e.to = at[s]
		}
		pn.edges = append(pn.edges, e)
	}
}

// flowOrder numbers the nodes so that most input and output arcs lead from a smaller to a larger
// number: in reverse postorder of a depth-first search.
func (pn *panel) flowOrder() []int {
	next := make([][]int, len(pn.nodes))
	for _, e := range pn.edges {
		if e.kind == petri.InArc || e.kind == petri.OutArc {
			next[e.from] = append(next[e.from], e.to)
		}
	}
	order := make([]int, len(pn.nodes))
	seen := make([]bool, len(pn.nodes))
	left := len(pn.nodes)
	var visit func(int)
	visit = func(n int) {
		if seen[n] {
			return
		}
		seen[n] = true
		for i := len(next[n]) - 1; i >= 0; i-- {
			visit(next[n][i])
		}
		left--
		order[n] = left
	}
	// The search starts with the node declared last, so that the node declared first gets the
	// smallest number.
	for i := len(pn.nodes) - 1; i >= 0; i-- {
		if !pn.hasSource(i) {
			visit(i)
		}
	}
	for i := range pn.nodes {
		visit(i)
	}
	return order
}

// hasSource reports whether a flow arc leads to the node.
func (pn *panel) hasSource(n int) bool {
	for _, e := range pn.edges {
		if e.to == n && (e.kind == petri.InArc || e.kind == petri.OutArc) || e.both && e.from == n {
			return true
		}
	}
	return false
}

func (pn *panel) longestPaths(edges []rankEdge, order []int) {
	byOrder := make([]int, len(order))
	for n, o := range order {
		byOrder[o] = n
	}
	out := make([][]int, len(order))
	for _, l := range edges {
		out[l.lo] = append(out[l.lo], l.hi)
	}
	for _, n := range byOrder {
		for _, m := range out[n] {
			pn.nodes[m].rank = max(pn.nodes[m].rank, pn.nodes[n].rank+1)
		}
	}
}

// pull moves every node, within the ranks that its arcs allow, towards its heavier arcs.
func (pn *panel) pull(edges []rankEdge) {
	for n := range pn.nodes {
		lo, hi, before, after := 0, 1<<30, 0, 0
		for _, l := range edges {
			if l.hi == n {
				lo = max(lo, pn.nodes[l.lo].rank+1)
				before += l.weight
			}
			if l.lo == n {
				hi = min(hi, pn.nodes[l.hi].rank-1)
				after += l.weight
			}
		}
		switch {
		case after > before && hi < 1<<30:
			pn.nodes[n].rank = hi
		case before > after:
			pn.nodes[n].rank = lo
		}
	}
}

// dropEmptyRanks renumbers the ranks in use from 0.
func (pn *panel) dropEmptyRanks() {
	least, most := 0, 0
	for i := range pn.nodes {
		least, most = min(least, pn.nodes[i].rank), max(most, pn.nodes[i].rank)
	}
	used := make([]bool, most-least+1)
	for i := range pn.nodes {
		pn.nodes[i].rank -= least
		used[pn.nodes[i].rank] = true
	}
	to, n := make([]int, len(used)), 0
	for r := range to {
		to[r] = n
		if used[r] {
			n++
		}
	}
	for i := range pn.nodes {
		pn.nodes[i].rank = to[pn.nodes[i].rank]
	}
	pn.rows = make([][]int, n)
}

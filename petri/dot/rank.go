package dot

import "github.com/voicegw/voicegw/petri"

// The layout is that of Sugiyama, Tagawa and Toda 1981, from left to right:
// ranks, order within ranks, coordinates.

// link is an edge during the layout, directed from the lower to the higher rank.
type link struct{ lo, hi, weight int }

// An arc that spans more ranks than this leads to a reference: one that moves
// tokens within the net may be longer than the others.
const (
	farRanks     = 3
	farFlowRanks = 6
	farPortRanks = 1 // to what lies around a net that is drawn with its ports
)

// setRanks ranks every node and adds references.
func (pn *panel) setRanks() {
	pn.rank()
	pn.addRefs()
	pn.dropEmptyRanks()
}

// rank turns back arcs around, ranks every node beyond what leads to it, pulls
// nodes together, and cuts the arcs that are long all the same.
func (pn *panel) rank() {
	order := pn.flowOrder()
	links := make([]link, len(pn.edges))
	for i := range pn.edges {
		e := &pn.edges[i]
		l := link{lo: e.from, hi: e.to, weight: 1}
		if e.kind == petri.InArc || e.kind == petri.OutArc {
			l.weight = 3
		}
		if order[l.lo] > order[l.hi] {
			l.lo, l.hi = l.hi, l.lo
			e.back = true
		}
		links[i] = l
	}
	pn.longestPaths(links, order)
	for range 8 {
		pn.pull(links)
	}
	pn.dropEmptyRanks()
	pn.cutFar()
}

// cutFar replaces long arcs by references.
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

// crosses reports whether an arc of a net that is drawn with its ports leads to
// one of them, or to the environment.
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

// addRefs adds references beside the transitions that need them; transitions of
// one rank share them.
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

// flowOrder numbers the nodes so that most input and output arcs lead from a
// smaller to a larger number: the reverse of the order in which a depth-first
// search leaves them.
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
	// What is declared last is left first, so that the first comes out in front.
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

func (pn *panel) longestPaths(links []link, order []int) {
	byOrder := make([]int, len(order))
	for n, o := range order {
		byOrder[o] = n
	}
	out := make([][]int, len(order))
	for _, l := range links {
		out[l.lo] = append(out[l.lo], l.hi)
	}
	for _, n := range byOrder {
		for _, m := range out[n] {
			pn.nodes[m].rank = max(pn.nodes[m].rank, pn.nodes[n].rank+1)
		}
	}
}

// pull moves every node within the ranks its arcs leave it towards the side
// where its heavier arcs are.
func (pn *panel) pull(links []link) {
	for n := range pn.nodes {
		lo, hi, before, after := 0, 1<<30, 0, 0
		for _, l := range links {
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

// dropEmptyRanks numbers the ranks that are used from 0.
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

package dot

import "math"

// foldWidth is the width in pixels beyond which a panel is folded.
const foldWidth = 1800

// fold ranks a panel. If the panel is too wide, fold cuts it between ranks into several panels.
func (pn *panel) fold() []*panel {
	pn.rank()
	parts := int(math.Ceil(pn.wide() / foldWidth))
	if parts < 2 {
		pn.addRefs()
		pn.dropEmptyRanks()
		return []*panel{pn}
	}
	part := pn.cutRanks(parts)
	var out []*panel
	for i := range parts {
		b := pn.split(part, i)
		b.part, b.parts = i+1, parts
		b.addRefs()
		b.dropEmptyRanks()
		out = append(out, b)
	}
	return out
}

// wide estimates the width of a ranked panel.
func (pn *panel) wide() float64 {
	w := 0.0
	for _, c := range pn.widths() {
		w += c
	}
	return w
}

func (pn *panel) widths() []float64 {
	out := make([]float64, len(pn.rows))
	for i := range pn.nodes {
		n := &pn.nodes[i]
		out[n.rank] = max(out[n.rank], n.w+columnGap)
	}
	return out
}

// cutRanks divides the ranks into parts of about equal width and returns the part of each rank. It
// cuts where few arcs cross.
func (pn *panel) cutRanks(parts int) []int {
	const slack = 2 // ranks by which a cut may move
	widths, crossing := pn.widths(), pn.crossing()
	share := pn.wide() / float64(parts)
	out := make([]int, len(widths))
	part, x := 0, 0.0
	for r := 0; r < len(widths); r++ {
		if part+1 < parts && x >= share*float64(part+1)-widths[r]*slack {
			cut := r
			for k := r; k <= r+2*slack && k < len(widths); k++ {
				if crossing[k] < crossing[cut] {
					cut = k
				}
			}
			for ; r < cut; r++ {
				out[r] = part
				x += widths[r]
			}
			part++
		}
		out[r] = part
		x += widths[r]
	}
	return out
}

// crossing counts, by rank, the arcs that cross its left edge.
func (pn *panel) crossing() []int {
	out := make([]int, len(pn.rows))
	for _, e := range pn.edges {
		lo, hi := pn.nodes[e.from].rank, pn.nodes[e.to].rank
		for r := min(lo, hi) + 1; r <= max(lo, hi); r++ {
			out[r]++
		}
	}
	return out
}

// split returns a panel with the nodes whose rank belongs to the part want. Arcs that leave the
// panel lead to references.
func (pn *panel) split(part []int, want int) *panel {
	b := &panel{p: pn.p, title: pn.title, shared: pn.shared}
	at := make([]int, len(pn.nodes))
	for i := range pn.nodes {
		at[i] = elsewhere
		if part[pn.nodes[i].rank] == want {
			at[i] = len(b.nodes)
			b.nodes = append(b.nodes, pn.nodes[i])
		}
	}
	for _, e := range pn.edges {
		trans := e.to
		if e.toPlace() {
			trans = e.from
		}
		switch {
		case at[e.from] >= 0 && at[e.to] >= 0:
			e.from, e.to = at[e.from], at[e.to]
			b.edges = append(b.edges, e)
		case at[trans] >= 0:
			b.far = append(b.far, pn.cut(e).moved(at))
		}
	}
	for _, f := range pn.far {
		if f := f.moved(at); f.edge.from >= 0 || f.edge.to >= 0 {
			b.far = append(b.far, f)
		}
	}
	return b
}

// moved returns the arc with the new number of its transition, or with elsewhere.
func (f farArc) moved(at []int) farArc {
	if f.edge.from >= 0 {
		f.edge.from = at[f.edge.from]
	}
	if f.edge.to >= 0 {
		f.edge.to = at[f.edge.to]
	}
	return f
}

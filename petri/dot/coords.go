package dot

import "math"

// Distances in pixels.
const (
	rowGap     = 10 // between two nodes of a rank
	columnGap  = 40 // between two ranks, where arcs change rows
	minColumn  = 2 * placeRadius
	settleRuns = 40
)

// setCoords gives every node its coordinates in the panel.
func (pn *panel) setCoords() {
	pn.setColumns()
	for _, row := range pn.rows {
		y := 0.0
		for i, n := range row {
			if i > 0 {
				y += pn.apart(row[i-1], n)
			}
			pn.nodes[n].y = y
		}
	}
	s := newSettler(pn)
	for i := range settleRuns {
		s.run(i%2 == 0)
	}
	pn.frame()
}

// setColumns spaces the ranks. The distance grows with the number of arcs between two ranks.
func (pn *panel) setColumns() {
	x := 0.0
	pn.cols = make([]column, len(pn.rows))
	for r, row := range pn.rows {
		w := float64(minColumn)
		for _, n := range row {
			w = max(w, pn.nodes[n].w)
		}
		pn.cols[r] = column{x: x, w: w}
		for _, n := range row {
			pn.nodes[n].x = x + w/2
		}
		x += w + columnGap + min(3*math.Sqrt(float64(len(row))), 20)
	}
}

// apart returns the smallest distance between the centres of a and b, where a is above b.
func (pn *panel) apart(a, b int) float64 {
	na, nb := &pn.nodes[a], &pn.nodes[b]
	gap := float64(rowGap)
	if na.bend() && nb.bend() {
		gap = 0
	}
	return na.down + nb.up + gap
}

// settler moves nodes up and down until arcs are short and long arcs are straight.
type settler struct {
	pn   *panel
	near [][]pull
}

// pull is an arc to another node, treated as a spring.
type pull struct {
	node   int
	weight float64
}

func newSettler(pn *panel) *settler {
	s := &settler{pn: pn, near: make([][]pull, len(pn.nodes))}
	for i := range pn.edges {
		path := pn.edges[i].path
		for k := 1; k < len(path); k++ {
			a, b := path[k-1], path[k]
			w := 1.0
			switch {
			case pn.nodes[a].bend() && pn.nodes[b].bend():
				w = 8
			case pn.nodes[a].bend() || pn.nodes[b].bend():
				w = 2
			}
			s.near[a] = append(s.near[a], pull{node: b, weight: w})
			s.near[b] = append(s.near[b], pull{node: a, weight: w})
		}
	}
	return s
}

func (s *settler) run(forward bool) {
	rows := s.pn.rows
	for k := range rows {
		if forward {
			s.row(rows[k])
		} else {
			s.row(rows[len(rows)-1-k])
		}
	}
}

// row moves the nodes of one rank towards the positions to which their arcs pull them, as far as
// their order and sizes allow. It is an isotonic regression that pools adjacent violators.
func (s *settler) row(row []int) {
	type pool struct {
		sum, weight float64
		n           int
	}
	offset := make([]float64, len(row)) // of each centre below the first, packed tightly
	var pools []pool
	for i, n := range row {
		if i > 0 {
			offset[i] = offset[i-1] + s.pn.apart(row[i-1], n)
		}
		y, w := s.want(n)
		p := pool{sum: (y - offset[i]) * w, weight: w, n: 1}
		for len(pools) > 0 {
			last := pools[len(pools)-1]
			if last.sum/last.weight <= p.sum/p.weight {
				break
			}
			p = pool{sum: p.sum + last.sum, weight: p.weight + last.weight, n: p.n + last.n}
			pools = pools[:len(pools)-1]
		}
		pools = append(pools, p)
	}
	i := 0
	for _, p := range pools {
		for range p.n {
			s.pn.nodes[row[i]].y = p.sum/p.weight + offset[i]
			i++
		}
	}
}

// want returns the position to which its arcs pull a node, and the strength of the pull.
func (s *settler) want(n int) (y, weight float64) {
	for _, p := range s.near[n] {
		y += p.weight * s.pn.nodes[p.node].y
		weight += p.weight
	}
	if weight == 0 {
		return s.pn.nodes[n].y, 0.01
	}
	return y / weight, weight
}

// frame moves the panel's upper left corner to the origin.
func (pn *panel) frame() {
	top, bottom := math.Inf(1), math.Inf(-1)
	for i := range pn.nodes {
		n := &pn.nodes[i]
		n.y = math.Round(n.y)
		top, bottom = min(top, n.y-n.up), max(bottom, n.y+n.down)
	}
	for i := range pn.nodes {
		pn.nodes[i].y -= top
	}
	last := pn.cols[len(pn.cols)-1]
	pn.w, pn.h = last.x+last.w, bottom-top
}

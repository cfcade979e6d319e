package dot

import "slices"

// maxSweeps limits the passes that improve the order within ranks.
const maxSweeps = 24

// setOrder bends long arcs at every rank that they cross, and orders each rank so that few arcs
// cross each other.
func (pn *panel) setOrder() {
	for i := range pn.edges {
		pn.bend(&pn.edges[i])
	}
	for i := range pn.nodes {
		r := pn.nodes[i].rank
		pn.rows[r] = append(pn.rows[r], i)
	}
	o := newOrderer(pn)
	o.startInOrder()
	best, rows := o.crossings(), cloneRows(pn.rows)
	for s := 0; s < maxSweeps && best > 0; s++ {
		o.sweep(s%2 == 0)
		o.swap()
		if c := o.crossings(); c < best {
			best, rows = c, cloneRows(pn.rows)
		}
	}
	pn.rows = rows
	o.number()
}

// bend gives an edge its path.
func (pn *panel) bend(e *edge) {
	lo, hi := e.from, e.to
	if e.back {
		lo, hi = hi, lo
	}
	e.path = []int{lo}
	for r := pn.nodes[lo].rank + 1; r < pn.nodes[hi].rank; r++ {
		e.path = append(e.path, len(pn.nodes))
		pn.nodes = append(pn.nodes, node{place: -1, trans: -1, rank: r, up: 4, down: 4})
	}
	e.path = append(e.path, hi)
}

func cloneRows(rows [][]int) [][]int {
	out := make([][]int, len(rows))
	for i := range rows {
		out[i] = slices.Clone(rows[i])
	}
	return out
}

// orderer orders the ranks of a panel.
type orderer struct {
	pn       *panel
	pos      []int // by node: its index in its rank
	down, up [][]int
	value    []float64
}

func newOrderer(pn *panel) *orderer {
	n := len(pn.nodes)
	o := &orderer{pn: pn, pos: make([]int, n), down: make([][]int, n), up: make([][]int, n), value: make([]float64, n)}
	for i := range pn.edges {
		path := pn.edges[i].path
		for k := 1; k < len(path); k++ {
			o.down[path[k-1]] = append(o.down[path[k-1]], path[k])
			o.up[path[k]] = append(o.up[path[k]], path[k-1])
		}
	}
	return o
}

// startInOrder begins with the order in which a walk along the arcs meets the nodes, so that
// connected nodes start close together.
func (o *orderer) startInOrder() {
	met := make([]int, len(o.pn.nodes))
	n := 0
	var walk func(int)
	walk = func(i int) {
		if met[i] > 0 {
			return
		}
		n++
		met[i] = n
		for _, j := range o.down[i] {
			walk(j)
		}
		for _, j := range o.up[i] {
			walk(j)
		}
	}
	for i := range o.pn.nodes {
		walk(i)
	}
	for _, row := range o.pn.rows {
		slices.SortStableFunc(row, func(a, b int) int { return met[a] - met[b] })
	}
	o.number()
}

func (o *orderer) number() {
	for _, row := range o.pn.rows {
		for i, n := range row {
			o.pos[n] = i
		}
	}
}

// sweep orders each rank by the mean position of its neighbours in the rank before or, backwards,
// after it.
func (o *orderer) sweep(forward bool) {
	rows := o.pn.rows
	for k := range rows {
		row, near := rows[k], o.up
		if !forward {
			row, near = rows[len(rows)-1-k], o.down
		}
		for _, n := range row {
			o.value[n] = o.middle(near[n], float64(o.pos[n]))
		}
		slices.SortStableFunc(row, func(a, b int) int { return compare(o.value[a], o.value[b]) })
		for i, n := range row {
			o.pos[n] = i
		}
	}
}

func compare(a, b float64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// middle returns the mean position of nodes, or old if there are none.
func (o *orderer) middle(nodes []int, old float64) float64 {
	if len(nodes) == 0 {
		return old
	}
	sum := 0.0
	for _, n := range nodes {
		sum += float64(o.pos[n])
	}
	return sum / float64(len(nodes))
}

// swap exchanges adjacent nodes if that removes crossings.
func (o *orderer) swap() {
	for range 4 {
		better := false
		for _, row := range o.pn.rows {
			for i := 1; i < len(row); i++ {
				a, b := row[i-1], row[i]
				if o.between(a, b) > o.between(b, a) {
					row[i-1], row[i] = b, a
					o.pos[a], o.pos[b] = i, i-1
					better = true
				}
			}
		}
		if !better {
			return
		}
	}
}

// between returns the number of crossings between arcs of a and of b if a is above b.
func (o *orderer) between(a, b int) int {
	n := 0
	for _, near := range [][][]int{o.up, o.down} {
		for _, i := range near[a] {
			for _, j := range near[b] {
				if o.pos[i] > o.pos[j] {
					n++
				}
			}
		}
	}
	return n
}

// crossings counts all crossings.
func (o *orderer) crossings() int {
	total := 0
	for r := 0; r+1 < len(o.pn.rows); r++ {
		tree := newCounter(len(o.pn.rows[r+1]))
		for _, n := range o.pn.rows[r] {
			for _, m := range o.down[n] {
				total += tree.above(o.pos[m])
			}
			for _, m := range o.down[n] {
				tree.add(o.pos[m])
			}
		}
	}
	return total
}

// counter is a Fenwick tree. It counts the added numbers that are larger than a given one.
type counter struct {
	tree []int
	n    int
}

func newCounter(size int) *counter { return &counter{tree: make([]int, size+1)} }

func (c *counter) add(i int) {
	c.n++
	for i++; i < len(c.tree); i += i & -i {
		c.tree[i]++
	}
}

func (c *counter) above(i int) int {
	n := c.n
	for i++; i > 0; i -= i & -i {
		n -= c.tree[i]
	}
	return n
}

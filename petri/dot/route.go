package dot

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"
)

// point is a point of a panel.
type point struct{ x, y float64 }

// route is the line of an arc: straight across columns and curved between them.
type route struct {
	edge   *edge
	points []point // the ends and, in pairs, where it crosses a column
}

// routes lays out all arcs. Each end has its own point on its node.
func (pn *panel) routes() []route {
	starts, ends := pn.ports(true), pn.ports(false)
	out := make([]route, len(pn.edges))
	for i := range pn.edges {
		e := &pn.edges[i]
		r := route{edge: e, points: []point{starts[i]}}
		for _, n := range e.path[1 : len(e.path)-1] {
			b := &pn.nodes[n]
			c := pn.cols[b.rank]
			r.points = append(r.points, point{c.x, b.y}, point{c.x + c.w, b.y})
		}
		r.points = append(r.points, ends[i])
		if e.back {
			slices.Reverse(r.points)
		}
		out[i] = r
	}
	return out
}

// ports spreads the ends of arcs over one side of each node: the right side for arcs that begin
// there, the left side for arcs that end there.
func (pn *panel) ports(right bool) []point {
	at := make([][]int, len(pn.nodes))
	near := func(e int) (node, neighbour int) {
		p := pn.edges[e].path
		if right {
			return p[0], p[1]
		}
		return p[len(p)-1], p[len(p)-2]
	}
	for i := range pn.edges {
		n, _ := near(i)
		at[n] = append(at[n], i)
	}
	out := make([]point, len(pn.edges))
	for n, list := range at {
		slices.SortStableFunc(list, func(a, b int) int {
			_, na := near(a)
			_, nb := near(b)
			return cmp.Compare(pn.nodes[na].y, pn.nodes[nb].y)
		})
		for i, e := range list {
			out[e] = pn.nodes[n].port(right, i, len(list))
		}
	}
	return out
}

// port returns the i-th of n ends on one side of a node.
func (n *node) port(right bool, i, of int) point {
	side := -1.0
	if right {
		side = 1
	}
	f := (float64(i) + 0.5) / float64(of) // 0 to 1
	if n.trans >= 0 {
		spread := min(n.bar-3, 4.5*float64(of-1))
		return point{n.x + side*n.half, n.y + (2*f-1)*spread}
	}
	angle := (2*f - 1) * min(0.28*float64(of-1), 1)
	return point{n.x + side*n.half*math.Cos(angle), n.y + n.half*math.Sin(angle)}
}

// trim shortens both ends of a route to make room for the symbols.
func (r *route) trim(start, end float64) {
	p := r.points
	if start > 0 {
		p[0].x += math.Copysign(start, p[1].x-p[0].x)
	}
	if end > 0 {
		p[len(p)-1].x += math.Copysign(end, p[len(p)-2].x-p[len(p)-1].x)
	}
}

// path returns the route as SVG path data.
func (r *route) path() string {
	var b strings.Builder
	p := r.points
	b.WriteString("M" + xy(p[0]))
	for i := 1; i < len(p); i++ {
		switch {
		case i%2 == 0:
			b.WriteString("L" + xy(p[i]))
		default:
			half := (p[i].x - p[i-1].x) / 2
			b.WriteString("C" + xy(point{p[i-1].x + half, p[i-1].y}) + " " + xy(point{p[i].x - half, p[i].y}) + " " + xy(p[i]))
		}
	}
	return b.String()
}

// middle returns the point for the label. It lies in the curve next to the transition, because a
// transition has fewer arcs than a place may have.
func (r *route) middle() point {
	a, b, f := r.points[0], r.points[1], 0.55
	if !r.edge.toPlace() {
		a, b = r.points[len(r.points)-1], r.points[len(r.points)-2]
	}
	return point{a.x + f*(b.x-a.x), a.y + f*f*(3-2*f)*(b.y-a.y)}
}

// num formats a coordinate in tenths of a pixel.
func num(v float64) string {
	v = math.Round(v*10) / 10
	if v == 0 {
		v = 0 // avoids -0
	}
	return strconv.FormatFloat(v, 'f', -1, 64)
}

func xy(p point) string { return num(p.x) + " " + num(p.y) }

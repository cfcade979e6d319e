package dot

import (
	"fmt"

	"github.com/voicegw/voicegw/petri"
)

// panel is the drawing of one subnet: its transitions and every place that they use. A place that
// several subnets share is drawn in full in one of them, and as a reference in the others, so that
// no arc leaves its panel.
type panel struct {
	p      *petri.Program
	shared map[int]bool // ports
	title  string       // of the subnet, qualified; "" at the top
	part   int          // of a folded panel, from 1; 0: not folded
	parts  int
	nodes  []node
	edges  []edge
	far    []farArc
	rows   [][]int // by rank: nodes from top to bottom

	cols []column
	w, h float64
	x, y float64 // in the drawing
}

// name returns the text above the panel.
func (pn *panel) name() string {
	s := pn.title
	if s == "" {
		s = pn.p.Name()
	}
	if pn.part > 0 {
		s += fmt.Sprintf(" (%d of %d)", pn.part, pn.parts)
	}
	return s
}

type column struct{ x, w float64 }

// node is a place, a transition, or a bend of a long arc.
type node struct {
	place, trans int // index, or -1
	ref          bool
	lines        []string // label
	notes        []string // below the label

	rank        int
	x, y        float64 // centre of the shape
	half        float64 // half the width of the shape
	up, down, w float64 // extent above and below the centre, and width, including the label
	bar         float64 // half the height of a transition
}

// label sets the text below a shape that extends half above and below the centre.
func (n *node) label(lines, notes []string, half float64) {
	n.lines, n.notes = lines, notes
	n.up, n.down = half+3, half+labelGap+lineHeight*float64(len(lines)+len(notes))
	n.w = max(2*n.half, textWidth(lines, charWidth), textWidth(notes, smallChar))
}

func (n *node) bend() bool { return n.place < 0 && n.trans < 0 }

// edge is an arc, or an input arc and an output arc between the same two nodes.
type edge struct {
	from, to int // nodes; from is a place unless the arc is an output
	kind     petri.ArcKind
	both     bool // consumed and produced again
	label    string
	back     bool  // drawn from right to left
	path     []int // nodes from the lower to the higher rank
}

// farArc is an arc to a place that is drawn elsewhere: in another panel, or too many ranks away. It
// leads to a reference beside the transition.
type farArc struct {
	place int
	edge  edge // its place is elsewhere
}

// elsewhere represents the node of a reference that is not added yet.
const elsewhere = -1

// panels divides a program into panels. ports holds the places that are ports.
func panels(p *petri.Program, ports map[int]bool) []*panel {
	groups := groupTree(p).all()
	home := homes(p, groups)
	var out []*panel
	for gi, g := range groups {
		b := &panelBuilder{p: p, panel: &panel{title: g.path, p: p, shared: ports}, at: map[int]int{}, home: home, group: gi,
			layer: layer(p, ports)}
		for i, h := range home {
			if h == gi && p.Places()[i].Env {
				b.place(i)
			}
		}
		for _, i := range g.transitions {
			b.transition(i)
		}
		for i, h := range home {
			if h == gi {
				b.place(i)
			}
		}
		if len(b.panel.nodes) > 0 {
			out = append(out, b.panel)
		}
	}
	return out
}

// homes returns, for each place, the group whose transitions use it most.
func homes(p *petri.Program, groups []*group) []int {
	uses := make([]map[int]int, len(p.Places()))
	for i := range uses {
		uses[i] = map[int]int{}
	}
	home := make([]int, len(uses))
	for gi, g := range groups {
		for _, t := range g.transitions {
			for _, a := range p.Transitions()[t].Arcs {
				n := 2
				if a.Kind == petri.OutArc || a.Kind == petri.InArc {
					n = 5
				}
				uses[a.Place][gi] += n
			}
		}
		for _, i := range g.places {
			home[i] = gi
			uses[i][gi]++
		}
	}
	for i, u := range uses {
		for gi := range groups {
			if u[gi] > u[home[i]] {
				home[i] = gi
			}
		}
	}
	return home
}

type panelBuilder struct {
	p     *petri.Program
	panel *panel
	at    map[int]int // place to node
	home  []int
	group int
	layer int // priority that needs no note
}

func (b *panelBuilder) place(i int) int {
	if n, ok := b.at[i]; ok {
		return n
	}
	b.at[i] = b.panel.addPlace(i, false)
	return b.at[i]
}

// addPlace adds a place, or a reference to one.
func (pn *panel) addPlace(i int, ref bool) int {
	pl := &pn.p.Places()[i]
	n := node{place: i, trans: -1, ref: ref, half: placeRadius}
	if ref {
		n.half = refRadius
	}
	n.label(wrap(shortName(pl.Name, pl.Group)), placeNotes(pl, ref || pn.shared[i]), n.half)
	pn.nodes = append(pn.nodes, n)
	return len(pn.nodes) - 1
}

func (b *panelBuilder) transition(i int) {
	t := &b.p.Transitions()[i]
	n := node{place: -1, trans: i, half: barWidth / 2}
	n.bar = min(max(13, 3*float64(len(t.Arcs))), 30)
	n.label(wrap(shortName(t.Name, t.Group)), transitionNotes(t, b.layer), n.bar)
	// Inputs come before the transition and outputs after it. Ranks and rows are tried in the order
	// of declaration.
	for k := range t.Arcs {
		if t.Arcs[k].Kind != petri.OutArc && b.home[t.Arcs[k].Place] == b.group {
			b.place(t.Arcs[k].Place)
		}
	}
	at := len(b.panel.nodes)
	b.panel.nodes = append(b.panel.nodes, n)
	for k := range t.Arcs {
		b.arc(t, &t.Arcs[k], at)
	}
}

// arc adds an edge. It joins an output to the input from the same place, or to the same output of
// another branch.
func (b *panelBuilder) arc(t *petri.TransitionInfo, a *petri.ArcInfo, trans int) {
	e := edge{from: elsewhere, to: trans, kind: a.Kind, label: arcLabel(t, a)}
	far := b.home[a.Place] != b.group
	if !far {
		e.from = b.place(a.Place)
	}
	if a.Kind == petri.OutArc {
		e.from, e.to = e.to, e.from
		if far && b.joinFar(a.Place, e) || !far && b.join(e) {
			return
		}
	}
	if far {
		b.panel.far = append(b.panel.far, farArc{place: a.Place, edge: e})
		return
	}
	b.panel.edges = append(b.panel.edges, e)
}

func (b *panelBuilder) join(out edge) bool {
	for i := range b.panel.edges {
		if b.panel.edges[i].join(out) {
			return true
		}
	}
	return false
}

func (b *panelBuilder) joinFar(place int, out edge) bool {
	for i := range b.panel.far {
		if f := &b.panel.far[i]; f.place == place && f.edge.join(out) {
			return true
		}
	}
	return false
}

// join makes an output part of an edge between the same nodes. It reports false if it cannot.
func (e *edge) join(out edge) bool {
	switch {
	case e.kind == petri.InArc && e.from == out.to && e.to == out.from:
		e.both = true
		if out.label != e.label {
			e.label = join(e.label, " → ", out.label)
		}
	case e.kind == petri.OutArc && e.from == out.from && e.to == out.to:
		e.label = join(e.label, ", ", out.label)
	default:
		return false
	}
	return true
}

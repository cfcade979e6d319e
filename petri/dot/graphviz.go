package dot

import (
	"fmt"
	"strings"

	"github.com/voicegw/voicegw/petri"
)

// Graph returns the net as text for Graphviz's program dot, with one cluster for each subnet. It
// panics if Options.Marking has the wrong length.
func Graph(p *petri.Program, o Options) string {
	counts, err := marks(p, o.Marking)
	if err != nil {
		panic(err)
	}
	w := &dotWriter{p: p, counts: counts}
	w.line(`digraph %s {`, quote(p.Name()))
	w.depth++
	w.line(`graph [rankdir=LR, label=%s, labelloc=t, fontname="Helvetica", nodesep=0.3, ranksep=0.5]`,
		quote(titleOf(p, o)))
	w.line(`node [fontname="Helvetica", fontsize=10]`)
	w.line(`edge [fontname="Helvetica", fontsize=9, arrowsize=0.7]`)
	w.group(groupTree(p))
	for i := range p.Transitions() {
		w.arcs(&p.Transitions()[i])
	}
	w.depth--
	w.line(`}`)
	return w.b.String()
}

func titleOf(p *petri.Program, o Options) string {
	if o.Title != "" {
		return o.Title
	}
	return p.Name()
}

type dotWriter struct {
	p      *petri.Program
	counts []int
	b      strings.Builder
	depth  int
	next   int // number of the next cluster
}

func (w *dotWriter) line(format string, args ...any) {
	w.b.WriteString(strings.Repeat("  ", w.depth))
	fmt.Fprintf(&w.b, format, args...)
	w.b.WriteByte('\n')
}

// group writes a subnet as a cluster.
func (w *dotWriter) group(g *group) {
	if g.name != "" {
		w.line(`subgraph cluster_%d {`, w.next)
		w.next++
		w.depth++
		w.line(`label=%s; color="#9aa4b2"; style=rounded; fontsize=11`, quote(g.name))
	}
	for _, i := range g.places {
		w.place(i)
	}
	for _, i := range g.transitions {
		w.transition(i)
	}
	for _, part := range g.parts {
		w.group(part)
	}
	if g.name != "" {
		w.depth--
		w.line(`}`)
	}
}

func (w *dotWriter) place(i int) {
	p := &w.p.Places()[i]
	shape, style, colour := "circle", "filled", "#4a5568"
	switch {
	case p.Env:
		style, colour = "filled,dashed", "#2563a8"
	case p.Out:
		colour = "#25803f"
	}
	if p.Final {
		shape = "doublecircle"
	}
	fill := "white"
	count := ""
	if w.counts[i] > 0 {
		fill, count = "#fde9b8", fmt.Sprint(w.counts[i])
	}
	w.line(`%s [id=%s, shape=%s, style=%s, color=%s, fillcolor=%s, label=%s, xlabel=%s, `+
		`fixedsize=true, width=0.4, tooltip=%s]`,
		quote("p:"+p.Name), quote("place:"+p.Name), shape, quote(style), quote(colour), quote(fill), quote(count),
		quote(shortName(p.Name, p.Group)), quote(describePlace(p)))
}

// describePlace returns the tooltip of a place.
func describePlace(p *petri.PlaceInfo) string {
	s := p.Name + ": " + p.Type
	switch {
	case p.Env:
		s += fmt.Sprintf(", from outside, at most %d, then %s", p.Max, p.Policy)
	case p.Durable:
		s += ", to the outside when stored"
	case p.Out:
		s += ", to the outside"
	case p.Max < petri.MaxTokens:
		s += fmt.Sprintf(", at most %d", p.Max)
	}
	if p.Sink {
		s += ", tokens may stay"
	}
	if p.Final {
		s += ", ends the run"
	}
	return s
}

func (w *dotWriter) transition(i int) {
	t := &w.p.Transitions()[i]
	label := join(shortName(t.Name, t.Group), "\n", waits(t, 0))
	fill := "#2d3748"
	if !t.When.AtOnce() {
		fill = "white"
	}
	w.line(`%s [id=%s, shape=box, style=filled, color="#2d3748", fillcolor=%s, label="", xlabel=%s, `+
		`width=0.1, height=0.45, tooltip=%s]`,
		quote("t:"+t.Name), quote("transition:"+t.Name), quote(fill), quote(label), quote(describeTransition(t)))
}

// describeTransition returns the tooltip of a transition.
func describeTransition(t *petri.TransitionInfo) string {
	s := t.Name + ": " + t.When.String()
	if t.Priority != 0 {
		s += fmt.Sprintf(", priority %d", t.Priority)
	}
	if t.Bump {
		s += ", begins a generation"
	}
	switch n := branches(t); {
	case t.Free:
		s += fmt.Sprintf(", chooses freely among %d branches", n)
	case n > 1:
		s += fmt.Sprintf(", one of %d branches by key", n)
	}
	return s
}

func (w *dotWriter) arcs(t *petri.TransitionInfo) {
	for i := range t.Arcs {
		a := &t.Arcs[i]
		place, trans := quote("p:"+w.p.Places()[a.Place].Name), quote("t:"+t.Name)
		label := ""
		if s := arcLabel(t, a); s != "" {
			label = ", label=" + quote(s)
		}
		switch a.Kind {
		case petri.InArc:
			w.line(`%s -> %s [weight=3%s]`, place, trans, label)
		case petri.OutArc:
			w.line(`%s -> %s [weight=3%s]`, trans, place, label)
		case petri.ReadArc:
			w.line(`%s -> %s [style=dashed, color="#718096", arrowhead=vee%s]`, place, trans, label)
		case petri.InhibitArc:
			w.line(`%s -> %s [color="#c53030", arrowhead=odot%s]`, place, trans, label)
		case petri.ResetArc:
			w.line(`%s -> %s [color="#dd6b20", penwidth=2, arrowhead=normalnormal%s]`, place, trans, label)
		}
	}
}

// quote returns a DOT string. Only quotes and backslashes are special in it, and a newline is
// written as \n.
func quote(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\r", "").Replace(s) + `"`
}

package dot

import (
	"strings"

	"github.com/voicegw/voicegw/petri"
)

// Sizes of the symbols at the ends of arcs, in pixels.
const (
	headLength = 7
	headHalf   = 3
	ringRadius = 3.5
)

// arcStyle is the style of one kind of arc.
type arcStyle struct {
	class  string
	kinds  []petri.ArcKind
	colour string
	extra  string // SVG attributes
	width  string
}

func arcStyles() []arcStyle {
	return []arcStyle{
		{"read", []petri.ArcKind{petri.ReadArc}, readColour, ` stroke-dasharray="4 3"`, "1.2"},
		{"input", []petri.ArcKind{petri.InArc, petri.OutArc}, arcColour, "", "1.2"},
		{"inhibit", []petri.ArcKind{petri.InhibitArc}, inhibitColour, "", "1.2"},
		{"reset", []petri.ArcKind{petri.ResetArc}, resetColour, "", "2.2"},
	}
}

func (s *arcStyle) has(k petri.ArcKind) bool {
	for _, have := range s.kinds {
		if have == k {
			return true
		}
	}
	return false
}

// toPlace reports whether the arc is an output and not an input as well.
func (e *edge) toPlace() bool { return e.kind == petri.OutArc }

// arcs draws the arcs kind by kind, then their labels.
func (w *svgWriter) arcs(pn *panel) {
	routes := pn.routes()
	for _, style := range arcStyles() {
		var paths, heads strings.Builder
		for i := range routes {
			if style.has(routes[i].edge.kind) {
				heads.WriteString(headsOf(&routes[i]))
				paths.WriteString("<path class=\"arc " + style.class + "\" d=\"" + routes[i].path() + "\"/>\n")
			}
		}
		if paths.Len() == 0 {
			continue
		}
		w.add(`<g fill="none" stroke="%s" stroke-width="%s"%s>`+"\n%s</g>\n",
			style.colour, style.width, style.extra, paths.String())
		if style.class == "inhibit" {
			w.add(`<g class="heads" fill="%s" stroke="%s" stroke-width="1.2">`+"\n%s</g>\n",
				w.behind(), style.colour, heads.String())
			continue
		}
		w.add(`<g class="heads" fill="%s">`+"\n%s</g>\n", style.colour, heads.String())
	}
	w.add(`<g class="arc-labels" font-size="9.5" text-anchor="middle" fill="%s" stroke="%s" stroke-width="3" `+
		`stroke-linejoin="round" paint-order="stroke">`+"\n", mutedColour, w.behind())
	for i := range routes {
		w.arcLabel(&routes[i])
	}
	w.add("</g>\n")
}

// headsOf draws the symbols at the ends of a route and shortens the route to make room for them.
func headsOf(r *route) string {
	p := r.points
	first, last := p[0], p[len(p)-1]
	right := last.x > p[len(p)-2].x // the last segment leads to the right
	switch {
	case r.edge.kind == petri.InhibitArc:
		r.trim(0, 2*ringRadius)
		return ring(last, right)
	case r.edge.kind == petri.ResetArc:
		r.trim(0, 2*headLength-1)
		return head(last, right) + head(back(last, right, headLength-1), right)
	case r.edge.both:
		toRight := p[1].x > first.x
		r.trim(headLength-1, headLength-1)
		return head(first, !toRight) + head(last, right)
	default:
		r.trim(0, headLength-1)
		return head(last, right)
	}
}

// back moves a point against the direction of an arc.
func back(p point, right bool, by float64) point {
	if right {
		by = -by
	}
	return point{p.x + by, p.y}
}

// head draws an arrowhead whose tip is at p.
func head(p point, right bool) string {
	b := back(p, right, headLength)
	return `<path d="M` + xy(p) + "L" + xy(point{b.x, b.y - headHalf}) + "L" + xy(point{b.x, b.y + headHalf}) + "z\"/>\n"
}

func ring(p point, right bool) string {
	c := back(p, right, ringRadius)
	return `<circle cx="` + num(c.x) + `" cy="` + num(c.y) + `" r="` + num(ringRadius) + "\"/>\n"
}

func (w *svgWriter) arcLabel(r *route) {
	if r.edge.label == "" {
		return
	}
	at := r.middle()
	w.add(`<text x="%s" y="%s">%s</text>`+"\n", num(at.x), num(at.y-3), escape(r.edge.label))
}

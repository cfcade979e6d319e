package dot

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"strconv"
	"strings"

	"github.com/voicegw/voicegw/petri"
)

// maxNodes limits the places and transitions of an SVG.
const maxNodes = 5000

// SVG returns the net as an SVG document. It returns an error if the net has more than 5,000 places
// and transitions, or if Options.Marking has the wrong length.
//
// A place is a group of class "place" with a circle, its name and a text of class "count"; further
// classes are env, output, final, keyed and marked. A transition is a group of class "transition",
// and "timed" if it waits, with a bar and its name. The attributes data-place and data-transition
// hold the qualified name. A smaller group with data-ref represents a place that is drawn
// elsewhere. Arcs are paths of class "arc" and one of input, read, inhibit and reset.
func SVG(p *petri.Program, o Options) ([]byte, error) {
	if n := len(p.Places()) + len(p.Transitions()); n > maxNodes {
		return nil, fmt.Errorf("dot: draw net %q: it has %d places and transitions; at most %d are allowed",
			p.Name(), n, maxNodes)
	}
	counts, err := marks(p, o.Marking)
	if err != nil {
		return nil, err
	}
	if o.Bare && o.Marking == nil {
		clear(counts)
	}
	list, width, height := lay(panels(p, o.ports(p)))
	w := &svgWriter{p: p, o: o, counts: counts, ports: o.ports(p), framed: len(list) > 1, width: width, height: height}
	for _, pn := range list {
		w.refs = w.refs || len(pn.far) > 0
	}
	w.open()
	for _, pn := range list {
		w.panel(pn)
	}
	w.close()
	return w.b.Bytes(), nil
}

type svgWriter struct {
	p             *petri.Program
	o             Options
	counts        []int
	framed        bool
	refs          bool // the drawing has references
	ports         map[int]bool
	width, height float64
	b             bytes.Buffer
}

func (w *svgWriter) add(format string, args ...any) { fmt.Fprintf(&w.b, format, args...) }

// escape makes text safe in elements and in quoted attributes.
func escape(s string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(s)) // writing to a Builder does not fail
	return b.String()
}

const (
	margin       = 12
	titleHeight  = 30
	legendHeight = 34
)

func (w *svgWriter) open() {
	top, bottom := float64(margin), float64(margin)
	if w.o.Title != "" {
		top += titleHeight
	}
	width := w.width + 2*margin
	if !w.o.Bare {
		bottom += legendHeight
		width = max(width, w.legendWidth()+2*margin)
	}
	height := w.height + top + bottom
	w.add(`<svg xmlns="http://www.w3.org/2000/svg" class="net" viewBox="0 0 %s %s" width="%s" height="%s" `+
		`font-family="system-ui,-apple-system,Segoe UI,Helvetica,Arial,sans-serif" font-size="11">`+"\n",
		num(width), num(height), num(width), num(height))
	w.add("<title>%s</title>\n", escape(titleOf(w.p, w.o)))
	if !w.o.Bare {
		w.add("<style>%s</style>\n", darkStyle)
		w.add(`<rect class="ground" width="100%%" height="100%%" fill="%s"/>`+"\n", groundColour)
	}
	if w.o.Title != "" {
		w.add(`<text class="heading" x="%d" y="%d" font-size="16" font-weight="600" fill="%s">%s</text>`+"\n",
			margin+4, margin+16, inkColour, escape(w.o.Title))
	}
	w.add(`<g transform="translate(%s %s)">`+"\n", num((width-w.width)/2), num(top))
}

func (w *svgWriter) close() {
	w.add("</g>\n")
	if !w.o.Bare {
		top := w.height + margin + legendHeight - 8
		if w.o.Title != "" {
			top += titleHeight
		}
		w.legend(top)
	}
	w.add("</svg>\n")
}

// panel draws a subnet: the frame, the arcs, then the nodes above them.
func (w *svgWriter) panel(pn *panel) {
	dy := float64(panelPad)
	w.add(`<g class="subnet" transform="translate(%s %s)">`+"\n", num(pn.x), num(pn.y))
	if w.framed {
		w.add(`<rect class="frame" width="%s" height="%s" rx="10" fill="%s" stroke="%s"/>`+"\n",
			num(pn.w), num(pn.h), frameColour, frameLine)
		w.add(`<text class="subnet-name" x="12" y="18" font-size="12" font-weight="600" fill="%s">%s</text>`+"\n",
			mutedColour, escape(pn.name()))
		dy += panelTitle
	}
	w.add(`<g transform="translate(%d %s)">`+"\n", panelPad, num(dy))
	w.arcs(pn)
	w.nodes(pn)
	w.add("</g></g>\n")
}

func (w *svgWriter) nodes(pn *panel) {
	w.add(`<g class="nodes" text-anchor="middle" fill="%s" stroke="%s" stroke-width="3" `+
		`stroke-linejoin="round" paint-order="stroke">`+"\n", inkColour, w.behind())
	for i := range pn.nodes {
		n := &pn.nodes[i]
		switch {
		case n.bend():
		case n.trans >= 0:
			w.transition(n)
		case n.ref:
			w.reference(n)
		default:
			w.place(n)
		}
	}
	w.add("</g>\n")
}

func (w *svgWriter) place(n *node) {
	p := &w.p.Places()[n.place]
	class, line := "place", lineColour
	switch {
	case w.ports[n.place]:
		class, line = class+" port", portColour
	case p.Env:
		class, line = class+" env", envColour
	case p.Out:
		class, line = class+" output", outputColour
	}
	if p.Final {
		class += " final"
	}
	count, fill := "", placeColour
	if c := w.counts[n.place]; c > 0 {
		class, count, fill = class+" marked", strconv.Itoa(c), markedColour
	}
	w.add(`<g id="place:%[1]s" class="%[2]s" data-place="%[1]s"><title>%[3]s</title>`,
		escape(p.Name), class, escape(w.describe(n.place)))
	w.shape(n, placeRadius, fmt.Sprintf(`fill="%s" stroke="%s" stroke-width="1.5"`, fill, line))
	if p.Final {
		w.add(`<circle cx="%s" cy="%s" r="%d" fill="none" stroke="%s" stroke-width="1"/>`,
			num(n.x), num(n.y), placeRadius-3, line)
	}
	if !w.ports[n.place] {
		w.crossing(p, n, line)
	}
	w.add(`<text class="count" x="%s" y="%s" font-weight="600" stroke="none">%s</text>`, num(n.x), num(n.y+4), count)
	w.label(n, placeRadius)
	w.add("</g>\n")
}

// shape draws the circle of a place or the square of a port.
func (w *svgWriter) shape(n *node, r float64, style string) {
	if w.ports[n.place] {
		r--
		w.add(`<rect x="%s" y="%s" width="%s" height="%[3]s" rx="4" %s/>`, num(n.x-r), num(n.y-r), num(2*r), style)
		return
	}
	w.add(`<circle cx="%s" cy="%s" r="%s" %s/>`, num(n.x), num(n.y), num(r), style)
}

// describe returns the tooltip of a place.
func (w *svgWriter) describe(place int) string {
	p := &w.p.Places()[place]
	if w.ports[place] {
		return p.Name + ": " + p.Type + ", shared with other parts"
	}
	return describePlace(p)
}

// crossing draws the short arrow that leads into the net or out of it.
func (w *svgWriter) crossing(p *petri.PlaceInfo, n *node, line string) {
	const near, far = placeRadius * 0.72, placeRadius*0.72 + 9
	tip := xy(point{n.x - near, n.y - near})
	switch {
	case p.Env:
		w.add(`<path class="crossing" d="M%s L%s M%s h-5 m5 0 v-5" fill="none" stroke="%s" stroke-width="1.5"/>`,
			xy(point{n.x - far, n.y - far}), tip, tip, line)
	case p.Out:
		w.add(`<path class="crossing" d="M%s L%s h-5 m5 0 v5" fill="none" stroke="%s" stroke-width="1.5"/>`,
			xy(point{n.x + near, n.y - near}), xy(point{n.x + far, n.y - far}), line)
	}
}

// reference draws a reference to a place that is drawn elsewhere.
func (w *svgWriter) reference(n *node) {
	p := &w.p.Places()[n.place]
	line := lineColour
	switch {
	case w.ports[n.place]:
		line = portColour
	case p.Env:
		line = envColour
	case p.Out:
		line = outputColour
	}
	w.add(`<g class="ref" data-ref="%s" fill="%s"><title>%s</title>`,
		escape(p.Name), mutedColour, escape(w.describe(n.place)))
	w.shape(n, refRadius, fmt.Sprintf(`fill="%s" stroke="%s" stroke-width="1" stroke-dasharray="3 2"`, frameColour, line))
	w.label(n, refRadius)
	w.add("</g>\n")
}

func (w *svgWriter) transition(n *node) {
	t := &w.p.Transitions()[n.trans]
	class, fill := "transition", barColour
	if !t.When.AtOnce() {
		class, fill = class+" timed", placeColour
	}
	w.add(`<g id="transition:%[1]s" class="%[2]s" data-transition="%[1]s"><title>%[3]s</title>`,
		escape(t.Name), class, escape(describeTransition(t)))
	w.add(`<rect x="%s" y="%s" width="%d" height="%s" rx="1.5" fill="%s" stroke="%s" stroke-width="1.5"/>`,
		num(n.x-barWidth/2), num(n.y-n.bar), barWidth, num(2*n.bar), fill, barColour)
	w.label(n, n.bar)
	w.add("</g>\n")
}

// label writes the name and the notes below a shape. A halo keeps arcs off the letters.
func (w *svgWriter) label(n *node, half float64) {
	y := n.y + half + labelGap + 8
	class := "label"
	if n.ref {
		class = "note"
	}
	w.add(`<text class="%s">`, class)
	for _, line := range n.lines {
		w.add(`<tspan x="%s" y="%s">%s</tspan>`, num(n.x), num(y), escape(line))
		y += lineHeight
	}
	w.add(`</text>`)
	if len(n.notes) == 0 {
		return
	}
	w.add(`<text class="note" font-size="9.5" fill="%s">`, mutedColour)
	for _, line := range n.notes {
		w.add(`<tspan x="%s" y="%s">%s</tspan>`, num(n.x), num(y), escape(line))
		y += lineHeight
	}
	w.add(`</text>`)
}

// behind returns the background colour of labels.
func (w *svgWriter) behind() string {
	if w.framed {
		return frameColour
	}
	return groundColour
}

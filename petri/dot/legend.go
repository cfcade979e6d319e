package dot

import (
	"unicode/utf8"

	"github.com/voicegw/voicegw/petri"
)

// symbol is an entry of the legend. The drawing takes 26 by 16 pixels, and its middle is at y = 0.
type symbol struct{ drawing, text string }

const symbolWidth = 26

// symbols returns the entries for the symbols that the drawing uses.
func (w *svgWriter) symbols() []symbol {
	var kinds [petri.OutArc + 1]bool
	var env, out, timed, atOnce bool
	for i := range w.p.Places() {
		if !w.ports[i] {
			env, out = env || w.p.Places()[i].Env, out || w.p.Places()[i].Out
		}
	}
	for i := range w.p.Transitions() {
		t := &w.p.Transitions()[i]
		timed, atOnce = timed || !t.When.AtOnce(), atOnce || t.When.AtOnce()
		for _, a := range t.Arcs {
			kinds[a.Kind] = true
		}
	}
	circle := func(line, dash string) string {
		return `<circle cx="13" cy="0" r="6.5" stroke-width="1.5" fill="` + placeColour +
			`" stroke="` + line + `"` + dash + `/>`
	}
	bar := func(fill string) string {
		return `<rect x="10" y="-8" width="6" height="16" rx="1.5" stroke-width="1.5" fill="` + fill +
			`" stroke="` + barColour + `"/>`
	}
	arc := func(colour, width, extra, end string) string {
		return `<path d="M2 0H17" fill="none" stroke="` + colour + `" stroke-width="` + width + `"` + extra + `/>` + end
	}
	tip := func(colour string) string {
		return `<g fill="` + colour + `">` + head(point{24, 0}, true) + `</g>`
	}
	var list []symbol
	add := func(used bool, drawing, text string) {
		if used {
			list = append(list, symbol{drawing, text})
		}
	}
	add(env, circle(envColour, ""), "from outside")
	add(out, circle(outputColour, ""), "to the outside")
	add(len(w.ports) > 0, `<rect x="7" y="-6" width="12" height="12" rx="3" stroke-width="1.5" fill="`+placeColour+
		`" stroke="`+portColour+`"/>`, "shared with other parts")
	add(w.refs, circle(lineColour, ` stroke-dasharray="3 2"`), "drawn elsewhere")
	add(atOnce, bar(barColour), "at once")
	add(timed, bar(placeColour), "waits")
	add(kinds[petri.ReadArc], arc(readColour, "1.2", ` stroke-dasharray="4 3"`, tip(readColour)), "needs, keeps")
	ring := `<circle cx="20.5" cy="0" r="3.5" fill="none" stroke="` + inhibitColour + `"/>`
	add(kinds[petri.InhibitArc], arc(inhibitColour, "1.2", "", ring), "only if empty")
	add(kinds[petri.ResetArc], arc(resetColour, "2.2", "", tip(resetColour)), "empties")
	return list
}

func (w *svgWriter) legendWidth() float64 {
	x := 0.0
	for _, s := range w.symbols() {
		x += s.width()
	}
	return x
}

func (s *symbol) width() float64 {
	return symbolWidth + 6 + float64(utf8.RuneCountInString(s.text))*charWidth + 14
}

// legend explains the symbols in a row at height y.
func (w *svgWriter) legend(y float64) {
	w.add(`<g class="legend" transform="translate(%d %s)">`+"\n", margin, num(y))
	x := 0.0
	for _, s := range w.symbols() {
		w.add(`<g transform="translate(%s 0)">%s<text x="%d" y="4" fill="%s">%s</text></g>`+"\n",
			num(x), s.drawing, symbolWidth+6, mutedColour, escape(s.text))
		x += s.width()
	}
	w.add("</g>\n")
}

package dot

import "math"

// Distances around panels, in pixels.
const (
	panelPad   = 16
	panelTitle = 20
	panelGap   = 16
	aspect     = 1.7 // target ratio of width to height
)

// lay lays out each panel and packs them. It folds panels that are too wide.
func lay(whole []*panel) (list []*panel, w, h float64) {
	for _, pn := range whole {
		list = append(list, pn.fold()...)
	}
	for _, pn := range list {
		pn.setOrder()
		pn.setCoords()
		pn.w += 2 * panelPad
		pn.h += 2 * panelPad
		if len(list) > 1 {
			pn.h += panelTitle
		}
	}
	w, h = pack(list)
	return list, w, h
}

// pack positions the panels in their order, so that the drawing has about the target ratio and
// little empty space.
func pack(list []*panel) (w, h float64) {
	widest, area := 0.0, 0.0
	for _, pn := range list {
		widest = max(widest, pn.w)
		area += pn.w * pn.h
	}
	best, bestWidth := math.Inf(1), widest
	for try := range 24 {
		width := max(widest, math.Sqrt(area*aspect)*(0.7+0.05*float64(try)))
		w, h := shelve(list, width)
		cost := w * h / area * (1 + 0.5*math.Abs(math.Log(w/h/aspect)))
		if cost < best-1e-9 {
			best, bestWidth = cost, width
		}
	}
	return shelve(list, bestWidth)
}

// shelve puts each panel at the highest, then leftmost position where it fits.
func shelve(list []*panel, width float64) (w, h float64) {
	for i, pn := range list {
		pn.x, pn.y = 0, math.Inf(1)
		for _, x := range corners(list[:i]) {
			if x+pn.w > width+0.5 {
				continue
			}
			if y := below(list[:i], x, pn.w); y < pn.y {
				pn.x, pn.y = x, y
			}
		}
		w, h = max(w, pn.x+pn.w), max(h, pn.y+pn.h)
	}
	return w, h
}

// corners returns the x coordinates at which a panel can begin, from left to right.
func corners(list []*panel) []float64 {
	out := []float64{0}
	for _, pn := range list {
		out = append(out, pn.x+pn.w+panelGap)
	}
	for i := 1; i < len(out); i++ {
		for j := i; j > 0 && out[j] < out[j-1]; j-- {
			out[j], out[j-1] = out[j-1], out[j]
		}
	}
	return out
}

// below returns the first free y coordinate below the panels between x and x+w.
func below(list []*panel, x, w float64) float64 {
	y := 0.0
	for _, pn := range list {
		if pn.x < x+w+panelGap && x < pn.x+pn.w+panelGap {
			y = max(y, pn.y+pn.h+panelGap)
		}
	}
	return y
}

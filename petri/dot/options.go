package dot

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/voicegw/voicegw/petri"
)

// Options says what a drawing shows. The zero value shows the initial marking.
type Options struct {
	// Marking is the token count of every slot. nil shows the initial marking or, in a Bare
	// drawing, no tokens, because the page draws them.
	Marking []int32
	// Title is the text above the drawing. Default: no title in SVG, the name of the net in DOT.
	Title string
	// Bare makes an SVG for embedding in a page: without background, legend and style sheet. The
	// page sets the colours with the CSS variables --net-ground, --net-ink and so on.
	Bare bool
	// Ports names the places that the net shares with nets outside the drawing. They and the
	// references to them are squares. Arcs to them, and to environment places and outputs, are kept
	// short.
	Ports []string
}

// ports returns the indexes of the places of Ports, or nil if there are none.
func (o Options) ports(p *petri.Program) map[int]bool {
	if len(o.Ports) == 0 {
		return nil
	}
	set := map[int]bool{}
	for _, name := range o.Ports {
		if i := p.Place(name); i >= 0 {
			set[i] = true
		}
	}
	return set
}

// marks returns the token count of every place.
func marks(p *petri.Program, marking []int32) ([]int, error) {
	if marking == nil {
		marking = p.Initial()
	}
	if len(marking) != p.Slots() {
		return nil, fmt.Errorf("dot: draw net %q: the marking has %d slots; the net has %d",
			p.Name(), len(marking), p.Slots())
	}
	counts := make([]int, len(p.Places()))
	for slot, n := range marking {
		counts[p.SlotPlace(slot)] += int(n)
	}
	return counts, nil
}

// arcLabel returns the label of an arc. It is "" for one token of any kind.
func arcLabel(t *petri.TransitionInfo, a *petri.ArcInfo) string {
	s := ""
	switch {
	case a.Kind == petri.ResetArc:
	case a.Kind == petri.InArc && a.All && a.Count == 1:
		s = "all"
	case a.Kind == petri.InArc && a.All, a.Kind == petri.ReadArc && a.All && a.Count > 1:
		s = "≥" + strconv.Itoa(a.Count)
	case a.Count > 1:
		s = strconv.Itoa(a.Count)
	}
	if a.Label != "" {
		s = join(s, " ", a.Label)
	}
	if a.Kind == petri.OutArc && branches(t) > 1 {
		s = join(strconv.Itoa(a.Branch), ": ", s)
	}
	return s
}

func join(a, sep, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + sep + b
}

// branches returns the number of alternatives of a transition's output.
func branches(t *petri.TransitionInfo) int {
	n := 0
	for i := range t.Modes {
		n = max(n, len(t.Modes[i].Branches))
	}
	return n
}

// layer returns the priority that needs no note: the most common one in a drawing with ports, and 0
// otherwise.
func layer(p *petri.Program, ports map[int]bool) int {
	if ports == nil {
		return 0
	}
	count, most := map[int]int{}, 0
	for i := range p.Transitions() {
		if t := &p.Transitions()[i]; t.When.AtOnce() {
			if count[t.Priority]++; count[t.Priority] > count[most] {
				most = t.Priority
			}
		}
	}
	return most
}

// waits returns the wait of a transition, and its priority if it is not the usual one. It returns
// "" if there is neither.
func waits(t *petri.TransitionInfo, usual int) string {
	s := ""
	if !t.When.AtOnce() {
		s = shortTimes(t.When.String())
	}
	if t.Priority != usual && t.When.AtOnce() {
		s = join(s, " ", "priority "+strconv.Itoa(t.Priority))
	}
	return s
}

var zeros = strings.NewReplacer("h0m0s", "h", "m0s", "m")

// shortTimes removes the zeros of whole minutes and hours: 30m0s becomes 30m.
func shortTimes(s string) string { return zeros.Replace(s) }

// transitionNotes returns the lines below the name of a transition.
func transitionNotes(t *petri.TransitionInfo, usual int) []string {
	var out []string
	if s := waits(t, usual); s != "" {
		out = append(out, s)
	}
	if n := branches(t); t.Free {
		out = append(out, "free choice")
	} else if n > 1 {
		out = append(out, "one of "+strconv.Itoa(n))
	}
	if t.Bump {
		out = append(out, "new generation")
	}
	return out
}

// placeNotes returns the lines below the name of a place.
func placeNotes(p *petri.PlaceInfo, plain bool) []string {
	switch {
	case plain, p.Out, p.Max == petri.MaxTokens:
		return nil
	case p.Env && p.Policy != petri.Refuse:
		return []string{"≤" + strconv.Itoa(p.Max), p.Policy.String()}
	}
	return []string{"≤" + strconv.Itoa(p.Max)}
}

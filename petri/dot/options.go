package dot

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/voicegw/voicegw/petri"
)

// Options say what a drawing shows.
type Options struct {
	// Marking is the token count of every slot. nil is the initial marking, and
	// no marking in a Bare drawing, where the page shows it.
	Marking []int32
	// Title stands above the drawing. Default: none in SVG, the net's name in
	// DOT.
	Title string
	// Bare leaves the background, the legend and the style sheet out of an SVG
	// that becomes part of a page, whose own style sheet then sets the colours:
	// see Style.
	Bare bool
	// Ports names places that the net shares with others it is drawn without.
	// They are squares, as is whatever stands for one, so that it can be seen
	// where others have a say; arcs to them, and to places of the environment,
	// are kept short.
	Ports []string
}

// ports are the places of Ports; nil if there are none.
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

// marks is the token count of every place.
func marks(p *petri.Program, marking []int32) ([]int, error) {
	if marking == nil {
		marking = p.Initial()
	}
	if len(marking) != p.Slots() {
		return nil, fmt.Errorf("dot: draw net %q: the marking has %d slots, the net %d", p.Name(), len(marking), p.Slots())
	}
	counts := make([]int, len(p.Places()))
	for slot, n := range marking {
		counts[p.SlotPlace(slot)] += int(n)
	}
	return counts, nil
}

// arcLabel is what stands beside an arc: "" for one token of any kind.
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

// branches is how many alternatives a transition's output has.
func branches(t *petri.TransitionInfo) int {
	n := 0
	for i := range t.Modes {
		n = max(n, len(t.Modes[i].Branches))
	}
	return n
}

// layer is the priority that is not worth a note: in a part of a net, drawn with
// its ports, the most common one, else 0.
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

// waits is how long a transition waits, and its rank if it is not the usual one;
// "" for neither.
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

// shortTimes leaves out the zeros of whole minutes and hours: 30m0s is 30m.
func shortTimes(s string) string {
	return strings.NewReplacer("h0m0s", "h", "m0s", "m").Replace(s)
}

// transitionNotes stand below the name of a transition.
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

// placeNotes stand below the name of a place, where it is not drawn plainly.
func placeNotes(p *petri.PlaceInfo, plain bool) []string {
	switch {
	case plain, p.Out, p.Max == petri.MaxTokens:
		return nil
	case p.Env && p.Policy != petri.Refuse:
		return []string{"≤" + strconv.Itoa(p.Max), p.Policy.String()}
	}
	return []string{"≤" + strconv.Itoa(p.Max)}
}

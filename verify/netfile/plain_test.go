package netfile

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/voicegw/voicegw/petri"
)

// plain is a random net in TINA's format, with weights, read and inhibitor arcs, intervals, and names
// that need braces.
func plain(seed uint64) string {
	r := rand.New(rand.NewPCG(seed, 3))
	var b strings.Builder
	places := []string{"p", "{q 1}", `{a\}b\\<&">}`, "tr", "{é}"}
	for _, p := range places {
		fmt.Fprintf(&b, "pl %s (%d)\n", p, r.IntN(4))
	}
	for i := range 1 + r.IntN(5) {
		fmt.Fprintf(&b, "tr {t %d} ", i)
		switch a := r.IntN(9); r.IntN(3) {
		case 0:
			fmt.Fprintf(&b, "[%d,%d]", a, a+1+r.IntN(3))
		case 1:
			fmt.Fprintf(&b, "[%d,w[", a)
		}
		for _, p := range places {
			if sign := []string{"", "*", "?", "?-"}[r.IntN(4)]; sign != "" {
				fmt.Fprintf(&b, " %s%s%d", p, sign, 1+r.IntN(5))
			}
		}
		b.WriteString(" ->")
		for _, p := range places {
			if r.IntN(2) == 0 {
				fmt.Fprintf(&b, " %s*%d", p, 1+r.IntN(3))
			}
		}
		b.WriteString("\n")
	}
	return b.String()
}

// said is all that a file says of a net, in one order; time if it is asked for.
func said(p *petri.Program, timed bool) string {
	var b strings.Builder
	for s, n := range p.Initial() {
		fmt.Fprintf(&b, "%s %d\n", p.SlotName(s), n)
	}
	for _, tr := range p.Transitions() {
		b.WriteString(tr.Name)
		if timed {
			fmt.Fprintf(&b, " %v", tr.When)
		}
		arcs := slices.Clone(tr.Arcs)
		slices.SortFunc(arcs, func(x, y petri.ArcInfo) int {
			return cmp.Or(cmp.Compare(x.Kind, y.Kind), cmp.Compare(x.Place, y.Place))
		})
		for _, a := range arcs {
			fmt.Fprintf(&b, " %v:%s*%d", a.Kind, p.Places()[a.Place].Name, a.Count)
		}
		b.WriteString("\n")
	}
	return b.String()
}

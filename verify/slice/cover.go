package slice

import (
	"slices"

	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/verify/netmodel"
	"github.com/voicegw/voicegw/verify/structure"
)

// MayOverflow lists the entries of Uncovered that may exceed a capacity, as far as the structure of
// the net shows. It leaves out deliveries for which there is always room: the transition empties
// the place, waits for room there or takes as much as it puts; a flow bounds the place; or other
// transitions always empty it first.
//
// If nothing may overflow and every slice keeps its capacities, so does the whole net: the first
// firing that exceeds a capacity is neither in a slice nor one for which there is always room.
func MayOverflow(prog *petri.Program, parts ...*petri.Program) []string {
	var out []string
	capacities := structure.NewCapacities(netmodel.New(prog, netmodel.RunToCompletion))
	uncovered := Uncovered(prog, parts...)
	for i, t := range prog.Transitions() {
		alone := slices.Contains(uncovered, t.Name)
		for _, a := range t.Arcs {
			d := delivery(prog, t.Name, a)
			if d == "" || prog.Places()[a.Place].Out || !alone && !slices.Contains(uncovered, d) || slices.Contains(out, d) {
				continue
			}
			if !capacities.NeverOverflows(int32(i), a.Place) {
				out = append(out, d)
			}
		}
	}
	return out
}

// Uncovered lists what none of several slices covers: "T to P" for a transition that produces at a
// place if no slice has both the place and the transition exactly, and transitions that no slice
// has exactly.
//
// Slices prove facts about their own transitions alone, such as that none exceeds a capacity. If
// nothing is uncovered, these facts hold for the whole net: the first firing of the whole net that
// violates one belongs to a slice that has it, and until then that slice did what the whole net
// did.
func Uncovered(prog *petri.Program, parts ...*petri.Program) []string {
	covered := map[string]bool{}
	for _, s := range parts {
		for _, t := range s.Transitions() {
			if s.Whole() != prog || t.Projected {
				continue
			}
			covered[t.Name] = true
			for _, a := range t.Arcs {
				covered[delivery(s, t.Name, a)] = true
			}
		}
	}
	var out []string
	for _, t := range prog.Transitions() {
		if !covered[t.Name] {
			out = append(out, t.Name)
			continue
		}
		for _, a := range t.Arcs {
			if a.Kind == petri.OutArc && !prog.Places()[a.Place].Out && !covered[delivery(prog, t.Name, a)] {
				out = append(out, delivery(prog, t.Name, a))
			}
		}
	}
	return out
}

func delivery(p *petri.Program, transition string, a petri.ArcInfo) string {
	if a.Kind != petri.OutArc {
		return ""
	}
	return transition + " to " + p.Places()[a.Place].Name
}

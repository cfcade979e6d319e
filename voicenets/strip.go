package voicenets

import "github.com/voicegw/voicegw/petri"

// strip removes places that a mode does not have: as ports, and from the
// inhibitor and reset arcs that would only ever see them empty.
func strip(n *petri.Net, drop ...petri.AnyPlace) *petri.Net {
	gone := map[string]bool{}
	for _, p := range drop {
		gone[p.String()] = true
	}
	n.Ports = keep(n.Ports, func(p petri.AnyPlace) bool { return !gone[p.String()] })
	n.Caps = keep(n.Caps, func(c petri.Cap) bool { return !gone[c.Place.String()] })
	for i := range n.Transitions {
		t := &n.Transitions[i]
		stays := func(a petri.AnyArc) bool { return !gone[petri.ArcPlace(a).String()] }
		t.Inhibit = keep(t.Inhibit, stays)
		t.Reset = keep(t.Reset, stays)
	}
	return n
}

// keep lists the elements that ok accepts.
func keep[S ~[]E, E any](list S, ok func(E) bool) S {
	var kept S
	for _, e := range list {
		if ok(e) {
			kept = append(kept, e)
		}
	}
	return kept
}

// Package prune removes from nets what can never happen once they are composed.
package prune

import "github.com/voicegw/voicegw/petri"

// Prune leaves out of subnets what can never happen in their composition, because a mode, or a
// part, that would make it happen is not there: transitions that need a token nobody makes, and the
// inhibitor and reset arcs, limits and ports of places that are never marked. So each subnet is
// written once, for all that it can do.
func Prune(nets []*petri.Net) []*petri.Net {
	for {
		made := Marked(nets)
		removed := false
		for i, n := range nets {
			alive := func(t petri.Transition) bool {
				return all(t.In, n, made) && all(t.Read, n, made)
			}
			kept := Keep(n.Transitions, alive)
			if len(kept) < len(n.Transitions) {
				removed = true
			}
			small := *n
			small.Transitions = kept
			nets[i] = &small
		}
		if !removed {
			for i, n := range nets {
				nets[i] = Forget(n, made)
			}
			return nets
		}
	}
}

// PlaceName names a place of a subnet in the composition.
func PlaceName(n *petri.Net, p petri.AnyPlace) string {
	for _, port := range n.Ports {
		if port.String() == p.String() {
			return p.String()
		}
	}
	return n.Name + "/" + p.String()
}

// Marked are the places that may be marked some time.
func Marked(nets []*petri.Net) map[string]bool {
	made := map[string]bool{}
	for _, n := range nets {
		for _, t := range n.Init {
			made[n.Name+"/"+t.Place()] = true
			made[t.Place()] = true
		}
		for _, e := range n.Env {
			made[PlaceName(n, e.Place)] = true
		}
		for _, t := range n.Transitions {
			for _, a := range t.Out.Arcs() {
				made[PlaceName(n, petri.ArcPlace(a))] = true
			}
		}
	}
	return made
}

func all(arcs petri.Arcs, n *petri.Net, made map[string]bool) bool {
	for _, a := range arcs {
		if !made[PlaceName(n, petri.ArcPlace(a))] {
			return false
		}
	}
	return true
}

// Forget drops what speaks of places that are never marked, and outputs nobody uses.
func Forget(n *petri.Net, made map[string]bool) *petri.Net {
	there := func(a petri.AnyArc) bool { return made[PlaceName(n, petri.ArcPlace(a))] }
	small := *n
	small.Transitions = append([]petri.Transition(nil), n.Transitions...)
	used := map[string]bool{}
	use := func(arcs petri.Arcs) {
		for _, a := range arcs {
			used[petri.ArcPlace(a).String()] = true
		}
	}
	for i := range small.Transitions {
		t := &small.Transitions[i]
		t.Inhibit, t.Reset = Keep(t.Inhibit, there), Keep(t.Reset, there)
		use(t.In)
		use(t.Read)
		use(t.Inhibit)
		use(t.Reset)
		use(t.Out.Arcs())
	}
	mentioned := func(p petri.AnyPlace) bool { return used[p.String()] }
	small.Out = Keep(n.Out, func(o petri.Output) bool { return mentioned(o.Place) })
	small.Caps = Keep(n.Caps, func(c petri.Cap) bool { return there(c.Place) && mentioned(c.Place) })
	small.Ports = Keep(n.Ports, func(p petri.AnyPlace) bool {
		return mentioned(p) || n.Final != nil && n.Final.String() == p.String()
	})
	return &small
}

// Keep lists the elements that ok accepts.
func Keep[S ~[]E, E any](list S, ok func(E) bool) S {
	var kept S
	for _, e := range list {
		if ok(e) {
			kept = append(kept, e)
		}
	}
	return kept
}

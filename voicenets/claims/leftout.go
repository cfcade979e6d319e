package claims

import (
	"slices"
	"strings"

	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/verify"
	vclaim "github.com/voicegw/voicegw/verify/claim"
	"github.com/voicegw/voicegw/voicenets"
	"github.com/voicegw/voicegw/voicenets/internal/prune"
)

// proofsOf lists the properties to prove of a session: those of Proofs without claims about the
// inside of a part that Config.Parts leaves out. A replacement for a part must have the places and
// transitions that the claims name; otherwise the session is refused.
func proofsOf(c voicenets.Config, closed *petri.Program) []verify.Part {
	if c.LeavesOut(voicenets.PartPrompts) {
		c.Prompts = 0
	}
	list, gone := Proofs(c, closed), gone(c, closed)
	for i := range list {
		list[i].Props = slices.DeleteFunc(list[i].Props, func(p *verify.Property) bool {
			return slices.ContainsFunc(vclaim.Names(p.Claim), func(name string) bool { return gone[name] })
		})
	}
	return list
}

// gone lists the names of transitions and places that only left-out parts have.
func gone(c voicenets.Config, closed *petri.Program) map[string]bool {
	if full, err := c.Filled(); err == nil {
		c = full
	}
	gone := map[string]bool{}
	for _, p := range ownParts(c) {
		if !c.LeavesOut(p.name) {
			continue
		}
		for _, t := range p.net.Transitions {
			gone[t.Name] = true
			for _, a := range slices.Concat(t.In, t.Read, t.Out.Arcs()) {
				gone[petri.ArcPlace(a).String()] = true
			}
		}
	}
	for _, p := range closed.Places() {
		delete(gone, lastPart(p.Name))
	}
	for _, t := range closed.Transitions() {
		delete(gone, lastPart(t.Name))
	}
	return gone
}

// lastPart is a qualified name without the names of its nets.
func lastPart(name string) string { return name[strings.LastIndexByte(name, '/')+1:] }

// heard removes from automata what they send to places that the session lacks because it leaves a
// part out.
func heard(automata []*petri.Net, session *petri.Net) []*petri.Net {
	has := map[string]bool{}
	for _, n := range session.Nets {
		for _, e := range n.Env {
			has[e.Place.String()] = true
		}
	}
	for i, a := range automata {
		small := *a
		small.Transitions = prune.Keep(a.Transitions, func(t petri.Transition) bool {
			return !slices.ContainsFunc(placesOf(t.Out.Arcs()), func(p petri.AnyPlace) bool { return !has[p.String()] })
		})
		used := mentions(&small)
		small.Ports = prune.Keep(a.Ports, func(p petri.AnyPlace) bool { return used[p.String()] })
		small.Init = prune.Keep(a.Init, func(t petri.Token) bool { return used[t.Place()] })
		automata[i] = &small
	}
	return prune.Keep(automata, func(a *petri.Net) bool { return len(a.Transitions) > 0 })
}

package voicenets

import (
	"regexp"
	"slices"
	"strings"

	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/verify"
)

// proofsOf is what is to be proved of a session: Proofs but for claims that speak
// of the inside of a part which Config.Parts leaves out, because what is not
// there does nothing wrong. One who puts a part of their own in its place has to
// give it the places and transitions that claims speak of, or the session is
// refused.
func proofsOf(c Config, closed *petri.Program) []verify.Part {
	if c.lacks(PartPrompts) {
		c.Prompts = 0
	}
	list, gone := Proofs(c, closed), c.gone(closed)
	for i := range list {
		list[i].Props = slices.DeleteFunc(list[i].Props, func(p *verify.Property) bool {
			return slices.ContainsFunc(word.FindAllString(p.Expr, -1), func(w string) bool { return gone[w] })
		})
	}
	return list
}

// word is a name in an expression.
var word = regexp.MustCompile(`[a-z][a-z_0-9]*`)

// gone are the names of transitions and places that only parts which are left out
// have.
func (c Config) gone(closed *petri.Program) map[string]bool {
	if full, err := c.withDefaults(); err == nil {
		c = full
	}
	gone := map[string]bool{}
	for _, p := range parts(c) {
		if !c.lacks(p.name) {
			continue
		}
		for _, t := range p.net(c).Transitions {
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

// lastPart is a qualified name without the nets it is in.
func lastPart(name string) string { return name[strings.LastIndexByte(name, '/')+1:] }

// heard are automata without what they send to places that the session does not
// have, because the part that would take it is left out.
func heard(automata []*petri.Net, session *petri.Net) []*petri.Net {
	has := map[string]bool{}
	for _, n := range session.Nets {
		for _, e := range n.Env {
			has[e.Place.String()] = true
		}
	}
	for i, a := range automata {
		small := *a
		small.Transitions = keep(a.Transitions, func(t petri.Transition) bool {
			return !slices.ContainsFunc(placesOf(t.Out.Arcs()), func(p petri.AnyPlace) bool { return !has[p.String()] })
		})
		used := mentions(&small)
		small.Ports = keep(a.Ports, func(p petri.AnyPlace) bool { return used[p.String()] })
		small.Init = keep(a.Init, func(t petri.Token) bool { return used[t.Place()] })
		automata[i] = &small
	}
	return keep(automata, func(a *petri.Net) bool { return len(a.Transitions) > 0 })
}

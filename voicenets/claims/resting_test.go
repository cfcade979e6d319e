package claims

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/verify"
	"github.com/voicegw/voicegw/voicenets"
)

// TestNothingIsLeftBehind: of every kind of session it is proved that nothing is left behind, place
// by place; no place is excused that no session has.
func TestNothingIsLeftBehind(t *testing.T) {
	unused, list := outlasting(4), variants()
	for name, c := range list {
		list[name] = small(c)
	}
	for name, p := range proveAll(t, list) {
		if err := p.Err(); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		left := 0
		for _, claim := range p.Claims {
			if strings.HasPrefix(claim.Property.Name, "left-") {
				left++
			}
		}
		if left < 35 {
			t.Errorf("%s: %d claims", name, left)
		}
		n, err := Hostile(list[name])
		for _, place := range compile(t, n, err).Places() {
			delete(unused, lastPart(place.Name))
		}
	}
	for place := range unused {
		t.Errorf("no session has the place %s", place)
	}
}

// TestStrandedToken: a part that leaves something lying is refused, as is a timer that is not set.
func TestStrandedToken(t *testing.T) {
	for part, change := range map[voicenets.Part]func(*petri.Net){
		voicenets.PartInputGate: func(n *petri.Net) { drop(n, "unhold_again") },
		voicenets.PartDigits: func(n *petri.Net) { // on hold its time stands still
			i := slices.IndexFunc(n.Transitions, func(t petri.Transition) bool { return t.Name == "time_out_entry" })
			n.Transitions[i].Inhibit = slices.Concat(n.Transitions[i].Inhibit, petri.Arcs{voicenets.Held})
			if !slices.ContainsFunc(n.Ports, func(p petri.AnyPlace) bool { return p.String() == string(voicenets.Held) }) {
				n.Ports = append(slices.Clone(n.Ports), voicenets.Held)
			}
		},
	} {
		s, c := mutated(), mutated()
		session, err := voicenets.Session(s)
		if err != nil {
			t.Fatal(err)
		}
		for i, n := range session.Nets {
			if n.Name == string(part) {
				changed := *n
				changed.Transitions = slices.Clone(n.Transitions)
				change(&changed)
				session.Nets[i] = &changed
			}
		}
		list, err := Prover{}.prove(context.Background(), []*petri.Net{session}, []voicenets.Config{c})
		if err != nil {
			t.Errorf("%s: %v", part, err)
			continue
		}
		if !slices.ContainsFunc(list[0].Claims, func(c Claim) bool {
			return strings.HasPrefix(c.Property.Name, "left-") && c.Outcome != verify.Proved
		}) {
			t.Errorf("%s leaves something behind, and nothing says so: %v", part, list[0].Err())
		}
	}
}

// drop takes a transition out of a net.
func drop(n *petri.Net, name string) {
	n.Transitions = slices.DeleteFunc(n.Transitions, func(t petri.Transition) bool { return t.Name == name })
}

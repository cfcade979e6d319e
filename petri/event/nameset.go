package event

import (
	"strings"

	"github.com/voicegw/voicegw/petri"
)

// NameSet holds the names of places and transitions. The zero value is empty and cannot be added to.
type NameSet map[string]bool

// Add adds the names of a program's places and transitions.
func (s NameSet) Add(p *petri.Program) {
	for i := range p.Places() {
		s[plain(p.Places()[i].Name)] = true
	}
	for i := range p.Transitions() {
		s[plain(p.Transitions()[i].Name)] = true
	}
}

// Other reads up to n events of an archive and returns the name of the first place or transition that
// s lacks. It returns "" if s has them all, and stops at a damaged line.
func (s NameSet) Other(r *Reader, n int) string {
	for range n {
		if _, err := r.Next(); err != nil {
			return ""
		}
		if name := plain(r.Name()); name != "" && !s[name] {
			return name
		}
	}
	return ""
}

// plain returns the name of a place without the slot, and of a transition without mode and branch: see
// petri.PlaceInfo.SlotName and petri.Program.FiringName.
func plain(name string) string {
	name, _, _ = strings.Cut(name, " ")
	name, _, _ = strings.Cut(name, "[")
	return name
}

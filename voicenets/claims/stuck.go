package claims

import (
	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/verify"
	"github.com/voicegw/voicegw/voicenets"
)

// neverStuck claims that a call cannot get stuck (V11). One timer ends it. The timer looks at no
// place, so it runs from the start of the call in every marking. Only the end of the call disables
// it, and nothing restarts it. A claim of the slice "call" states the same about markings. The
// length of the wait is a separate claim, and V1-chains shows that time goes on.
func neverStuck() *verify.Property {
	return ofProgram("V11-stuck", "No marking and no firing before the end disables or restarts the timer that ends "+
		"the longest call: the call is not stuck, even if nothing comes from outside any more.",
		func(p *petri.Program) []string {
			var out []string
			found := false
			for _, t := range p.Transitions() {
				if lastPart(t.Name) != "end_longest_call" {
					continue
				}
				found = true
				for _, a := range t.Arcs {
					if a.Kind == petri.InArc || a.Kind == petri.ReadArc || a.Kind == petri.InhibitArc {
						out = append(out, t.Name+" waits for "+p.Places()[a.Place].Name)
					}
				}
				if !hasPut(p, t, string(voicenets.CallEnded), "") {
					out = append(out, t.Name+" does not end the call")
				}
				if t.When.AtOnce() || !t.When.Point() && t.When != petri.Anytime() {
					out = append(out, t.Name+" fires "+t.When.String())
				}
			}
			if !found {
				out = append(out, "there is no end_longest_call")
			}
			return out
		})
}

package claims

import (
	"slices"
	"testing"

	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/verify"
	vclaim "github.com/voicegw/voicegw/verify/claim"
	"github.com/voicegw/voicegw/verify/explore"
	"github.com/voicegw/voicegw/voicenets"
)

// TestStuckCall: in the slice "call" the timer that ends the longest call always runs; where it
// waits for quiet, or for a place outside of that slice, it does not, and markings show it.
func TestStuckCall(t *testing.T) {
	for name, test := range map[string]struct {
		change func(*petri.Transition)
		stuck  bool
	}{
		"ours":     {func(*petri.Transition) {}, false},
		"busy":     {func(t *petri.Transition) { t.Inhibit = petri.Arcs{voicenets.Replying} }, true},
		"speaking": {func(t *petri.Transition) { t.Inhibit = petri.Arcs{voicenets.Speaking} }, true},
	} {
		c := mutated()
		session, err := voicenets.Session(c)
		if err != nil {
			t.Fatal(err)
		}
		for i, n := range session.Nets {
			if n.Name != string(voicenets.PartCall) {
				continue
			}
			changed := *n
			changed.Transitions = slices.Clone(n.Transitions)
			for k := range changed.Transitions {
				if changed.Transitions[k].Name == "end_longest_call" {
					test.change(&changed.Transitions[k])
				}
			}
			session.Nets[i] = &changed
		}
		o, err := obligationsOf(session, c)
		if err != nil {
			t.Fatal(err)
		}
		i := slices.IndexFunc(o.parts, func(p verify.Part) bool { return p.Name == "call" })
		models, err := verify.Models(o.relaxed, o.each, o.parts[i])
		if err != nil {
			t.Fatal(err)
		}
		k := slices.IndexFunc(o.parts[i].Props, func(p *verify.Property) bool { return p.Name == "V11-longest" })
		bad, err := vclaim.BadMarkings(o.parts[i].Props[k].Claim, models[0])
		if err != nil {
			t.Fatal(err)
		}
		g, err := explore.ExploreModel(t.Context(), models[0], explore.Options{})
		if err != nil {
			t.Fatal(err)
		}
		stuck := false
		g.Each(func(_ int, m []int32) bool { stuck = stuck || bad(slices.Clone(m)); return true })
		if stuck != test.stuck || !g.Complete {
			t.Errorf("%s: stuck: %t, want %t, in %d markings", name, stuck, test.stuck, g.States())
		}
	}
}

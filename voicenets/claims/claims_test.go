package claims

import (
	"slices"
	"strings"
	"testing"

	"github.com/voicegw/voicegw/verify/netmodel"
)

// TestClaimsNames: claims name nothing that no session has.
func TestClaimsNames(t *testing.T) {
	full := mutated()
	full.Consent, full.GreetingFirm = true, true
	n, err := Hostile(full)
	p := compile(t, n, err)
	m := netmodel.New(p, netmodel.RunToCompletion)
	known := []string{"+hint[real_speech]", "be_asked_anew", "+ending[caller_silent]", "bump"}
	for _, r := range claimed(full) {
		for _, c := range r.moves {
			if err := c.move(r.part).Strict(m); err != nil &&
				!slices.ContainsFunc(known, func(k string) bool { return strings.Contains(err.Error(), k) }) {
				t.Error(err)
			}
		}
	}
}

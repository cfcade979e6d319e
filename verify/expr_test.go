package verify

import (
	"strings"
	"testing"

	"github.com/voicegw/voicegw/verify/netmodel"
)

// TestExprOverflow: a sum that could exceed what is counted is refused, by name; one that cannot is
// exact.
func TestExprOverflow(t *testing.T) {
	p := compile(t, imported(many("p", 100), classic("go", arcs("p"), arcs("q"))))
	m := netmodel.New(p, netmodel.RunToCompletion)
	for _, text := range []string{"100000000000000000*p >= 1", "100000000000000*p >= 1",
		"1 < 40000000000000*p + 40000000000000*q"} {
		if _, err := m.Bind(text); err == nil || !strings.Contains(err.Error(), "may exceed") {
			t.Errorf("%s: %v", text, err)
		}
		if _, err := Run(t.Context(), p, Config{}, Never(text)); err == nil {
			t.Errorf("never %s is answered", text)
		}
	}
	c, err := m.Bind("70368744177663*p == 7036874417766300") // 2^46 - 1, the largest factor
	if err != nil || !c.Holds(p.Initial()) {
		t.Errorf("the largest sum: %v", err)
	}
}

package walk

import (
	"fmt"

	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/verify/netmodel"
)

// Describe renders a fault.
func Describe(m *netmodel.Model, f Fault) string {
	if f.Kind == Endless {
		return fmt.Sprintf("more than %d firings at one instant; then %s", petri.MaxChain, m.Name(f.Step))
	}
	p := &m.Places[f.Place]
	return fmt.Sprintf("%s exceeds the capacity of %s, %d", m.Name(f.Step), p.Name, p.Max)
}

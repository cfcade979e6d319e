package verify

import (
	"fmt"
	"slices"

	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/verify/netmodel"
)

// EndStops says that no transition of the net fires once the place that ends the run is marked. The
// place is the net's final place, or it inhibits every transition. The transitions in except may
// still fire (named in full or by their last parts), and so may those of environment automata.
func EndStops(place string, except ...string) *Property {
	doc := "once the place is marked nothing fires"
	return structural("end stops "+place, doc, func(m *netmodel.Model) ([]string, error) {
		b := &netmodel.Names{Model: m}
		slots := b.Slots(place)
		if b.Err != nil {
			return nil, b.Err
		}
		at := int(m.SlotPlace[slots[0]])
		if m.Places[at].Final {
			return nil, nil
		}
		var out []string
		for t := range m.Transitions {
			info := &m.Transitions[t]
			if info.Outside || netmodel.NamedBy(except, info.Name) || slices.ContainsFunc(info.Arcs, func(a petri.ArcInfo) bool {
				return a.Kind == petri.InhibitArc && a.Place == at && a.Count == 1 && a.Label == ""
			}) {
				continue
			}
			out = append(out, fmt.Sprintf("%s fires although %s is marked", info.Name, m.Places[at].Name))
		}
		return out, nil
	})
}

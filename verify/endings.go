package verify

import (
	"fmt"
	"slices"

	"github.com/voicegw/voicegw/petri"
)

// EndStops says that nothing of the net fires once a place that ends the run is
// marked: it is the net's final place, or it inhibits every transition, those
// excepted that may still fire (in full or by their last parts), and those of
// automata of the environment.
func EndStops(place string, except ...string) *Property {
	return structural("end stops "+place, "once the place is marked nothing fires", func(m *Model) ([]string, error) {
		b := &binder{m: m}
		slots := b.slots(place)
		if b.err != nil {
			return nil, b.err
		}
		at := int(m.slotPlace[slots[0]])
		if m.places[at].Final {
			return nil, nil
		}
		var out []string
		for t := range m.transitions {
			info := &m.transitions[t]
			if info.Outside || kept(except, info.Name) || slices.ContainsFunc(info.Arcs, func(a petri.ArcInfo) bool {
				return a.Kind == petri.InhibitArc && a.Place == at && a.Count == 1 && a.Label == ""
			}) {
				continue
			}
			out = append(out, fmt.Sprintf("%s fires although %s is marked", info.Name, m.places[at].Name))
		}
		return out, nil
	})
}

// Fallback says of each of the places, from which messages are told apart, that
// whatever lies there can be taken, whatever else is so: every kind of token is
// accepted by some at-once transition that looks at nothing but that one token.
// It is the branch for what no other branch knows.
func Fallback(places ...string) *Property {
	doc := "each kind of token has a branch that always takes it"
	return structural("fallback", doc, func(m *Model) ([]string, error) {
		b := &binder{m: m}
		var out []string
		for _, name := range places {
			for _, s := range b.slots(name) {
				if !m.alwaysTaken(int32(s)) {
					out = append(out, fmt.Sprintf("nothing takes %s in every state", m.slotName[s]))
				}
			}
		}
		return out, b.err
	})
}

// alwaysTaken reports whether a token in a slot enables, by itself, an at-once
// transition that takes it.
func (m *Model) alwaysTaken(slot int32) bool {
	return slices.ContainsFunc(m.modes, func(md mode) bool {
		if m.rank[md.t] < 0 || !md.takes(slot) {
			return false
		}
		for _, b := range md.needs.Bounds {
			if b.Slot != slot || b.Min > 1 || b.Max <= petri.MaxTokens {
				return false
			}
		}
		return !slices.ContainsFunc(md.needs.Sums, func(c petri.Cond) bool {
			return c.Min > 1 || c.Max > 0 || !slices.Contains(c.Slots, slot)
		})
	})
}

// takes reports whether a mode takes from a slot, or all of it.
func (md *mode) takes(slot int32) bool {
	return slices.Contains(md.empty, slot) || slices.ContainsFunc(md.take,
		func(c petri.Count) bool { return c.Slot == slot })
}

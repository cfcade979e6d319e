package verify

import (
	"fmt"
	"slices"
	"strings"

	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/verify/claim"
	"github.com/voicegw/voicegw/verify/netmodel"
	"github.com/voicegw/voicegw/verify/witness"
)

// carried turns a verdict on a slice into a verdict on the whole net.
func carried(m *netmodel.Model, prop *Property, v Verdict) Verdict {
	whole := m.Program().Whole()
	switch {
	case whole == nil || v.Outcome == Unknown:
		return v
	case claim.ScopeOf(prop.Claim) != claim.Runs && claim.ScopeOf(prop.Claim) != claim.Local:
		u := unknown(v.Method, Unsupported,
			"it is %s in the slice %s, which says nothing about %s: a slice may move where the whole net does not",
			v.Outcome, m.Program().Name(), whole.Name())
		u.States = v.States
		return u
	case v.Outcome == Refuted:
		u := unknown(v.Method, Sliced, "in the slice %s, which may do more than %s: %s", m.Program().Name(), whole.Name(),
			v.Reason)
		u.States, u.Witness = v.States, v.Witness
		if moved := assumed(m, v.Witness); len(moved) > 0 {
			u.Reason += "; on the way it is assumed that these may move: " + strings.Join(moved, ", ")
		}
		return u
	}
	return v
}

// assumed lists the projected moves of a witness. Each entry names the places outside the slice
// that the original transition depends on: these show what the slice lacks.
func assumed(m *netmodel.Model, w *witness.Witness) []string {
	if w == nil {
		return nil
	}
	var out []string
	for _, f := range w.Firings {
		info := &m.Transitions[f.Step.Transition]
		if !info.Projected {
			continue
		}
		line := fmt.Sprintf("%s (without %s)", info.Name, strings.Join(unseen(m, strings.TrimSuffix(info.Name, "*")), " "))
		if !slices.Contains(out, line) {
			out = append(out, line)
		}
	}
	return out
}

// unseen lists the places that a transition of the whole net consumes from, reads or empties and
// that the slice does not have.
func unseen(m *netmodel.Model, transition string) []string {
	whole := m.Program().Whole()
	ts := whole.Transitions()
	i := slices.IndexFunc(ts, func(t petri.TransitionInfo) bool { return t.Name == transition })
	var out []string
	for _, a := range ts[i].Arcs {
		name := whole.Places()[a.Place].Name
		if a.Kind != petri.OutArc && m.Program().Place(name) < 0 && !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out
}

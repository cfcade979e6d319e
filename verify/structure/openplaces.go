package structure

import (
	"slices"

	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/verify/netmodel"
)

// OpenPlaces lists the environment places that decide something and that no environment automaton
// fills. For a place that an automaton fills, it lists the kinds of token that are missing: "line",
// or "line[hang_up]". Tokens that the net itself puts there do not count. A kind is missing if no
// automaton sends it, in any generation, and some transition of the net reads no kind that an
// automaton sends.
func OpenPlaces(m *netmodel.Model) []string {
	if whole := m.Program().Whole(); whole != nil {
		return OpenPlaces(netmodel.New(whole, m.Semantics))
	}
	filled, looks := filledFromOutside(m), looksOf(m)
	var out []string
	for i := range m.Places {
		p := &m.Places[i]
		if !p.Env || p.Payload {
			continue
		}
		if !slices.Contains(filled[p.Slot:p.Slot+p.Slots], true) {
			out = append(out, p.Name)
			continue
		}
		sent := slices.Clone(filled[p.Slot : p.Slot+p.Slots])
		for s := 0; p.Gen && s < p.Slots; s += 2 {
			sent[s] = sent[s] || sent[s+1]
			sent[s+1] = sent[s]
		}
		out = append(out, missing(m, p, looks, sent)...)
	}
	return out
}

// looksOf lists the slots on which each transition depends, in ascending order.
func looksOf(m *netmodel.Model) [][]int32 {
	looks := make([][]int32, len(m.Program().Transitions()))
	for t := range looks {
		for i := m.First[t]; i < m.First[t+1]; i++ {
			looksAt(&m.Modes[i], func(slot int32) { looks[t] = append(looks[t], slot) })
		}
		slices.Sort(looks[t])
		looks[t] = slices.Compact(looks[t])
	}
	return looks
}

// missing lists the kinds of token of a place for which some transition waits in vain. looks lists
// the slots on which each transition depends.
func missing(m *netmodel.Model, p *petri.PlaceInfo, looks [][]int32, sent []bool) []string {
	vain := make([]bool, p.Slots)
	for t, at := range looks {
		first, _ := slices.BinarySearch(at, int32(p.Slot))
		end, _ := slices.BinarySearch(at, int32(p.Slot+p.Slots))
		here := at[first:end]
		if m.Outside(int32(t)) || slices.ContainsFunc(here, func(s int32) bool { return sent[int(s)-p.Slot] }) {
			continue
		}
		for _, s := range here {
			vain[int(s)-p.Slot] = true
		}
	}
	var out []string
	for k, is := range vain {
		if is && (!p.Gen || k%2 == 0) {
			out = append(out, m.SlotName[p.Slot+k])
		}
	}
	return out
}

// looksAt calls fn for the slots on which a mode depends.
func looksAt(md *netmodel.Mode, fn func(slot int32)) {
	for _, b := range md.Needs.Bounds {
		fn(b.Slot)
	}
	for _, c := range md.Needs.Sums {
		for _, s := range c.Slots {
			fn(s)
		}
	}
	for _, s := range md.Empty {
		fn(s)
	}
}

// filledFromOutside marks the slots into which some automaton puts tokens.
func filledFromOutside(m *netmodel.Model) []bool {
	filled := make([]bool, m.Slots())
	for i := range m.Modes {
		md := &m.Modes[i]
		for b := range md.Branches {
			if !m.Outside(md.Transition) || md.Choice >= 0 && int(md.Choice) != b {
				continue
			}
			for _, p := range md.Branches[b].Put {
				filled[p.Slot] = true
			}
		}
	}
	return filled
}

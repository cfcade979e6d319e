package verify

import (
	"fmt"
	"slices"
	"strings"

	"github.com/voicegw/voicegw/petri"
)

// OpenPlaces lists the environment places that decide something and that no
// automaton of the environment fills, and of those that one fills the kinds of
// token that are missing: "line", or "line[hang_up]". What the net puts there
// itself does not count. A kind is missing if no automaton sends it, of whatever
// generation, and some transition of the net looks at no kind that one sends.
func (m *Model) OpenPlaces() []string {
	if whole := m.prog.Whole(); whole != nil {
		return NewModel(whole, m.semantics).OpenPlaces()
	}
	filled := m.filledFromOutside()
	var out []string
	for i := range m.places {
		p := &m.places[i]
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
		out = append(out, m.missing(p, sent)...)
	}
	return out
}

// missing lists the kinds of token of a place that some transition waits for in
// vain.
func (m *Model) missing(p *petri.PlaceInfo, sent []bool) []string {
	vain := make([]bool, p.Slots)
	for t := range m.prog.Transitions() {
		looks := make([]bool, p.Slots)
		served := m.Outside(int32(t))
		for i := m.first[t]; i < m.first[t+1]; i++ {
			m.modes[i].looksAt(func(slot int32) {
				if k := int(slot) - p.Slot; k >= 0 && k < p.Slots {
					looks[k], served = true, served || sent[k]
				}
			})
		}
		for k := range looks {
			vain[k] = vain[k] || looks[k] && !served
		}
	}
	var out []string
	for k, is := range vain {
		if is && (!p.Gen || k%2 == 0) {
			out = append(out, m.slotName[p.Slot+k])
		}
	}
	return out
}

// looksAt calls fn for the slots on which a mode depends.
func (md *mode) looksAt(fn func(slot int32)) {
	for _, b := range md.needs.Bounds {
		fn(b.Slot)
	}
	for _, c := range md.needs.Sums {
		for _, s := range c.Slots {
			fn(s)
		}
	}
	for _, s := range md.empty {
		fn(s)
	}
}

// filledFromOutside tells the slots into which some automaton puts tokens.
func (m *Model) filledFromOutside() []bool {
	filled := make([]bool, m.slots)
	for i := range m.modes {
		md := &m.modes[i]
		for b := range md.branches {
			if !m.Outside(md.t) || md.choice >= 0 && int(md.choice) != b {
				continue
			}
			for _, p := range md.branches[b].put {
				filled[p.slot] = true
			}
		}
	}
	return filled
}

// opened is the verdict on a net that is open.
func (m *Model) opened(method string, open []string) Verdict {
	list := strings.Join(open, ", ")
	if !slices.ContainsFunc(m.timed, m.Outside) {
		return unknown(method, OpenEnv, "nothing fills %s: close the net with automata of its environment (petri.Close)",
			list)
	}
	return unknown(method, OpenEnv, "no automaton of the environment fills %s: the places it shares with the net must be "+
		"among the Ports of both, by one name, and it must send every kind of token%s", list, m.namesakes(open))
}

// namesakes tells of other places with the last parts of names: of an automaton
// that does not list them as ports.
func (m *Model) namesakes(open []string) string {
	var out []string
	for _, name := range open {
		last := name[strings.LastIndexByte(name, '/')+1:]
		for i := range m.places {
			if other := m.places[i].Name; other != name && strings.HasSuffix(other, "/"+last) {
				out = append(out, fmt.Sprintf("%s is not %s", other, name))
			}
		}
	}
	if len(out) == 0 {
		return ""
	}
	return "; " + strings.Join(out, ", ")
}

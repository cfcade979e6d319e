package verify

import (
	"math"
	"slices"

	"github.com/voicegw/voicegw/petri"
)

// gate is a mode of a transition as the checker asks for it: of all it needs, the
// bound that the fewest listed markings keep comes first.
type gate struct {
	petri.Bound
	rank  int // of the transition, if it fires at once
	needs *petri.Needs
}

// open reports whether the mode is enabled.
func (g *gate) open(marking []int32) bool {
	n := marking[g.Slot]
	return n >= g.Min && n < g.Max && g.needs.Hold(marking)
}

// lobbies are what can fire at once only where a slot holds a token: the slots,
// and by slot what waits there, in the order in which it is tried.
type lobbies struct {
	slots []int32
	gates [][]gate
}

func (l *lobbies) add(slot int32, g gate) {
	i := slices.Index(l.slots, slot)
	if i < 0 {
		i = len(l.slots)
		l.slots, l.gates = append(l.slots, slot), append(l.gates, nil)
	}
	l.gates[i] = append(l.gates[i], g)
}

// gate lays out the modes of all transitions.
func (k *checker) gate() {
	k.gates = make([][]gate, len(k.p.Transitions()))
	for t, info := range k.p.Transitions() {
		for i := range info.Modes {
			g := gate{rank: k.rank[t], needs: info.Modes[i].Needs(), Bound: petri.Bound{Max: math.MaxInt32}}
			if len(g.needs.Bounds) > 0 {
				g.Bound = g.needs.Bounds[0]
			}
			k.gates[t] = append(k.gates[t], g)
		}
	}
}

// sampled is how many listed markings are looked at to choose first bounds.
const sampled = 512

// narrow chooses the first bounds, and with them the lobbies.
func (k *checker) narrow() {
	const most = 4 // tokens that are told apart
	often, marking := make([][most]int, k.slots), make([]int32, k.slots)
	for i := 0; i < len(k.list); i += len(k.list)/sampled + 1 {
		unpack(k.list[i].key, marking)
		for s, n := range marking {
			often[s][min(n, most-1)]++
		}
	}
	seldom := func(a, b petri.Bound) int {
		keeps := func(c petri.Bound) (sum int) {
			for n, times := range often[c.Slot] {
				if int32(n) >= min(c.Min, most-1) && int32(n) < c.Max {
					sum += times
				}
			}
			return sum
		}
		return keeps(a) - keeps(b)
	}
	for _, gates := range k.gates {
		for i := range gates {
			if g := &gates[i]; len(g.needs.Bounds) > 0 {
				g.Bound = slices.MinFunc(g.needs.Bounds, seldom)
			}
		}
	}
	for _, t := range k.order {
		for _, g := range k.gates[t] {
			k.admit(g, seldom)
		}
	}
}

// admit puts a gate into the lobby of a token that it needs, if it needs one of
// a single slot.
func (k *checker) admit(g gate, seldom func(a, b petri.Bound) int) {
	bounds := slices.DeleteFunc(slices.Clone(g.needs.Bounds), func(b petri.Bound) bool { return b.Min == 0 })
	if len(bounds) > 0 {
		k.lobbies.add(slices.MinFunc(bounds, seldom).Slot, g)
		return
	}
	k.always = append(k.always, g)
}

// first is the position, in the order in which they are tried, of the first
// transition that is enabled at once; -1 if the net rests.
func (k *checker) first(marking []int32) int {
	if k.ended(marking) {
		return -1
	}
	first := firstOf(k.always, marking, len(k.order))
	for i, s := range k.lobbies.slots {
		if marking[s] > 0 {
			first = firstOf(k.lobbies.gates[i], marking, first)
		}
	}
	if first == len(k.order) {
		return -1
	}
	return first
}

// firstOf is the position of the first of some gates that is open, at most a
// limit.
func firstOf(gates []gate, marking []int32, limit int) int {
	for i := range gates {
		if gates[i].rank >= limit {
			return limit
		}
		if gates[i].open(marking) {
			return gates[i].rank
		}
	}
	return limit
}

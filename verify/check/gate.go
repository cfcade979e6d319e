package check

import (
	"math"
	"slices"

	"github.com/voicegw/voicegw/petri"
)

// gate is a mode of a transition in the order in which the checker tests its needs: first the bound
// that the fewest listed markings satisfy.
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

// inputIndex indexes what can fire at once only where a slot holds a token: the slots, and by slot
// the gates that need it, in the order in which they are tried.
type inputIndex struct {
	slots []int32
	gates [][]gate
}

func (x *inputIndex) add(slot int32, g gate) {
	i := slices.Index(x.slots, slot)
	if i < 0 {
		i = len(x.slots)
		x.slots, x.gates = append(x.slots, slot), append(x.gates, nil)
	}
	x.gates[i] = append(x.gates[i], g)
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

// sampled is the number of listed markings used to choose first bounds.
const sampled = 512

// narrow chooses the first bounds, and with them the index by input slots.
func (k *checker) narrow() {
	const most = 4 // tokens that are counted separately
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
			k.addByInput(g, seldom)
		}
	}
}

// addByInput indexes a gate by an input slot, if it needs a token of a single slot.
func (k *checker) addByInput(g gate, seldom func(a, b petri.Bound) int) {
	bounds := slices.DeleteFunc(slices.Clone(g.needs.Bounds), func(b petri.Bound) bool { return b.Min == 0 })
	if len(bounds) > 0 {
		k.byInput.add(slices.MinFunc(bounds, seldom).Slot, g)
		return
	}
	k.always = append(k.always, g)
}

// first is the position, in the order in which they are tried, of the first transition that is
// enabled at once; -1 if the net rests.
func (k *checker) first(marking []int32) int {
	if k.ended(marking) {
		return -1
	}
	first := firstOf(k.always, marking, len(k.order))
	for i, s := range k.byInput.slots {
		if marking[s] > 0 {
			first = firstOf(k.byInput.gates[i], marking, first)
		}
	}
	if first == len(k.order) {
		return -1
	}
	return first
}

// firstOf is the position of the first open gate, at most limit.
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

package petri

import "math"

// Needs is the condition under which a mode is enabled: at most one bound for each slot, and bounds
// on sums of slots. Machines and proofs both use it, so that they agree on what is enabled.
type Needs struct {
	Bounds []Bound
	Sums   []Cond
}

// Bound is a condition on the number of tokens of one slot: Min <= number < Max. Max is
// math.MaxInt32 if there is no upper bound.
type Bound struct{ Slot, Min, Max int32 }

// Hold reports whether a marking meets every bound.
func (n *Needs) Hold(marking []int32) bool {
	for i := range n.Bounds {
		b := &n.Bounds[i]
		if c := marking[b.Slot]; c < b.Min || c >= b.Max {
			return false
		}
	}
	for i := range n.Sums {
		if !n.Sums[i].Holds(marking) {
			return false
		}
	}
	return true
}

// needs merges conditions on the same slot.
func needs(conds []Cond) Needs {
	var n Needs
	for _, c := range conds {
		if len(c.Slots) != 1 {
			n.Sums = append(n.Sums, c)
			continue
		}
		b := n.on(c.Slots[0])
		b.Min = max(b.Min, c.Min)
		if c.Max > 0 {
			b.Max = min(b.Max, c.Max)
		}
	}
	return n
}

// on returns the bound on a slot. It creates the bound if there is none.
func (n *Needs) on(slot int32) *Bound {
	for i := range n.Bounds {
		if n.Bounds[i].Slot == slot {
			return &n.Bounds[i]
		}
	}
	n.Bounds = append(n.Bounds, Bound{Slot: slot, Max: math.MaxInt32})
	return &n.Bounds[len(n.Bounds)-1]
}

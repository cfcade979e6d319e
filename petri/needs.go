package petri

import "math"

// Needs is what a mode needs of a marking: bounds on single slots, one for each
// slot that has any, and bounds on sums of slots. It is the one definition of
// enabled: machines and proofs both ask it.
type Needs struct {
	Bounds []Bound
	Sums   []Cond
}

// Bound is a condition on one slot: Min <= its tokens < Max. Max is
// math.MaxInt32 if there is none.
type Bound struct{ Slot, Min, Max int32 }

// Hold reports whether a marking has what is needed.
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

// needs merges conditions by slot.
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

// on finds or makes the bound on a slot.
func (n *Needs) on(slot int32) *Bound {
	for i := range n.Bounds {
		if n.Bounds[i].Slot == slot {
			return &n.Bounds[i]
		}
	}
	n.Bounds = append(n.Bounds, Bound{Slot: slot, Max: math.MaxInt32})
	return &n.Bounds[len(n.Bounds)-1]
}

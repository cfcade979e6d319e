package petri

import (
	"cmp"
	"math/bits"
)

// crowdMin is how many sleepers must look at a slot for the slot to be crowded.
const crowdMin = 16

// A transition sleeps while its first condition, on a token of its own, is not met: no other change
// can enable it. A slot at which many such transitions look, such as one that inhibits most of a
// net, is crowded. A firing that changes a crowded slot reviews only the transitions that are awake,
// however many look at the slot.

// crowd is a crowded slot.
type crowd struct {
	from  int32    // word of the transitions to which watch[0] belongs
	watch []uint64 // bit set of the sleepers that look at the slot
}

// sleep finds the crowded slots, each with at least so many sleepers.
func (c *compiler) sleep(least int) {
	c.p.crowdAt = make([]int32, len(c.p.slotPlace))
	for s := range c.p.watchers {
		list := c.sleepers(int32(s))
		if len(list) == 0 {
			continue
		}
		first := list[0] / 64
		words := list[len(list)-1]/64 - first + 1
		if len(list) < max(least, int(words)) {
			continue
		}
		w := crowd{from: first, watch: make([]uint64, words)}
		for _, u := range list {
			w.watch[u/64-first] |= 1 << (u % 64)
			c.p.gates[u].kind = sleepy
		}
		c.p.crowds = append(c.p.crowds, w)
		c.p.crowdAt[s] = int32(len(c.p.crowds))
	}
}

// sleepers lists the transitions that look at a slot after their first condition, on another slot.
func (c *compiler) sleepers(slot int32) []int32 {
	var list []int32
	for _, u := range c.p.watchers[slot] {
		g := &c.p.gates[u]
		if g.kind == several || g.from == g.to {
			continue
		}
		if first := &c.p.conds[g.from]; first.Min > 0 && first.Slot != slot {
			list = append(list, u)
		}
	}
	return list
}

// scarcest orders the conditions of a gate: tokens that must be there come first, in the slots that
// the fewest transitions look at.
func (p *Program) scarcest(a, b Bound) int {
	if (a.Min > 0) != (b.Min > 0) {
		return cmp.Compare(b.Min, a.Min)
	}
	return cmp.Compare(len(p.watchers[a.Slot]), len(p.watchers[b.Slot]))
}

// crowded reports whether a change of a slot reaches a transition through the crowd at the slot.
func (p *Program) crowded(slot, u int32) bool {
	i := p.crowdAt[slot]
	if i == 0 {
		return false
	}
	w := &p.crowds[i-1]
	at := int(u/64 - w.from)
	return at >= 0 && at < len(w.watch) && w.watch[at]&(1<<(u%64)) != 0
}

// reviewCrowd reviews the transitions of a crowd that are awake.
func (m *Machine) reviewCrowd(i int32) {
	w := &m.prog.crowds[i]
	awake := m.awake[w.from:]
	for k, set := range w.watch {
		for set &= awake[k]; set != 0; set &= set - 1 {
			m.review((w.from+int32(k))<<6 + int32(bits.TrailingZeros64(set)))
		}
	}
}

// rouse notes whether a transition that sleeps is awake, and returns that.
func (m *Machine) rouse(g *gate, u int32) bool {
	c := &m.prog.conds[g.from]
	if n := m.count[c.Slot]; n < c.Min || n >= c.Max {
		m.awake[u>>6] &^= 1 << (u & 63)
		return false
	}
	m.awake[u>>6] |= 1 << (u & 63)
	return true
}

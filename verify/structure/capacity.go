package structure

import (
	"math"
	"slices"

	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/verify/netmodel"
)

// Capacities decides which deliveries exceed no capacity, by the structure of a net alone.
type Capacities struct {
	m     *netmodel.Model
	flows []Flow
}

// NewCapacities returns the capacities of a model.
func NewCapacities(m *netmodel.Model) *Capacities { return &Capacities{m, Flows(m)} }

// NeverOverflows reports whether a transition never exceeds the capacity of a place, in every
// marking within capacities in which it fires. There is room if the transition empties the place,
// waits for room there, or takes as much as it puts; if a flow bounds the place; or if the place is
// empty at that point, because it ends the run or is always emptied before.
func (k *Capacities) NeverOverflows(t int32, place int) bool {
	p := &k.m.Places[place]
	if k.bounded(p) {
		return true
	}
	before := int32(len(k.m.Order))
	if k.m.Ranks[t] >= 0 {
		before = k.m.Ranks[t]
	}
	empty := p.Final || k.AlwaysEmptied(p, before)
	for i := k.m.First[t]; i < k.m.First[t+1]; i++ {
		md := &k.m.Modes[i]
		for b := range md.Branches {
			if md.Choice >= 0 && int(md.Choice) != b {
				continue
			}
			more := int64(0)
			for _, put := range md.Branches[b].Put {
				if int(put.Place) == place {
					more += int64(put.N)
				}
			}
			left := int64(0)
			if !empty {
				left = k.left(md, p)
			}
			if more > 0 && left+more > int64(p.Max) {
				return false
			}
		}
	}
	return true
}

// bounded reports whether a flow keeps a place within its capacity.
func (k *Capacities) bounded(p *petri.PlaceInfo) bool {
	return slices.ContainsFunc(k.flows, func(f Flow) bool {
		least, covered := int64(math.MaxInt32), 0
		for _, c := range f.Sum {
			if int(c.Slot) >= p.Slot && int(c.Slot) < p.Slot+p.Slots {
				least = min(least, int64(c.N))
				covered++
			}
		}
		return covered == p.Slots && f.Start/least <= int64(p.Max)
	})
}

// left is the most that a place holds after a mode has consumed and emptied. A bump moves tokens
// within their place.
func (k *Capacities) left(md *netmodel.Mode, p *petri.PlaceInfo) int64 {
	here := func(s int32) bool { return int(s) >= p.Slot && int(s) < p.Slot+p.Slots }
	most := int64(p.Max)
	for _, c := range md.Needs.Sums {
		if c.Max > 0 && len(netmodel.Unique(slices.Clone(c.Slots))) == p.Slots && here(c.Slots[0]) {
			most = min(most, int64(c.Max)-1)
		}
	}
	taken := int64(0)
	for _, k := range md.Take {
		if here(k.Slot) {
			taken += int64(k.N)
		}
	}
	single := int64(0) // slot by slot
	for s := int32(p.Slot); here(s); s++ {
		n := int64(p.Max)
		for _, b := range md.Needs.Bounds {
			if b.Slot == s {
				n = min(n, int64(b.Max)-1)
			}
		}
		for _, k := range md.Take {
			if k.Slot == s {
				n -= int64(k.N)
			}
		}
		if !slices.Contains(md.Empty, s) {
			single += n
		}
	}
	return max(0, min(most-taken, single))
}

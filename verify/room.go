package verify

import (
	"math"
	"slices"

	"github.com/voicegw/voicegw/petri"
)

// rooms tells which deliveries exceed no capacity, by the structure of a net
// alone.
type rooms struct {
	m     *Model
	flows []Flow
}

func newRooms(m *Model) *rooms { return &rooms{m, m.Flows()} }

// always reports whether a transition, in whatever marking within capacities it
// fires, has room for what it produces at a place: it empties the place, waits
// for room there, takes as much as it puts, a flow bounds the place, or the
// place is empty then, because it ends the run or is always emptied before.
func (r *rooms) always(t int32, place int) bool {
	p := &r.m.places[place]
	if r.bounded(p) {
		return true
	}
	before := int32(len(r.m.order))
	if r.m.rank[t] >= 0 {
		before = r.m.rank[t]
	}
	empty := p.Final || r.alwaysServed(p, before)
	for i := r.m.first[t]; i < r.m.first[t+1]; i++ {
		md := &r.m.modes[i]
		for b := range md.branches {
			if md.choice >= 0 && int(md.choice) != b {
				continue
			}
			more := int64(0)
			for _, put := range md.branches[b].put {
				if int(put.place) == place {
					more += int64(put.n)
				}
			}
			left := int64(0)
			if !empty {
				left = r.left(md, p)
			}
			if more > 0 && left+more > int64(p.Max) {
				return false
			}
		}
	}
	return true
}

// bounded reports whether a flow keeps a place within its capacity.
func (r *rooms) bounded(p *petri.PlaceInfo) bool {
	return slices.ContainsFunc(r.flows, func(f Flow) bool {
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

// left is the most that a place holds when a mode has consumed and emptied. A
// bump moves tokens within their place.
func (r *rooms) left(md *mode, p *petri.PlaceInfo) int64 {
	here := func(s int32) bool { return int(s) >= p.Slot && int(s) < p.Slot+p.Slots }
	most := int64(p.Max)
	for _, c := range md.needs.Sums {
		if c.Max > 0 && len(unique(slices.Clone(c.Slots))) == p.Slots && here(c.Slots[0]) {
			most = min(most, int64(c.Max)-1)
		}
	}
	taken := int64(0)
	for _, k := range md.take {
		if here(k.Slot) {
			taken += int64(k.N)
		}
	}
	single := int64(0) // slot by slot
	for s := int32(p.Slot); here(s); s++ {
		n := int64(p.Max)
		for _, b := range md.needs.Bounds {
			if b.Slot == s {
				n = min(n, int64(b.Max)-1)
			}
		}
		for _, k := range md.take {
			if k.Slot == s {
				n -= int64(k.N)
			}
		}
		if !slices.Contains(md.empty, s) {
			single += n
		}
	}
	return max(0, min(most-taken, single))
}

// Crowded lists what of Uncovered may exceed a capacity, as far as the
// structure of the net tells: it leaves out deliveries for which there is
// always room, because the transition empties the place, waits for room there,
// takes as much as it puts, a flow bounds the place, or other transitions always
// empty it first.
//
// If nothing is crowded and every slice keeps its capacities, the whole net
// does: the first firing that exceeds one is none of a slice, and one for which
// there is room is none either.
func Crowded(prog *petri.Program, parts ...*petri.Program) []string {
	var out []string
	rooms := newRooms(NewModel(prog, RunToCompletion))
	uncovered := Uncovered(prog, parts...)
	for i, t := range prog.Transitions() {
		alone := slices.Contains(uncovered, t.Name)
		for _, a := range t.Arcs {
			d := delivery(prog, t.Name, a)
			if d == "" || prog.Places()[a.Place].Out || !alone && !slices.Contains(uncovered, d) || slices.Contains(out, d) {
				continue
			}
			if !rooms.always(int32(i), a.Place) {
				out = append(out, d)
			}
		}
	}
	return out
}

package explore

import (
	"math"

	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/verify/netmodel"
)

// packed fires transitions on packed markings, where nothing follows a firing at once: a firing
// adds a number to each word that it changes. The walker handles everything else (a bump, a full
// place, a count that no longer fits).
type packed struct {
	each   int    // counts in a word, as the set has it
	most   uint32 // of a count
	modes  []packedMode
	steps  []packedStep
	bounds []packedBound
	final  *packedBound // that the final place is empty; nil: there is none
	here   []uint64     // the marking that is expanded
	next   []uint64     // what the steps of reach lead to, one after the other
	reach  []reached
	warm   uint64 // XOR of values that are read only to load them into the cache
	whole  bool   // the explorer's copy of here exists
}

// reached is a step whose marking is not in the set yet, and the hash of that marking.
type reached struct {
	st   *packedStep
	hash uint64
}

// packedMode is a mode, in the order in which modes are tried.
type packedMode struct {
	bounds []packedBound
	steps  []packedStep
	walked *netmodel.Mode // the mode that the walker fires; nil: packed fires it
}

// packedStep is what firing a step does to words.
type packedStep struct {
	netmodel.Step
	index  int
	walked bool
	keep   []packedWord  // mask that clears the emptied slots
	add    []packedWord  // numbers to add
	room   []packedBound // what filled slots may hold after others were emptied
}

type packedWord struct {
	at int32
	n  uint64
}

// packedBound is a condition on one count: min <= n < max.
type packedBound struct {
	at       int32 // its word
	shift    uint8
	min, max uint32
}

// packedFor lays out the net of an exploration; nil if firings are not single or if not all of them
// are to be fired.
func packedFor(e *explorer) *packed {
	m, set := e.g.Model, e.g.set
	if e.stubborn != nil || m.Above != nil || len(m.Order)+len(m.Amidst)+len(m.Given)+len(m.Frames) > 0 {
		return nil
	}
	p := &packed{each: set.each, most: math.MaxUint8}
	if p.each == 2 {
		p.most = math.MaxInt32
	}
	p.here = make([]uint64, set.stride)
	if m.Final >= 0 {
		b := p.bound(petri.Bound{Slot: m.Final, Max: 1})
		p.final = &b
	}
	for _, t := range m.Timed() {
		for i := m.First[t]; i < m.First[t+1]; i++ {
			p.mode(m, &m.Modes[i])
		}
	}
	return p
}

// bound packs a condition.
func (p *packed) bound(b petri.Bound) packedBound {
	return packedBound{at: b.Slot / int32(p.each), shift: p.shift(b.Slot), min: uint32(b.Min), max: uint32(b.Max)}
}

func (p *packed) shift(slot int32) uint8 { return uint8(int(slot) % p.each * (64 / p.each)) }

// mode lays out a mode and its steps.
func (p *packed) mode(m *netmodel.Model, md *netmodel.Mode) {
	from, first := len(p.bounds), len(p.steps)
	for _, b := range md.Needs.Bounds {
		p.bounds = append(p.bounds, p.bound(b))
	}
	out := packedMode{bounds: p.bounds[from:]}
	if md.Bump || md.Assumed || len(md.Needs.Sums) > 0 {
		out.walked = md
	}
	for _, s := range md.Steps(nil) {
		st := packedStep{Step: s, index: m.StepIndex(s)}
		p.effect(md, &md.Branches[s.Branch], &st)
		p.steps = append(p.steps, st)
	}
	out.steps = p.steps[first:]
	p.modes = append(p.modes, out)
}

// effect computes what a step adds, and where it needs room.
func (p *packed) effect(md *netmodel.Mode, b *netmodel.Branch, st *packedStep) {
	st.walked = len(b.Clears)+len(b.Limits) > 0
	net, filled := map[int32]int64{}, map[int32]int64{} // by slot; the most that filled slots may hold
	for _, k := range md.Take {
		net[k.Slot] -= int64(k.N)
	}
	for _, s := range md.Empty {
		net[s] = 0
		st.keep = addWord(st.keep, s/int32(p.each), uint64(p.most)<<p.shift(s), func(a, n uint64) uint64 { return a | n })
	}
	for i := range st.keep {
		st.keep[i].n = ^st.keep[i].n
	}
	for _, f := range b.Put {
		net[f.Slot] += int64(f.N)
		filled[f.Slot] = min(int64(p.most), int64(f.Max))
		one := f.Last-f.First == 1 || f.Max == petri.MaxTokens
		st.walked = st.walked || f.Refuse || f.Quiet || !one
	}
	for s := range int32(len(p.here) * p.each) {
		n, changed := net[s]
		if most, is := filled[s]; is {
			st.room = append(st.room, p.bound(petri.Bound{Slot: s, Max: int32(min(max(most-n+1, 0), math.MaxInt32))}))
		}
		if changed && n != 0 {
			st.add = addWord(st.add, s/int32(p.each), uint64(n)<<p.shift(s), func(a, n uint64) uint64 { return a + n })
		}
	}
}

// addWord combines a number with that of its word.
func addWord(list []packedWord, at int32, n uint64, join func(a, n uint64) uint64) []packedWord {
	for i := range list {
		if list[i].at == at {
			list[i].n = join(list[i].n, n)
			return list
		}
	}
	return append(list, packedWord{at, n})
}

// hold reports whether a packed marking satisfies bounds.
func (p *packed) hold(bounds []packedBound, row []uint64) bool {
	for i := range bounds {
		b := &bounds[i]
		if n := uint32(row[b.at]>>(b.shift&63)) & p.most; n < b.min || n >= b.max {
			return false
		}
	}
	return true
}

// fire adds the marking that a step leads to. It reports whether there is room.
func (p *packed) fire(st *packedStep, set *MarkingSet) bool {
	from := len(p.next)
	p.next = append(p.next, p.here...)
	row := p.next[from:]
	for _, w := range st.keep {
		row[w.at] &= w.n
	}
	if !p.hold(st.room, row) {
		p.next = p.next[:from]
		return false
	}
	for _, w := range st.add {
		row[w.at] += w.n
	}
	p.reach = append(p.reach, reached{st, set.hash(row)})
	return true
}

// expandPacked is expand on packed markings.
func (e *explorer) expandPacked(i int) {
	p, g := e.packed, e.g
	copy(p.here, g.set.at(uint32(i)))
	p.whole = false
	if p.final != nil && !p.hold([]packedBound{*p.final}, p.here) {
		return
	}
	for k := range p.modes {
		md := &p.modes[k]
		if !p.hold(md.bounds, p.here) || md.walked != nil && !md.walked.Enabled(e.unpacked(i)) {
			continue
		}
		for j := range md.steps {
			st := &md.steps[j]
			if md.walked != nil || st.walked || p.each != g.set.each || !p.fire(st, g.set) {
				e.settlePacked()
				e.unpacked(i)
				e.walk(st.Step)
			}
		}
	}
	e.settlePacked()
}

// unpacked is the marking being expanded.
func (e *explorer) unpacked(i int) []int32 {
	if !e.packed.whole {
		e.packed.whole = true
		e.g.set.Get(i, e.here)
	}
	return e.here
}

// settlePacked records the markings that packed steps led to. It looks all of them up in the table
// first, so that the memory accesses overlap.
func (e *explorer) settlePacked() {
	p, g := e.packed, e.g
	for _, r := range p.reach {
		p.warm ^= g.set.table[r.hash>>g.set.shift]
	}
	for i, r := range p.reach {
		e.first = r.st.Step
		if o := &g.fired[r.st.index]; !o.seen {
			*o = origin{seen: true, from: int32(e.from), first: e.first}
		}
		to, isNew := g.set.add(p.next[i*len(p.here):][:len(p.here)], r.hash)
		if isNew {
			g.parent = append(grow(g.parent, 1), uint32(e.from))
			g.by = append(grow(g.by, 1), e.first)
		}
		g.edges = append(grow(g.edges, 1), Edge{To: to, Step: e.first})
	}
	p.reach, p.next = p.reach[:0], p.next[:0]
}

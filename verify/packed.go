package verify

import (
	"math"

	"github.com/voicegw/voicegw/petri"
)

// packed fires transitions on packed markings, where nothing follows a firing at
// once: a firing adds a number to each word that it changes. What is more than
// that (a bump, a full place, a count that no longer fits) is left to the walker.
type packed struct {
	each   int    // counts in a word, as the set has it
	most   uint32 // of a count
	modes  []packedMode
	steps  []packedStep
	bounds []packedBound
	final  *packedBound // that the final place is empty; nil: there is none
	here   []uint64     // the marking that is expanded
	next   []uint64     // what the steps of reached lead to, one after the other
	reach  []reached
	warm   uint64 // what was read to no other end
	whole  bool   // the explorer's copy of here is made
}

// reached is a step whose marking is not in the set yet, and the hash of that.
type reached struct {
	st   *packedStep
	hash uint64
}

// packedMode is a mode, in the order in which they are tried.
type packedMode struct {
	bounds []packedBound
	steps  []packedStep
	walked *mode // what the walker fires; nil: it is fired here
}

// packedStep is what firing a step does to words.
type packedStep struct {
	Step
	index  int
	walked bool
	keep   []packedWord  // with: what of slots that are emptied stays, nothing
	add    []packedWord  // plus
	room   []packedBound // what slots that are filled may hold when others were emptied
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

// packedFor lays out the net of an exploration; nil if firings are not single or
// not all of them are to be fired.
func packedFor(e *explorer) *packed {
	m, set := e.g.Model, e.g.set
	if e.stubborn != nil || m.above != nil || len(m.order)+len(m.amidst)+len(m.given)+len(m.frames) > 0 {
		return nil
	}
	p := &packed{each: set.each, most: math.MaxUint8}
	if p.each == 2 {
		p.most = math.MaxInt32
	}
	p.here = make([]uint64, set.stride)
	if m.final >= 0 {
		b := p.bound(petri.Bound{Slot: m.final, Max: 1})
		p.final = &b
	}
	for _, t := range m.timed {
		for i := m.first[t]; i < m.first[t+1]; i++ {
			p.mode(m, &m.modes[i])
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
func (p *packed) mode(m *Model, md *mode) {
	from, first := len(p.bounds), len(p.steps)
	for _, b := range md.needs.Bounds {
		p.bounds = append(p.bounds, p.bound(b))
	}
	out := packedMode{bounds: p.bounds[from:]}
	if md.bump || md.assumed || len(md.needs.Sums) > 0 {
		out.walked = md
	}
	for _, s := range md.steps(nil) {
		st := packedStep{Step: s, index: m.StepIndex(s)}
		p.effect(md, &md.branches[s.Branch], &st)
		p.steps = append(p.steps, st)
	}
	out.steps = p.steps[first:]
	p.modes = append(p.modes, out)
}

// effect works out what a step adds, and where it needs room.
func (p *packed) effect(md *mode, b *branch, st *packedStep) {
	st.walked = len(b.clears)+len(b.limits) > 0
	net, filled := map[int32]int64{}, map[int32]int64{} // by slot; the most of those that are filled
	for _, k := range md.take {
		net[k.Slot] -= int64(k.N)
	}
	for _, s := range md.empty {
		net[s] = 0
		st.keep = addWord(st.keep, s/int32(p.each), uint64(p.most)<<p.shift(s), func(a, n uint64) uint64 { return a | n })
	}
	for i := range st.keep {
		st.keep[i].n = ^st.keep[i].n
	}
	for _, f := range b.put {
		net[f.slot] += int64(f.n)
		filled[f.slot] = min(int64(p.most), int64(f.max))
		one := f.last-f.first == 1 || f.max == petri.MaxTokens
		st.walked = st.walked || f.refuse || f.quiet || !one
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

// addWord joins a number to that of its word.
func addWord(list []packedWord, at int32, n uint64, join func(a, n uint64) uint64) []packedWord {
	for i := range list {
		if list[i].at == at {
			list[i].n = join(list[i].n, n)
			return list
		}
	}
	return append(list, packedWord{at, n})
}

// hold reports whether a packed marking keeps bounds.
func (p *packed) hold(bounds []packedBound, row []uint64) bool {
	for i := range bounds {
		b := &bounds[i]
		if n := uint32(row[b.at]>>(b.shift&63)) & p.most; n < b.min || n >= b.max {
			return false
		}
	}
	return true
}

// fire adds what a step leads to. It reports whether there is room.
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
		if !p.hold(md.bounds, p.here) || md.walked != nil && !md.walked.enabled(e.unpacked(i)) {
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

// unpacked is the marking that is expanded.
func (e *explorer) unpacked(i int) []int32 {
	if !e.packed.whole {
		e.packed.whole = true
		e.g.set.Get(i, e.here)
	}
	return e.here
}

// settlePacked notes the markings that packed steps led to. It looks for all of
// them in the table first, so that the memory is asked for all at once.
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
			g.parent = append(room(g.parent, 1), uint32(e.from))
			g.by = append(room(g.by, 1), e.first)
		}
		g.edges = append(room(g.edges, 1), Edge{To: to, Step: e.first})
	}
	p.reach, p.next = p.reach[:0], p.next[:0]
}

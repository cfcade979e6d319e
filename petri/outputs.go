package petri

import (
	"math/bits"
	"slices"
	"strings"
)

// maxBranches limits the branches of one output, because an Event numbers them in one byte.
const maxBranches = 256

// describeOutputs checks the parts of an output that are the same in every mode.
func (b *builder) describeOutputs() {
	s := b.t.Out
	if (s.xor || s.free) && len(s.branches) < 2 {
		b.fail("Xor and Free need at least two branches; And has one")
	}
	if s.xor && s.choose == nil {
		b.fail("Xor without By: give the choice by keys, or declare it Free")
	}
	if !s.xor && s.choose != nil {
		b.fail("By without Xor: only Xor chooses by keys")
	}
	if len(s.branches) > maxBranches {
		b.fail("its output has %d branches; at most %d are allowed", len(s.branches), maxBranches)
	}
	if s.free && b.t.Action == nil && !b.c.closed && !b.t.scope.net.Imported {
		b.fail("Free without an action: its action must call Choose")
	}
	for i, br := range b.t.outs {
		for k, a := range br {
			if slices.ContainsFunc(br[:k], func(o boundArc) bool { return o.at == a.at }) {
				b.fail("two output arcs on place %q; use one arc with a count", a.place)
			}
			b.describeOutput(a.Arc, a.at, i)
		}
	}
}

func (b *builder) describeOutput(a Arc, place int32, branch int) {
	p := &b.c.places[place]
	if a.kind != exactly || a.n < 1 || a.n > MaxTokens {
		b.fail("output arc on %q must produce a number of tokens from 1 to %d", p.Name, MaxTokens)
	}
	b.checkKeys(a, p)
	if a.age == staleOnly {
		b.fail("output arc on %q produces stale tokens; only a bump makes tokens stale", p.Name)
	}
	label := ""
	if a.keys != 0 && p.Keys != nil {
		if bits.OnesCount32(uint32(a.keys)) != 1 {
			b.fail("output arc on %q names %d keys; a token has one", p.Name, bits.OnesCount32(uint32(a.keys)))
		} else if k := bits.TrailingZeros32(uint32(a.keys)); k < len(p.Keys) {
			label = p.Keys[k]
		}
	}
	if a.age == freshOnly {
		label = strings.TrimPrefix(label+",fresh", ",")
	}
	b.info.outs = append(b.info.outs, outPlace{local: a.place.String(), place: place})
	b.info.Arcs = append(b.info.Arcs, ArcInfo{Kind: OutArc, Place: int(place), Count: a.n, Label: label, Branch: branch})
}

// branches compiles what a mode produces.
func (b *builder) branches(m *Mode, keys *Keys) {
	s := b.t.Out
	if s.choose != nil {
		i := s.choose(keys)
		b.checkLook(keys, "choice")
		if i < 0 || i >= len(s.branches) {
			b.fail("its choice returned branch %d of %d", i, len(s.branches))
			return
		}
		m.branch = int32(i)
	} else if !s.free {
		m.branch = 0
	}
	if len(s.branches) == 0 {
		m.Branches = []Branch{{}}
		return
	}
	for _, br := range b.t.outs {
		var out Branch
		for _, a := range br {
			b.output(&out, a.Arc, a.at, m, keys)
		}
		m.Branches = append(m.Branches, out)
	}
}

// output compiles one output arc in one mode.
func (b *builder) output(br *Branch, a Arc, place int32, m *Mode, keys *Keys) {
	p := &b.c.places[place]
	o := out{place: place, n: int32(a.n), emit: p.Out, limited: p.Max != MaxTokens, checked: p.Keys != nil || p.Gen}
	was := b.bad
	b.bad = false
	if o.from = b.source(a, p); b.bad {
		return
	}
	b.bad = was
	kind := b.outKind(a, p, m, keys, o.from)
	if b.bad {
		return
	}
	if o.from < 0 && p.col.enum && !p.Gen {
		o.value = p.col.fromKey(Key(kind))
	}
	if b.t.Action == nil && o.from < 0 && o.value == nil && !p.col.unit && !b.c.closed {
		b.fail("nothing produces the %s for place %q: add an action, or Passing(a place of the same colour)", p.Type, p.Name)
	}
	o.ring = int32(kind)
	if o.emit {
		br.Emit = append(br.Emit, Emit{Place: int(place), N: a.n})
	} else {
		o.slot = int32(p.Slot + kind)
		br.Put = append(br.Put, Count{Slot: o.slot, N: o.n})
	}
	br.outs = append(br.outs, o)
}

// source returns the arc whose token an output passes on: the arc that Passing names, or the only
// input of the same colour. It returns -1 if there is none.
func (b *builder) source(a Arc, p *PlaceInfo) int32 {
	if p.col.unit {
		return -1
	}
	found := int32(-1)
	for i := range b.info.arcs {
		in := &b.info.arcs[i]
		if in.kind != InArc && in.kind != ReadArc || in.all || b.c.places[in.place].col.typ != p.col.typ {
			continue
		}
		if a.from != nil {
			if in.local == a.from.String() {
				b.checkPassing(a, in)
				return int32(i)
			}
			continue
		}
		if in.kind != InArc || a.keys != 0 || a.keyBy != nil || in.n != int32(a.n) {
			continue
		}
		if found >= 0 {
			if b.t.Action == nil {
				b.fail("two inputs could be passed on to %q; name one with Passing", p.Name)
			}
			return -1
		}
		found = int32(i)
	}
	if a.from != nil {
		b.fail("Passing(%s) for place %q: the transition has no such input or read arc of a fixed number of tokens",
			a.from, p.Name)
	}
	return found
}

// checkPassing reports an output that passes on more or fewer tokens than the input takes, or
// changes their key.
func (b *builder) checkPassing(a Arc, in *flatArc) {
	n := in.n
	if in.kind == ReadArc {
		n = 1
	}
	if n != int32(a.n) {
		b.fail("Passing(%s) for place %q produces %d tokens of %d", a.from, a.place, a.n, n)
	}
	if a.keys != 0 || a.keyBy != nil {
		b.fail("Passing(%s) for place %q copies the key; drop Is and KeyBy there", a.from, a.place)
	}
}

// outKind returns the slot, within its place, of the tokens that an output produces.
func (b *builder) outKind(a Arc, p *PlaceInfo, m *Mode, keys *Keys, from int32) int {
	var key Key
	switch src, ok := b.sourceKind(m, from); {
	case a.from != nil && from >= 0 && !ok:
		b.fail("Passing(%s) for place %q: the tokens may be of several kinds; narrow the arc to one", a.from, p.Name)
	case a.keys != 0:
		key = Key(bits.TrailingZeros32(uint32(a.keys)))
	case a.keyBy != nil:
		key = a.keyBy(keys)
		b.checkLook(keys, "KeyBy")
		if int(key) >= max(len(p.Keys), 1) {
			b.fail("KeyBy of %q returned key %d of %d", p.Name, key, len(p.Keys))
		}
	case ok:
		return b.passed(a, p, src)
	case len(p.Keys) > 1:
		b.fail("output on %q does not say the key of the %s it produces: use Is, KeyBy or Passing", p.Name, p.Type)
	}
	if p.Gen && a.age != freshOnly {
		b.fail("output on %q does not say the generation of the %s it produces: use Fresh or Passing", p.Name, p.Type)
	}
	return p.col.slotOf(key, false)
}

// passed returns the slot of a token that is passed on. A bump makes the token stale.
func (b *builder) passed(a Arc, p *PlaceInfo, src int) int {
	if p.Gen && a.age == freshOnly {
		if b.t.Action == nil && (src&1 == 1 || b.t.Bump) {
			b.fail("output on %q is Fresh but passes on a token that may be stale; add an action that makes a fresh one", p.Name)
		}
		return src &^ 1
	}
	if p.Gen && b.t.Bump {
		return src | 1
	}
	return src
}

// sourceKind returns the slot, within its place, of a token that is passed on.
func (b *builder) sourceKind(m *Mode, from int32) (int, bool) {
	if from < 0 || m.arcSlot[from] < 0 {
		return 0, false
	}
	return int(m.arcSlot[from]) - b.c.places[b.info.arcs[from].place].Slot, true
}

package petri

// move is one step of a quick firing, which only removes tokens and passes them on. No step looks
// at a value.
type move struct {
	kind     moveKind
	from, to int32 // places
	ring     int32 // ring of from
	toRing   int32
	n        int32
	value    any // of an enum colour
}

type moveKind uint8

const (
	passOn  moveKind = iota // moves one token from a place to a place
	passOut                 // moves one token from a place to an output
	discard                 // removes n tokens of a place
	makeNew                 // makes n tokens of an enum colour
	makeOut                 // emits n tokens of an enum colour, or n units
)

// moves compiles a branch of a mode into moves. ok is false if its firing needs more than moves.
func (b *builder) moves(m *Mode, br *Branch) (list []move, ok bool) {
	used := map[int32]bool{} // input arcs whose token is passed on
	for i := range br.outs {
		mv, ok := b.moveOf(m, &br.outs[i])
		if !ok || br.outs[i].from >= 0 && used[br.outs[i].from] {
			return nil, false
		}
		used[br.outs[i].from] = true
		if mv.n > 0 {
			list = append(list, mv)
		}
	}
	for i := range b.info.arcs {
		a := &b.info.arcs[i]
		if a.kind != InArc || used[int32(i)] || b.c.places[a.place].col.unit {
			continue
		}
		for _, k := range m.picks[i] {
			list = append(list, move{kind: discard, from: k.place, ring: k.ring, n: k.n})
		}
	}
	return list, true
}

// moveOf returns the move that makes one output. mv.n is 0 if counting is enough.
func (b *builder) moveOf(m *Mode, o *out) (mv move, ok bool) {
	unit := b.c.places[o.place].col.unit
	mv = move{to: o.place, toRing: o.ring, n: o.n, value: o.value}
	switch {
	case unit && !o.emit:
		return move{}, true
	case unit:
		mv.kind, mv.value = makeOut, Unit{}
		return mv, true
	case o.from < 0 && o.value != nil && o.emit:
		mv.kind = makeOut
		return mv, true
	case o.from < 0 && o.value != nil:
		mv.kind = makeNew
		return mv, true
	case o.from < 0 || o.n != 1 || b.info.arcs[o.from].kind != InArc || m.arcSlot[o.from] < 0:
		return mv, false
	case o.emit:
		mv.kind = passOut
	}
	a := &b.info.arcs[o.from]
	mv.from, mv.ring = a.place, m.arcSlot[o.from]-int32(b.c.places[a.place].Slot)
	return mv, true
}

// quicken compiles a mode into moves if it does nothing else.
func (b *builder) quicken(m *Mode) {
	t := b.info
	if t.action != nil || t.Bump || len(t.peeks)+len(m.empties)+len(m.cancels) > 0 || m.branch < 0 || b.bad {
		return
	}
	br := &m.Branches[m.branch]
	br.moves, m.quick = b.moves(m, br)
}

// move fires a quick mode.
func (m *Machine) move(u int32, t *TransitionInfo, mode *Mode) {
	for i := range mode.takes {
		k := &mode.takes[i]
		m.count[k.slot] -= k.n
	}
	m.stopClocks(u, t, mode)
	b := &mode.Branches[mode.branch]
	for i := range b.moves {
		m.step(&b.moves[i])
	}
	for i := range b.outs {
		o := &b.outs[i]
		if o.emit {
			continue
		}
		m.count[o.slot] += o.n
		if o.limited || m.count[o.slot] > MaxTokens {
			m.f.t = t
			m.checkCapacity(o)
		}
	}
}

func (m *Machine) step(mv *move) {
	switch mv.kind {
	case passOn:
		m.queues[mv.to].pass(m.queues[mv.from], mv.ring, mv.toRing)
	case discard:
		m.queues[mv.from].discard(mv.ring, mv.n)
	case makeNew:
		for range mv.n {
			m.queues[mv.to].pushAny(mv.toRing, mv.value)
		}
	case passOut:
		m.leave(mv.to, m.queues[mv.from].popAny(mv.ring))
	case makeOut:
		for range mv.n {
			m.leave(mv.to, mv.value)
		}
	}
}

// leave emits a token at an output place.
func (m *Machine) leave(place int32, v any) {
	p := &m.prog.places[place]
	if p.task > 0 {
		m.working[p.task-1] = true
	}
	m.out = append(m.out, Token{place: p.Name, value: v, seq: m.seq + 1})
}

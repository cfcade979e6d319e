package petri

import (
	"cmp"
	"fmt"
	"time"
)

// Firing gives an action access to the tokens of one firing. It is valid only while the action
// runs.
type Firing struct {
	m      *Machine
	t      *TransitionInfo
	mode   *Mode
	branch int32
	puts   int
	units  []Count // units that were taken, by place
}

// At returns the net time of the firing.
func (f *Firing) At() time.Duration { return f.m.now }

// Gen returns the current generation. In a transition with Bump it is the new one.
func (f *Firing) Gen() Gen { return f.m.gen }

// Seq returns the number of the firing's event. Together with an id of the run it makes a name that
// is unique and the same in every replay.
func (f *Firing) Seq() uint64 { return f.m.seq + 1 }

// Branch returns the branch of the output that the keys chose. In a transition with a Free output
// it returns -1 until Choose is called.
func (f *Firing) Branch() int { return int(f.branch) }

// Choose selects the branch of a Free output. It panics if the output is not Free or has no such
// branch.
func (f *Firing) Choose(branch int) {
	if !f.t.Free || branch < 0 || branch >= len(f.mode.Branches) {
		f.fault("", fmt.Sprintf("the action called Choose(%d); the output must be Free and has %d branches",
			branch, len(f.mode.Branches)))
	}
	f.branch = int32(branch)
}

func (f *Firing) fault(place, problem string) {
	panic(&Fault{Net: f.m.prog.name, Transition: f.t.Name, Place: place, Problem: problem})
}

// input returns the queue of a place that the firing consumes from, reads or resets, and the slot
// of its token there.
func (f *Firing) input(name string) (*queue, int32) {
	for i := range f.t.arcs {
		a := &f.t.arcs[i]
		if a.local != name || a.kind == InhibitArc {
			continue
		}
		s := f.m.queues[a.place]
		if s == nil {
			return nil, 0
		}
		first := int32(f.m.prog.places[a.place].Slot)
		if slot := f.mode.arcSlot[i]; slot >= 0 {
			return s, slot - first
		}
		if len(a.slots) == 1 {
			return s, a.slots[0] - first
		}
		return s, s.oldest(a.slots, first)
	}
	f.fault(name, "the action reads it, but it is not an input, read or reset place of the transition")
	return nil, 0
}

// takenUnits returns the number of units that the firing took from a place.
func (f *Firing) takenUnits(name string) int {
	for i := range f.t.arcs {
		if f.t.arcs[i].local == name {
			n := 0
			for _, u := range f.units {
				if u.Slot == f.t.arcs[i].place {
					n += int(u.N)
				}
			}
			return n
		}
	}
	return 0
}

// output returns the queue of a place at which the firing produces. It returns nil if the place
// holds units.
func (f *Firing) output(name string) *queue {
	for i := range f.t.outs {
		if f.t.outs[i].local == name {
			s := f.m.queues[f.t.outs[i].place]
			if s != nil {
				f.puts++
			}
			return s
		}
	}
	f.fault(name, "the action produces there, but it is not an output of the transition")
	return nil
}

// fire fires transition u: it consumes, resets, acts and produces.
func (m *Machine) fire(u int32) {
	t := &m.prog.transitions[u]
	k := 0
	if len(t.Modes) > 1 {
		k = m.pick(t)
	}
	mode := &t.Modes[k]
	branch := mode.branch
	if !mode.quick || t.action != nil { // Shadow gives every transition an action
		branch = m.act(u, t, mode)
	} else {
		m.move(u, t, mode)
	}
	m.record(Event{Kind: Fired, Index: u, Mode: uint16(k), Branch: uint8(branch)})
	if mode.plain {
		for _, a := range mode.Branches[branch].affected {
			m.review(a)
		}
		return
	}
	m.conclude(mode, &mode.Branches[branch])
}

// conclude does what follows a firing whose mode is not plain.
func (m *Machine) conclude(mode *Mode, b *Branch) {
	m.cancel(mode)
	m.reviewAfter(b)
}

// reviewAfter reviews the transitions that a firing can enable or disable, and ends the run if the
// final place is marked.
func (m *Machine) reviewAfter(b *Branch) {
	for _, a := range b.affected {
		m.review(a)
	}
	for _, c := range b.crowds {
		m.reviewCrowd(c)
	}
	m.endIfFinal()
}

// stopClocks stops the clock of transition u, which fires, and the clocks of transitions that
// consuming, resetting or bumping has disabled, even if the firing enables them again. These are
// the intermediate semantics of Berthomieu & Diaz 1991.
func (m *Machine) stopClocks(u int32, t *TransitionInfo, mode *Mode) {
	if t.clock >= 0 {
		m.on[u] = false
		m.timers.stop(t.clock)
	}
	for _, d := range mode.down {
		m.review(d)
	}
}

// act fires a transition that has an action, or does more than move tokens. It returns the branch.
func (m *Machine) act(u int32, t *TransitionInfo, mode *Mode) int32 {
	f := &m.f
	f.t, f.mode, f.branch, f.puts = t, mode, mode.branch, 0
	m.peek(t, mode)
	m.consume(mode)
	if t.Bump {
		m.bump()
	}
	m.stopClocks(u, t, mode)
	if t.action != nil {
		t.action(f)
	}
	m.produce(f)
	return f.branch
}

// pick returns the mode to fire: among the enabled ones, the mode with the oldest tokens, compared
// arc by arc.
func (m *Machine) pick(t *TransitionInfo) int {
	best := -1
	for i := range t.Modes {
		if t.Modes[i].needs.Hold(m.count) && (best < 0 || m.older(t, &t.Modes[i], &t.Modes[best])) {
			best = i
		}
	}
	return best
}

func (m *Machine) older(t *TransitionInfo, a, b *Mode) bool {
	for i := range t.arcs {
		sa, sb := a.arcSlot[i], b.arcSlot[i]
		s := m.queues[t.arcs[i].place]
		if s == nil {
			continue
		}
		if sa < 0 || sb < 0 {
			if c := olderPick(s, a.picks[i], b.picks[i]); c != 0 {
				return c < 0
			}
			continue
		}
		first := int32(m.prog.places[t.arcs[i].place].Slot)
		if qa, qb := s.headSeq(sa-first), s.headSeq(sb-first); qa != qb {
			return qa < qb
		}
	}
	return false
}

// olderPick compares two ways to take the same number of tokens from a place, by the oldest token,
// then by the next oldest, and so on.
func olderPick(s *queue, a, b []take) int {
	var atA, atB [2 * maxKeys]int32
	for {
		qa, okA := nextOldest(s, a, &atA)
		qb, okB := nextOldest(s, b, &atB)
		if !okA || !okB || qa != qb {
			return cmp.Compare(qa, qb)
		}
	}
}

// nextOldest returns the next token of a pick, from the oldest to the newest.
func nextOldest(s *queue, pick []take, at *[2 * maxKeys]int32) (seq uint64, ok bool) {
	best := -1
	for i, k := range pick {
		if at[i] < k.n {
			if q := s.seqOf(k.ring, at[i]); best < 0 || q < seq {
				best, seq = i, q
			}
		}
	}
	if best < 0 {
		return 0, false
	}
	at[best]++
	return seq, true
}

// peek saves the tokens that the firing reads at places that it resets or bumps.
func (m *Machine) peek(t *TransitionInfo, mode *Mode) {
	for _, i := range t.peeks {
		a := &t.arcs[i]
		first := int32(m.prog.places[a.place].Slot)
		if s := m.queues[a.place]; mode.arcSlot[i] >= 0 {
			s.peek(mode.arcSlot[i] - first)
		} else {
			s.peek(s.oldest(a.slots, first))
		}
	}
}

// consume takes the input tokens, then empties the reset places.
func (m *Machine) consume(mode *Mode) {
	m.f.units = m.f.units[:0]
	for i := range mode.takes {
		k := &mode.takes[i]
		m.count[k.slot] -= k.n
		if s := m.queues[k.place]; s != nil {
			s.take(k.ring, k.n)
		} else {
			m.f.units = append(m.f.units, Count{k.place, k.n})
		}
	}
	for i := range mode.empties {
		k := &mode.empties[i]
		n := m.count[k.slot]
		m.count[k.slot] = 0
		if s := m.queues[k.place]; s != nil {
			s.clear(k.ring, !k.input)
		} else {
			m.f.units = append(m.f.units, Count{k.place, n})
		}
	}
}

// bump begins the next generation: fresh tokens become stale.
func (m *Machine) bump() {
	m.age()
	for _, i := range m.prog.genPlaces {
		m.queues[i].bump()
	}
}

// age counts the tokens of the generation that ends as stale.
func (m *Machine) age() {
	m.gen++
	for _, i := range m.prog.genPlaces {
		p := &m.prog.places[i]
		for s := p.Slot; s < p.Slot+p.Slots; s += 2 {
			m.count[s+1] += m.count[s]
			m.count[s] = 0
		}
	}
}

// produce checks the tokens that the action produced and places all of them.
func (m *Machine) produce(f *Firing) {
	if f.branch < 0 {
		f.fault("", "the action of a Free output did not call Choose")
	}
	b := &f.mode.Branches[f.branch]
	for i := range b.outs {
		m.place(f, &b.outs[i])
	}
	if f.puts != 0 {
		f.stray()
	}
	for i := range f.mode.takes {
		m.release(f.mode.takes[i].place)
	}
	for i := range f.mode.empties {
		m.release(f.mode.empties[i].place)
	}
	for _, i := range f.t.peeks {
		m.release(f.t.arcs[i].place)
	}
}

func (m *Machine) release(place int32) {
	if s := m.queues[place]; s != nil {
		s.release()
	}
}

// place commits one output: the tokens that the action put, or those passed on.
func (m *Machine) place(f *Firing, o *out) {
	s := m.queues[o.place]
	if s != nil {
		if f.puts > 0 && s.staged() == int(o.n) {
			f.puts -= int(o.n)
			if o.checked {
				f.checkKinds(s, o)
			}
		} else {
			m.stage(f, s, o)
		}
	}
	if o.emit {
		m.emit(s, &m.prog.places[o.place], o.n)
		return
	}
	if s != nil {
		s.commit(o.ring)
	}
	m.count[o.slot] += o.n
	m.checkCapacity(o)
}

// checkCapacity panics if an output exceeds the capacity of its place.
func (m *Machine) checkCapacity(o *out) {
	if !o.limited && m.count[o.slot] <= MaxTokens {
		return
	}
	p := &m.prog.places[o.place]
	if n := m.prog.marked(m.count, p); n > p.Max {
		m.f.fault(p.Name, fmt.Sprintf("it holds %d tokens; its capacity is %d", n, p.Max))
	}
}

// stage makes the tokens of an output that the action did not put.
func (m *Machine) stage(f *Firing, s *queue, o *out) {
	switch n := s.staged(); {
	case n != 0:
		f.fault(m.prog.places[o.place].Name, fmt.Sprintf("the action produced %d tokens; %d are declared", n, o.n))
	case o.from >= 0:
		from, ring := f.input(f.t.arcs[o.from].local)
		s.forward(from, ring, o.n)
	case o.value != nil:
		s.stageAny(o.value, o.n)
	case f.t.action != nil:
		f.fault(m.prog.places[o.place].Name, fmt.Sprintf("the action produced nothing; %d are declared", o.n))
	default:
		s.stageZero(o.n)
	}
}

// checkKinds panics if the keys and generations that the action put are not those declared. Proofs
// rely on them.
func (f *Firing) checkKinds(s *queue, o *out) {
	p := &f.m.prog.places[o.place]
	for i := range int(o.n) {
		have, problem := s.stagedKind(i, f.m.gen)
		if problem != "" {
			f.fault(p.Name, "the action produced an invalid token: "+problem)
		}
		if have != o.ring {
			f.fault(p.Name, fmt.Sprintf("the action produced %s; %s is declared",
				p.SlotName(int(have)), p.SlotName(int(o.ring))))
		}
	}
}

// stray panics if the action put tokens at a place at which this branch does not produce.
func (f *Firing) stray() {
	b := &f.mode.Branches[f.branch]
	for _, o := range f.t.outs {
		in := false
		for i := range b.outs {
			in = in || b.outs[i].place == o.place
		}
		if s := f.m.queues[o.place]; !in && s != nil && s.staged() > 0 {
			f.fault(o.local, fmt.Sprintf("the action produced there, but branch %d does not", f.branch))
		}
	}
}

func (m *Machine) emit(s *queue, p *PlaceInfo, n int32) {
	if p.task > 0 {
		m.working[p.task-1] = true
	}
	if s != nil {
		m.out = s.emit(p.Name, m.seq+1, m.out)
		return
	}
	for range n {
		m.out = append(m.out, Token{place: p.Name, value: Unit{}, seq: m.seq + 1})
	}
}

// cancel records and emits the cancellation of each task that this firing cancelled.
func (m *Machine) cancel(mode *Mode) {
	for _, i := range mode.cancels {
		p := &m.prog.places[i]
		for _, u := range m.f.units {
			if u.Slot == i && u.N > 0 {
				m.record(Event{Kind: TaskCancelled, Index: i})
				m.out = append(m.out, Token{place: p.Name, cancel: true, seq: m.seq})
			}
		}
	}
}

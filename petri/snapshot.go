package petri

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"
)

// Errors of Program.Restore and Snapshot.UnmarshalBinary.
var (
	// ErrOtherNet means that the snapshot was taken of another net.
	ErrOtherNet = errors.New("the snapshot is of another net")
	// ErrOtherVersion means that the snapshot has a format that this version cannot read.
	ErrOtherVersion = errors.New("the snapshot has another format")
	// ErrDamaged means that the snapshot is not as it was written.
	ErrDamaged = errors.New("the snapshot is damaged")
)

// Snapshot is the state of a machine at one instant: the marking with payloads in their order, the
// clocks, the generation, the time, the number of the last event and the tasks at work. It shares
// payloads with its machine.
type Snapshot struct {
	Net     string        // name of the net
	At      time.Duration // net time
	Seq     uint64        // number of the last event; the next one is Seq+1
	Working []string      // in-flight places of the tasks without a result

	hash   string
	gen    Gen
	ended  bool
	tokens []heldToken // by place, oldest first
	clocks []heldClock
}

// heldToken is one token of a snapshot, or n tokens if they carry no data.
type heldToken struct {
	place string
	slot  int
	n     int
	value any
	col   *colour // of value
	raw   []byte  // instead of value, in a decoded snapshot
}

type heldClock struct {
	transition string
	due        time.Duration
}

// Snapshot returns the state of the machine. The events and outputs of the last Advance are not
// part of it, so store and act on them first. Snapshot returns an error if something has happened
// since the last Advance, or if the machine has faulted.
func (m *Machine) Snapshot() (*Snapshot, error) {
	if m.busy {
		return nil, fmt.Errorf("petri: snapshot of net %s: %w", m.prog.name, ErrFaulted)
	}
	if !m.handed && len(m.events)+len(m.out) > 0 {
		return nil, fmt.Errorf("petri: snapshot of net %s: %d events and %d outputs were not taken by Advance",
			m.prog.name, len(m.events), len(m.out))
	}
	s := &Snapshot{Net: m.prog.name, At: m.now, Seq: m.seq, hash: m.prog.hash(), gen: m.gen, ended: m.ended}
	for i := range m.prog.places {
		s.hold(m, i)
	}
	for _, c := range m.timers.heap {
		s.clocks = append(s.clocks, heldClock{m.prog.transitions[c.transition].Name, c.due})
	}
	slices.SortFunc(s.clocks, func(a, b heldClock) int {
		return cmp.Or(cmp.Compare(a.due, b.due), cmp.Compare(a.transition, b.transition))
	})
	for _, t := range m.Working() {
		s.Working = append(s.Working, m.prog.places[t.InFlight].Name)
	}
	return s, nil
}

// hold saves the tokens of a place.
func (s *Snapshot) hold(m *Machine, place int) {
	p := &m.prog.places[place]
	if p.Out {
		return
	}
	if m.queues[place] == nil {
		if n := int(m.count[p.Slot]); n > 0 {
			s.tokens = append(s.tokens, heldToken{place: p.Name, n: n})
		}
		return
	}
	values, at := make([][]any, p.Slots), make([]int, p.Slots)
	for slot := range p.Slots {
		values[slot] = m.queues[place].tokens(int32(slot))
	}
	for range m.prog.marked(m.count, p) {
		slot := m.nextHeld(place, values, at)
		s.tokens = append(s.tokens, heldToken{place: p.Name, slot: slot, n: 1, value: values[slot][at[slot]], col: p.col})
		at[slot]++
	}
}

// nextHeld returns the slot of a place that has the oldest token among those not yet saved. at
// counts the saved tokens of each slot.
func (m *Machine) nextHeld(place int, values [][]any, at []int) int {
	best, bestSeq := -1, uint64(0)
	for slot := range values {
		if at[slot] == len(values[slot]) {
			continue
		}
		if seq := m.queues[place].seqOf(int32(slot), int32(at[slot])); best < 0 || seq < bestSeq {
			best, bestSeq = slot, seq
		}
	}
	return best
}

// Working returns the tasks that were started and have no result yet. After Restore no goroutine
// works on them: inject a result for each at its done place, such as one with outcome Failed, or
// begin the work again.
func (m *Machine) Working() []TaskInfo {
	var list []TaskInfo
	for i, t := range m.prog.tasks {
		if m.working[i] {
			list = append(list, t)
		}
	}
	return list
}

// Restore returns a machine in the state of a snapshot. The same injections give the same events as
// in the original machine, with numbers that continue from Seq. Errors about the snapshot wrap
// ErrOtherNet or ErrDamaged; a program that is not Runnable returns that error.
func (p *Program) Restore(s *Snapshot) (*Machine, error) {
	if p.runnable != nil {
		return nil, p.runnable
	}
	if s == nil || s.hash != p.hash() {
		name := "nothing"
		if s != nil {
			name = fmt.Sprintf("net %q (%s)", s.Net, s.hash)
		}
		return nil, fmt.Errorf("petri: restore net %q (%s) from %s: %w", p.name, p.hash(), name, ErrOtherNet)
	}
	r := &restorer{p: p, s: s, m: p.machine()}
	if err := r.restore(); err != nil {
		return nil, fmt.Errorf("petri: restore net %q: %w", p.name, err)
	}
	return r.m, nil
}

// restorer fills a machine from a snapshot.
type restorer struct {
	p *Program
	s *Snapshot
	m *Machine
}

func damaged(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrDamaged, fmt.Sprintf(format, args...))
}

func (r *restorer) restore() error {
	s, m := r.s, r.m
	if s.At < 0 || s.At >= Forever || s.Seq == 0 {
		return damaged("time %v, event %d", s.At, s.Seq)
	}
	m.now, m.seq, m.gen, m.handed = s.At, s.Seq, s.gen, true
	for i := range s.tokens {
		if err := r.token(&s.tokens[i]); err != nil {
			return err
		}
	}
	if final := r.p.final >= 0 && m.count[r.p.final] > 0; final != s.ended {
		return damaged("ended %v, but its final place is marked %v", s.ended, final)
	}
	m.ended = s.ended
	if err := r.clocks(); err != nil {
		return err
	}
	return r.work()
}

// token puts a token back into its place.
func (r *restorer) token(t *heldToken) error {
	i := r.p.Place(t.place)
	if i < 0 || r.p.places[i].Out {
		return damaged("place %q never holds tokens", t.place)
	}
	p, q := &r.p.places[i], r.m.queues[i]
	if t.slot < 0 || t.slot >= p.Slots || t.n < 1 || t.n > p.Max-r.p.marked(r.m.count, p) || q != nil && t.n != 1 {
		return damaged("%d tokens at slot %d of place %q do not fit", t.n, t.slot, t.place)
	}
	if q != nil {
		v, err := r.value(p, t)
		if err != nil {
			return err
		}
		q.pushAny(int32(t.slot), v)
	}
	r.m.count[p.Slot+t.slot] += int32(t.n)
	return nil
}

// value returns the payload of a token and checks that it has the saved key and generation.
func (r *restorer) value(p *PlaceInfo, t *heldToken) (any, error) {
	v := t.value
	if t.raw != nil {
		var err error
		if v, err = p.col.decode(t.raw); err != nil {
			return nil, damaged("a token at place %q: %v", p.Name, err)
		}
	}
	if !fits(v, p.col.typ) {
		return nil, damaged("a token at place %q is %s, not %s", p.Name, valueType(v), p.Type)
	}
	kind, problem := p.col.kindOf(v, r.s.gen)
	if problem != "" || kind != t.slot {
		return nil, damaged("a token at place %q was saved as %s and decodes as %s %s",
			p.Name, p.SlotName(t.slot), p.SlotName(kind), problem)
	}
	return v, nil
}

// clocks restarts the saved clocks. They must be exactly those of the timed transitions that the
// marking enables, and no at-once transition may be enabled.
func (r *restorer) clocks() error {
	m, byName := r.m, make(map[string]int32, len(r.s.clocks))
	for i := range r.p.transitions {
		byName[r.p.transitions[i].Name] = int32(i)
	}
	for _, c := range r.s.clocks {
		u, ok := byName[c.transition]
		if !ok || r.p.gates[u].clock < 0 || m.on[u] || c.due <= m.now {
			return damaged("transition %q has no clock that is due at %v", c.transition, c.due)
		}
		m.on[u] = true
		m.timers.start(timer{c.due, u, r.p.gates[u].clock})
	}
	for i := range r.p.gates {
		if on := !m.ended && m.enabled(&r.p.gates[i], int32(i)); on != m.on[i] {
			return damaged("transition %q: enabled %v, clock runs %v", r.p.transitions[i].Name, on, m.on[i])
		}
	}
	return nil
}

// work marks the saved tasks as working.
func (r *restorer) work() error {
	for _, name := range r.s.Working {
		found := false
		for i, t := range r.p.tasks {
			if r.p.places[t.InFlight].Name == name {
				r.m.working[i], found = true, true
			}
		}
		if !found {
			return damaged("no task has the in-flight place %q", name)
		}
	}
	return nil
}

package petri

import (
	"errors"
	"fmt"
	"slices"
	"time"
)

// ErrTrack means that an event cannot follow the events before it: an archive is damaged, or it was
// written by another net.
var ErrTrack = errors.New("petri: the net cannot do this")

// Tracker follows a run by its events alone: it has the marking and the running clocks after each of
// them. It needs no payloads and runs nothing. It is not safe for concurrent use.
type Tracker struct{ m *Machine }

// Track returns a tracker of a run from its start. The first event that it takes is Started.
func (p *Program) Track() *Tracker {
	m := p.machine()
	m.silent = true
	return &Tracker{m}
}

// Track returns a tracker that stands where the machine does. The next event that it takes is the
// next one of the machine. The machine must be at rest: between two calls of its methods.
func (m *Machine) Track() *Tracker { return (&Tracker{m}).Clone() }

// Clone returns a tracker that stands where t does.
func (t *Tracker) Clone() *Tracker {
	m := t.m.prog.machine()
	m.silent, m.now, m.seq, m.gen, m.ended = true, t.m.now, t.m.seq, t.m.gen, t.m.ended
	copy(m.count, t.m.count)
	copy(m.on, t.m.on)
	copy(m.awake, t.m.awake)
	copy(m.timers.pos, t.m.timers.pos)
	m.timers.heap = slices.Clone(t.m.timers.heap)
	for i := range m.ready.levels {
		copy(m.ready.levels[i], t.m.ready.levels[i])
	}
	return &Tracker{m}
}

// Program returns the program of the run.
func (t *Tracker) Program() *Program { return t.m.prog }

// Now returns the net time of the last event.
func (t *Tracker) Now() time.Duration { return t.m.now }

// Seq returns the number of the last event, 0 before the first.
func (t *Tracker) Seq() uint64 { return t.m.seq }

// Ended reports whether the final place is marked.
func (t *Tracker) Ended() bool { return t.m.ended }

// Marking returns the token count of every slot, in the order of Program.SlotName. The slice is
// valid until the next Apply and must not be changed.
func (t *Tracker) Marking() []int32 { return t.m.count }

// Count returns the number of tokens of a place, by its index. It returns 0 if the index is -1.
func (t *Tracker) Count(place int) int {
	if place < 0 {
		return 0
	}
	return int(t.m.prog.marked(t.m.count, &t.m.prog.places[place]))
}

// Clock is the running clock of a timed transition.
type Clock struct {
	Transition int           // index of Program.Transitions
	Due        time.Duration // when it fires, unless something disables it before
}

// Clocks returns the running clocks, the next one to be due first.
func (t *Tracker) Clocks() []Clock {
	list := make([]Clock, 0, len(t.m.timers.heap))
	heap := slices.Clone(t.m.timers.heap)
	slices.SortFunc(heap, func(a, b timer) int {
		if a.before(&b) {
			return -1
		}
		return 1
	})
	for _, c := range heap {
		list = append(list, Clock{int(c.transition), c.due})
	}
	return list
}

// Apply takes the next event. Its error wraps ErrTrack; the tracker then stands where it stood.
func (t *Tracker) Apply(e Event) error {
	if err := t.check(e); err != nil {
		return fmt.Errorf("%w: event %d of net %q: %w", ErrTrack, e.Seq, t.m.prog.name, err)
	}
	m := t.m
	m.now = e.At
	switch e.Kind {
	case Started:
		copy(m.count, m.prog.initial)
		m.endIfFinal()
		for i := range m.prog.transitions {
			m.review(int32(i))
		}
	case Injected:
		slot := int32(m.prog.places[e.Index].Slot) + e.Slot
		m.count[slot]++
		m.endIfFinal()
		m.reviewPlace(slot)
	case Dropped:
		m.count[int32(m.prog.places[e.Index].Slot)+e.Slot]--
	case Fired:
		t.fire(e)
	}
	m.seq = e.Seq
	return nil
}

// fire moves the tokens of a firing, as Machine.fire does.
func (t *Tracker) fire(e Event) {
	m := t.m
	tr := &m.prog.transitions[e.Index]
	mode := &tr.Modes[e.Mode]
	for i := range mode.takes {
		m.count[mode.takes[i].slot] -= mode.takes[i].n
	}
	for i := range mode.empties {
		m.count[mode.empties[i].slot] = 0
	}
	if tr.Bump {
		m.age()
	}
	m.stopClocks(e.Index, tr, mode)
	branch := &mode.Branches[e.Branch]
	for _, p := range branch.Put {
		m.count[p.Slot] += p.N
	}
	m.reviewAfter(branch)
}

// check refuses an event that the net cannot do now.
func (t *Tracker) check(e Event) error {
	m := t.m
	switch {
	case e.Seq != m.seq+1:
		return fmt.Errorf("the next event is %d", m.seq+1)
	case e.At < m.now:
		return fmt.Errorf("its time %v is before %v", e.At, m.now)
	case (e.Kind == Started) != (e.Seq == 1):
		return fmt.Errorf("a run begins with %v, and only there", Started)
	}
	switch e.Kind {
	case Started, TaskCancelled, Ended, Faulted:
		return nil
	case Fired:
		return t.checkFired(e)
	case Injected, Refused, Dropped:
		return t.checkPlace(e)
	}
	return fmt.Errorf("there is no kind %d of event", e.Kind)
}

func (t *Tracker) checkFired(e Event) error {
	m := t.m
	if e.Index < 0 || int(e.Index) >= len(m.prog.transitions) {
		return fmt.Errorf("there is no transition %d", e.Index)
	}
	tr := &m.prog.transitions[e.Index]
	switch {
	case int(e.Mode) >= len(tr.Modes) || int(e.Branch) >= len(tr.Modes[e.Mode].Branches):
		return fmt.Errorf("%s has no mode %d with branch %d", tr.Name, e.Mode, e.Branch)
	case m.ended || !tr.Modes[e.Mode].Enabled(m.count):
		return fmt.Errorf("%s is not enabled", m.prog.FiringName(e))
	case tr.clock >= 0 && !m.on[e.Index]:
		return fmt.Errorf("the clock of %s does not run", tr.Name)
	}
	return nil
}

func (t *Tracker) checkPlace(e Event) error {
	m := t.m
	if e.Index < 0 || int(e.Index) >= len(m.prog.places) || !m.prog.places[e.Index].Env {
		return fmt.Errorf("there is no environment place %d", e.Index)
	}
	p := &m.prog.places[e.Index]
	switch {
	case e.Slot < 0 || int(e.Slot) >= p.Slots:
		return fmt.Errorf("%s has no slot %d", p.Name, e.Slot)
	case e.Kind == Injected && m.prog.marked(m.count, p) >= p.Max:
		return fmt.Errorf("%s is full", p.Name)
	case e.Kind == Dropped && m.count[int32(p.Slot)+e.Slot] == 0:
		return fmt.Errorf("%s is empty", p.SlotName(int(e.Slot)))
	}
	return nil
}

package monitor

import (
	"fmt"
	"slices"
	"time"

	"github.com/voicegw/voicegw/petri"
)

// take moves the tokens of an event. If the net cannot do that, it returns the reason, before it
// moves any tokens except those of an overfull place.
func (m *Monitor) take(e petri.Event) string {
	switch e.Kind {
	case petri.Started:
		return m.start(e)
	case petri.Fired:
		return m.fired(e)
	case petri.Injected, petri.Refused, petri.Dropped:
		return m.entered(e)
	case petri.TaskCancelled:
		return m.cancelled(e)
	case petri.Ended:
		if m.ended || !m.final() {
			return "the final place is not marked, or the end was reported before"
		}
		m.ended = true
		return ""
	default:
		return "the run broke an invariant"
	}
}

// start puts the initial tokens.
func (m *Monitor) start(e petri.Event) string {
	if e.At != 0 {
		return "a run starts at 0s"
	}
	copy(m.count, m.prog.Initial())
	for t := range m.on {
		m.touch(int32(t))
	}
	m.review(0)
	return ""
}

// fired moves the tokens of a firing.
func (m *Monitor) fired(e petri.Event) string {
	if problem := m.early(e); problem != "" {
		return problem
	}
	t := &m.prog.Transitions()[e.Index]
	mode := &t.Modes[e.Mode]
	if c := mode.Choice(); c >= 0 && c != int(e.Branch) {
		return fmt.Sprintf("its keys choose branch %d of %s, not %d", c, t.Name, e.Branch)
	}
	m.cancel(mode)
	m.consume(mode)
	if t.Bump {
		m.bump()
	}
	m.stop(e.Index)
	for _, p := range mode.Branches[e.Branch].Put {
		m.add(p.Slot, p.N)
	}
	m.review(e.At)
	for _, p := range mode.Branches[e.Branch].Put {
		if problem := m.overfull(m.prog.SlotPlace(int(p.Slot))); problem != "" {
			return problem
		}
	}
	return ""
}

// early describes why a transition cannot fire now.
func (m *Monitor) early(e petri.Event) string {
	t := &m.prog.Transitions()[e.Index]
	if !t.Modes[e.Mode].Enabled(m.count) {
		return m.prog.FiringName(e) + " is not enabled"
	}
	urgent := m.urgent()
	if t.When.AtOnce() {
		m.chain++
		switch {
		case urgent != e.Index:
			return fmt.Sprintf("%s fires at once, and before %s", m.name(urgent), t.Name)
		case e.At != m.now:
			return fmt.Sprintf("%s was enabled at %v and fires at once", t.Name, m.now)
		case m.chain > petri.MaxChain:
			return fmt.Sprintf("more than %d firings at one instant", petri.MaxChain)
		}
		return ""
	}
	m.chain = 0
	if urgent >= 0 {
		return m.name(urgent) + " fires at once, before any wait is over"
	}
	if problem := m.overdue(e.At, e.Index); problem != "" {
		return problem
	}
	if waited := e.At - m.since[e.Index]; waited < t.When.Earliest {
		return fmt.Sprintf("%s has been enabled for %v and waits %v", t.Name, waited, t.When)
	}
	return ""
}

// overdue describes which transition should have fired before an event at a time. The event is the
// firing of transition u, or an arrival if u is -1.
func (m *Monitor) overdue(at time.Duration, u int32) string {
	for _, t := range m.timed {
		latest := m.prog.Transitions()[t].When.Latest
		if !m.on[t] || latest == petri.Forever {
			continue
		}
		// Timers come before arrivals of the same instant, and in the order of declaration.
		waited := at - m.since[t] // since + latest could overflow
		tie := u < 0 || t < u && m.prog.Transitions()[u].When.Latest != petri.Forever
		first := waited > latest || waited == latest && tie
		if first && t != u || t == u && waited > latest {
			return fmt.Sprintf("%s was due at %v and did not fire", m.name(t), m.since[t]+latest)
		}
	}
	return ""
}

// entered processes a token that came from outside, or that was refused or dropped.
func (m *Monitor) entered(e petri.Event) string {
	p := &m.prog.Places()[e.Index]
	held := int32(0)
	for s := p.Slot; s < p.Slot+p.Slots; s++ {
		held += m.count[s]
	}
	full := int(held) >= p.Max
	switch {
	case !p.Env:
		return p.Name + " is no place for tokens from outside"
	case m.urgent() >= 0 && m.dropped < 0:
		return m.name(m.urgent()) + " fires at once, before anything comes from outside"
	case m.dropped >= 0 && m.dropped != e.Index:
		return "a token of another place was dropped for it"
	case e.Kind == petri.Injected && full:
		return fmt.Sprintf("%s is full: it holds %d tokens", p.Name, held)
	case e.Kind == petri.Refused && (!full || p.Policy != petri.Refuse):
		return p.Name + " turned a token away though it would have taken it"
	case e.Kind == petri.Dropped && (!full || p.Policy == petri.Refuse):
		return p.Name + " dropped a token without need"
	case e.Kind == petri.Dropped && m.count[p.Slot+int(e.Slot)] == 0:
		return p.SlotName(int(e.Slot)) + " holds no token to drop"
	}
	if problem := m.overdue(e.At, -1); problem != "" {
		return problem
	}
	m.chain, m.dropped = 0, -1
	switch e.Kind {
	case petri.Dropped:
		m.dropped = e.Index
		m.add(int32(p.Slot)+e.Slot, -1)
	case petri.Injected:
		m.add(int32(p.Slot)+e.Slot, 1)
		m.review(e.At)
	}
	return ""
}

// cancelled processes the report that a task was cancelled.
func (m *Monitor) cancelled(e petri.Event) string {
	i := slices.Index(m.cancels, e.Index)
	if i < 0 || e.At != m.now {
		return "no task at " + m.prog.Places()[e.Index].Name + " was cancelled"
	}
	m.cancels = slices.Delete(m.cancels, i, i+1)
	return ""
}

// consume takes the input tokens of a mode, then empties what the mode empties.
func (m *Monitor) consume(mode *petri.Mode) {
	for _, k := range mode.Take {
		m.add(k.Slot, -k.N)
	}
	for _, s := range mode.Drain {
		m.add(s, -m.count[s])
	}
	for _, s := range mode.Reset {
		m.add(s, -m.count[s])
	}
}

// cancel notes the tasks that a mode cancels: those whose in-flight token goes without their
// result.
func (m *Monitor) cancel(mode *petri.Mode) {
	for _, task := range m.prog.Tasks() {
		inFlight := int32(m.prog.Places()[task.InFlight].Slot)
		goes := slices.Contains(mode.Drain, inFlight) || slices.Contains(mode.Reset, inFlight)
		done := false
		for _, k := range mode.Take {
			goes = goes || k.Slot == inFlight
			done = done || m.prog.SlotPlace(int(k.Slot)) == task.Done
		}
		if goes && !done && m.count[inFlight] > 0 {
			m.cancels = append(m.cancels, int32(task.InFlight))
		}
	}
}

// bump makes fresh tokens stale.
func (m *Monitor) bump() {
	for i := range m.prog.Places() {
		p := &m.prog.Places()[i]
		if !p.Gen {
			continue
		}
		for s := int32(p.Slot); s < int32(p.Slot+p.Slots); s += 2 {
			n := m.count[s]
			m.add(s, -n)
			m.add(s+1, n)
		}
	}
}

// stop stops the clock of the transition that fired, and those of transitions that are not enabled
// between consuming and producing (Berthomieu & Diaz 1991).
func (m *Monitor) stop(fired int32) {
	m.on[fired] = false
	m.touch(fired)
	for _, t := range m.touched {
		m.on[t] = m.on[t] && m.enabled(t)
	}
}

// review starts and stops the clocks of transitions that a move affected.
func (m *Monitor) review(now time.Duration) {
	if m.final() {
		clear(m.on)
	}
	for _, t := range m.touched {
		m.dirty[t] = false
		is := m.enabled(t)
		if is && !m.on[t] {
			m.since[t] = now
		}
		m.on[t] = is
	}
	m.touched = m.touched[:0]
}

func (m *Monitor) add(slot, n int32) {
	if n == 0 {
		return
	}
	m.count[slot] += n
	for _, t := range m.users[slot] {
		m.touch(t)
	}
}

func (m *Monitor) touch(t int32) {
	if !m.dirty[t] {
		m.dirty[t] = true
		m.touched = append(m.touched, t)
	}
}

func (m *Monitor) enabled(t int32) bool {
	return !m.final() && m.prog.Transitions()[t].Enabled(m.count)
}

func (m *Monitor) final() bool {
	s := m.prog.FinalSlot()
	return s >= 0 && m.count[s] > 0
}

// urgent is the immediate transition that fires next, or -1.
func (m *Monitor) urgent() int32 {
	for _, t := range m.order {
		if m.on[t] {
			return t
		}
	}
	return -1
}

// overfull describes that a place holds more than its capacity.
func (m *Monitor) overfull(place int) string {
	p := &m.prog.Places()[place]
	n := 0
	for s := p.Slot; s < p.Slot+p.Slots; s++ {
		n += int(m.count[s])
	}
	if n <= p.Max {
		return ""
	}
	return fmt.Sprintf("%s holds %d tokens; its capacity is %d", p.Name, n, p.Max)
}

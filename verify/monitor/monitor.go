package monitor

import (
	"fmt"
	"time"

	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/verify"
	"github.com/voicegw/voicegw/verify/claim"
	"github.com/voicegw/voicegw/verify/netmodel"
)

// Monitor follows one run by its events. Its memory does not grow with the run. It is not safe for
// concurrent use.
type Monitor struct {
	prog    *petri.Program
	model   *netmodel.Model
	watched []condition
	order   []int32   // immediate transitions, in the order in which they are tried
	timed   []int32   // all other transitions
	users   [][]int32 // by slot: transitions whose conditions look at it

	count   []int32
	on      []bool          // by transition: enabled
	since   []time.Duration // by transition: when its clock started
	dirty   []bool
	touched []int32
	now     time.Duration
	seen    uint64                   // number of correct events
	last    [storyEvents]petri.Event // the last events, by number
	chain   int                      // firings since the last timer or injection
	dropped int32                    // place in which a token was dropped for the next one; -1
	cancels []int32                  // tasks whose end must be reported next
	ended   bool
	broken  *Violation
}

// condition is a condition that no marking may satisfy.
type condition struct {
	name string
	bad  func([]int32) bool
}

// New makes a monitor of one run of prog. It watches those properties that exclude a condition on
// markings (Never, Bounded, Mutex); others cannot be observed in an open net, or not in one run. It
// returns an error if a condition names something that the net lacks.
func New(prog *petri.Program, props ...*verify.Property) (*Monitor, error) {
	m := &Monitor{
		prog: prog, model: netmodel.New(prog, netmodel.RunToCompletion), order: prog.Order(), dropped: -1,
		users: make([][]int32, prog.Slots()), count: make([]int32, prog.Slots()),
		on: make([]bool, len(prog.Transitions())), since: make([]time.Duration, len(prog.Transitions())),
		dirty: make([]bool, len(prog.Transitions())),
	}
	m.timed = m.model.Timed()
	for t := range prog.Transitions() {
		m.index(int32(t))
	}
	for _, p := range props {
		claim, ok := p.Claim.(claim.Never)
		if !ok {
			continue
		}
		bad, err := claim.Bad(m.model)
		if err != nil {
			return nil, fmt.Errorf("monitor: watch %s: %w", p.Name, err)
		}
		m.watched = append(m.watched, condition{p.Name, bad})
	}
	return m, nil
}

// index notes which slots a transition looks at.
func (m *Monitor) index(t int32) {
	mine := map[int32]bool{}
	for i := range m.prog.Transitions()[t].Modes {
		for _, c := range m.prog.Transitions()[t].Modes[i].Conds {
			for _, s := range c.Slots {
				if !mine[s] {
					mine[s] = true
					m.users[s] = append(m.users[s], t)
				}
			}
		}
	}
}

// Watched names the properties that are checked in every marking in which the net rests.
func (m *Monitor) Watched() []string {
	var names []string
	for _, c := range m.watched {
		names = append(names, c.name)
	}
	return names
}

// Events is the number of correct events.
func (m *Monitor) Events() uint64 { return m.seen }

// Append follows the next events of the run, in order, each once. The error is always the first
// *Violation.
func (m *Monitor) Append(events []petri.Event) error {
	for _, e := range events {
		if m.broken != nil {
			break
		}
		m.follow(e)
	}
	return m.err()
}

// End says that no more events come. It is a violation if the machine would have reported more at
// this instant.
func (m *Monitor) End() error {
	if due := m.due(); m.broken == nil && due != "" {
		m.violate(petri.Event{Seq: m.seen + 1, At: m.now}, "", "the log ends where %s", due)
	}
	return m.err()
}

// due describes what the machine must report next, before time passes; "" if nothing.
func (m *Monitor) due() string {
	switch t := m.urgent(); {
	case len(m.cancels) > 0:
		return "the task at " + m.prog.Places()[m.cancels[0]].Name + " was cancelled, which the log does not report"
	case m.dropped >= 0:
		return "a token was dropped for one that does not come"
	case t >= 0:
		return m.name(t) + " fires at once"
	case m.final() && !m.ended:
		return "the final place is marked, and the log does not report the end"
	}
	return ""
}

func (m *Monitor) err() error {
	if m.broken == nil {
		return nil // no *Violation in an error
	}
	return m.broken
}

// follow processes one event.
func (m *Monitor) follow(e petri.Event) {
	if problem := m.wrong(e); problem != "" {
		m.violate(e, "", "%s", problem)
		return
	}
	if problem := m.take(e); problem != "" {
		m.violate(e, "", "%s", problem)
		return
	}
	m.last[m.seen%storyEvents] = e
	m.seen++
	m.now = e.At
	if m.dropped >= 0 || m.urgent() >= 0 {
		return
	}
	for _, c := range m.watched {
		if c.bad(m.count) {
			m.violate(e, c.name, "the net rests at %s", m.model.Format(m.count))
			return
		}
	}
}

// wrong describes what is wrong with an event in itself, or with its position in the log.
func (m *Monitor) wrong(e petri.Event) string {
	if problem := m.unknown(e); problem != "" {
		return problem
	}
	switch {
	case e.Seq != m.seen+1:
		return fmt.Sprintf("event %d is due", m.seen+1)
	case (e.Kind == petri.Started) != (m.seen == 0):
		return "a run starts once, with its first event"
	case m.ended && e.Kind != petri.Ended:
		return "the run is over"
	case !m.ended && m.final() && e.Kind != petri.Ended && e.Kind != petri.TaskCancelled:
		return "the final place is marked: nothing comes after that but the end"
	case e.At < m.now:
		return fmt.Sprintf("it is before %v, the time of the event before it", m.now)
	case len(m.cancels) > 0 && e.Kind != petri.TaskCancelled:
		return "the task at " + m.prog.Places()[m.cancels[0]].Name + " was cancelled, which the log does not report"
	case m.dropped >= 0 && e.Kind != petri.Injected:
		return "a token was dropped for one that does not come"
	}
	return ""
}

// unknown describes what an event names that the net lacks.
func (m *Monitor) unknown(e petri.Event) string {
	switch e.Kind {
	case petri.Started, petri.Ended, petri.Faulted:
		return ""
	case petri.Fired:
		if e.Index < 0 || int(e.Index) >= len(m.prog.Transitions()) {
			return fmt.Sprintf("there is no transition %d", e.Index)
		}
		t := &m.prog.Transitions()[e.Index]
		if int(e.Mode) >= len(t.Modes) || int(e.Branch) >= len(t.Modes[e.Mode].Branches) {
			return fmt.Sprintf("%s has no mode %d with a branch %d", t.Name, e.Mode, e.Branch)
		}
	case petri.Injected, petri.Refused, petri.Dropped, petri.TaskCancelled:
		if e.Index < 0 || int(e.Index) >= len(m.prog.Places()) {
			return fmt.Sprintf("there is no place %d", e.Index)
		}
		if p := &m.prog.Places()[e.Index]; e.Slot < 0 || int(e.Slot) >= max(1, p.Slots) {
			return fmt.Sprintf("%s has no tokens of kind %d", p.Name, e.Slot)
		}
	default:
		return fmt.Sprintf("there is no event of kind %d", e.Kind)
	}
	return ""
}

func (m *Monitor) name(t int32) string { return m.prog.Transitions()[t].Name }

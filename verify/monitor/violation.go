package monitor

import (
	"fmt"
	"strings"

	"github.com/voicegw/voicegw/petri"
)

// storyEvents is how many events before a violation its story lists.
const storyEvents = 20

// Violation is the first entry of a log that the net cannot do, or that breaks a property.
type Violation struct {
	Net      string
	Event    petri.Event // where it was found
	Property string      // the broken property; "" if the event is no move of the net
	Reason   string      // one sentence
	Story    string      // the marking before, and the last events, one a line
}

// Error is the violation in one line.
func (v *Violation) Error() string {
	if v.Property != "" {
		return fmt.Sprintf("monitor: net %s: event %d breaks %s: %s", v.Net, v.Event.Seq, v.Property, v.Reason)
	}
	return fmt.Sprintf("monitor: net %s: event %d: %s", v.Net, v.Event.Seq, v.Reason)
}

// violate makes the violation at an event, and keeps it.
func (m *Monitor) violate(e petri.Event, property, format string, args ...any) *Violation {
	m.broken = &Violation{Net: m.prog.Name(), Event: e, Property: property, Reason: fmt.Sprintf(format, args...)}
	m.broken.Story = m.story(e)
	return m.broken
}

// story lists the last events and the marking they led to.
func (m *Monitor) story(e petri.Event) string {
	var b strings.Builder
	from := uint64(0)
	if m.seen > storyEvents {
		from = m.seen - storyEvents
		fmt.Fprintf(&b, "... %d events\n", from)
	}
	for i := from; i < m.seen; i++ {
		was := m.last[i%storyEvents]
		fmt.Fprintf(&b, "%6d %s\n", was.Seq, m.prog.Describe(was))
	}
	fmt.Fprintf(&b, "       marking: %s\n", m.model.Format(m.count))
	fmt.Fprintf(&b, "%6d %s\n       %s\n", e.Seq, m.describe(e), m.broken.Reason)
	return b.String()
}

// describe renders an event, which may be one that the net cannot have.
func (m *Monitor) describe(e petri.Event) string {
	if m.unknown(e) != "" {
		return fmt.Sprintf("%v %v", e.At, kind(e.Kind))
	}
	return m.prog.Describe(e)
}

// kind is the name of an event's kind, or its number if the kind is unknown.
func kind(k petri.EventKind) string {
	if k > petri.Faulted {
		return fmt.Sprintf("kind %d", k)
	}
	return k.String()
}

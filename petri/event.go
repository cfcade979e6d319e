package petri

import (
	"fmt"
	"time"
)

// Event is one thing that happened in a run. Events are numbered from 1 without a gap. Together
// with the Program they determine every marking of the run. They contain keys and lengths of
// payloads, never payloads.
type Event struct {
	Seq    uint64        // from 1
	At     time.Duration // net time
	Kind   EventKind
	Branch uint8  // Fired: index of Mode.Branches
	Mode   uint16 // Fired: index of TransitionInfo.Modes
	Index  int32  // Fired: a transition; Injected, Refused, Dropped, TaskCancelled: a place
	Slot   int32  // Injected, Refused, Dropped: the slot within the place (key and age)
	Size   int32  // Injected, Refused: the length of the payload, if its colour is Sized
}

// EventKind is the kind of an event.
type EventKind uint8

// The kinds of event.
const (
	Started       EventKind = iota // the initial marking is in place
	Injected                       // a token entered at an environment place
	Refused                        // a full place rejected a token
	Dropped                        // a full place dropped a token to make room
	Fired                          // a transition fired
	TaskCancelled                  // a task was cancelled
	Ended                          // the final place is marked
	Faulted                        // the run broke an invariant and is over
)

var eventNames = [...]string{"started", "injected", "refused", "dropped", "fired", "cancelled", "ended", "faulted"}

// String returns the name of the kind.
func (k EventKind) String() string { return eventNames[k] }

// Describe returns an event as text, with the names of the net: "1.3s fired open".
func (p *Program) Describe(e Event) string {
	head := fmt.Sprintf("%v %s", e.At, e.Kind)
	switch e.Kind {
	case Started, Ended, Faulted:
		return head
	case Fired:
		return head + " " + p.FiringName(e)
	default:
		pl := &p.places[e.Index]
		s := head + " " + pl.SlotName(int(e.Slot))
		if e.Size > 0 {
			s += fmt.Sprintf(" size %d", e.Size)
		}
		return s
	}
}

// FiringName returns the name of the transition of a Fired event. It adds the mode and the branch
// if there are several: "route (edge[start]) branch 2".
func (p *Program) FiringName(e Event) string {
	t := &p.transitions[e.Index]
	s := t.Name
	if m := &t.Modes[e.Mode]; m.Label != "" && len(t.Modes) > 1 {
		s += " (" + m.Label + ")"
	}
	if len(t.Modes[e.Mode].Branches) > 1 {
		s += fmt.Sprintf(" branch %d", e.Branch)
	}
	return s
}

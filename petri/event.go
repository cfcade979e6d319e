package petri

import (
	"fmt"
	"time"
)

// Event is one thing that happened in a run. Events come in order, each
// exactly once, numbered from 1; with the program they determine every marking
// of the run. They hold keys and lengths of payloads, never payloads.
type Event struct {
	Seq    uint64
	At     time.Duration // net time
	Kind   EventKind
	Branch uint8 // Fired: which branch
	Mode   uint16
	Index  int32 // Fired: transition; otherwise: place
	Slot   int32 // Injected and the like: slot within the place (key and age)
	Size   int32 // Injected: length of the payload, if its colour tells it
}

// EventKind tells events apart.
type EventKind uint8

// The kinds of event.
const (
	Started       EventKind = iota // the initial marking stands
	Injected                       // a token entered at an environment place
	Refused                        // a token was turned away: the place was full
	Dropped                        // an older token was dropped to make room
	Fired                          // a transition fired
	TaskCancelled                  // a task was cancelled
	Ended                          // the final place is marked
	Faulted                        // the run broke an invariant and is over
)

var eventNames = [...]string{"started", "injected", "refused", "dropped", "fired", "cancelled", "ended", "faulted"}

// String is the kind in a word.
func (k EventKind) String() string { return eventNames[k] }

// Describe renders an event with the names of the net.
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

// FiringName is the transition of a Fired event with its mode and branch,
// where there are several: "route[edge[start]]/2".
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

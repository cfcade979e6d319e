package event

import (
	"time"

	"github.com/voicegw/voicegw/petri"
)

// Store takes the events of one run, in order, each once.
type Store interface {
	// Append takes events. It must not block and must not keep the slice. Only one goroutine at a
	// time calls it.
	Append(events []petri.Event)
	// Stored returns the largest n such that the events 1 to n are all safe. A durable output waits
	// until Stored reaches its event. A store in memory returns the number of the last event
	// appended. Any goroutine may call Stored.
	Stored() uint64
}

// Notifier is implemented by a Store whose events become safe after Append has returned.
type Notifier interface {
	// Notify sets the function that the store calls when Stored has grown or the store has failed
	// (see Failer). Any goroutine may call fn, and fn must not block.
	Notify(fn func())
}

// Failer is implemented by a Store that can fail for good, such as one on a disk that is full.
type Failer interface {
	// Err returns the reason why no event after Stored will ever be stored, or nil. Once it returns
	// an error, it keeps doing so and Stored no longer changes. A store that is also a Notifier
	// calls fn when it fails. Any goroutine may call Err.
	Err() error
}

// Failure returns the error of a store that has failed. It returns nil if s works or is not a
// Failer.
func Failure(s Store) error {
	if f, ok := s.(Failer); ok {
		return f.Err()
	}
	return nil
}

// Noter is implemented by a Store that accepts notes.
type Noter interface {
	// Note takes a note. It is called between two calls of Append, by the same goroutine.
	Note(n Note)
}

// Note is a fact about a run that is not an event of its net, such as the lateness of the process.
type Note struct {
	After uint64        // number of the last event before the note
	At    time.Duration // net time
	Kind  NoteKind
	Value time.Duration // the lateness
}

// NoteKind is the kind of a Note.
type NoteKind uint8

// The kinds of note.
const (
	// Late means that an output was handed over later than the declared bound. Timed properties do
	// not hold until OnTime follows.
	Late NoteKind = iota
	// OnTime means that outputs are on time again. Value is the largest lateness since Late.
	OnTime
)

// String returns the name of the kind.
func (k NoteKind) String() string { return [...]string{"late", "on_time"}[k] }

// incompleter is implemented by a Store that must know when events are missing.
type incompleter interface{ Incomplete() }

// markIncomplete marks a store, and the stores that it wraps, as incomplete.
func markIncomplete(s Store) {
	if i, ok := s.(incompleter); ok {
		i.Incomplete()
	}
}

// SendNote gives a note to s if it is a Noter.
func SendNote(s Store, n Note) {
	if t, ok := s.(Noter); ok {
		t.Note(n)
	}
}

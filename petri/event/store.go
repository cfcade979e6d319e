package event

import (
	"time"

	"github.com/voicegw/voicegw/petri"
)

// Store takes the events of one run, in order, each once.
type Store interface {
	// Append takes events. It must not block and must not keep the slice. It is
	// called by one goroutine at a time.
	Append(events []petri.Event)
	// Stored is the number of the last event that is safe together with all
	// before it; a durable output waits for it. A store in memory answers with
	// the last event appended. It may be called by any goroutine.
	Stored() uint64
}

// A Notifier is a Store that becomes safe later than Append returns.
type Notifier interface {
	// Notify sets what is called, by any goroutine, when Stored has grown or the
	// store has failed (see Failer). fn must not block.
	Notify(fn func())
}

// A Failer is a Store that can fail for good: a full disk, a lost database.
type Failer interface {
	// Err says why no event after Stored will ever be stored, or returns nil. Once
	// it returns an error, it keeps doing so and Stored stays where it is. A store
	// that is also a Notifier calls fn when it fails. Any goroutine may call Err.
	Err() error
}

// Failure returns the error of a store that has failed. It returns nil for a
// store that has not failed or cannot.
func Failure(s Store) error {
	if f, ok := s.(Failer); ok {
		return f.Err()
	}
	return nil
}

// A Noter is a Store that also wants to know what is no event of the net.
type Noter interface {
	// Note is called between two calls of Append, by the same goroutine.
	Note(n Note)
}

// Note says something about a run that its net cannot know, such as the
// lateness of its process.
type Note struct {
	After uint64        // the number of the last event before it
	At    time.Duration // net time
	Kind  NoteKind
	Value time.Duration // how late
}

// NoteKind tells notes apart.
type NoteKind uint8

// The kinds of note.
const (
	// Late says that outputs were handed over later than the declared bound, so
	// timed claims were void for that stretch.
	Late NoteKind = iota
	// OnTime says that the stretch is over; Value is its worst lateness.
	OnTime
)

// String is the kind in a word.
func (k NoteKind) String() string { return [...]string{"late", "on_time"}[k] }

// incompleter is a Store that must be told that it does not get every event, or
// none any more.
type incompleter interface{ Incomplete() }

// markIncomplete tells a store, and what it wraps, that events are missing.
func markIncomplete(s Store) {
	if i, ok := s.(incompleter); ok {
		i.Incomplete()
	}
}

// SendNote gives a note to a store if it wants notes.
func SendNote(s Store, n Note) {
	if t, ok := s.(Noter); ok {
		t.Note(n)
	}
}

package event

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/voicegw/voicegw/petri"
)

// ErrOverflow says that a store took events so slowly that its queue was full.
var ErrOverflow = errors.New("event: the queue of a store was full")

// Queue puts a store that may block, such as a file, behind a buffer, so that
// Append does not wait for it. Whoever makes a Queue runs it in a goroutine:
//
//	q := event.NewQueue(archive, 1<<16)
//	go func() { done <- q.Run(ctx) }()
//
// A queue that overflows passes nothing on from there: what is stored is whole
// up to that point, Stored stays where it is, and Run returns ErrOverflow.
type Queue struct {
	next Store
	max  int

	mu       sync.Mutex
	buf      []petri.Event
	notes    []Note
	stored   uint64
	overflow bool
	notify   func()
	wake     chan struct{}
}

// NewQueue makes a queue of at most limit events (40 bytes each) before next; 0
// means 65,536.
func NewQueue(next Store, limit int) *Queue {
	if limit == 0 {
		limit = 1 << 16
	}
	return &Queue{next: next, max: limit, notify: func() {}, wake: make(chan struct{}, 1)}
}

// Append queues events.
func (q *Queue) Append(events []petri.Event) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.buf)+len(events) > q.max {
		q.overflow = true
	}
	if !q.overflow {
		q.buf = append(q.buf, events...)
	}
	q.rouse()
}

// Note queues a note.
func (q *Queue) Note(n Note) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.notes) < q.max && !q.overflow {
		q.notes = append(q.notes, n)
	}
	q.rouse()
}

func (q *Queue) rouse() {
	select {
	case q.wake <- struct{}{}:
	default:
	}
}

// Stored is what the store behind the queue has stored.
func (q *Queue) Stored() uint64 {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.stored
}

// Notify sets what is called when Stored has grown.
func (q *Queue) Notify(fn func()) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.notify = fn
}

// Incomplete passes on that events are missing.
func (q *Queue) Incomplete() { markIncomplete(q.next) }

// Run passes events on until ctx is done and the queue is empty, or the queue
// overflows. It returns nil or ErrOverflow.
func (q *Queue) Run(ctx context.Context) error {
	var spare []petri.Event
	for {
		events, notes, overflow := q.take(spare)
		q.pass(events, notes)
		spare = events[:0]
		switch {
		case overflow:
			return fmt.Errorf("%w: %d events", ErrOverflow, q.max)
		case len(events)+len(notes) > 0:
			continue
		case ctx.Err() != nil:
			return nil
		}
		select {
		case <-q.wake:
		case <-ctx.Done():
		}
	}
}

func (q *Queue) take(spare []petri.Event) (events []petri.Event, notes []Note, overflow bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	events, notes = q.buf, q.notes
	q.buf, q.notes = spare, nil
	return events, notes, q.overflow
}

// pass gives a batch to the store behind, notes where they belong.
func (q *Queue) pass(events []petri.Event, notes []Note) {
	for _, n := range notes {
		k := 0
		for k < len(events) && events[k].Seq <= n.After {
			k++
		}
		if k > 0 {
			q.next.Append(events[:k])
		}
		events = events[k:]
		SendNote(q.next, n)
	}
	if len(events) > 0 {
		q.next.Append(events)
	}
	stored := q.next.Stored()
	q.mu.Lock()
	grown := stored > q.stored
	q.stored = max(q.stored, stored)
	notify := q.notify
	q.mu.Unlock()
	if grown {
		notify()
	}
}

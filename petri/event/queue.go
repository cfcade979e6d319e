package event

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/voicegw/voicegw/petri"
)

// Errors of a Queue.
var (
	// ErrOverflow says that a store took events so slowly that its queue was full.
	ErrOverflow = errors.New("event: the queue of a store was full")
	// ErrStalled says that a store did not return within QueueConfig.Stall.
	ErrStalled = errors.New("event: a store is blocked")
)

// QueueConfig bounds a Queue. The zero value works.
type QueueConfig struct {
	// Events is the most events that may wait, 40 bytes each. Default 65,536.
	Events int
	// Stall is how long the store behind may take over one batch before it counts
	// as failed. Default 2 s.
	Stall time.Duration
	// AfterFunc is the clock of Stall: time.AfterFunc. nil means that the store
	// behind never blocks.
	AfterFunc func(time.Duration, func()) *time.Timer
}

// Queue puts a store that may block, such as a file, behind a buffer, so that
// Append does not wait for it. Whoever makes a Queue runs it in a goroutine:
//
//	q := event.NewQueue(archive, event.QueueConfig{AfterFunc: time.AfterFunc})
//	go func() { done <- q.Run(ctx) }()
//
// A queue fails when it overflows, when the store behind it fails, and when that
// store blocks for too long. A queue that has failed passes nothing on, also if
// the store behind works again: what is stored is whole up to Stored, and that
// store is told that it is incomplete.
type Queue struct {
	next   Store
	cfg    QueueConfig
	wake   chan struct{}
	failed chan struct{} // closed with err

	mu     sync.Mutex
	buf    []petri.Event
	notes  []Note
	stored uint64
	full   bool // an event found no room; what waits is passed on before the queue fails
	err    error
	notify func()
}

// NewQueue makes a queue before next.
func NewQueue(next Store, cfg QueueConfig) *Queue {
	if cfg.Events == 0 {
		cfg.Events = 1 << 16
	}
	if cfg.Stall == 0 {
		cfg.Stall = 2 * time.Second
	}
	return &Queue{next: next, cfg: cfg, notify: func() {}, wake: make(chan struct{}, 1), failed: make(chan struct{})}
}

// Append queues events.
func (q *Queue) Append(events []petri.Event) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.buf)+len(events) > q.cfg.Events {
		q.full = true
	}
	if !q.full && q.err == nil {
		q.buf = append(q.buf, events...)
	}
	q.rouse()
}

// Note queues a note.
func (q *Queue) Note(n Note) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.notes) < q.cfg.Events && !q.full && q.err == nil {
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

// Err is why the queue failed: ErrOverflow or ErrStalled, wrapped, or the error
// of the store behind. It is nil while the queue works.
func (q *Queue) Err() error {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.err
}

// Failed is closed when the queue fails.
func (q *Queue) Failed() <-chan struct{} { return q.failed }

// Notify sets what is called when Stored has grown or the queue has failed.
func (q *Queue) Notify(fn func()) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.notify = fn
}

// Incomplete passes on that events are missing.
func (q *Queue) Incomplete() { markIncomplete(q.next) }

// Run passes events on until ctx is done and the queue is empty, or the queue
// fails. It returns Err. It does not return while the store behind blocks.
func (q *Queue) Run(ctx context.Context) error {
	begin, end, over := q.watchdog()
	defer over()
	var spare []petri.Event
	for {
		events, notes, full := q.take(spare)
		if len(events)+len(notes) > 0 {
			begin()
			q.pass(events, notes)
			end()
		}
		spare = events[:0]
		if err := Failure(q.next); err != nil {
			q.fail(err)
		} else if full {
			q.fail(fmt.Errorf("%w: %d events", ErrOverflow, q.cfg.Events))
		}
		if err := q.Err(); err != nil {
			markIncomplete(q.next)
			return err
		}
		if len(events)+len(notes) > 0 {
			continue
		}
		if ctx.Err() != nil {
			return nil
		}
		select {
		case <-q.wake:
		case <-ctx.Done():
		}
	}
}

// watchdog fails the queue when more than Stall passes between begin and end,
// until over. A timer that was stopped may be kept until it would have fired;
// after over it does not keep the queue, and what that notifies.
func (q *Queue) watchdog() (begin, end, over func()) {
	if q.cfg.AfterFunc == nil {
		return func() {}, func() {}, func() {}
	}
	var watched atomic.Pointer[Queue]
	watched.Store(q)
	t := q.cfg.AfterFunc(q.cfg.Stall, func() {
		if q := watched.Load(); q != nil {
			q.fail(fmt.Errorf("%w for %v", ErrStalled, q.cfg.Stall))
		}
	})
	t.Stop()
	return func() { t.Reset(q.cfg.Stall) }, func() { t.Stop() }, func() { watched.Store(nil) }
}

func (q *Queue) take(spare []petri.Event) (events []petri.Event, notes []Note, full bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	events, notes = q.buf, q.notes
	q.buf, q.notes = spare, nil
	return events, notes, q.full
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
	q.grow(q.next.Stored())
}

// grow takes over what the store behind has stored. It is too late for that once
// the queue has failed.
func (q *Queue) grow(stored uint64) {
	q.mu.Lock()
	grown := q.err == nil && stored > q.stored
	if grown {
		q.stored = stored
	}
	notify := q.notify
	q.mu.Unlock()
	if grown {
		notify()
	}
}

// fail ends the queue; the first error counts.
func (q *Queue) fail(err error) {
	q.mu.Lock()
	first := q.err == nil
	if first {
		q.err, q.buf, q.notes = err, nil, nil
		close(q.failed)
	}
	notify := q.notify
	q.mu.Unlock()
	if first {
		notify()
	}
}

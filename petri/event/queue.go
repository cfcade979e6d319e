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
	// ErrOverflow means that the store took events so slowly that its queue was full.
	ErrOverflow = errors.New("event: the queue of a store was full")
	// ErrStalled means that a call of the store did not return within QueueConfig.Stall.
	ErrStalled = errors.New("event: a store is blocked")
)

// QueueConfig configures a Queue. The zero value works.
type QueueConfig struct {
	// Events limits the events that may wait. Each takes 40 bytes. Default 65,536.
	Events int
	// Stall is how long the store may take for one batch before the queue fails. Default 2 s.
	Stall time.Duration
	// AfterFunc is the clock of Stall, usually time.AfterFunc. nil disables Stall, for a store that
	// never blocks.
	AfterFunc func(time.Duration, func()) *time.Timer
}

// Queue is a Store in front of a store that may block, such as a file. Append puts events into a
// buffer and does not wait. The owner of a Queue runs it in a goroutine:
//
//	q := event.NewQueue(archive, event.QueueConfig{AfterFunc: time.AfterFunc})
//	go func() { done <- q.Run(ctx) }()
//
// A queue fails if its buffer overflows, or if the store behind it fails or blocks for too long. A
// failed queue passes nothing on, even if the store works again. The events up to Stored are
// complete, and the queue marks the store as incomplete. A Queue is safe for concurrent use.
type Queue struct {
	next   Store
	cfg    QueueConfig
	wake   chan struct{}
	failed chan struct{} // closed when err is set

	mu     sync.Mutex
	buf    []petri.Event
	notes  []Note
	stored uint64
	full   bool // an event found no room; the queue passes on the rest, then fails
	err    error
	notify func()
}

// NewQueue returns a queue in front of next.
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
	q.signal()
}

// Note queues a note.
func (q *Queue) Note(n Note) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.notes) < q.cfg.Events && !q.full && q.err == nil {
		q.notes = append(q.notes, n)
	}
	q.signal()
}

func (q *Queue) signal() {
	select {
	case q.wake <- struct{}{}:
	default:
	}
}

// Stored returns the number of the last event that the store has stored.
func (q *Queue) Stored() uint64 {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.stored
}

// Err returns the reason why the queue failed: it wraps ErrOverflow or ErrStalled, or is the error
// of the store. It returns nil while the queue works.
func (q *Queue) Err() error {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.err
}

// Waiting returns the number of events that wait for the store.
func (q *Queue) Waiting() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.buf)
}

// Failed returns a channel that is closed when the queue fails.
func (q *Queue) Failed() <-chan struct{} { return q.failed }

// Notify sets the function that the queue calls when Stored has grown or the queue has failed.
func (q *Queue) Notify(fn func()) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.notify = fn
}

// Incomplete marks the store as incomplete.
func (q *Queue) Incomplete() { markIncomplete(q.next) }

// Run passes events on until ctx is done and the queue is empty, or until the queue fails. It
// returns Err. It does not return while the store blocks.
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

// watchdog returns functions around each call of the store: the queue fails if more than Stall
// passes between begin and end. over ends the watch and drops the timer's reference to the queue,
// because the runtime may keep a stopped timer until it would have fired.
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

// pass gives a batch to the store, with each note after the event that it follows.
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

// grow takes over the store's Stored, unless the queue has failed.
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

// fail ends the queue. The first error counts.
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

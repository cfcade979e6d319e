package runner

import (
	"errors"
	"sync"
	"time"

	"github.com/voicegw/voicegw/petri"
)

// Errors of Inject, InjectWait, InjectBlocking and InjectAccepted.
var (
	// ErrInboxFull means that Config.Inbox injections are queued already.
	ErrInboxFull = errors.New("runner: the inbox is full")
	// ErrClosed means that the run is over or takes no more injections.
	ErrClosed = errors.New("runner: the run is closed")
)

// keepEntries is the largest queue that is kept for reuse between bursts.
const keepEntries = 256

// entry is one stamped injection.
type entry struct {
	at     time.Duration
	token  petri.Token
	ack    chan answer // nil: nobody waits
	more   bool        // the next entry belongs to the same row; the last one answers for all
	result bool        // result of a task: does not count against the inbox, is never lost
}

// answer is what the machine says to a row.
type answer struct {
	entered int   // tokens of the row that are in the marking; the others are not
	err     error // why not; nil: all are
}

// inbox is the queue in front of the loop, and its clock. One lock covers the stamps of injections
// and the time that the loop reads, so that no injection is stamped before the time of the machine.
type inbox struct {
	mu       sync.Mutex
	start    time.Time
	last     time.Duration
	items    []entry
	results  int // how many of items are results
	max      int
	refused  uint64        // injections, or rows of them, refused with ErrInboxFull
	short    bool          // an injection was refused since the loop took the last batch
	poked    bool          // wake the loop although no injection came
	stopping bool          // take no more injections; end when the queue is empty
	over     bool          // the loop takes no more steps
	closed   bool          // the loop has ended
	parked   bool          // the goroutine of the run waits at wake
	guest    bool          // another goroutine has the loop; only while parked
	since    time.Duration // when the loop took the last batch or was woken
	wake     chan struct{}

	progress progress
}

func newInbox(limit int) *inbox {
	return &inbox{start: time.Now(), max: limit, wake: make(chan struct{}, 1)}
}

// now returns the net time, which never decreases. The caller holds mu.
func (q *inbox) now() time.Duration {
	q.last = max(q.last, time.Since(q.start))
	return q.last
}

// push stamps and queues a row of injections. Either all are queued or none.
func (q *inbox) push(ack chan answer, row ...petri.Token) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	err := q.add(ack, row)
	if err == nil {
		q.signal()
	}
	return err
}

// pushQuietly is push that leaves the loop asleep, unless the inbox is full.
func (q *inbox) pushQuietly(row ...petri.Token) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.add(nil, row)
}

// add is push without waking the loop. The caller holds mu.
func (q *inbox) add(ack chan answer, row []petri.Token) error {
	if q.closed || q.stopping {
		return ErrClosed
	}
	if len(q.items)-q.results+len(row) > q.max {
		q.refused++
		q.short = true
		q.signal() // it may sleep although tokens wait
		return ErrInboxFull
	}
	at := q.now()
	for i, t := range row {
		q.items = append(q.items, entry{at: at, token: t, ack: ack, more: i < len(row)-1})
	}
	return nil
}

// deliver queues the result of a task. A result is lost only if the run is over. If nobody has the loop, the
// caller gets it as a guest: deliver returns true, and the caller works until leave returns false.
func (q *inbox) deliver(t petri.Token) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		return false
	}
	q.results++
	q.items = append(q.items, entry{at: q.now(), token: t, result: true})
	if !q.parked || q.guest {
		return false
	}
	if q.over {
		q.signal()
		return false
	}
	q.guest = true
	return true
}

// leave ends the work of a guest and returns false. It returns true if there is more to do, and this is not
// enough for a guest: then the goroutine of the run goes on, as at the end of the run.
func (q *inbox) leave(enough bool) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	more := len(q.items) > 0 || q.poked || q.over
	if more && !enough && !q.over {
		return true
	}
	q.guest = false
	if more {
		q.signal()
	}
	return false
}

// end announces that the loop is over. It has no more guests.
func (q *inbox) end() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.over = true
}

// signal wakes the goroutine of the run if nobody has the loop. The caller holds mu.
func (q *inbox) signal() {
	if !q.parked || q.guest {
		return
	}
	q.parked, q.since = false, q.now()
	select {
	case q.wake <- struct{}{}:
	default:
	}
}

// poke wakes the loop, for instance because the store has stored more events.
func (q *inbox) poke() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.poked = true
	q.signal()
}

// stop makes the loop end when the queue is empty.
func (q *inbox) stop() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.stopping, q.poked = true, true
	q.signal()
}

// batch is what the loop takes from the inbox at one time.
type batch struct {
	items    []entry
	now      time.Duration
	stopping bool
}

// take returns the queue. It reuses spare, the items of the batch before, for the next queue.
func (q *inbox) take(spare []entry) batch {
	clear(spare)
	if cap(spare) > keepEntries {
		spare = nil
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	b := batch{items: q.items, now: q.now(), stopping: q.stopping}
	q.since = b.now
	if q.short {
		defer q.progress.advance()
	}
	q.items, q.results, q.poked, q.short = spare[:0], 0, false, false
	return b
}

// park announces that the goroutine of the run is about to wait. It returns false if there is something to do.
func (q *inbox) park() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.parked = len(q.items) == 0 && !q.poked
	return q.parked
}

// unpark announces that the goroutine of the run is awake. It returns false if a guest has the loop, who then
// looks at the time once more.
func (q *inbox) unpark() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.guest {
		q.poked = true
		return false
	}
	if q.parked {
		q.parked, q.since = false, q.now()
	}
	return true
}

// busy returns for how long the loop has worked on its last batch; 0 while it waits.
func (q *inbox) busy() time.Duration {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.parked && !q.guest || q.closed {
		return 0
	}
	return q.now() - q.since
}

// elapsed returns the net time.
func (q *inbox) elapsed() time.Duration {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.now()
}

// close ends the queue and returns the entries that the loop has not taken.
func (q *inbox) close() []entry {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	rest := q.items
	q.items = nil
	return rest
}

func (q *inbox) refusals() uint64 {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.refused
}

package runner

import (
	"errors"
	"sync"
	"time"

	"github.com/voicegw/voicegw/petri"
)

// Errors of injecting that a caller branches on.
var (
	// ErrInboxFull says that Config.Inbox injections are queued already.
	ErrInboxFull = errors.New("runner: the inbox is full")
	// ErrClosed says that the run is over, or takes no more injections.
	ErrClosed = errors.New("runner: the run is closed")
)

// keepEntries is the most queue entries kept between bursts.
const keepEntries = 256

// entry is one stamped injection.
type entry struct {
	at     time.Duration
	token  petri.Token
	ack    chan error // nil: nobody waits
	result bool       // of a task: not counted against the inbox, and never lost
}

// inbox is the queue in front of the loop, and its clock: stamping and reading
// the time for the machine happen under one lock, so that no injection is older
// than the machine.
type inbox struct {
	mu       sync.Mutex
	start    time.Time
	last     time.Duration
	items    []entry
	results  int // of items
	max      int
	refused  uint64 // ErrInboxFull
	poked    bool   // something other than an injection happened
	stopping bool   // take no more injections; end when the queue is empty
	draining bool   // take no more injections; end when nothing can happen any more
	closed   bool   // the loop is gone
	parked   bool   // the loop waits at wake
	wake     chan struct{}
}

func newInbox(limit int) *inbox {
	return &inbox{start: time.Now(), max: limit, wake: make(chan struct{}, 1)}
}

// now is the net time, which never decreases. mu is held.
func (q *inbox) now() time.Duration {
	q.last = max(q.last, time.Since(q.start))
	return q.last
}

// push stamps and queues an injection.
func (q *inbox) push(t petri.Token, ack chan error) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed || q.stopping || q.draining {
		return ErrClosed
	}
	if len(q.items)-q.results >= q.max {
		q.refused++
		return ErrInboxFull
	}
	q.items = append(q.items, entry{at: q.now(), token: t, ack: ack})
	q.rouse()
	return nil
}

// deliver queues the result of a task. It is lost only when the run is over.
func (q *inbox) deliver(t petri.Token) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		return
	}
	q.results++
	q.items = append(q.items, entry{at: q.now(), token: t, result: true})
	q.rouse()
}

// rouse wakes the loop if it waits. mu is held.
func (q *inbox) rouse() {
	if !q.parked {
		return
	}
	q.parked = false
	select {
	case q.wake <- struct{}{}:
	default:
	}
}

// poke makes the loop look around.
func (q *inbox) poke() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.poked = true
	q.rouse()
}

// stop lets the loop end when the queue is empty.
func (q *inbox) stop() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.stopping, q.poked = true, true
	q.rouse()
}

// drain lets the loop end when nothing can happen any more.
func (q *inbox) drain() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.draining, q.poked = true, true
	q.rouse()
}

// batch is what the loop takes at one time.
type batch struct {
	items              []entry
	now                time.Duration
	stopping, draining bool
}

// take hands the queue to the loop, which gives back the one it had before.
func (q *inbox) take(spare []entry) batch {
	clear(spare)
	if cap(spare) > keepEntries {
		spare = nil
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	b := batch{items: q.items, now: q.now(), stopping: q.stopping, draining: q.draining}
	q.items, q.results, q.poked = spare[:0], 0, false
	return b
}

// park announces that the loop will wait. It reports false when there is
// something to do.
func (q *inbox) park() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.parked = len(q.items) == 0 && !q.poked
	return q.parked
}

// unpark says that the loop is awake.
func (q *inbox) unpark() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.parked = false
}

// elapsed is the net time now.
func (q *inbox) elapsed() time.Duration {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.now()
}

// close ends the queue and returns what nobody will take.
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

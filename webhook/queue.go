package webhook

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/voicegw/voicegw"
	"github.com/voicegw/voicegw/agent/fetch"
)

// Defaults and limits of a Queue.
const (
	queueDefault  = 1000 // requests that may wait
	flightDefault = 8    // requests under way
	flightMax     = 100
)

// QueueConfig configures a Queue. Only Hook is required.
type QueueConfig struct {
	Hook *Hook
	// Max is how many requests may wait, for their first try or a later one: 1,000 by default. One more displaces the
	// oldest.
	Max int
	// InFlight is how many requests are under way at the same time: 8 by default, at most 100.
	InFlight int
	// Log gets an error for each request that was given up; nil disables it.
	Log *zap.Logger
}

// Queue posts what nobody waits for. Its requests wait in memory only. Each has tries of its own and, while it waits
// for the next one, holds back no other but later requests of the same call, which stay in order. Set Hooks.Ended to
// its Ended method or Hooks.Digits to its Digits method, and close it at the end. All methods are safe for concurrent
// use, and only Close blocks.
type Queue struct {
	cfg     QueueConfig
	stop    context.CancelFunc
	running sync.WaitGroup
	news    chan struct{} // something may be due

	mu       sync.Mutex
	waiting  []*request          // oldest first
	inFlight map[string]*request // by call
	numbers  uint64              // of requests so far
	closing  bool                // by Close: a request that waits for its next try has it at once
	closed   bool                // nothing more is sent
	idle     chan struct{}       // closed while nothing waits and nothing is in flight
	lost     int
}

// request is a request that waits or is in flight.
type request struct {
	number uint64 // in the order of arrival
	call   string // its id
	key    string
	trace  traced
	body   []byte

	tries   int
	due     time.Time     // of the next try
	wait    time.Duration // after a try that failed
	hurried bool          // by Close
}

// hurry makes the next try due at once, and the waits begin again.
func (r *request) hurry(now time.Time, backoff time.Duration) {
	r.hurried, r.due, r.wait = true, now, backoff
}

// NewQueue starts a queue.
func NewQueue(cfg QueueConfig) (*Queue, error) {
	if cfg.Hook == nil || cfg.Max < 0 || cfg.InFlight < 0 || cfg.InFlight > flightMax {
		return nil, fmt.Errorf("webhook: QueueConfig: Max is %d and InFlight %d; it needs a Hook, Max must not be "+
			"negative, and InFlight must be 0 to %d", cfg.Max, cfg.InFlight, flightMax)
	}
	cfg.Max, cfg.InFlight = cmp.Or(cfg.Max, queueDefault), cmp.Or(cfg.InFlight, flightDefault)
	if cfg.Log == nil {
		cfg.Log = zap.NewNop()
	}
	ctx, stop := context.WithCancel(context.Background())
	q := &Queue{cfg: cfg, stop: stop, news: make(chan struct{}, 1), inFlight: map[string]*request{},
		idle: make(chan struct{})}
	close(q.idle)
	q.running.Go(func() { q.run(ctx) })
	return q, nil
}

// Ended posts the record of a call. Its key is the id of the call.
func (q *Queue) Ended(r voicegw.Record) {
	q.put(r.Call, r.Call, traced{r.Trace, r.TraceState}, struct {
		Type   string         `json:"type"`
		Record voicegw.Record `json:"record"`
	}{"end", r})
}

// Digits posts what the caller entered during protected input.
func (q *Queue) Digits(s *voicegw.Session, digits string) {
	hello := s.Hello()
	q.put(s.ID(), rand.Text(), traced{hello.Trace, hello.TraceState}, struct {
		Type   string `json:"type"`
		Call   Call   `json:"call"`
		Digits string `json:"digits"`
	}{"digits", sessionOf(s), digits})
}

// put queues a request. It never blocks.
func (q *Queue) put(call, key string, trace traced, body any) {
	data, err := json.Marshal(body)
	q.mu.Lock()
	defer q.mu.Unlock()
	switch {
	case err != nil || len(data) > BodyMax:
		q.gaveUp(call, "it is too large")
		return
	case q.closed:
		q.gaveUp(call, whyClosed)
		return
	}
	select {
	case <-q.idle:
		q.idle = make(chan struct{})
	default:
	}
	q.numbers++
	q.enqueue(&request{number: q.numbers, call: call, key: key, trace: trace, body: data, due: time.Now(),
		wait: q.cfg.Hook.cfg.Backoff})
}

// enqueue lets a request wait; mu is held.
func (q *Queue) enqueue(r *request) {
	at, _ := slices.BinarySearchFunc(q.waiting, r.number, func(w *request, n uint64) int {
		return cmp.Compare(w.number, n)
	})
	q.waiting = slices.Insert(q.waiting, at, r)
	if len(q.waiting) > q.cfg.Max {
		q.gaveUp(q.waiting[0].call, "the queue was full")
		q.waiting = slices.Delete(q.waiting, 0, 1)
	}
	q.look()
}

// look lets run look for what is due.
func (q *Queue) look() {
	select {
	case q.news <- struct{}{}:
	default:
	}
}

// whyClosed is why a request is given up that Close leaves.
const whyClosed = "the gateway ended"

// gaveUp counts a request of a call that was given up; mu is held. Its content is in no log.
func (q *Queue) gaveUp(call, why string) {
	q.lost++
	q.cfg.Log.Error("a webhook did not get a request", zap.String("call", call), zap.String("host", q.cfg.Hook.Host()),
		zap.String("why", why), zap.Int("lost", q.lost))
}

// Lost returns how many requests were given up.
func (q *Queue) Lost() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.lost
}

// Waiting returns how many requests wait for their first try or a later one.
func (q *Queue) Waiting() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.waiting)
}

// Close waits until every request is answered or given up, or ctx is done, and stops the queue. A request that waits
// for its next try has it at once. Close returns an error if some were not taken. What comes after it is given up.
func (q *Queue) Close(ctx context.Context) error {
	q.mu.Lock()
	idle := q.idle
	if !q.closing {
		q.closing = true
		for _, r := range q.waiting {
			if r.tries > 0 {
				r.hurry(time.Now(), q.cfg.Hook.cfg.Backoff)
			}
		}
		q.look()
	}
	q.mu.Unlock()
	select {
	case <-idle:
	case <-ctx.Done():
	}
	q.stop()
	q.running.Wait()
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	for _, r := range q.waiting {
		if r.tries > 0 {
			_ = q.cfg.Hook.ended(gone(nil))
		}
		q.gaveUp(r.call, whyClosed)
	}
	q.waiting = nil
	if n := q.lost; n > 0 {
		return fmt.Errorf("webhook: %s did not get %d requests", q.cfg.Hook.Host(), n)
	}
	return nil
}

// run makes each try when it is due, until ctx is done.
func (q *Queue) run(ctx context.Context) {
	for ctx.Err() == nil {
		r, wait := q.next(time.Now())
		if r != nil {
			q.running.Go(func() { q.try(ctx, r) })
			continue
		}
		due := time.NewTimer(wait)
		select {
		case <-q.news:
		case <-due.C:
		case <-ctx.Done():
		}
		due.Stop()
	}
}

// next takes the request that has been due for the longest time. If there is none that may go, it returns how long
// until one is due.
func (q *Queue) next(now time.Time) (*request, time.Duration) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.inFlight) >= q.cfg.InFlight {
		return nil, backoffMax // a try that ends brings news
	}
	first := -1
	earlier := map[string]bool{} // calls with an earlier request
	for i, r := range q.waiting {
		if q.inFlight[r.call] == nil && !earlier[r.call] && (first < 0 || r.due.Before(q.waiting[first].due)) {
			first = i
		}
		earlier[r.call] = true
	}
	if first < 0 {
		return nil, backoffMax
	}
	r := q.waiting[first]
	if wait := r.due.Sub(now); wait > 0 {
		return nil, wait
	}
	q.waiting = slices.Delete(q.waiting, first, first+1)
	q.inFlight[r.call] = r
	return r, 0
}

// try makes one try of a request, which then waits for the next one, or is over.
func (q *Queue) try(ctx context.Context, r *request) {
	h := q.cfg.Hook
	_, after, wrong := h.once(ctx, r.key, r.trace, r.body)
	if wrong != nil && errors.As(wrong.Err, new(*fetch.SizeError)) && wrong.Result == Refused {
		wrong = nil // the status is 2xx, and nobody reads the answer
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	delete(q.inFlight, r.call)
	r.tries++
	if wrong != nil && after >= 0 && r.tries < h.cfg.Tries && ctx.Err() == nil {
		now := time.Now()
		if r.due = now.Add(max(r.wait, after)); q.closing && !r.hurried {
			r.hurry(now, h.cfg.Backoff)
		} else {
			r.wait = min(2*r.wait, backoffMax)
		}
		q.enqueue(r)
		return
	}
	if err := h.ended(wrong); err != nil {
		why := err.Error()
		if cancelled(err) {
			why = whyClosed
		}
		q.gaveUp(r.call, why)
	}
	q.look()
	if len(q.waiting) == 0 && len(q.inFlight) == 0 {
		close(q.idle)
	}
}

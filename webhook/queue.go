package webhook

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"go.uber.org/zap"

	"github.com/voicegw/voicegw"
	"github.com/voicegw/voicegw/agent/fetch"
)

// queueDefault is how many requests may wait.
const queueDefault = 1000

// QueueConfig configures a Queue. Only Hook is required.
type QueueConfig struct {
	Hook *Hook
	// Max is how many requests may wait: 1,000 by default. One more displaces the oldest.
	Max int
	// Log gets an error for each request that was given up; nil disables it.
	Log *zap.Logger
}

// Queue posts what nobody waits for, in order. Its requests wait in memory only. Set Hooks.Ended to its Ended method
// or Hooks.Digits to its Digits method, and close it at the end. All methods are safe for concurrent use, and only
// Close blocks.
type Queue struct {
	cfg     QueueConfig
	stop    context.CancelFunc
	running sync.WaitGroup
	closing chan struct{} // closed by Close: what waits for its next try has it now

	mu      sync.Mutex
	waiting []request // oldest first
	closed  bool      // nothing more is sent
	news    chan struct{}
	idle    chan struct{} // closed while nothing waits and nothing is being sent
	lost    int
}

// request is a request that waits.
type request struct {
	call string // its id, for the log
	key  string
	body []byte
}

// NewQueue starts a queue.
func NewQueue(cfg QueueConfig) (*Queue, error) {
	if cfg.Hook == nil || cfg.Max < 0 {
		return nil, fmt.Errorf("webhook: QueueConfig: Max is %d; it needs a Hook, and Max must not be negative", cfg.Max)
	}
	if cfg.Max == 0 {
		cfg.Max = queueDefault
	}
	if cfg.Log == nil {
		cfg.Log = zap.NewNop()
	}
	ctx, stop := context.WithCancel(context.Background())
	q := &Queue{cfg: cfg, stop: stop, closing: make(chan struct{}), news: make(chan struct{}, 1),
		idle: make(chan struct{})}
	close(q.idle)
	q.running.Go(func() { q.run(ctx) })
	return q, nil
}

// Ended posts the record of a call. Its key is the id of the call.
func (q *Queue) Ended(r voicegw.Record) {
	q.put(r.Call, r.Call, struct {
		Type   string         `json:"type"`
		Record voicegw.Record `json:"record"`
	}{"end", r})
}

// Digits posts what the caller entered during protected input.
func (q *Queue) Digits(s *voicegw.Session, digits string) {
	q.put(s.ID(), rand.Text(), struct {
		Type   string `json:"type"`
		Call   Call   `json:"call"`
		Digits string `json:"digits"`
	}{"digits", sessionOf(s), digits})
}

// put queues a request. It never blocks.
func (q *Queue) put(call, key string, body any) {
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
	if len(q.waiting) == q.cfg.Max {
		q.gaveUp(q.waiting[0].call, "the queue was full")
		q.waiting = append(q.waiting[:0], q.waiting[1:]...)
	}
	q.waiting = append(q.waiting, request{call, key, data})
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

// Waiting returns how many requests wait.
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
	select {
	case <-q.closing:
	default:
		close(q.closing)
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
		q.gaveUp(r.call, whyClosed)
	}
	q.waiting = nil
	if n := q.lost; n > 0 {
		return fmt.Errorf("webhook: %s did not get %d requests", q.cfg.Hook.Host(), n)
	}
	return nil
}

// run posts until ctx is done.
func (q *Queue) run(ctx context.Context) {
	for ctx.Err() == nil {
		r, ok := q.next()
		if !ok {
			select {
			case <-q.news:
			case <-ctx.Done():
			}
			continue
		}
		_, wrong := q.cfg.Hook.send(ctx, r.key, r.body, q.closing)
		if wrong != nil && errors.As(wrong.Err, new(*fetch.SizeError)) && wrong.Result == Refused {
			wrong = nil // the status is 2xx, and nobody reads the answer
		}
		if err := q.cfg.Hook.ended(wrong); err != nil {
			why := err.Error()
			if cancelled(err) {
				why = whyClosed
			}
			q.mu.Lock()
			q.gaveUp(r.call, why)
			q.mu.Unlock()
		}
	}
}

// next takes the oldest request.
func (q *Queue) next() (request, bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.waiting) == 0 {
		select {
		case <-q.idle:
		default:
			close(q.idle)
		}
		return request{}, false
	}
	r := q.waiting[0]
	q.waiting = append(q.waiting[:0], q.waiting[1:]...)
	return r, true
}

package access

import (
	"fmt"
	"sync"
	"time"

	"github.com/voicegw/voicegw/transport"
)

// Quota limits the calls of a group of callers that the guard does not know, such as those of one rule. Callers have
// its permits beside those of the guard. It is safe for concurrent use.
type Quota struct {
	of string
	mu sync.Mutex
	q  *quota
}

// NewQuota returns a quota. of names the group in errors. BytesPerMinute of the limits must be 0.
func NewQuota(of string, l Limits) (*Quota, error) {
	if err := checkQuota(of, l); err != nil {
		return nil, err
	}
	return &Quota{of: of, q: newQuota(of, "", l)}, nil
}

func checkQuota(of string, l Limits) error {
	if l.BytesPerMinute != 0 {
		return fmt.Errorf("access: limits of %s: a quota of calls has no limit of bytes", of)
	}
	if err := l.check(of); err != nil {
		return fmt.Errorf("access: %w", err)
	}
	return nil
}

// PrepareLimits checks limits and changes nothing. commit then sets them for calls that begin from now on; calls that
// run count against them.
func (q *Quota) PrepareLimits(l Limits) (commit func(), err error) {
	if err := checkQuota(q.of, l); err != nil {
		return nil, err
	}
	return func() {
		q.mu.Lock()
		defer q.mu.Unlock()
		if l != q.q.limits {
			calls := q.q.calls
			q.q = newQuota(q.of, "", l)
			q.q.calls = calls
		}
	}, nil
}

// Take takes a permit for a call that begins now; GiveBack returns it. The error is a *transport.Refused.
func (q *Quota) Take(now time.Time) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	if d := q.q.take(now); d != nil {
		return &transport.Refused{Reason: transport.ReasonLimit, RetryAfter: d.retryAfter,
			Err: fmt.Errorf("access: %s has reached its limit of %s", d.of, d.limit)}
	}
	return nil
}

// GiveBack returns the permit of a call that is over.
func (q *Quota) GiveBack() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.q.calls--
}

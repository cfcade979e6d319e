package access

import (
	"math"
	"time"

	"golang.org/x/time/rate"
)

// quota counts what one address, tenant or subject uses. The guard's mutex protects calls; the
// limiters are safe for concurrent use, so that Grant.Spend needs no lock.
type quota struct {
	of     string // "address", "tenant" or "subject"
	key    string
	limits Limits
	calls  int           // permits taken: calls that run, and attempts that are not decided yet
	starts *rate.Limiter // nil: no limit
	bytes  *rate.Limiter // nil: no limit
}

func newQuota(of, key string, l Limits) *quota {
	return &quota{of: of, key: key, limits: l, starts: perMinute(int64(l.CallsPerMinute)),
		bytes: perMinute(l.BytesPerMinute)}
}

// perMinute returns a full bucket of n tokens that gains n tokens a minute, nil for n = 0.
func perMinute(n int64) *rate.Limiter {
	if n == 0 {
		return nil
	}
	return rate.NewLimiter(rate.Limit(float64(n)/60), int(min(n, math.MaxInt)))
}

// untilHas returns how long the bucket needs to hold n tokens, 0 if it holds them or is nil.
func untilHas(l *rate.Limiter, n float64, now time.Time) time.Duration {
	if l == nil {
		return 0
	}
	return max(0, time.Duration((n-l.TokensAt(now))/float64(l.Limit())*float64(time.Second)))
}

// denial says which limit of a quota refused a call.
type denial struct {
	of, limit  string // such as "tenant", "calls"
	retryAfter time.Duration
}

const (
	// callsRetry is the advice after a refusal for too many calls at one time. Any of them may
	// end at any moment, so it is a guess.
	callsRetry = 5 * time.Second
	// retryMin is the shortest advice.
	retryMin = time.Second
)

// take takes a permit for a call and one start. If a limit is reached it takes nothing and says
// which. A call needs the bytes of one second to begin.
func (q *quota) take(now time.Time) *denial {
	if q.limits.Calls > 0 && q.calls >= q.limits.Calls {
		return &denial{q.of, "calls", callsRetry}
	}
	if wait := untilHas(q.starts, 1, now); wait > 0 {
		return &denial{q.of, "rate", max(wait, retryMin)}
	}
	if wait := untilHas(q.bytes, float64(q.limits.BytesPerMinute)/60, now); wait > 0 {
		return &denial{q.of, "bytes", max(wait, retryMin)}
	}
	if q.starts != nil {
		q.starts.AllowN(now, 1)
	}
	q.calls++
	return nil
}

// idle reports whether the quota is as new, so that it may be forgotten.
func (q *quota) idle(now time.Time) bool {
	return q.calls == 0 && untilHas(q.starts, float64(q.limits.CallsPerMinute), now) == 0 &&
		untilHas(q.bytes, float64(q.limits.BytesPerMinute), now) == 0
}

// quotas are the quotas in use, by key. The guard's mutex protects them.
type quotas struct {
	max   int
	byKey map[string]*quota
	swept time.Time // when idle quotas were last looked for
}

// get returns the quota of a key, and creates it if it is missing. It returns errCrowded if max
// quotas exist and all of them are in use. A quota without limits counts nothing and is not kept.
func (s *quotas) get(of, key string, l Limits, now time.Time) (*quota, error) {
	key = of + " " + key
	if q := s.byKey[key]; q != nil {
		return q, nil
	}
	q := newQuota(of, key, l)
	if l == (Limits{}) {
		return q, nil
	}
	if len(s.byKey) >= s.max {
		s.sweep(now)
	}
	if len(s.byKey) >= s.max {
		return nil, errCrowded
	}
	s.byKey[key] = q
	return q, nil
}

// giveBack returns the permit of one call.
func (s *quotas) giveBack(q *quota, now time.Time) {
	q.calls--
	s.forget(q, now)
}

// sweep forgets idle quotas, at most once in sweepPause, so that a flood of new addresses cannot
// make it the gateway's main work.
func (s *quotas) sweep(now time.Time) {
	if now.Sub(s.swept) < sweepPause {
		return
	}
	s.swept = now
	for _, q := range s.byKey {
		s.forget(q, now)
	}
}

func (s *quotas) forget(q *quota, now time.Time) {
	if q.idle(now) && s.byKey[q.key] == q {
		delete(s.byKey, q.key)
	}
}

package access

import (
	"errors"
	"fmt"
	"time"

	"github.com/voicegw/voicegw/petri"
)

// meter is the running quota of one address, tenant or subject. The guard's mutex owns it.
type meter struct {
	counter counter
	limits  Limits
	m       *petri.Machine // nil: nothing is limited
	born    time.Time      // time 0 of the machine
	key     string
	users   int // attempts that asked it and are not over
}

// start begins the quota at an instant.
func (g *Guard) start(c counter, key string, l Limits, now time.Time) *meter {
	q := &meter{counter: c, limits: l, born: now, key: key, m: g.program(c, l).Start()}
	q.m.Silent(true)
	return q
}

// programsMax is how many quota nets are kept compiled: one for each combination of limits.
const programsMax = 256

// programKey names a compiled quota.
type programKey struct {
	counter string
	limits  Limits
}

// program compiles the quota net of some limits, once. Limits that were checked make a net that compiles.
func (g *Guard) program(c counter, l Limits) *petri.Program {
	key := programKey{c.name, l}
	if prog := g.programs[key]; prog != nil {
		return prog
	}
	prog, err := petri.Compile(Quota(c.name, l))
	if err != nil {
		panic(fmt.Errorf("access: compile the quota of %s: %w", c.name, err))
	}
	if len(g.programs) >= programsMax {
		clear(g.programs)
	}
	g.programs[key] = prog
	return prog
}

// inject lets the quota decide, and returns what it put out.
func (q *meter) inject(now time.Time, t petri.Token) []petri.Token {
	at := max(now.Sub(q.born), q.m.Now())
	if err := q.m.Inject(at, t); err != nil && !errors.Is(err, petri.ErrEnded) {
		panic(err) // a port that the proof says is free
	}
	return q.m.Advance(at).Out
}

// ask returns what the quota says to a call: granted, or refused with a denial.
func (q *meter) ask(now time.Time) petri.Token {
	if q.m == nil {
		return q.counter.granted.Token(petri.Unit{})
	}
	return q.inject(now, q.counter.ask.Token(petri.Unit{}))[0]
}

// giveBack gives a call's permit back.
func (q *meter) giveBack(now time.Time) {
	if q.m != nil {
		q.inject(now, q.counter.giveBack.Token(petri.Unit{}))
	}
}

// spend takes one part of the bytes.
func (q *meter) spend(now time.Time) bool {
	yes, ok := q.counter.spent.From(q.inject(now, q.counter.spend.Token(petri.Unit{}))[0])
	return ok && yes == Yes
}

// idle reports whether the quota is as it was at its start, so that it may be forgotten.
func (q *meter) idle(now time.Time) bool {
	if q.users > 0 {
		return false
	}
	return q.m == nil || q.m.Advance(max(now.Sub(q.born), q.m.Now())).Wake == petri.Forever
}

// retryAfter is when it makes sense to ask again. A call may end at any time, so for calls it is a guess.
func (q *meter) retryAfter(d Denial) time.Duration {
	const guess = 5 * time.Second
	if d == DeniedCalls || q.m == nil || q.m.Wake() == petri.Forever {
		return guess
	}
	return max(q.m.Wake()-q.m.Now(), time.Second)
}

// meter finds a quota by its key, or begins it. When there are as many as may be, those that are idle are forgotten.
func (g *Guard) meter(c counter, key string, l Limits, now time.Time) (*meter, error) {
	if m := g.meters[key]; m != nil {
		return m, nil
	}
	if l.none() {
		return &meter{counter: c, key: key}, nil // there is nothing to count
	}
	if len(g.meters) >= g.cfg.QuotasMax {
		g.sweep(now)
	}
	if len(g.meters) >= g.cfg.QuotasMax {
		return nil, errCrowded
	}
	m := g.start(c, key, l, now)
	g.meters[key] = m
	return m, nil
}

// sweep forgets quotas that are idle, at most once in sweepPause: a flood of new addresses must not cost more than
// that.
func (g *Guard) sweep(now time.Time) {
	if now.Sub(g.swept) < sweepPause {
		return
	}
	g.swept = now
	for _, m := range g.meters {
		g.forget(m, now)
	}
}

// forget forgets a quota if it is idle.
func (g *Guard) forget(m *meter, now time.Time) {
	if g.meters[m.key] == m && m.idle(now) {
		delete(g.meters, m.key)
	}
}

// limitsKey names limits.
func limitsKey(l Limits) string { return fmt.Sprint(l.Calls, l.CallsPerMinute, l.BytesPerMinute) }

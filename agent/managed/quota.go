package managed

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"go.uber.org/zap"
	"golang.org/x/time/rate"

	"github.com/voicegw/voicegw/journal"
)

// Times and sizes of accounts.
const (
	accountsMax  = 10_000           // that are in memory
	recountAfter = time.Minute      // how old a count may be
	recountShare = 100              // a count may take this part of the time
	noteBytes    = 16 << 10         // a session that has grown by this much, and by an eighth, notes its size
	sendBurst    = eventsMax        // events that may come at once at least: one request may have them
	eventsMax    = 100              // of a request
	waitMin      = time.Millisecond // the shortest advice to try again
)

// accounts holds what each tenant uses of its quotas. Nothing of it is stored by itself. The
// number of a tenant's sessions and their bytes are counted from the entries of the sessions at the first
// request that needs them, and again at most once a minute; in between, each process adds what passes through
// it. So a crash makes no number wrong. Where several processes share a journal, each learns at its next count
// what the others have added.
//
// The entry of a session has the size that the session had at one of its last messages. A session that is not in
// memory so counts with at least seven eighths of what it had at its last message, less 16 KiB.
type accounts struct {
	limits Limits
	now    func() time.Time

	mu       sync.Mutex
	byTenant map[string]*account
}

// account is what a tenant uses.
type account struct {
	sends *rate.Limiter // events of the user; nil: no limit

	mu       sync.Mutex
	used     time.Time
	counting *tally    // that is under way; nil if there is none
	counted  time.Time // when the last count began
	took     time.Duration
	sessions int   // that are not archived
	bytes    int64 // of the records of all sessions
	begins   int   // sessions that are being made
	begun    int   // sessions that were made since the count began that is under way
	grown    int64 // bytes, likewise
	claims   int   // that this process has added since it last looked for old ones
	swept    bool
}

// account returns the account of a tenant. It forgets one that was not used lately if there are too many.
func (b *accounts) account(tenant string) *account {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := b.now()
	a := b.byTenant[tenant]
	if a == nil {
		for other, one := range b.byTenant { // in no order
			if len(b.byTenant) < accountsMax {
				break
			}
			if one.idle(now) {
				delete(b.byTenant, other)
			}
		}
		for other := range b.byTenant {
			if len(b.byTenant) < accountsMax {
				break
			}
			delete(b.byTenant, other)
		}
		a = &account{}
		if n := b.limits.TenantEvents; n > 0 {
			a.sends = rate.NewLimiter(rate.Limit(n), max(n, sendBurst))
		}
		b.byTenant[tenant] = a
	}
	a.mu.Lock()
	a.used = now
	a.mu.Unlock()
	return a
}

func (a *account) idle(now time.Time) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return now.Sub(a.used) > recountAfter && a.begins == 0 && a.counting == nil
}

// adds counts a claim, and reports whether it is time to look for old ones.
func (a *account) adds() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.claims++; a.swept && a.claims < claimsSweep {
		return false
	}
	a.swept, a.claims = true, 0
	return true
}

// takes takes events of the user from the limit of the tenant's rate.
func (a *account) takes(events int, now time.Time) error {
	if a.sends == nil || a.sends.AllowN(now, events) {
		return nil
	}
	missing := float64(events) - a.sends.TokensAt(now)
	wait := max(time.Duration(missing/float64(a.sends.Limit())*float64(time.Second)), waitMin)
	return &Error{Code: TooMany, Wait: wait, Message: fmt.Sprintf("you send more than %v events a second; try again in %v",
		a.sends.Limit(), wait.Round(time.Millisecond))}
}

// tally is a count of a tenant's sessions that is under way.
type tally struct {
	done chan struct{} // closed when it ends
	err  error         // set before that
}

// counted returns the account of an owner's tenant, with a count that is not too old. The request that finds it too
// old waits for another count; so do others if there is none yet. The count goes on without them.
func (r *Runtime) counted(ctx context.Context, o Owner) (*account, error) {
	a := r.accounts.account(o.Tenant)
	a.mu.Lock()
	now, c, wait := r.now(), a.counting, a.counted.IsZero()
	if c == nil && (wait || now.Sub(a.counted) >= max(recountAfter, recountShare*a.took)) {
		c, wait = &tally{done: make(chan struct{})}, true
		if !r.goes(func() { r.count(o, a, c, now) }) {
			a.mu.Unlock()
			return nil, errStopping()
		}
		a.counting, a.begun, a.grown = c, a.begins, 0
	}
	a.mu.Unlock()
	if c == nil || !wait {
		return a, nil
	}
	select {
	case <-c.done:
		return a, c.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// countMax is how long a count may take.
const countMax = 10 * time.Minute

// count counts the sessions of a tenant and their bytes. What is added meanwhile counts, too, if need be twice
// until the next count.
func (r *Runtime) count(o Owner, a *account, c *tally, begin time.Time) {
	ctx, stop := r.beside()
	defer stop()
	ctx, cancel := context.WithTimeout(ctx, countMax)
	defer cancel()
	sessions, bytes := 0, int64(0)
	err := r.list(ctx, docKey(o, "session", ""), Page{Limit: listMax}, func(d journal.Doc) (bool, error) {
		e := entry{}
		if err := json.Unmarshal(d.Value, &e); err != nil {
			return false, storage("count sessions", err)
		}
		if e.Archived == nil {
			sessions++
		}
		bytes += max(e.Bytes, r.bytesNow(idOf(d.Key)))
		return true, nil
	})
	a.mu.Lock()
	defer a.mu.Unlock()
	if err == nil {
		a.counted, a.took = begin, r.now().Sub(begin)
		a.sessions, a.bytes = sessions+a.begun, bytes+a.grown
	}
	a.counting, c.err = nil, err
	close(c.done)
}

// bytesNow is the size of a session that is in memory.
func (r *Runtime) bytesNow(id string) int64 {
	r.mu.Lock()
	s := r.active[id]
	r.mu.Unlock()
	if s == nil {
		return 0
	}
	select {
	case <-s.ready:
		if s.err != nil {
			return 0
		}
		s.o.mu.Lock()
		defer s.o.mu.Unlock()
		return s.o.st.bytes()
	default:
		return 0
	}
}

// bytes is the size of all records of a session.
func (s *state) bytes() int64 { return s.head.Bytes + int64(len(s.tip)) }

// charged begins a session with events of the user, if the tenant may have another one.
func (r *Runtime) charged(ctx context.Context, o Owner, events int, begin func() error) error {
	a, err := r.counted(ctx, o)
	if err != nil {
		return err
	}
	if err := a.takes(events, r.now()); err != nil {
		return err
	}
	a.mu.Lock()
	switch most := r.cfg.Limits; {
	case a.sessions >= most.TenantSessions:
		err = &Error{Code: Quota, Message: fmt.Sprintf("you have %d sessions that are not archived, the most you may have; "+
			"archive or delete some", a.sessions)}
	case a.bytes >= most.TenantBytes:
		err = a.full(most.TenantBytes)
	default:
		a.sessions++
		a.begins++
		a.begun++
	}
	a.mu.Unlock()
	if err != nil {
		return err
	}
	err = begin()
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.begins--; err != nil {
		a.sessions--
		a.begun-- // of a count that is under way
	}
	return err
}

func (a *account) full(most int64) error {
	return &Error{Code: Quota, Message: fmt.Sprintf("your sessions have %d bytes; they may have %d: delete some", a.bytes,
		most)}
}

// room takes events of the user from the limit of their tenant's rate. full is the error of a tenant whose sessions
// are too large, for events that are refused then: only they wait for a count.
func (r *Runtime) room(ctx context.Context, o Owner, events int, refused bool) (full, err error) {
	a := r.accounts.account(o.Tenant)
	if err := a.takes(events, r.now()); err != nil || !refused {
		return nil, err
	}
	if a, err = r.counted(ctx, o); err != nil {
		return nil, err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.bytes >= r.cfg.Limits.TenantBytes {
		return a.full(r.cfg.Limits.TenantBytes), nil
	}
	return nil, nil
}

// room is the error of a session that takes no more of the user; for events that are refused at a quota of bytes also
// that of one which is too large, or full. The caller holds mu.
func (o *owned) room(refused bool, full error) error {
	most := &o.rt.cfg.Limits
	switch {
	case o.st.head.Seq >= most.Events:
		return conflict("the session has %d events, the most it may have; begin another", most.Events)
	case !refused:
		return nil
	case full == nil && o.st.bytes() >= most.SessionBytes:
		return &Error{Code: Quota, Message: fmt.Sprintf("the session has %d bytes, the most it may have; begin another",
			most.SessionBytes)}
	}
	return full
}

// growing is with for what stores something. e is the session's entry.
func (r *Runtime) growing(ctx context.Context, o Owner, id string, e *entry, f func(*owned) error) error {
	var before, after int64
	err := r.with(ctx, id, func(s *owned) error {
		before = s.bytes()
		err := f(s)
		after = s.bytes()
		return err
	})
	if err == nil {
		r.grew(ctx, o, id, e.Bytes, after-before, after)
	}
	return err
}

// grew adds bytes to the account of a tenant, and notes the size of a session in its entry if it has grown much.
func (r *Runtime) grew(ctx context.Context, o Owner, id string, noted, added, size int64) {
	a := r.accounts.account(o.Tenant)
	a.mu.Lock()
	a.bytes += added
	a.grown += added
	a.mu.Unlock()
	if size-noted < max(noteBytes, noted/8) {
		return
	}
	_, err := r.mark(ctx, o, id, func(e *entry) bool {
		smaller := e.Bytes < size
		e.Bytes = max(e.Bytes, size)
		return smaller
	})
	if err != nil { // the next message notes it
		r.cfg.Logger.Debug("the size of a session is not noted", zap.String("session", id), zap.Error(err))
	}
}

// ended takes a session from the account of its tenant: it is archived or deleted.
func (r *Runtime) ended(o Owner, wasOpen bool, bytes int64) {
	a := r.accounts.account(o.Tenant)
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.counting != nil || a.counted.IsZero() { // the count sees it, or the next one
		return
	}
	if wasOpen {
		a.sessions = max(a.sessions-1, 0)
	}
	a.bytes = max(a.bytes-bytes, 0)
}

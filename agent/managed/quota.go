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

// books are the accounts of tenants: what they use of their quotas. Nothing of them is stored by itself. The
// number of a tenant's sessions and their bytes are counted from the entries of the sessions at the first
// request that needs them, and again at most once a minute; in between, each process adds what passes through
// it. So a crash makes no number wrong. Where several processes share a journal, each learns at its next count
// what the others have added.
//
// The entry of a session has the size that the session had at one of its last messages. A session that is not in
// memory so counts with at least seven eighths of what it had at its last message, less 16 KiB.
type books struct {
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
	counting chan struct{} // closed when the count that is under way ends; nil if there is none
	counted  time.Time     // when the last count began
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
func (b *books) account(tenant string) *account {
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

// counted returns the account of an owner's tenant, with a count that is not too old. One request counts; if
// there is no count yet, the others wait for it.
func (r *Runtime) counted(ctx context.Context, o Owner) (*account, error) {
	a := r.books.account(o.Tenant)
	for {
		a.mu.Lock()
		other, begin := a.counting, r.now()
		switch {
		case !a.counted.IsZero() && (other != nil || begin.Sub(a.counted) < max(recountAfter, recountShare*a.took)):
			a.mu.Unlock()
			return a, nil
		case other == nil:
			a.counting, a.begun, a.grown = make(chan struct{}), a.begins, 0
			a.mu.Unlock()
			return a, r.count(ctx, o, a, begin)
		}
		a.mu.Unlock()
		select {
		case <-other:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// count counts the sessions of a tenant and their bytes. What is added meanwhile counts, too, if need be twice
// until the next count.
func (r *Runtime) count(ctx context.Context, o Owner, a *account, begin time.Time) error {
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
	close(a.counting)
	a.counting = nil
	if err == nil {
		a.counted, a.took = begin, r.now().Sub(begin)
		a.sessions, a.bytes = sessions+a.begun, bytes+a.grown
	}
	return err
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
	}
	return err
}

func (a *account) full(most int64) error {
	return &Error{Code: Quota, Message: fmt.Sprintf("your sessions have %d bytes; they may have %d: delete some", a.bytes,
		most)}
}

// room is the error of a tenant whose sessions are too large for another message; nil if they are not.
func (r *Runtime) room(ctx context.Context, o Owner, events []Event) (full, err error) {
	a, err := r.counted(ctx, o)
	if err != nil {
		return nil, err
	}
	if err := a.takes(len(events), r.now()); err != nil {
		return nil, err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.bytes >= r.cfg.Limits.TenantBytes {
		return a.full(r.cfg.Limits.TenantBytes), nil
	}
	return nil, nil
}

// grew adds bytes to the account of a tenant, and notes the size of a session in its entry if it has grown much.
func (r *Runtime) grew(ctx context.Context, o Owner, id string, noted, added, size int64) {
	a := r.books.account(o.Tenant)
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
	a := r.books.account(o.Tenant)
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

package managed

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/voicegw/voicegw/agent/managed/life"
	"github.com/voicegw/voicegw/journal"
	"github.com/voicegw/voicegw/petri"
)

// entry is a session in the list of its tenant.
type entry struct {
	User     string     `json:"user,omitempty"`
	Agent    string     `json:"agent"`
	Version  int        `json:"version"`
	Archived *time.Time `json:"archived,omitempty"`
	At       time.Time  `json:"at"`
	Bytes    int64      `json:"bytes,omitempty"` // of its records, when it was last looked at: see accounts
}

// idOf is the id at the end of the key of a document.
func idOf(key string) string { return key[strings.LastIndexByte(key, '/')+1:] }

// entry finds a session of an owner.
func (r *Runtime) entry(ctx context.Context, o Owner, id string) (*entry, uint64, error) {
	missing := notFound("session", id)
	if !wellFormed(sessionPrefix, id) {
		return nil, 0, missing
	}
	d, err := r.cfg.Journal.Get(ctx, docKey(o, "session", id))
	if errors.Is(err, journal.ErrNotFound) {
		return nil, 0, missing
	}
	if err != nil {
		return nil, 0, storage("read session "+id, err)
	}
	e := &entry{}
	if err := json.Unmarshal(d.Value, e); err != nil {
		return nil, 0, storage("read session "+id, err)
	}
	if o.User != "" && e.User != o.User {
		return nil, 0, missing
	}
	return e, d.Revision, nil
}

const alphanumeric = "abcdefghijklmnopqrstuvwxyz0123456789_"

// Session returns a session as it is now. Any node answers.
func (r *Runtime) Session(ctx context.Context, o Owner, id string) (*Session, error) {
	if _, _, err := r.entry(ctx, o, id); err != nil {
		return nil, err
	}
	return r.session(ctx, id)
}

func (r *Runtime) session(ctx context.Context, id string) (*Session, error) {
	r.mu.Lock()
	s := r.active[id]
	r.mu.Unlock()
	if s != nil {
		select {
		case <-s.ready:
			if s.err == nil {
				s.o.mu.Lock()
				defer s.o.mu.Unlock()
				return s.o.st.session(), nil
			}
		default:
		}
	}
	from, err := r.snapshot(ctx, id)
	if err != nil {
		return nil, err
	}
	st, err := r.fold(ctx, id, from, 0)
	if err != nil {
		return nil, err
	}
	return st.session(), nil
}

// head is the head of the last record of a session.
func (r *Runtime) head(ctx context.Context, id string) (head, error) {
	last, err := r.cfg.Journal.Last(ctx, logKey(id))
	for err == nil && last.Kind != journal.Data { // a claim, or the end of the log
		if last.Seq == 1 {
			err = fmt.Errorf("%w: the log of %s has no records", journal.ErrNotFound, id)
			break
		}
		for rec, rerr := range r.cfg.Journal.Read(ctx, logKey(id), last.Seq-1, false) {
			last, err = rec, rerr
			break
		}
	}
	if err != nil {
		return head{}, storage("read session "+id, err)
	}
	rec, err := decodeRecord(last)
	if err != nil {
		return head{}, storage("read session "+id, err)
	}
	return rec.Head, nil
}

// Sessions lists sessions, the newest first. next is the After of the following page, or "". For a page with
// Before it is the Before of the page that comes before, or "".
func (r *Runtime) Sessions(ctx context.Context, o Owner, f SessionFilter, p Page) (list []*Session, next string,
	err error) {
	if p.Limit < 1 || p.Limit > journal.ListMax {
		return nil, "", invalid("limit", "it is %d; give 1 to %d", p.Limit, journal.ListMax)
	}
	q := journal.Query{Prefix: docKey(o, "session", ""), Reverse: p.Reverse == (p.Before != "")}
	if at := p.After + p.Before; at != "" {
		q.After = q.Prefix + at
	}
	for {
		docs, err := r.cfg.Journal.List(ctx, q)
		if err != nil {
			return nil, "", storage("list sessions", err)
		}
		for _, d := range docs {
			q.After = d.Key
			s, err := r.listed(ctx, o, f, d)
			if err != nil {
				return nil, "", err
			}
			if s == nil {
				continue
			}
			if len(list) == p.Limit {
				next = list[p.Limit-1].ID
				break
			}
			list = append(list, s)
		}
		if next != "" || len(docs) < journal.ListMax {
			if p.Before != "" {
				slices.Reverse(list)
			}
			return list, next, nil
		}
	}
}

// listed is the session of an entry; nil if a list with a filter does not have it.
func (r *Runtime) listed(ctx context.Context, o Owner, f SessionFilter, d journal.Doc) (*Session, error) {
	e := entry{}
	if err := json.Unmarshal(d.Value, &e); err != nil {
		return nil, storage("list sessions", err)
	}
	if !f.keeps(&e) || o.User != "" && e.User != o.User {
		return nil, nil
	}
	id := idOf(d.Key)
	if len(f.Statuses) > 0 { // the head of a log tells it
		if last, err := r.head(ctx, id); err == nil && !slices.Contains(f.Statuses, last.Status) {
			return nil, nil
		}
	}
	s, err := r.session(ctx, id)
	if CodeOf(err) == NotFound {
		return nil, nil // it is being deleted
	}
	if err != nil || len(f.Statuses) > 0 && !slices.Contains(f.Statuses, s.Status) {
		return nil, err
	}
	return s, nil
}

// keeps reports whether a filter keeps a session, as far as its entry tells.
func (f *SessionFilter) keeps(e *entry) bool {
	switch {
	case f.Agent != "" && e.Agent != f.Agent, f.Version != 0 && e.Version != f.Version, e.Archived != nil && !f.Archived:
		return false
	case !f.CreatedAfter.IsZero() && !e.At.After(f.CreatedAfter),
		!f.CreatedBefore.IsZero() && !e.At.Before(f.CreatedBefore):
		return false
	}
	return true
}

// UpdateSession changes the title, the metadata and the budget of a session. It counts as an event of the user. Its
// error has the code Quota or TooMany where that of Send has it for a message.
func (r *Runtime) UpdateSession(ctx context.Context, o Owner, id string, p SessionPatch) (*Session, error) {
	e, _, err := r.entry(ctx, o, id)
	if err != nil {
		return nil, err
	}
	full, err := r.room(ctx, o, 1, true)
	if err != nil {
		return nil, err
	}
	if err := r.growing(ctx, o, id, e, func(s *owned) error { return s.update(ctx, p, full) }); err != nil {
		return nil, err
	}
	return r.session(ctx, id)
}

// update stores a change. A session that its budget had stopped goes on if that allows it.
// full is why the tenant may store no more, or nil.
func (o *owned) update(ctx context.Context, p SessionPatch, full error) error {
	return o.stored(ctx, func() (uint64, error) { return o.tryUpdate(p, full) })
}

func (o *owned) tryUpdate(p SessionPatch, full error) (uint64, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	st := o.st
	if st.phase == phaseOver {
		return 0, conflict("the session has ended")
	}
	if err := o.room(true, full); err != nil {
		return 0, err
	}
	title := st.info.Title
	if p.Title != nil {
		title = *p.Title
	}
	if err := checkMetadata(title, patched(st.info.Metadata, p.Metadata)); err != nil {
		return 0, err
	}
	if err := o.rt.affords("budget", p.Budget.To, o.agent.models); err != nil {
		return 0, err
	}
	due := st.due
	seq, err := o.put(&record{Kind: recordUpdate, Patch: &p, Events: []*Event{{Type: SessionUpdated}}})
	if err == nil && st.due && !due {
		o.inject(seq, life.Message.Token(petri.Unit{}))
	}
	return seq, err
}

// ArchiveSession ends a session, which stays readable. It is idempotent. A session that is at work is
// refused with Invalid.
func (r *Runtime) ArchiveSession(ctx context.Context, o Owner, id string) (*Session, error) {
	done, err := r.alone(ctx, logKey(id))
	if err != nil {
		return nil, err
	}
	defer done()
	e, _, err := r.entry(ctx, o, id)
	if err != nil {
		return nil, err
	}
	if e.Archived != nil {
		return r.session(ctx, id)
	}
	err = r.apart(ctx, id, func(s *owned) error { return s.control(ctx, controlArchive, life.Archive) })
	if err != nil {
		return nil, err
	}
	marked, err := r.mark(ctx, o, id, func(e *entry) bool {
		now, open := r.now(), e.Archived == nil
		e.Archived = &now
		return open
	})
	if err != nil {
		return nil, err
	}
	if marked {
		r.ended(o, true, 0)
	}
	return r.session(ctx, id)
}

// mark changes the entry of a session, unless change finds nothing to do. It reports whether it has changed it.
func (r *Runtime) mark(ctx context.Context, o Owner, id string, change func(*entry) bool) (bool, error) {
	for {
		e, revision, err := r.entry(ctx, o, id)
		if err != nil || !change(e) {
			return false, err
		}
		b, err := json.Marshal(e)
		if err != nil {
			return false, err
		}
		_, err = r.cfg.Journal.Put(ctx, docKey(o, "session", id), b, revision)
		if err == nil {
			return true, nil
		}
		if !errors.Is(err, journal.ErrConflict) { // else another request has changed it meanwhile
			return false, storage("write the entry of session "+id, err)
		}
	}
}

// DeleteSession removes everything of a session. A session that is at work is refused with Invalid.
func (r *Runtime) DeleteSession(ctx context.Context, o Owner, id string) error {
	done, err := r.alone(ctx, logKey(id)) // what is deleted or archived twice at once must count once
	if err != nil {
		return err
	}
	defer done()
	e, _, err := r.entry(ctx, o, id)
	if err != nil {
		return err
	}
	var bytes int64
	err = r.apart(ctx, id, func(s *owned) error {
		s.mu.Lock()
		defer s.mu.Unlock()
		bytes = s.st.bytes()
		return s.rested()
	})
	// A session without records, or with too few, cannot be opened, and cannot be at work.
	if err != nil && CodeOf(err) != NotFound && !errors.Is(err, errBehind) {
		return err
	}
	var here *owned
	r.mu.Lock()
	if s := r.active[id]; s != nil {
		here = s.o
	}
	r.mu.Unlock()
	if here != nil {
		r.drop(here)
	}
	if err := r.erase(ctx, o, id); err != nil {
		return err
	}
	r.ended(o, e.Archived == nil, bytes)
	return nil
}

// erase removes everything of a session, its entry last.
func (r *Runtime) erase(ctx context.Context, o Owner, id string) error {
	err := r.cfg.Journal.Delete(ctx, logKey(id))
	if err == nil {
		err = r.removeSnapshot(ctx, id)
	}
	if err == nil {
		err = r.delist(ctx, id, 0)
	}
	if err == nil {
		err = r.cfg.Journal.Remove(ctx, docKey(o, "session", id), 0)
	}
	if err != nil {
		return storage("delete session "+id, err)
	}
	return nil
}

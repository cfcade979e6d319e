package managed

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/voicegw/voicegw/agent/managed/life"
	"github.com/voicegw/voicegw/journal"
)

// entry is a session in the list of its tenant.
type entry struct {
	User     string     `json:"user,omitempty"`
	Agent    string     `json:"agent"`
	Version  int        `json:"version"`
	Archived *time.Time `json:"archived,omitempty"`
	At       time.Time  `json:"at"`
}

// idOf is the id at the end of the key of a document.
func idOf(key string) string { return key[strings.LastIndexByte(key, '/')+1:] }

// StartSession begins a session.
func (r *Runtime) StartSession(ctx context.Context, o Owner, req SessionRequest) (*Session, error) {
	a, err := r.Agent(ctx, o, req.Agent, req.Version)
	if err != nil {
		return nil, err
	}
	if a.ArchivedAt != nil {
		return nil, conflict("agent %q is archived; it takes no new sessions", a.ID)
	}
	if v := req.Override; v != nil {
		if v.Model != nil {
			a.Model = *v.Model
		}
		if v.System != nil {
			a.System = *v.System
		}
		if v.Tools != nil {
			a.Tools = *v.Tools
			a.MCPServers = named(a.MCPServers, a.Tools)
		}
	}
	if err := r.checkAgent(ctx, a); err != nil {
		return nil, err
	}
	if err := checkMetadata(req.Title, req.Metadata); err != nil {
		return nil, err
	}
	if err := r.checkEvents("initial_events", req.Initial); err != nil {
		return nil, err
	}
	now := r.now()
	info := &sessionInfo{Version: formatVersion, ID: newID(sessionPrefix, now), Owner: o, Agent: *a,
		Environment: req.Environment, Title: req.Title, Metadata: maps.Clone(req.Metadata)}
	if err := r.create(ctx, info, req.Initial); err != nil {
		return nil, err
	}
	return r.Session(ctx, o, info.ID)
}

// create stores a new session, and then that it is there. A session that has work is an active one from
// the beginning: if the process stops in between, it goes on elsewhere.
func (r *Runtime) create(ctx context.Context, info *sessionInfo, initial []Event) error {
	if len(initial) > 0 {
		self, err := r.self(ctx)
		if err != nil {
			return err
		}
		if _, _, err := r.enlist(ctx, self, info.ID); err != nil {
			return err
		}
	}
	w, err := r.cfg.Journal.Open(ctx, logKey(info.ID), r.cfg.Node)
	if err != nil {
		r.lose(info.ID, err)
		return storage("create session", err)
	}
	o := &owned{rt: r, id: info.ID, w: w, st: newState()}
	err = o.store(ctx, just(&record{Kind: recordSession, Session: info}))
	if err == nil && len(initial) > 0 {
		err = o.store(ctx, just(&record{Kind: recordInput, Events: pointers(initial)}))
	}
	if cerr := w.Close(ctx); err == nil {
		err = cerr
	}
	if err == nil {
		err = r.putEntry(ctx, info, o.st.began)
	}
	if err != nil {
		r.lose(info.ID, err)
		return err
	}
	if len(initial) > 0 {
		return r.with(ctx, info.ID, func(*owned) error { return nil })
	}
	return nil
}

// putEntry stores a session in the list of its tenant, unless it is there.
func (r *Runtime) putEntry(ctx context.Context, info *sessionInfo, at time.Time) error {
	b, err := json.Marshal(entry{User: info.Owner.User, Agent: info.Agent.ID, Version: info.Agent.Version, At: at})
	if err != nil {
		return err
	}
	_, err = r.cfg.Journal.Put(ctx, docKey(info.Owner, "session", info.ID), b, 0)
	if err != nil && !errors.Is(err, journal.ErrConflict) {
		return storage("create session", err)
	}
	return nil
}

// pointers returns copies of events.
func pointers(events []Event) []*Event {
	list := make([]*Event, len(events))
	for i := range events {
		ev := events[i]
		list[i] = &ev
	}
	return list
}

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
	st, err := r.fold(ctx, id, 0)
	if err != nil {
		return nil, err
	}
	return st.session(), nil
}

// head is the head of the last record of a session.
func (r *Runtime) head(ctx context.Context, id string) (head, error) {
	last, err := r.cfg.Journal.Last(ctx, logKey(id))
	for err == nil && last.Kind != journal.Data && last.Seq > 1 { // a claim, or the end of the log
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

// Sessions lists sessions, the newest first. next is the After of the following page, or "".
func (r *Runtime) Sessions(ctx context.Context, o Owner, f SessionFilter, p Page) (list []*Session, next string,
	err error) {
	if p.Limit < 1 || p.Limit > journal.ListMax {
		return nil, "", invalid("limit", "it is %d; give 1 to %d", p.Limit, journal.ListMax)
	}
	q := journal.Query{Prefix: docKey(o, "session", ""), Reverse: !p.Reverse}
	if p.After != "" {
		q.After = docKey(o, "session", p.After)
	}
	for {
		docs, err := r.cfg.Journal.List(ctx, q)
		if err != nil {
			return nil, "", storage("list sessions", err)
		}
		for _, d := range docs {
			q.After = d.Key
			e := entry{}
			if err := json.Unmarshal(d.Value, &e); err != nil {
				return nil, "", storage("list sessions", err)
			}
			if !f.keeps(&e) || o.User != "" && e.User != o.User {
				continue
			}
			s, err := r.session(ctx, idOf(d.Key))
			if CodeOf(err) == NotFound {
				continue // it is being deleted
			}
			if err != nil {
				return nil, "", err
			}
			if len(f.Statuses) > 0 && !slices.Contains(f.Statuses, s.Status) {
				continue
			}
			if len(list) == p.Limit {
				return list, list[p.Limit-1].ID, nil
			}
			list = append(list, s)
		}
		if len(docs) < journal.ListMax {
			return list, "", nil
		}
	}
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

// UpdateSession changes the title and the metadata of a session.
func (r *Runtime) UpdateSession(ctx context.Context, o Owner, id string, p SessionPatch) (*Session, error) {
	if _, _, err := r.entry(ctx, o, id); err != nil {
		return nil, err
	}
	err := r.with(ctx, id, func(s *owned) error {
		return s.store(ctx, func(st *state) (*record, error) {
			if st.phase == phaseOver {
				return nil, conflict("the session has ended")
			}
			title := st.info.Title
			if p.Title != nil {
				title = *p.Title
			}
			if err := checkMetadata(title, patched(st.info.Metadata, p.Metadata)); err != nil {
				return nil, err
			}
			return &record{Kind: recordUpdate, Patch: &p, Events: []*Event{{Type: SessionUpdated}}}, nil
		})
	})
	if err != nil {
		return nil, err
	}
	return r.session(ctx, id)
}

// Events yields the events of a session from number from on; 0 means 1. It ends behind the newest one,
// or, with live, goes on until ctx ends or the session is deleted, which a session.deleted tells. Any node
// answers. No event is left out or yielded twice.
func (r *Runtime) Events(ctx context.Context, o Owner, id string, from uint64, live bool) iter.Seq2[*Event, error] {
	return func(yield func(*Event, error) bool) {
		if _, _, err := r.entry(ctx, o, id); err != nil {
			yield(nil, err)
			return
		}
		begin, err := r.recordOf(ctx, id, from)
		if err != nil && CodeOf(err) != NotFound {
			if ctx.Err() == nil {
				yield(nil, err)
			}
			return
		}
		for rec, err := range r.records(ctx, id, begin, live) {
			switch {
			case errors.Is(err, journal.ErrNotFound) && live:
				yield(&Event{Type: SessionDeleted}, nil)
				return
			case err != nil && ctx.Err() != nil:
				return
			case err != nil:
				yield(nil, storage("read session "+id, err))
				return
			case rec.Kind != journal.Data:
				continue
			}
			one, err := decodeRecord(rec)
			if err != nil {
				yield(nil, storage("read session "+id, err))
				return
			}
			for _, ev := range one.Events {
				if ev.Seq >= from && !yield(ev, nil) {
					return
				}
			}
		}
	}
}

// ArchiveSession ends a session, which stays readable. It is idempotent. A session that is at work is
// refused with Invalid.
func (r *Runtime) ArchiveSession(ctx context.Context, o Owner, id string) (*Session, error) {
	e, revision, err := r.entry(ctx, o, id)
	if err != nil {
		return nil, err
	}
	if e.Archived == nil {
		if err := r.control(ctx, o, id, controlArchive, life.Archive); err != nil {
			return nil, err
		}
		now := r.now()
		e.Archived = &now
		b, err := json.Marshal(e)
		if err != nil {
			return nil, err
		}
		_, err = r.cfg.Journal.Put(ctx, docKey(o, "session", id), b, revision)
		if err != nil && !errors.Is(err, journal.ErrConflict) { // somebody else archives it, too
			return nil, storage("archive session "+id, err)
		}
	}
	return r.session(ctx, id)
}

// DeleteSession removes everything of a session. A session that is at work is refused with Invalid.
func (r *Runtime) DeleteSession(ctx context.Context, o Owner, id string) error {
	if _, _, err := r.entry(ctx, o, id); err != nil {
		return err
	}
	err := r.with(ctx, id, func(s *owned) error {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.st.busy() {
			return invalid("", "the session is at work; interrupt it first")
		}
		return nil
	})
	if err != nil {
		return err
	}
	r.mu.Lock()
	s := r.active[id]
	r.mu.Unlock()
	if s != nil && s.o != nil {
		r.drop(s.o)
	}
	if err := r.cfg.Journal.Delete(ctx, logKey(id)); err != nil {
		return storage("delete session "+id, err)
	}
	if err := r.delist(ctx, id, 0); err != nil {
		return err
	}
	if err := r.cfg.Journal.Remove(ctx, docKey(o, "session", id), 0); err != nil {
		return storage("delete session "+id, err)
	}
	return nil
}

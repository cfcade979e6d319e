package managed

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
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
	Bytes    int64      `json:"bytes,omitempty"` // of its records, when it was last looked at: see books
}

// idOf is the id at the end of the key of a document.
func idOf(key string) string { return key[strings.LastIndexByte(key, '/')+1:] }

// StartSession begins a session.
func (r *Runtime) StartSession(ctx context.Context, o Owner, req SessionRequest) (*Session, error) {
	return r.StartSessionOnce(ctx, o, Once{}, req)
}

// StartSessionOnce is StartSession, safe to repeat: see CreateAgentOnce. Its error has the code TooMany or Quota
// if a limit of the tenant is reached.
func (r *Runtime) StartSessionOnce(ctx context.Context, o Owner, once Once, req SessionRequest) (*Session, error) {
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
	with := *a
	if req.Budget != nil {
		with.Budget = req.Budget
	}
	if err := r.checkAgent(ctx, &with); err != nil {
		return nil, err
	}
	if err := checkMetadata(req.Title, req.Metadata); err != nil {
		return nil, err
	}
	if err := r.checkEvents("initial_events", req.Initial); err != nil {
		return nil, err
	}
	info := &sessionInfo{Version: formatVersion, Owner: o, Agent: *a, Environment: req.Environment, Title: req.Title,
		Metadata: maps.Clone(req.Metadata), Budget: with.Budget}
	id, err := r.once(ctx, o, once, sessionPrefix, req, func(id string) error {
		if info.ID = id; once.asked() {
			if _, _, err := r.entry(ctx, o, id); CodeOf(err) != NotFound {
				return err
			}
		}
		return r.charged(ctx, o, len(req.Initial), func() error { return r.create(ctx, info, req.Initial) })
	})
	if err != nil {
		return nil, err
	}
	return r.Session(ctx, o, id)
}

// create stores a new session, and then that it is there. A session that has work is an active one from
// the beginning: if the process stops in between, it goes on elsewhere. It goes on where an attempt for the same id
// ended.
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
	if w.Claimed() > 1 {
		o.st, err = r.fold(ctx, info.ID, &snapshot{}, w.Claimed())
		if CodeOf(err) == NotFound { // it has claims alone
			o.st, err = newState(), nil
		}
	}
	if err == nil && o.st.info.ID == "" {
		err = o.store(ctx, just(&record{Kind: recordSession, Session: info}))
	}
	if err == nil && len(initial) > 0 && o.st.head.Seq == 0 {
		err = o.store(ctx, just(&record{Kind: recordInput, Events: pointers(initial)}))
	}
	if cerr := w.Close(ctx); err == nil && cerr != nil {
		err = storage("create session", cerr)
	}
	if err == nil {
		err = r.putEntry(ctx, info, o.st.began, o.st.bytes())
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
func (r *Runtime) putEntry(ctx context.Context, info *sessionInfo, at time.Time, bytes int64) error {
	b, err := json.Marshal(entry{User: info.Owner.User, Agent: info.Agent.ID, Version: info.Agent.Version, At: at,
		Bytes: bytes})
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

// UpdateSession changes the title, the metadata and the budget of a session.
func (r *Runtime) UpdateSession(ctx context.Context, o Owner, id string, p SessionPatch) (*Session, error) {
	if _, _, err := r.entry(ctx, o, id); err != nil {
		return nil, err
	}
	err := r.with(ctx, id, func(s *owned) error { return s.update(ctx, p) })
	if err != nil {
		return nil, err
	}
	return r.session(ctx, id)
}

// update stores a change. A session that its budget had stopped goes on if that allows it.
func (o *owned) update(ctx context.Context, p SessionPatch) error {
	for {
		seq, err := o.tryUpdate(p)
		switch {
		case err == nil:
			if err := o.w.Await(ctx, seq); err != nil {
				return storage("write session "+o.id, err)
			}
			return nil
		case !errors.Is(err, journal.ErrWindowFull):
			return err
		}
		if err := o.w.Await(ctx, o.w.Acked()+1); err != nil {
			return storage("write session "+o.id, err)
		}
	}
}

func (o *owned) tryUpdate(p SessionPatch) (uint64, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	st := o.st
	if st.phase == phaseOver {
		return 0, conflict("the session has ended")
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
	e, _, err := r.entry(ctx, o, id)
	if err != nil {
		return nil, err
	}
	if e.Archived != nil {
		return r.session(ctx, id)
	}
	if err := r.control(ctx, o, id, controlArchive, life.Archive); err != nil {
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
	e, _, err := r.entry(ctx, o, id)
	if err != nil {
		return err
	}
	var bytes int64
	err = r.with(ctx, id, func(s *owned) error {
		s.mu.Lock()
		defer s.mu.Unlock()
		bytes = s.st.bytes()
		if s.st.busy() {
			return invalid("", "the session is at work; interrupt it first")
		}
		return nil
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
	if err := r.cfg.Journal.Delete(ctx, logKey(id)); err != nil {
		return storage("delete session "+id, err)
	}
	if err := r.removeSnapshot(ctx, id); err != nil {
		return storage("delete session "+id, err)
	}
	if err := r.delist(ctx, id, 0); err != nil {
		return err
	}
	if err := r.cfg.Journal.Remove(ctx, docKey(o, "session", id), 0); err != nil {
		return storage("delete session "+id, err)
	}
	r.ended(o, e.Archived == nil, bytes)
	return nil
}

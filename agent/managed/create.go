package managed

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"time"

	"github.com/voicegw/voicegw/journal"
)

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
	there := func(id string) error {
		_, _, err := r.entry(ctx, o, id)
		if err == nil {
			err = r.goOn(ctx, id)
		}
		return err
	}
	id, err := r.once(ctx, o, once, sessionPrefix, req, there, func(id string) error {
		info.ID = id
		return r.charged(ctx, o, len(req.Initial), func() error { return r.make(ctx, once, info, req.Initial) })
	})
	if err != nil {
		return nil, err
	}
	return r.Session(ctx, o, id)
}

// makeMax is how long a session may take to be made. Within that time it is made whether or not the client waits.
const makeMax = 30 * time.Second

// make makes a new session. If that fails, nothing of the session stays that nobody would ever find.
func (r *Runtime) make(ctx context.Context, once Once, info *sessionInfo, initial []Event) error {
	first := []*record{{Kind: recordSession, Session: info}}
	if len(initial) > 0 {
		first = append(first, &record{Kind: recordInput, Events: pointers(initial)})
	}
	if err := r.fit(info.ID, first); err != nil {
		return err
	}
	if len(initial) > 0 && r.full() {
		return crowded(r.cfg.Limits.Active)
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), makeMax)
	defer cancel()
	err := r.create(ctx, info, first)
	if err != nil {
		_, herr := r.head(ctx, info.ID)
		if once.Key == "" && (len(initial) == 0 || CodeOf(herr) == NotFound) { // no request and no sweep goes on with it
			_ = r.erase(ctx, info.Owner, info.ID)
		} else if len(initial) > 0 {
			r.lose(info.ID, err)
		}
	}
	if errors.Is(err, context.DeadlineExceeded) {
		err = storage("create session", fmt.Errorf("%w: %w", journal.ErrStore, err))
	}
	return err
}

// full reports whether there is no place in memory for another session.
func (r *Runtime) full() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.active) >= r.cfg.Limits.Active && !r.evict()
}

// fit finds out whether the first records of a session are too large, before anything of it is stored.
func (r *Runtime) fit(id string, first []*record) error {
	const later = 64 // what else the time and the head may have when they are stored
	o := &owned{rt: r, id: id, st: newState()}
	for i, rec := range first {
		b, err := o.number(rec)
		if most := journal.RecordMax - later; err == nil && len(b) > most {
			err = invalid("", "what is to be stored has %d bytes; at most %d are allowed", len(b), most)
		}
		if e := (*Error)(nil); i > 0 && errors.As(err, &e) {
			e.Param = "initial_events"
		}
		if err != nil {
			return err
		}
		if err := o.st.apply(uint64(i)+1, rec); err != nil {
			return err
		}
		o.st.tip = b
	}
	return nil
}

// create stores a new session, and then that it is there. A session that has work is an active one from
// the beginning: if the process stops in between, it goes on elsewhere. It goes on where an attempt for the same id
// ended.
func (r *Runtime) create(ctx context.Context, info *sessionInfo, first []*record) error {
	works := len(first) > 1
	if works {
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
		err = o.store(ctx, just(first[0]))
	}
	if err == nil && works && o.st.head.Seq == 0 {
		err = o.store(ctx, just(first[1]))
	}
	if cerr := w.Close(ctx); err == nil && cerr != nil {
		err = storage("create session", cerr)
	}
	if err == nil {
		_, err = r.putEntry(ctx, info, o.st.began, o.st.bytes())
	}
	if err == nil && works {
		err = r.with(ctx, info.ID, func(*owned) error { return nil })
	}
	return err
}

// goOn brings a session into memory that has work, unless another process has it.
func (r *Runtime) goOn(ctx context.Context, id string) error {
	last, err := r.head(ctx, id)
	if err == nil && !last.rests() {
		err = r.with(ctx, id, func(*owned) error { return nil })
	}
	if code := CodeOf(err); code == Elsewhere || code == NotFound {
		return nil
	}
	return err
}

// putEntry stores a session in the list of its tenant. It returns the revision of its document; 0 if it was there.
func (r *Runtime) putEntry(ctx context.Context, info *sessionInfo, at time.Time, bytes int64) (uint64, error) {
	b, err := json.Marshal(entry{User: info.Owner.User, Agent: info.Agent.ID, Version: info.Agent.Version, At: at,
		Bytes: bytes})
	if err != nil {
		return 0, err
	}
	revision, err := r.cfg.Journal.Put(ctx, docKey(info.Owner, "session", info.ID), b, 0)
	if err != nil && !errors.Is(err, journal.ErrConflict) {
		return 0, storage("create session", err)
	}
	return revision, nil
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

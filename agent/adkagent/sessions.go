package adkagent

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"sync"
	"time"

	"google.golang.org/adk/v2/session"

	"github.com/voicegw/voicegw/agent"
)

// What may go wrong when an event is stored, besides agent.NotStored.
const (
	// SessionGone means that the session has been deleted.
	SessionGone agent.Code = "session_gone"
	// SessionStale means that other processes write to the session so often that an event could not be
	// stored in two attempts.
	SessionStale agent.Code = "session_stale"
)

// Sessions returns a session service for runners that stores what s stores, with two differences. When s
// refuses an event because something else has written to the session, the event is stored in a second
// attempt, and the turn goes on with the session as it is by then. And an event that cannot be stored is an
// error with an *agent.Fault, for errors.As: SessionGone, SessionStale or agent.NotStored.
//
// It stores the words of a whole transcript as text of the user or the model, because ADK's database drops
// transcripts. A Live learns from it whether a call of a tool was stored; if not, the tool does not run.
//
// Sessions that it returns belong to it: it refuses those of s.
func Sessions(s session.Service) session.Service {
	return &sessions{Service: s, writers: map[Key]*writer{}}
}

type sessions struct {
	session.Service

	mu      sync.Mutex
	writers map[Key]*writer // of sessions to which something is written now
}

// writer lets one event of a session be stored at a time.
type writer struct {
	free  chan struct{} // holds a token while nothing is written
	users int           // guarded by sessions.mu
}

// lock waits until nobody else writes to the session.
func (s *sessions) lock(ctx context.Context, k Key) (unlock func(), err error) {
	s.mu.Lock()
	w := s.writers[k]
	if w == nil {
		w = &writer{free: make(chan struct{}, 1)}
		w.free <- struct{}{}
		s.writers[k] = w
	}
	w.users++
	s.mu.Unlock()
	leave := func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if w.users--; w.users == 0 {
			delete(s.writers, k)
		}
	}
	select {
	case <-w.free:
		return func() { w.free <- struct{}{}; leave() }, nil
	case <-ctx.Done():
		leave()
		return nil, ctx.Err()
	}
}

// Create creates a session.
func (s *sessions) Create(ctx context.Context, r *session.CreateRequest) (*session.CreateResponse, error) {
	got, err := s.Service.Create(ctx, r)
	if err != nil {
		return nil, err
	}
	return &session.CreateResponse{Session: &handle{service: s.Service, inner: got.Session}}, nil
}

// Get returns a session.
func (s *sessions) Get(ctx context.Context, r *session.GetRequest) (*session.GetResponse, error) {
	got, err := s.Service.Get(ctx, r)
	if err != nil {
		return nil, err
	}
	return &session.GetResponse{Session: &handle{service: s.Service, inner: got.Session}}, nil
}

// AppendEvent stores an event of a session that Create or Get returned.
func (s *sessions) AppendEvent(ctx context.Context, to session.Session, ev *session.Event) error {
	h, ok := to.(*handle)
	if !ok {
		return fmt.Errorf("adkagent: append an event to a session of type %T: get the session from the service that "+
			"Sessions returned", to)
	}
	unlock, err := s.lock(ctx, Key{App: h.AppName(), User: h.UserID(), Session: h.ID()})
	if err != nil {
		return unstored(err)
	}
	defer unlock()
	ev = inWords(ev)
	err = s.Service.AppendEvent(ctx, h.now(), ev)
	if stale(err) {
		if err = h.refresh(ctx); err == nil {
			err = s.Service.AppendEvent(ctx, h.now(), ev)
		}
	}
	if err != nil && ev != nil {
		h.mu.Lock()
		h.failed = ev.ID
		h.mu.Unlock()
	}
	return unstored(err)
}

// unstored adds the fault to an error of a service. The services of ADK have no typed errors.
func unstored(err error) error {
	if err == nil {
		return nil
	}
	f := &agent.Fault{Code: agent.NotStored, Text: "the event is not in the session"}
	switch {
	case stale(err):
		f = &agent.Fault{Code: SessionStale, Text: "others write to the session all the time; try again later"}
	case gone(err):
		f = &agent.Fault{Code: SessionGone, Text: "the session has been deleted; begin a new one"}
	}
	return &storeError{fault: f, cause: err}
}

// stale reports whether another one has written to the session. The text is ADK's, whose services have no type or
// sentinel for it; TestLiveStale pins it.
func stale(err error) bool { return err != nil && strings.Contains(err.Error(), "stale session error") }

// gone reports whether the session was deleted. The text is that of ADK's services and of gorm below them, which say it
// without a type that they share; TestDeleted pins it.
func gone(err error) bool {
	return err != nil && (strings.Contains(err.Error(), "not found") || errors.Is(err, session.ErrStateKeyNotExist))
}

// storeError is a fault with its cause.
type storeError struct {
	fault *agent.Fault
	cause error
}

func (e *storeError) Error() string   { return fmt.Sprintf("%v: %v", e.fault, e.cause) }
func (e *storeError) Unwrap() []error { return []error{e.fault, e.cause} }

// refresher is a session that can be read again.
type refresher interface {
	refresh(ctx context.Context) error
}

// handle is a session in use. It is safe for concurrent use as far as the one inside is.
type handle struct {
	service session.Service

	mu     sync.RWMutex
	inner  session.Session
	failed string // the id of the last event that was not stored
}

func (h *handle) now() session.Session {
	h.mu.RLock()
	defer h.mu.RUnlock()
	return h.inner
}

// refresh reads the session again. It keeps the state that lives as long as the invocation.
func (h *handle) refresh(ctx context.Context) error {
	old := h.now()
	got, err := h.service.Get(ctx, &session.GetRequest{AppName: old.AppName(), UserID: old.UserID(), SessionID: old.ID()})
	if err != nil {
		return err
	}
	for k, v := range old.State().All() {
		if strings.HasPrefix(k, session.KeyPrefixTemp) {
			if err := got.Session.State().Set(k, v); err != nil {
				return err
			}
		}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.inner = got.Session
	return nil
}

// ID returns the id of the session.
func (h *handle) ID() string { return h.now().ID() }

// AppName returns the name of the app.
func (h *handle) AppName() string { return h.now().AppName() }

// UserID returns the id of the user.
func (h *handle) UserID() string { return h.now().UserID() }

// State returns the state of the session. It follows the session when that is read again.
func (h *handle) State() session.State { return handleState{h} }

// Events returns the events of the session as they are now.
func (h *handle) Events() session.Events { return h.now().Events() }

// LastUpdateTime returns the time of the latest event.
func (h *handle) LastUpdateTime() time.Time { return h.now().LastUpdateTime() }

// handleState is the state of a handle.
type handleState struct{ h *handle }

func (s handleState) Get(key string) (any, error)     { return s.h.now().State().Get(key) }
func (s handleState) Set(key string, value any) error { return s.h.now().State().Set(key, value) }
func (s handleState) All() iter.Seq2[string, any]     { return s.h.now().State().All() }

package adkagent

import (
	"context"
	"fmt"
	"hash/maphash"
	"iter"
	"strings"
	"sync"
	"time"

	"google.golang.org/adk/v2/session"
	"google.golang.org/genai"
)

// Sessions returns a session service over another one that gives each handle of a session one owner. Use
// it as the runner's and adkrest's service when a Live and other runs may write the same session. ADK's
// database refuses every event of a handle when another handle has written since ("stale session error"),
// so that one /run ends the storing of an open live session for good. With Sessions, an event that is
// refused for that reason is appended once more with a handle that is fetched again. Appends to one
// session run one at a time in this process, which ADK's handles need, too.
//
// ADK's database also stores no transcripts. Sessions stores the words of a whole transcript as text of the
// user or the model; readers of the live session get the transcript.
//
// A Live knows of these handles whether a call of a tool was stored. If not, the tool does not run.
func Sessions(s session.Service) session.Service {
	return &ownedSessions{Service: s, seed: maphash.MakeSeed()}
}

// ownedSessions is the service that Sessions returns.
type ownedSessions struct {
	session.Service
	seed  maphash.Seed
	locks [64]sync.Mutex // of sessions, by hash
}

// ownedSession is a handle whose inner handle may be replaced.
type ownedSession struct {
	mu     sync.Mutex
	inner  session.Session
	failed string // the id of the last event that was not stored
}

func (s *ownedSessions) lock(h session.Session) *sync.Mutex {
	key := maphash.String(s.seed, h.AppName()+"\x00"+h.UserID()+"\x00"+h.ID())
	return &s.locks[key%uint64(len(s.locks))]
}

// Create creates a session.
func (s *ownedSessions) Create(ctx context.Context, r *session.CreateRequest) (*session.CreateResponse, error) {
	resp, err := s.Service.Create(ctx, r)
	if err != nil {
		return nil, err
	}
	return &session.CreateResponse{Session: &ownedSession{inner: resp.Session}}, nil
}

// Get returns a handle of its own for each caller.
func (s *ownedSessions) Get(ctx context.Context, r *session.GetRequest) (*session.GetResponse, error) {
	resp, err := s.Service.Get(ctx, r)
	if err != nil {
		return nil, err
	}
	return &session.GetResponse{Session: &ownedSession{inner: resp.Session}}, nil
}

// AppendEvent appends an event, if need be with a handle that is fetched again.
func (s *ownedSessions) AppendEvent(ctx context.Context, h session.Session, ev *session.Event) error {
	o, ok := h.(*ownedSession)
	if !ok {
		return s.Service.AppendEvent(ctx, h, ev)
	}
	lock := s.lock(o)
	lock.Lock()
	defer lock.Unlock()
	ev = inWords(ev)
	err := s.Service.AppendEvent(ctx, o.now(), ev)
	if err != nil && strings.Contains(err.Error(), "stale session error") {
		err = s.again(ctx, o, ev)
	}
	if err != nil && ev != nil {
		o.mu.Lock()
		defer o.mu.Unlock()
		o.failed = ev.ID
	}
	return err
}

// inWords returns an event with the words of its transcript as content.
func inWords(ev *session.Event) *session.Event {
	if ev == nil || ev.Partial || ev.Content != nil || ev.InputTranscription == nil && ev.OutputTranscription == nil {
		return ev
	}
	words := *ev
	if t := ev.InputTranscription; t != nil {
		words.Content = genai.NewContentFromText(t.Text, genai.RoleUser)
	} else {
		words.Content = genai.NewContentFromText(ev.OutputTranscription.Text, genai.RoleModel)
	}
	words.InputTranscription, words.OutputTranscription = nil, nil
	return &words
}

// again fetches the session and appends the event to it.
func (s *ownedSessions) again(ctx context.Context, o *ownedSession, ev *session.Event) error {
	resp, err := s.Service.Get(ctx, &session.GetRequest{AppName: o.AppName(), UserID: o.UserID(), SessionID: o.ID()})
	if err != nil {
		return fmt.Errorf("adkagent: get the session again: %w", err)
	}
	o.mu.Lock()
	o.inner = resp.Session
	o.mu.Unlock()
	return s.Service.AppendEvent(ctx, resp.Session, ev)
}

// wasStored reports false if the event is known not to be stored.
func wasStored(h session.Session, ev *session.Event) bool {
	o, ok := h.(*ownedSession)
	if !ok {
		return true
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.failed != ev.ID
}

func (o *ownedSession) now() session.Session {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.inner
}

func (o *ownedSession) ID() string                { return o.now().ID() }
func (o *ownedSession) AppName() string           { return o.now().AppName() }
func (o *ownedSession) UserID() string            { return o.now().UserID() }
func (o *ownedSession) State() session.State      { return o.now().State() }
func (o *ownedSession) LastUpdateTime() time.Time { return o.now().LastUpdateTime() }
func (o *ownedSession) Events() session.Events    { return ownedEvents{o} }

// ownedEvents are the events of the handle at the time of each call.
type ownedEvents struct{ o *ownedSession }

func (e ownedEvents) All() iter.Seq[*session.Event] { return e.o.now().Events().All() }
func (e ownedEvents) Len() int                      { return e.o.now().Events().Len() }
func (e ownedEvents) At(i int) *session.Event       { return e.o.now().Events().At(i) }

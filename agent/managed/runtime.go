package managed

import (
	"context"
	"errors"
	"iter"
	"time"

	"go.uber.org/zap"

	"github.com/voicegw/voicegw/agent/provider"
	"github.com/voicegw/voicegw/journal"
)

// Config configures a Runtime.
type Config struct {
	// Journal keeps everything. It is required.
	Journal journal.Engine
	// Models opens models by name. It is required.
	Models *provider.Resolver
	// Node is the name of this process, unique among those that share the journal. Default: a random one.
	Node string
	// URL is where other nodes reach the API of this one; "" means that no other node exists.
	URL string
	// Logger receives warnings and errors, no content. nil logs nothing.
	Logger *zap.Logger
	// Limits bound what sessions may do.
	Limits Limits
}

// Limits bound sessions. The zero value of each field means its default.
type Limits struct {
	Queue       int           // events of the user that wait in a session; default 64
	Calls       int           // calls of a session that wait for the client; default 64
	Content     int           // bytes of one event of the user; default 256 KiB
	Sessions    int           // sessions of a tenant that are not archived; default 100,000
	Events      int           // events of a session; default 1,000,000
	Active      int           // sessions that are in memory at a time; default 1000
	Idle        time.Duration // how long a session without work stays in memory; default 1 min
	TurnTimeout time.Duration // how long a turn may take; default 1 h
}

// Runtime runs sessions. It is safe for concurrent use. Its errors that a client may see are *Error.
type Runtime struct {
	cfg Config
}

// New returns a Runtime. Close ends it.
func New(cfg Config) (*Runtime, error) {
	switch {
	case cfg.Journal == nil:
		return nil, errors.New("managed: Config.Journal is nil; open one, such as jetstream.Open")
	case cfg.Models == nil:
		return nil, errors.New("managed: Config.Models is nil; make one with provider.Config.Resolver")
	}
	return &Runtime{cfg: cfg}, nil
}

// SessionRequest asks for a session.
type SessionRequest struct {
	Agent       string            // id of the agent
	Version     int               // of the agent; 0 means the newest
	Override    *Override         // replaces parts of the agent for this session
	Environment string            // id of an environment; "" means none
	Title       string            // up to 256 characters
	Metadata    map[string]string // as in a Definition
	Initial     []Event           // messages with which the session begins, up to 50
}

// Override replaces parts of an agent for one session. A nil field keeps the agent's.
type Override struct {
	Model  *ModelRef
	System *string
	Tools  *[]ToolConfig
}

// Status is what a session is doing.
type Status string

// The statuses.
const (
	Idle         Status = "idle"
	Running      Status = "running"
	Rescheduling Status = "rescheduling"
	Terminated   Status = "terminated"
)

// Session is a session as it is at one moment.
type Session struct {
	ID          string            `json:"id"`
	Status      Status            `json:"status"`
	Paused      bool              `json:"paused"`
	Agent       Agent             `json:"agent"` // as it was when the session began
	Environment string            `json:"environment_id"`
	Title       string            `json:"title"`
	Metadata    map[string]string `json:"metadata"`
	Usage       Usage             `json:"usage"`
	Turns       int               `json:"turns"`
	LastSeq     uint64            `json:"last_seq"` // number of the newest event
	CreatedAt   time.Time         `json:"created_at"`
	UpdatedAt   time.Time         `json:"updated_at"`
	ArchivedAt  *time.Time        `json:"archived_at"`
}

// Page says which part of a list to return.
type Page struct {
	After   string // the Next of the page before; "" begins
	Limit   int    // 1 to 1000
	Reverse bool   // the oldest first
}

// SessionFilter says which sessions to list. The zero value means all that are not archived.
type SessionFilter struct {
	Agent         string
	Version       int
	Statuses      []Status
	Archived      bool
	CreatedAfter  time.Time // exclusive; zero means no limit
	CreatedBefore time.Time // exclusive
}

// StartSession begins a session.
func (r *Runtime) StartSession(ctx context.Context, o Owner, req SessionRequest) (*Session, error) {
	return nil, errors.New("managed: not written yet")
}

// Session returns a session as it is now. Any node answers.
func (r *Runtime) Session(ctx context.Context, o Owner, id string) (*Session, error) {
	return nil, errors.New("managed: not written yet")
}

// Sessions lists sessions, the newest first. next is the After of the following page, or "".
func (r *Runtime) Sessions(ctx context.Context, o Owner, f SessionFilter, p Page) (list []*Session, next string, err error) {
	return nil, "", errors.New("managed: not written yet")
}

// SessionPatch changes a session. Nil fields and metadata that is not named stay; empty values clear.
type SessionPatch struct {
	Title    *string
	Metadata map[string]*string
}

// UpdateSession changes a session.
func (r *Runtime) UpdateSession(ctx context.Context, o Owner, id string, p SessionPatch) (*Session, error) {
	return nil, errors.New("managed: not written yet")
}

// Send gives events of the user to a session: messages, results, confirmations, interrupts. All of them
// are accepted, or none. It returns them with their numbers and ids once they are stored. A second Send
// with the same key returns the answer of the first; "" means no key. The error has the code Invalid
// for an unknown call or a wrong kind of result, Conflict for a session that has ended, TooMany if the
// queue is full. A result that is there already is accepted without effect.
func (r *Runtime) Send(ctx context.Context, o Owner, id, key string, events ...Event) ([]Event, error) {
	return nil, errors.New("managed: not written yet")
}

// Events yields the events of a session from number from on; 0 means 1. It ends behind the newest one,
// or, with live, goes on until ctx ends or the session is deleted. With live and from beyond the newest
// event it yields what comes. Any node answers. No event is left out or yielded twice.
func (r *Runtime) Events(ctx context.Context, o Owner, id string, from uint64, live bool) iter.Seq2[*Event, error] {
	return func(yield func(*Event, error) bool) { yield(nil, errors.New("managed: not written yet")) }
}

// Deltas calls f for every event_start and event_delta of a session until ctx ends, while it runs on
// this node. f must be quick. What comes before it was called is not repeated.
func (r *Runtime) Deltas(ctx context.Context, o Owner, id string, f func(*Event)) error {
	return errors.New("managed: not written yet")
}

// Interrupt stops what a session is doing. The session stays usable. It is Send of a user.interrupt.
func (r *Runtime) Interrupt(ctx context.Context, o Owner, id string) error {
	_, err := r.Send(ctx, o, id, "", Event{Type: UserInterrupt})
	return err
}

// Pause holds a session: a turn that runs goes on to its end, and no other begins. Resume ends that.
// Both survive crashes, and both are idempotent.
func (r *Runtime) Pause(ctx context.Context, o Owner, id string) error {
	return errors.New("managed: not written yet")
}

// Resume lets a session that was paused go on.
func (r *Runtime) Resume(ctx context.Context, o Owner, id string) error {
	return errors.New("managed: not written yet")
}

// ArchiveSession ends a session, which stays readable. It is idempotent. A session that runs is refused
// with Invalid.
func (r *Runtime) ArchiveSession(ctx context.Context, o Owner, id string) (*Session, error) {
	return nil, errors.New("managed: not written yet")
}

// DeleteSession removes everything of a session. A session that runs is refused with Invalid.
func (r *Runtime) DeleteSession(ctx context.Context, o Owner, id string) error {
	return errors.New("managed: not written yet")
}

// Close stores what is under way, stops all turns and ends the Runtime. Sessions go on where they are
// opened next. The journal stays open.
func (r *Runtime) Close(ctx context.Context) error { return nil }

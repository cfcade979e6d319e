package managed

import (
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/voicegw/voicegw/agent"
	"github.com/voicegw/voicegw/agent/managed/life"
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
	// Logger receives warnings and errors, no content. nil logs nothing.
	Logger *zap.Logger
	// Tools are the built-in tools. There are none by default: what runs on the host is for the operator to
	// decide.
	Tools []Tool
	// Programs are what agents may be in place of one model with tools. A definition names one of them.
	Programs map[string]ProgramFunc
	// Prices are those of models, by the names that definitions have. Budgets of money need them.
	Prices map[string]Price
	// Whole asks models for whole answers, for those that stream badly. Nobody then hears parts of messages.
	Whole bool
	// Shared are agents that every owner may use and nobody can change. Their names are unique and give
	// their ids: see SharedID.
	Shared []Definition
	// Commands are the programs that may run as MCP servers: absolute paths, or names to be found in PATH.
	// There are none by default. An agent chooses the arguments: allow only what is safe with any.
	Commands []string
	// CommandEnv names the variables of this process that such a program gets besides PATH.
	CommandEnv []string
	// Credentials are the secrets that MCP servers with a URL may get, by name. Every owner's agents may name them.
	Credentials map[string]Credential
	// AllowPrivate lets the URLs of MCP servers lead to private addresses, such as those of this machine.
	AllowPrivate bool
	// Skills is a directory with the skills that agents may have: DIR/ID/SKILL.md. "" means none.
	Skills string
	// Limits bound what sessions may do.
	Limits Limits
}

// Limits bound sessions. The zero value of each field means its default.
type Limits struct {
	Queue       int           // messages, and interrupts, that wait in a session; default 64, at most 256
	Content     int           // bytes of one event of the user; default 256 KiB
	Events      uint64        // events of a session after which it takes no more of the user; default 1,000,000
	Active      int           // sessions that are in memory at a time; default 1000
	Idle        time.Duration // how long a session without work stays in memory; default 1 min
	TurnTimeout time.Duration // how long a turn may take; default 1 h
	// Backoff is how long a turn that failed for a while waits before each further attempt. Default: 1 s,
	// 5 s, 20 s.
	Backoff []time.Duration
	// Grace is how long a tool that was stopped may take to return before the process lets go of it. Default 5 s.
	Grace time.Duration
	// MCPStart is how long an MCP server may take to start and to list its tools. Default 10 s.
	MCPStart time.Duration
	// Agent bounds what one turn may do.
	Agent agent.Limits
}

// check finds a limit that the net of a session does not have.
func (l *Limits) check() error {
	switch {
	case l.Queue < 1 || l.Queue > life.QueueMax:
		return fmt.Errorf("managed: Limits.Queue is %d; it may be 1 to %d", l.Queue, life.QueueMax)
	case l.Content < 1 || l.Content > contentMax:
		return fmt.Errorf("managed: Limits.Content is %d; it may be 1 to %d", l.Content, contentMax)
	case l.Active < 1:
		return fmt.Errorf("managed: Limits.Active is %d; it must be positive", l.Active)
	}
	_, err := life.Net(life.Config{Backoff: l.Backoff})
	return err
}

// contentMax is the largest event of the user that surely fits into a record, in bytes.
const contentMax = journal.RecordMax / 2

// filled returns the limits with their defaults.
func (l Limits) filled() Limits {
	fill := func(n *int, d int) {
		if *n == 0 {
			*n = d
		}
	}
	wait := func(t *time.Duration, d time.Duration) {
		if *t == 0 {
			*t = d
		}
	}
	fill(&l.Queue, 64)
	fill(&l.Content, 256<<10)
	fill(&l.Active, 1000)
	if l.Events == 0 {
		l.Events = 1_000_000
	}
	wait(&l.Idle, time.Minute)
	wait(&l.TurnTimeout, time.Hour)
	wait(&l.Grace, 5*time.Second)
	wait(&l.MCPStart, 10*time.Second)
	if l.Backoff == nil {
		l.Backoff = []time.Duration{time.Second, 5 * time.Second, 20 * time.Second}
	}
	return l
}

// Runtime runs sessions. It is safe for concurrent use. Its errors that a client may see are *Error.
type Runtime struct {
	cfg    Config
	shared map[string]*Agent // by id
	prices map[string]Price  // by whole names
	stop   chan struct{}
	guard  *http.Transport // to MCP servers
	ends   sync.WaitGroup  // the janitor

	mu        sync.Mutex
	active    map[string]*slot
	closed    bool
	listeners map[string]map[*listener]bool // to deltas, by session
}

// slot is a session that is in memory, or on its way there.
type slot struct {
	ready chan struct{} // closed when the session is open, or has failed to open
	o     *owned
	err   error
}

// New returns a Runtime. Close ends it.
func New(cfg Config) (*Runtime, error) {
	switch {
	case cfg.Journal == nil:
		return nil, errors.New("managed: Config.Journal is nil; open one, such as jetstream.Open")
	case cfg.Models == nil:
		return nil, errors.New("managed: Config.Models is nil; make one with provider.Config.Resolver")
	}
	cfg.Limits = cfg.Limits.filled()
	if err := cfg.Limits.check(); err != nil {
		return nil, err
	}
	if err := errors.Join(checkCommands(cfg.Commands), checkCredentials(cfg.Credentials)); err != nil {
		return nil, err
	}
	prices, err := readPrices(cfg.Prices)
	if err != nil {
		return nil, err
	}
	if cfg.Logger == nil {
		cfg.Logger = zap.NewNop()
	}
	if cfg.Node == "" {
		cfg.Node = newID("node_", time.Now())
	}
	r := &Runtime{cfg: cfg, shared: map[string]*Agent{}, prices: prices, stop: make(chan struct{}),
		guard: newGuard(cfg.AllowPrivate), active: map[string]*slot{},
		listeners: map[string]map[*listener]bool{}}
	if err := r.share(); err != nil {
		return nil, err
	}
	r.ends.Go(r.tidy)
	return r, nil
}

// SessionRequest asks for a session.
type SessionRequest struct {
	Agent       string            // id of the agent
	Version     int               // of the agent; 0 means the newest
	Override    *Override         // replaces parts of the agent for this session
	Environment string            // id of an environment; "" means none
	Title       string            // up to 256 characters
	Metadata    map[string]string // as in a Definition
	Budget      *Budget           // in place of the agent's
	Initial     []Event           // messages with which the session begins, up to 50
}

// Override replaces parts of an agent for one session. A nil field keeps the agent's.
type Override struct {
	Model  *ModelRef
	System *string
	Tools  *[]ToolConfig // MCP servers that no toolset names any more are left out
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
	Budget      *Budget           `json:"budget"`
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

// SessionPatch changes a session. Nil fields and metadata that is not named stay; nil metadata clears.
type SessionPatch struct {
	Title    *string            `json:"title,omitempty"`
	Metadata map[string]*string `json:"metadata,omitempty"`
	Budget   BudgetChange       `json:"budget,omitzero"`
}

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
	// Cluster lets other processes serve sessions of the journal, too. nil: this process is the only one.
	Cluster *Cluster
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
	Queue   int    // messages, and interrupts, that wait in a session; default 64, at most 256
	Content int    // bytes of one event of the user; default 256 KiB
	Events  uint64 // events of a session after which it takes no more of the user; default 1,000,000
	// SessionBytes, TenantSessions, TenantBytes and TenantEvents are the quotas of one session and of one tenant.
	// At a quota of bytes a session takes no more messages and updates; answers to calls, interrupts, pauses, resumes
	// and the end of a session still pass.
	SessionBytes   int64 // of the records of a session; default 256 MiB
	TenantSessions int   // that are not archived; default 100,000
	TenantBytes    int64 // of the records of all sessions; default 64 GiB
	// TenantEvents is how many events of the user may come in a second, and that many at once, but at least 100. An
	// update, a pause and a resume count as one.
	// Default: no limit.
	TenantEvents int
	Active       int           // sessions that are in memory at a time; default 1000
	Idle         time.Duration // how long a session without work stays in memory; default 1 min
	TurnTimeout  time.Duration // how long a turn may take; default 1 h
	// Backoff is how long a turn that failed for a while waits before each further attempt. Default: 1 s,
	// 5 s, 20 s.
	Backoff []time.Duration
	// Grace is how long a tool that was stopped may take to return before the process lets go of it. Default 5 s.
	Grace time.Duration
	// MCPStart is how long an MCP server may take to start and to list its tools. Default 10 s.
	MCPStart time.Duration
	// Agent bounds what one turn may do.
	Agent agent.Limits

	snapshot     int // records between two snapshots of a session that rests; default 500
	snapshotBusy int // the same in a turn; default 2000
}

// check finds a limit that the net of a session does not have.
func (l *Limits) check() error {
	switch {
	case l.Queue < 1 || l.Queue > life.QueueMax:
		return fmt.Errorf("managed: Limits.Queue is %d; it may be 1 to %d", l.Queue, life.QueueMax)
	case l.Content < 1 || l.Content > contentMax:
		return fmt.Errorf("managed: Limits.Content is %d; it may be 1 to %d", l.Content, contentMax)
	case l.SessionBytes < 1 || l.TenantBytes < 1 || l.TenantSessions < 1:
		return fmt.Errorf("managed: Limits.SessionBytes, TenantBytes and TenantSessions are %d, %d and %d; they must be "+
			"positive", l.SessionBytes, l.TenantBytes, l.TenantSessions)
	case l.TenantEvents < 0:
		return fmt.Errorf("managed: Limits.TenantEvents is %d; give 0 for no limit", l.TenantEvents)
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
	fill(&l.TenantSessions, 100_000)
	size := func(n *int64, d int64) {
		if *n == 0 {
			*n = d
		}
	}
	size(&l.SessionBytes, 256<<20)
	size(&l.TenantBytes, 64<<30)
	fill(&l.snapshot, 500)
	fill(&l.snapshotBusy, 2000)
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
	cfg      Config
	shared   map[string]*Agent // by id
	prices   map[string]Price  // by whole names
	stop     chan struct{}
	guard    *http.Transport // to MCP servers
	left     chan struct{}   // closed when the sessions are closed: this process leaves the cluster
	ends     sync.WaitGroup  // what goes on beside requests
	ids      ids
	accounts accounts
	began    time.Time
	savers   chan struct{} // has a place for each that makes a snapshot

	mu        sync.Mutex
	compiled  compiled
	active    map[string]*slot
	lost      map[string]bool // sessions that this process holds and could not open or store; a sweep opens them
	closed    bool
	making    map[string]chan struct{}      // closed when a claim is dealt with; by its key
	replaced  bool                          // by a process of the same name
	me        holder                        // of sessions that are opened now
	joining   chan struct{}                 // closed, and then nil, when this process has joined the cluster
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
		cfg.Node = (&ids{}).next("node_", time.Now())
	}
	if cfg.Cluster != nil {
		if err := cfg.Cluster.check(cfg.Node); err != nil {
			return nil, err
		}
		own := *cfg.Cluster
		if cfg.Cluster = &own; own.Beat == 0 {
			own.Beat = beatDefault
		}
	}
	r := &Runtime{cfg: cfg, shared: map[string]*Agent{}, prices: prices, stop: make(chan struct{}),
		left: make(chan struct{}), guard: newGuard(cfg.AllowPrivate), active: map[string]*slot{},
		making: map[string]chan struct{}{}, lost: map[string]bool{}, savers: make(chan struct{}, savers),
		me:        holder{Node: cfg.Node},
		listeners: map[string]map[*listener]bool{}}
	r.began = r.now()
	r.accounts = accounts{limits: cfg.Limits, now: r.now, byTenant: map[string]*account{}}
	if err := r.share(); err != nil {
		return nil, err
	}
	r.ends.Go(r.tidy)
	if cfg.Cluster != nil {
		r.joining = make(chan struct{})
		r.ends.Go(func() { r.serveNode(r.left) })
	} else {
		r.ends.Go(r.reopen)
	}
	return r, nil
}

// SessionRequest asks for a session.
type SessionRequest struct {
	Agent       string            // id of the agent
	Version     int               // of the agent; 0 means the newest
	Override    *Override         // replaces parts of the agent for this session
	Environment string            // id of an environment; "" means LocalEnvironment
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
	After   string // the next of the page before; "" begins
	Before  string // in place of After: the page ends before this item; of Sessions alone
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

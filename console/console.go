package console

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"sync"
	"time"

	"github.com/voicegw/voicegw"
	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/petri/dot"
	"github.com/voicegw/voicegw/petri/event"
)

const (
	feedsMax   = 16 // at one time
	batchEvery = 100 * time.Millisecond
	heartbeat  = 15 * time.Second
	sendTime   = 10 * time.Second // for a batch to be taken
	eventsMax  = 1 << 20          // of an archive
	pageEvents = 20_000           // of an archive in one batch
	netsMax    = 32               // drawings that are kept
	stallMax   = time.Second      // for the net of a call to finish a step
	retryAfter = "5"              // seconds
)

// Config configures a handler. Gateway is required.
type Config struct {
	// Gateway has the running calls.
	Gateway *voicegw.Gateway
	// Archives is the directory with the archives of calls, one file NAME.jsonl for each; nil: none.
	Archives fs.FS
	// Net returns the net with a hash of an archive. If there is none, the error goes to the client.
	Net func(hash string) (*petri.Program, error)
	// Names returns the names of all nets that Net can return. An archive with another name is refused
	// as one of another version. nil: names are not looked at.
	Names func() (event.NameSet, error)
	// Transcript returns what was said in a call, the oldest first: so far, if written is the zero time,
	// else in the archived call whose archive was written last then. The page shows an error in its
	// place. nil: transcripts are off.
	Transcript func(ctx context.Context, call string, written time.Time) ([]Said, error)
	// Search finds calls that have ended in their records, also for the list of archives. The page shows
	// an error in place of calls. It is called for two requests at one time at most. nil: calls cannot
	// be searched, and the list says only when each ended.
	Search func(ctx context.Context, q Search) (Finding, error)
	// Page serves the page, web.ConsolePage; nil: none.
	Page http.Handler
	// Sharer signs links to archived calls, and New makes it serve them; nil: there are no links.
	Sharer *Sharer
}

// New returns the handler. It is safe for concurrent use.
func New(cfg Config) (http.Handler, error) {
	if cfg.Gateway == nil {
		return nil, errors.New("console: Config needs Gateway")
	}
	if cfg.Net == nil {
		cfg.Net = func(string) (*petri.Program, error) {
			return nil, errors.New("the console knows no net of archives")
		}
	}
	s := &server{cfg: cfg, nets: map[string]*netView{}, feeds: make(chan struct{}, feedsMax),
		searches: make(chan struct{}, searchesMax)}
	s.archives = listing{dir: cfg.Archives, runs: func(call string) bool {
		_, ok := cfg.Gateway.Session(call)
		return ok
	}}
	if cfg.Sharer != nil {
		if cfg.Sharer.Key == nil || cfg.Sharer.Path == "" {
			return nil, errors.New("console: Config.Sharer needs Key and Path")
		}
		cfg.Sharer.server, cfg.Sharer.places = s, make(chan struct{}, sharedMax)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /api/calls", answering(s.list))
	mux.HandleFunc("GET /api/archives", answering(s.listArchives))
	mux.HandleFunc("GET /api/search", answering(s.search))
	mux.HandleFunc("GET /api/nets/{hash}", answering(s.net))
	mux.HandleFunc("GET /api/calls/{call}/feed", s.feeding(s.running))
	mux.HandleFunc("GET /api/archives/{name}/feed", s.feeding(s.archived))
	mux.HandleFunc("GET /api/calls/{call}/transcript", answering(s.runningTranscript))
	mux.HandleFunc("GET /api/archives/{name}/transcript", answering(s.archivedTranscript))
	mux.HandleFunc("GET /api/archives/{name}/report", s.report)
	mux.HandleFunc("GET /api/archives/{name}/link", answering(s.link))
	mux.HandleFunc("/api/", answering(func(r *http.Request) (any, error) {
		return nil, &problem{http.StatusNotFound, fmt.Sprintf("there is no %s %s; see docs/console.md", r.Method, r.URL.Path)}
	}))
	if cfg.Page != nil {
		mux.Handle("/", cfg.Page)
	}
	return mux, nil
}

type server struct {
	cfg      Config
	feeds    chan struct{} // a token for each feed
	searches chan struct{} // a token for each search

	archives listing
	facts    facts

	mu   sync.Mutex
	nets map[string]*netView // by hash
}

// problem is why a request is refused.
type problem struct {
	status  int
	message string
}

// Error returns the message.
func (p *problem) Error() string { return p.message }

// answering answers a request with JSON.
func answering(do func(*http.Request) (any, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		body, err := do(r)
		if err != nil {
			refuse(w, err)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(body) // the client may be gone
	}
}

func refuse(w http.ResponseWriter, err error) {
	p := &problem{http.StatusInternalServerError, err.Error()}
	errors.As(err, &p)
	w.Header().Set("Content-Type", "application/json")
	if p.status == http.StatusServiceUnavailable {
		w.Header().Set("Retry-After", retryAfter)
	}
	w.WriteHeader(p.status)
	_ = json.NewEncoder(w).Encode(map[string]any{"error": map[string]string{"message": p.message}})
}

// Call is a running call in the list, and the head of its feed.
type Call struct {
	ID       string            `json:"id"`
	Endpoint string            `json:"endpoint,omitempty"`
	From     string            `json:"from,omitempty"`
	To       string            `json:"to,omitempty"`
	Client   string            `json:"client,omitempty"`
	Labels   map[string]string `json:"labels,omitempty"`
	Began    time.Time         `json:"began"`
	State    *voicegw.State    `json:"state,omitempty"` // in the list, unless the call does not answer
}

func callOf(s *voicegw.Session) Call {
	h := s.Hello()
	state, err := s.StateWithin(stallMax)
	c := Call{ID: s.ID(), Endpoint: h.Endpoint, From: h.From, To: h.To, Client: h.Client, Labels: s.Labels(),
		Began: state.Began}
	if err == nil {
		c.State = &state
	}
	return c
}

// list lists running calls and the newest archives. Archives that cannot be read leave the calls to be seen.
func (s *server) list(r *http.Request) (any, error) {
	calls := []Call{}
	for _, session := range s.cfg.Gateway.Sessions() {
		calls = append(calls, callOf(session))
	}
	archives, err := s.archives.page("")
	s.describe(r.Context(), time.Now(), archives.Archives)
	return map[string]any{"calls": calls, "archives": archives, "now": time.Now()}, err
}

// listArchives lists the archives behind the place in the list that the query names.
func (s *server) listArchives(r *http.Request) (any, error) {
	page, err := s.archives.page(r.URL.Query().Get("after"))
	s.describe(r.Context(), time.Now(), page.Archives)
	return page, err
}

// netView is a net as the page draws it.
type netView struct {
	Name        string           `json:"name"`
	Places      []placeView      `json:"places"`
	Transitions []transitionView `json:"transitions"`
	SVG         string           `json:"svg"`
	prog        *petri.Program
}

type placeView struct {
	Name  string `json:"name"`
	Part  string `json:"part,omitempty"`
	Slot  int    `json:"slot"`
	Slots int    `json:"slots"`
	Gen   bool   `json:"gen,omitempty"`
	Means string `json:"means,omitempty"`
}

type transitionView struct {
	Name string `json:"name"`
	Part string `json:"part,omitempty"`
	Does string `json:"does"`
	When string `json:"when,omitempty"`
}

// know keeps a program for its drawing, and returns its hash.
func (s *server) know(p *petri.Program) string {
	hash := event.Hash(p)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.nets[hash] == nil {
		if len(s.nets) >= netsMax {
			clear(s.nets)
		}
		s.nets[hash] = &netView{prog: p}
	}
	return hash
}

// net describes a net that a feed has named.
func (s *server) net(r *http.Request) (any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	v := s.nets[r.PathValue("hash")]
	if v == nil {
		return nil, &problem{http.StatusNotFound, "no call that is shown has this net; open the call again"}
	}
	if v.SVG != "" {
		return v, nil
	}
	svg, err := dot.SVG(v.prog, dot.Options{Bare: true})
	if err != nil {
		return nil, fmt.Errorf("console: %w", err)
	}
	v.Name = v.prog.Name()
	for _, p := range v.prog.Places() {
		v.Places = append(v.Places, placeView{p.Name, p.Group, p.Slot, p.Slots, p.Gen, meanings[base(p.Name)]})
	}
	for _, t := range v.prog.Transitions() {
		when := ""
		if !t.When.AtOnce() {
			when = t.When.String()
		}
		v.Transitions = append(v.Transitions, transitionView{t.Name, t.Group, does(t.Name), when})
	}
	v.SVG = string(svg)
	return v, nil
}

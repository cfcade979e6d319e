package sim

import (
	"errors"
	"fmt"
	"io"
	"log"
	"math/rand/v2"
	"net"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
)

// Server is the embedded model. It is an http.Handler; Start gives it a listener of its own.
type Server struct {
	cfg     Config
	grammar *node
	store   *handles
	path    *regexp.Regexp

	stop     chan struct{} // closed by Close
	stopOnce sync.Once
	loops    sync.WaitGroup // connections, and the listener

	mu       sync.Mutex
	closed   bool
	lastID   int
	records  []*record // the newest last
	live     int
	listener net.Listener
	http     *http.Server
}

// New returns a Server that serves nothing yet. It copies cfg, but not the samples in it, which must not change.
func New(cfg Config) (*Server, error) {
	cfg = cfg.withDefaults()
	if err := cfg.check(); err != nil {
		return nil, err
	}
	if cfg.Greeting == nil {
		pcm, err := greeting()
		if err != nil {
			return nil, err
		}
		cfg.Greeting = pcm
		setDefault(&cfg.GreetingText, greetingText)
	}
	cfg.Models = slices.Clone(cfg.Models)
	return &Server{
		cfg:     cfg,
		grammar: clientGrammar(),
		store:   &handles{all: map[string]session{}},
		path:    regexp.MustCompile(pathPattern),
		stop:    make(chan struct{}),
	}, nil
}

// pathPattern is where the real service listens, with any prefix in front: Gemini API with key, with ephemeral token,
// Vertex AI. A Vertex client with a base URL of its own asks for that URL's path, usually none.
const pathPattern = `^(.*/ws/google\.ai\.generativelanguage\.(v1beta|v1alpha)\.GenerativeService\.BidiGenerateContent` +
	`(Constrained)?|.*/ws/google\.cloud\.aiplatform\.(v1beta1|v1)\.LlmBidiService/BidiGenerateContent|/?)$`

// Start listens on addr, such as "127.0.0.1:0", and serves until Close. Only loopback addresses are allowed: there is
// no authentication worth the name.
func (s *Server) Start(addr string) error {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return fmt.Errorf("sim: listen: %w", err)
	}
	if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return fmt.Errorf("sim: listen on %q: want a loopback address such as 127.0.0.1:0", addr)
	}
	listener, err := net.Listen("tcp", addr)
	if err != nil {
		return fmt.Errorf("sim: %w", err)
	}
	server := &http.Server{Handler: s, ReadHeaderTimeout: 10 * time.Second, ErrorLog: log.New(io.Discard, "", 0)}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || s.listener != nil {
		_ = listener.Close()
		return errors.New("sim: listen: the server is closed or listens already")
	}
	s.listener, s.http = listener, server
	s.loops.Go(func() { _ = server.Serve(listener) })
	return nil
}

// URL is where Start listens, as in "ws://127.0.0.1:43210"; empty before. It is right for live.Wire.BaseURL and for
// the base URL of Google's own clients.
func (s *Server) URL() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.listener == nil {
		return ""
	}
	return "ws://" + s.listener.Addr().String()
}

// Close ends the listener and all connections (1001) and waits for them. It may be called twice.
func (s *Server) Close() error {
	s.mu.Lock()
	s.closed = true
	server := s.http
	s.mu.Unlock()
	s.stopOnce.Do(func() { close(s.stop) })
	var err error
	if server != nil {
		err = server.Close()
	}
	s.loops.Wait()
	return err
}

// Connections returns what is remembered of the newest connections, the oldest first.
func (s *Server) Connections() []Connection {
	s.mu.Lock()
	records := slices.Clone(s.records)
	s.mu.Unlock()
	out := make([]Connection, len(records))
	for i, r := range records {
		out[i] = r.snapshot()
	}
	return out
}

// ServeHTTP upgrades a request on any path of the real service and speaks to the client until either side ends.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	match := s.path.FindStringSubmatch(r.URL.Path)
	if match == nil {
		http.Error(w, "no Live API at this path", http.StatusNotFound)
		return
	}
	id, ok := s.enter()
	if !ok {
		w.Header().Set("Retry-After", "1")
		http.Error(w, "too many connections, or shutting down", http.StatusServiceUnavailable)
		return
	}
	defer s.leave()
	faults := s.cfg.Faults.forConnection(id)
	if status := faults.RefuseUpgrade; status != 0 {
		http.Error(w, "refused on purpose", status)
		return
	}
	m := s.machine(id, faults, r.URL.Path)
	m.version, m.vertex = match[2]+match[4], match[4] != "" || match[2] == ""
	if m.badKey = s.checkKey(r, match); faults.RefuseKey {
		m.badKey = invalid(keyRefused)
	}
	s.serve(w, r, m)
}

// machine makes the machine of a connection; every other one speaks in binary frames.
func (s *Server) machine(id int, faults Faults, path string) *machine {
	t := tongue{binary: (uint64(id)+s.cfg.Seed)%2 == 0}
	rec := newRecord(id, path, t.binary)
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.records) >= s.cfg.ConnectionsMax {
		s.records = slices.Delete(s.records, 0, len(s.records)-s.cfg.ConnectionsMax+1)
	}
	s.records = append(s.records, rec)
	cfg := &manner{Config: s.cfg}
	cfg.Faults = faults
	settings, rules := s.cfg.Scenario.forConnection(id)
	for _, set := range settings {
		set(cfg)
	}
	return &machine{
		cfg: cfg, rules: rules, faults: cfg.Faults, grammar: s.grammar, store: s.store, rec: rec, id: id, tongue: t,
		rng:    rand.New(rand.NewPCG(s.cfg.Seed, uint64(id))),
		goAway: never, deadline: never, retry: never,
	}
}

// enter makes room for a connection and numbers it.
func (s *Server) enter() (id int, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || s.live >= s.cfg.ConnectionsMax {
		return 0, false
	}
	s.live++
	s.lastID++
	s.loops.Add(1)
	return s.lastID, true
}

func (s *Server) leave() {
	s.mu.Lock()
	s.live--
	s.mu.Unlock()
	s.loops.Done()
}

// The real service upgrades first and refuses then.
const (
	keyRefused = "API key not valid. Please pass a valid API key."
	keyMissing = "Method doesn't allow unregistered callers (callers without established identity)."
)

// checkKey looks for the key where clients of the path, a match of pathPattern, put it: a header of its own, or, as
// browsers must, the query; and a token, of Vertex AI or ephemeral, in the header Authorization under its scheme.
func (s *Server) checkKey(r *http.Request, match []string) *refusal {
	if s.cfg.APIKey == "" {
		return nil
	}
	query := r.URL.Query()
	scheme := "" // of a key
	switch {
	case match[4] != "":
		scheme = "Bearer"
	case match[3] != "":
		scheme = "Token"
	}
	keys := []string{query.Get("key"), query.Get("access_token")}
	if token, ok := strings.CutPrefix(r.Header.Get("Authorization"), scheme+" "); ok && scheme != "" {
		keys = append(keys, token)
	}
	if scheme == "" {
		keys = append(keys, r.Header.Get("X-Goog-Api-Key"))
	}
	if slices.Contains(keys, s.cfg.APIKey) {
		return nil
	}
	if strings.Join(keys, "") == "" {
		return refuse(1008, keyMissing)
	}
	return invalid(keyRefused)
}

// hasModel reports whether a full model name, as on the wire, is one of ours. A client of Vertex AI says whose it is.
func (c *Config) hasModel(full string, vertex bool) bool {
	owner, name, ok := strings.Cut(full, "models/")
	if !ok || vertex != strings.HasSuffix(owner, "publishers/google/") {
		return false
	}
	if len(c.Models) > 0 {
		return slices.Contains(c.Models, name)
	}
	return name == ModelName || strings.HasPrefix(name, "gemini-")
}

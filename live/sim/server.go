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

// Server is the embedded model. Call Start to listen on an address, or use it as an http.Handler.
// Its methods are safe for concurrent use.
type Server struct {
	cfg     Config
	grammar *node
	store   *handles
	path    *regexp.Regexp

	stop     chan struct{} // closed by Close
	stopOnce sync.Once
	loops    sync.WaitGroup // connections, and the listener

	mu        sync.Mutex
	closed    bool
	lastID    int
	recorders []*recorder // the newest last
	live      int
	listener  net.Listener
	http      *http.Server
}

// New returns a Server that does not listen yet, or an error if a field of cfg is out of range. It
// does not copy the samples in cfg; they must not change.
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

// pathPattern matches the paths of the real service after any prefix: the Gemini API with a key and
// with an ephemeral token, and Vertex AI. A Vertex client with its own base URL uses the path of
// that URL, usually none.
const pathPattern = `^(.*/ws/google\.ai\.generativelanguage\.(v1(?:alpha|beta)?)\.GenerativeService\.` +
	`BidiGenerateContent(Constrained)?|` +
	`.*/ws/google\.cloud\.aiplatform\.(v1beta1|v1)\.LlmBidiService/BidiGenerateContent|/?)$`

// Start listens on addr, such as "127.0.0.1:0", and serves until Close. It accepts only loopback
// addresses, because the server has no real authentication. It may be called once.
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
		return errors.New("sim: listen: the server is closed or already listens")
	}
	s.listener, s.http = listener, server
	s.loops.Go(func() { _ = server.Serve(listener) })
	return nil
}

// URL returns the address of Start, such as "ws://127.0.0.1:43210", "" before Start. Use it as
// live.Wire.BaseURL, or as the base URL of Google's clients.
func (s *Server) URL() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.listener == nil {
		return ""
	}
	return "ws://" + s.listener.Addr().String()
}

// Close closes the listener and all connections (1001), and waits for them. It may be called more
// than once.
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

// Connections returns copies of the newest connections, open and closed, the oldest first.
func (s *Server) Connections() []Connection {
	s.mu.Lock()
	records := slices.Clone(s.recorders)
	s.mu.Unlock()
	out := make([]Connection, len(records))
	for i, r := range records {
		out[i] = r.snapshot()
	}
	return out
}

// ServeHTTP implements http.Handler. It upgrades a request on any path of the real service, and
// returns when the connection has ended.
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

// machine returns the machine of a connection. Every second connection gets binary frames.
func (s *Server) machine(id int, faults Faults, path string) *machine {
	t := dialect{binary: (uint64(id)+s.cfg.Seed)%2 == 0}
	rec := newRecorder(id, path, t.binary)
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.recorders) >= s.cfg.ConnectionsMax {
		s.recorders = slices.Delete(s.recorders, 0, len(s.recorders)-s.cfg.ConnectionsMax+1)
	}
	s.recorders = append(s.recorders, rec)
	cfg := &behavior{Config: s.cfg}
	cfg.Faults = faults
	settings, rules := s.cfg.Scenario.forConnection(id)
	for _, set := range settings {
		set(cfg)
	}
	return &machine{
		cfg: cfg, rules: rules, faults: cfg.Faults, grammar: s.grammar, store: s.store, rec: rec, id: id, dialect: t,
		rng:    rand.New(rand.NewPCG(s.cfg.Seed, uint64(id))),
		goAway: never, deadline: never, retry: never,
	}
}

// enter counts and numbers a connection. It returns false if there is no room.
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

// The real service upgrades a request before it refuses the key.
const (
	keyRefused = "API key not valid. Please pass a valid API key."
	keyMissing = "Method doesn't allow unregistered callers (callers without established identity)."
)

// checkKey checks the key of a request. match is the match of pathPattern. A key is in the header
// x-goog-api-key, or in the query, as browsers send it. A token of Vertex AI and an ephemeral token
// are in the header Authorization.
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

// hasModel reports whether the server has the model of a full name, as on the wire. A client of
// Vertex AI also names the publisher.
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

package main

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"go.uber.org/zap"

	"github.com/voicegw/voicegw/access"
	"github.com/voicegw/voicegw/agent/managed"
	"github.com/voicegw/voicegw/agent/managed/api"
	"github.com/voicegw/voicegw/agent/provider"
	"github.com/voicegw/voicegw/agent/workflow/httpapi"
	"github.com/voicegw/voicegw/journal"
	"github.com/voicegw/voicegw/journal/jetstream"
	"github.com/voicegw/voicegw/journal/memory"
	"github.com/voicegw/voicegw/settings"
	"github.com/voicegw/voicegw/web"
)

// chatPath is the path of the page for chats with agents.
const chatPath = "/chat/"

// sessionsAPI are the sessions of agents and their API.
type sessionsAPI struct {
	engine  journal.Engine
	runtime *managed.Runtime
	ending  sync.Once
	handler http.Handler
	flows   *servedFlows // nil: there are none
	claims  int          // that are proved of the nets of sessions
	agents  int          // from files
	resumed int          // sessions that were at work when the process before ended
}

// journalOpener opens the journal of a node: openJournal.
type journalOpener func(ctx context.Context, s *settings.Settings, node string) (journal.Engine, error)

// proveSessions proves the nets of sessions and returns how many claims hold: managed.Prove.
type proveSessions func(context.Context, managed.Limits) (claims int, err error)

// openSessions opens the sessions API after the proof of its nets; nil without a journal.
func openSessions(ctx context.Context, s *settings.Settings, guard *access.Guard, log *zap.Logger,
	prove proveSessions) (a *sessionsAPI, err error) {
	return openSessionsIn(ctx, openJournal, s, guard, log, prove)
}

// openSessionsIn opens the sessions API with a journal from open.
func openSessionsIn(ctx context.Context, open journalOpener, s *settings.Settings, guard *access.Guard,
	log *zap.Logger, prove proveSessions) (a *sessionsAPI, err error) {
	if !s.HasSessions() {
		return nil, nil
	}
	models, err := provider.Config{Lookup: os.Getenv}.Resolver()
	if err != nil {
		return nil, &usageError{err}
	}
	shared, err := readAgents(s.Agents)
	if err != nil {
		return nil, &usageError{err}
	}
	cfg, err := agentConfig(s)
	if err != nil {
		return nil, &usageError{err}
	}
	a = &sessionsAPI{agents: len(shared)}
	if a.claims, err = prove(ctx, managed.Limits{}); err != nil {
		return nil, err
	}
	node := nodeName(&s.Journal)
	defer func() {
		if err != nil {
			a.close(context.Background())
		}
	}()
	if a.engine, err = open(ctx, s, node); err != nil {
		return nil, err
	}
	if a.flows, err = openWorkflows(ctx, s, a.engine, log); err != nil {
		return nil, &usageError{err}
	}
	cfg.Journal, cfg.Models, cfg.Shared, cfg.Logger = a.engine, models, shared, log.Named("sessions")
	cfg.Node, cfg.Limits = node, quotas(s)
	if _, own := a.engine.(*memory.Engine); s.Journal.Advertise != "" && !own {
		cfg.Cluster = &managed.Cluster{Address: s.Journal.Advertise}
	}
	if err = a.flows.add(&cfg); err != nil {
		return nil, err
	}
	if a.runtime, err = managed.New(cfg); err != nil {
		return nil, &usageError{err}
	}
	server, err := api.New(api.Config{Runtime: a.runtime, Authorize: ownerOf(guard), Logger: log.Named("sessions")})
	if err != nil {
		return nil, err
	}
	if err = a.flows.serve(s, a.runtime, guard, log); err != nil {
		return nil, err
	}
	origins := http.NewCrossOriginProtection()
	origins.SetDenyHandler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		api.Forbid(w, r, "the request comes from a page of another origin")
	}))
	a.handler = plain(origins.Handler(knownHost(s, server)))
	if a.resumed, err = a.runtime.Recover(ctx); err != nil {
		return nil, err
	}
	return a, nil
}

// quotas are what a tenant may use.
func quotas(s *settings.Settings) managed.Limits {
	return managed.Limits{TenantSessions: s.Quota.Sessions, TenantBytes: s.Quota.Bytes,
		SessionBytes: s.Quota.SessionBytes, TenantEvents: s.Quota.EventsPerSecond}
}

// handOver lets go of all sessions; other nodes go on with them. It waits for another call of it.
func (a *sessionsAPI) handOver(ctx context.Context) {
	if a != nil && a.runtime != nil {
		a.ending.Do(func() {
			a.flows.close()
			_ = a.runtime.Close(ctx)
		})
	}
}

// close lets go of all sessions and closes the journal.
func (a *sessionsAPI) close(ctx context.Context) {
	if a == nil {
		return
	}
	a.handOver(ctx)
	switch e := a.engine.(type) {
	case nil:
	case *jetstream.Engine:
		_ = e.Leave()
	default:
		_ = e.Close()
	}
}

// before serves the API, and leaves all other paths to next.
func (a *sessionsAPI) before(next http.Handler) http.Handler {
	if a == nil {
		return next
	}
	mux := http.NewServeMux()
	for _, path := range api.Paths() {
		mux.Handle(path, a.handler)
		mux.Handle(path+"/", a.handler)
	}
	if a.flows != nil {
		for _, path := range httpapi.Paths() {
			mux.Handle(path, a.flows.handler)
		}
	}
	page := web.ChatPage(web.ChatPageConfig{HomePath: "/"})
	mux.Handle(chatPath, http.StripPrefix(strings.TrimSuffix(chatPath, "/"), page))
	mux.Handle("/", next)
	return mux
}

// note tells the person who starts the gateway.
func (a *sessionsAPI) note(url string) string {
	text := fmt.Sprintf("the sessions API is at %sv1/, its page at %s (claims proved: %d, agents from files: %d", url,
		strings.TrimSuffix(url, "/")+chatPath, a.claims, a.agents)
	if a.resumed > 0 {
		text += fmt.Sprintf(", sessions that go on: %d", a.resumed)
	}
	return text + ")"
}

// readAgents reads the definitions of a directory.
func readAgents(dir string) ([]managed.Definition, error) {
	if dir == "" {
		return nil, nil
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("agents: %w", err)
	}
	var list []managed.Definition
	for _, e := range entries {
		if !slices.Contains([]string{".yaml", ".yml", ".json"}, filepath.Ext(e.Name())) {
			continue
		}
		file := filepath.Join(dir, e.Name())
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, fmt.Errorf("agents: %w", err)
		}
		d, err := managed.ParseDefinition(text)
		if err != nil {
			return nil, fmt.Errorf("agents: %s: %w", file, err)
		}
		list = append(list, *d)
	}
	return list, nil
}

// ownerOf tells the owner of a request by its token. Without keys to verify tokens, everybody is one owner.
func ownerOf(guard *access.Guard) func(*http.Request, string) (managed.Owner, error) {
	return func(r *http.Request, key string) (managed.Owner, error) {
		if !guard.WantsTokens() {
			return managed.Owner{}, nil
		}
		c, err := guard.Verify(r.Context(), key, access.ScopeSessions)
		if err != nil {
			return managed.Owner{}, err
		}
		return managed.Owner{Tenant: c.Tenant, User: c.Subject}, nil
	}
}

// knownHost refuses requests for names that are not the gateway's: a page of somebody else could have made its own
// name point here.
func knownHost(s *settings.Settings, next http.Handler) http.Handler {
	own, _, _ := net.SplitHostPort(s.Listen)
	known := append([]string{"localhost", own}, s.Hosts...)
	for _, own := range []string{s.Journal.Advertise, s.Workflow.PublicURL} {
		if u, err := url.Parse(own); err == nil {
			known = append(known, u.Hostname())
		}
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		host := r.Host
		if h, _, err := net.SplitHostPort(host); err == nil {
			host = h
		}
		if net.ParseIP(strings.Trim(host, "[]")) == nil && !slices.Contains(known, host) && !slices.Contains(known, "*") {
			api.Forbid(w, r, fmt.Sprintf("this server is not %q: add the name to the setting hosts", host))
			return
		}
		next.ServeHTTP(w, r)
	})
}

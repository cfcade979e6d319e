package api_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/voicegw/voicegw/agent/managed"
	"github.com/voicegw/voicegw/agent/managed/api"
	"github.com/voicegw/voicegw/agent/provider"
	"github.com/voicegw/voicegw/journal"
	"github.com/voicegw/voicegw/journal/journaltest"
)

// ledger is an engine that knows its logs.
type ledger struct {
	journal.Engine
	mu   sync.Mutex
	logs map[string]bool
}

func (l *ledger) Open(ctx context.Context, log, owner string) (journal.Writer, error) {
	l.mu.Lock()
	l.logs[log] = true
	l.mu.Unlock()
	return l.Engine.Open(ctx, log, owner)
}

// parlour is a server without a network, with an agent, an environment and a session.
type parlour struct {
	server  *api.Server
	rt      *managed.Runtime
	engine  *ledger
	names   *strings.Replacer // of what is there
	session string
}

var acme = managed.Owner{Tenant: "acme"}

func newParlour(t testing.TB, set ...func(*managed.Config)) *parlour {
	t.Helper()
	p := &parlour{engine: &ledger{Engine: journaltest.NewMemory(), logs: map[string]bool{}}}
	cfg := managed.Config{Journal: p.engine, Models: provider.NewResolver()}
	for _, f := range set {
		f(&cfg)
	}
	var err error
	if p.rt, err = managed.New(cfg); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.rt.Close(context.Background()) })
	authorize := func(_ *http.Request, k string) (managed.Owner, error) {
		if who, ok := strings.CutPrefix(k, "key of "); ok {
			tenant, user, _ := strings.Cut(strings.TrimSuffix(who, "."), ":")
			return managed.Owner{Tenant: tenant, User: user}, nil
		}
		return managed.Owner{}, errors.New("wrong key")
	}
	if p.server, err = api.New(api.Config{Runtime: p.rt, Authorize: authorize}); err != nil {
		t.Fatal(err)
	}
	_, agent := p.ask(t, "acme", "POST", "/v1/agents", `{"name":"desk","model":"parrot","tools":[{"type":"custom",`+
		`"name":"deploy","description":"deploys","input_schema":{"type":"object"}}]}`)
	_, env := p.ask(t, "acme", "POST", "/v1/environments", `{"name":"home"}`)
	_, session := p.ask(t, "acme", "POST", "/v1/sessions", `{"agent":"`+field(agent, "id")+`"}`)
	p.session = field(session, "id")
	p.names = strings.NewReplacer("AGENT", field(agent, "id"), "ENV", field(env, "id"), "SESSION", p.session)
	return p
}

// impatient ends a stream once its head is there.
type impatient struct {
	*httptest.ResponseRecorder
	cancel context.CancelFunc
}

func (i *impatient) Flush() { i.cancel() }

// ask sends a request for a tenant. A stream ends at once.
func (p *parlour) ask(t testing.TB, tenant, method, path, body string, headers ...string) (int, string) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, method, "http://gateway"+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer key of "+tenant+".")
	for i := 0; i < len(headers); i += 2 {
		if headers[i+1] != "" {
			r.Header.Set(headers[i], headers[i+1])
		}
	}
	w := &impatient{httptest.NewRecorder(), cancel}
	p.server.ServeHTTP(w, r)
	return w.Code, w.Body.String()
}

// things counts what there is: documents, logs, and events of the user.
func (p *parlour) things(t testing.TB) (n int) {
	t.Helper()
	q := journal.Query{}
	for {
		docs, err := p.engine.List(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		n += len(docs)
		if len(docs) < journal.ListMax {
			break
		}
		q.After = docs[len(docs)-1].Key
	}
	p.engine.mu.Lock()
	n += len(p.engine.logs)
	p.engine.mu.Unlock()
	for ev, err := range p.rt.Events(t.Context(), acme, p.session, 0, false) {
		if err == nil && strings.HasPrefix(string(ev.Type), "user.") && ev.ProcessedAt == nil {
			n++
		}
	}
	return n
}

// refusal is an error as the API has it.
type refusal struct {
	Type  string `json:"type"`
	Error struct {
		Type    string `json:"type"`
		Message string `json:"message"`
	} `json:"error"`
	Request string `json:"request_id"`
}

var kinds = map[int]string{400: "invalid_request_error", 401: "authentication_error", 404: "not_found_error",
	409: "conflict_error", 413: "request_too_large", 429: "rate_limit_error"}

// wellFormed holds an answer to the format of the API.
func wellFormed(status int, body string) bool {
	var e refusal
	if status == http.StatusOK {
		return body == "" || json.Valid([]byte(body)) // a stream has nothing
	}
	return json.Unmarshal([]byte(body), &e) == nil && e.Type == "error" && kinds[status] == e.Error.Type &&
		e.Error.Message != "" && strings.HasPrefix(e.Request, "req_")
}

// requests are the seeds of FuzzRequests: method, path with query, body.
var requests = [][3]string{
	{"POST", "/v1/agents", `{"name":"a","model":{"id":"parrot","speed":"standard"},"tools":[{"type":"custom","name":"x",` +
		`"description":"x","input_schema":{"type":"object"},"timeout":"1m"}],"metadata":{"k":"v"},"multiagent":null}`},
	{"POST", "/v1/agents", `{"name":"a","model":"parrot","tools":[{"type":"mcp_toolset"}],"mcp_servers":[{}]}`},
	{"POST", "/v1/agents", `{"name":"a","model":"parrot","skills":[{"skill_id":"../x"}]}`},
	{"POST", "/v1/agents", `{"name":"a","name":"b"}`}, {"POST", "/v1/agents", `null`}, {"POST", "/v1/agents", ``},
	{"POST", "/v1/agents", "{\"name\":\"\xff\"}"}, {"POST", "/v1/agents?x=1", `{"name":"a","model":"parrot"}`},
	{"GET", "/v1/agents?limit=1&order=asc&include_archived=true&created_at[gte]=2026-01-02T15:04:05Z", ""},
	{"GET", "/v1/agents?page=ZGVzYz4w", ""}, {"GET", "/v1/agents/AGENT?version=1", ""},
	{"GET", "/v1/agents/AGENT?version=99999", ""}, {"GET", "/v1/agents/../x", ""}, {"GET", "/v1/agents/%2e%2e%2f", ""},
	{"POST", "/v1/agents/AGENT", `{"version":1,"name":null,"tools":null,"metadata":{"k":null}}`},
	{"POST", "/v1/agents/AGENT", `{"version":7,"description":"x"}`}, {"POST", "/v1/agents/AGENT", `{"version":1e400}`},
	{"GET", "/v1/agents/AGENT/versions?limit=2", ""}, {"POST", "/v1/agents/agent_x/archive", ""},
	{"POST", "/v1/environments", `{"name":"e","description":null,"config":{"type":"cloud","networking":null,` +
		`"packages":{"pip":[]}},"scope":null}`},
	{"POST", "/v1/environments", `{"name":"e","config":{"type":"cloud","networking":{"type":"limited"}}}`},
	{"GET", "/v1/environments?include_archived=maybe", ""}, {"GET", "/v1/environments/ENV", ""},
	{"POST", "/v1/environments/ENV", `{"description":"x","metadata":null}`}, {"DELETE", "/v1/environments/env_x", `{}`},
	{"POST", "/v1/sessions", `{"agent":"AGENT","environment_id":"ENV","title":null,"resources":[]}`},
	{"POST", "/v1/sessions", `{"agent":{"type":"agent_with_overrides","id":"AGENT","system":"x","tools":[]}}`},
	{"POST", "/v1/sessions", `{"agent":{"type":"agent","id":"AGENT","version":0}}`},
	{"POST", "/v1/sessions", `{"agent":"AGENT","initial_events":[{"type":"user.interrupt"}]}`},
	{"POST", "/v1/sessions", `{"agent":"AGENT","environment_id":"env_0"}`},
	{"GET", "/v1/sessions?statuses[]=idle&statuses=running&agent_id=AGENT&agent_version=1&order=desc", ""},
	{"GET", "/v1/sessions?limit=1001", ""}, {"GET", "/v1/sessions?page=ZGVzYzw", ""}, {"GET", "/v1/sessions?%zz", ""},
	{"GET", "/v1/sessions/SESSION?beta=true", ""}, {"POST", "/v1/sessions/SESSION", `{"title":"x","metadata":{"a":"b"}}`},
	{"POST", "/v1/sessions/SESSION", `{"agent":{}}`}, {"POST", "/v1/sessions/sesn_x/archive", `{"x":1}`},
	{"POST", "/v1/sessions/SESSION/pause", ""}, {"POST", "/v1/sessions/SESSION/resume", ""},
	{"POST", "/v1/sessions/SESSION/events", `{"events":[{"type":"user.message","content":[{"type":"text","text":"Hi"},` +
		`{"type":"image","source":{"type":"base64","media_type":"image/png","data":"AAAA"}}],"processed_at":null}]}`},
	{"POST", "/v1/sessions/SESSION/events", `{"events":[{"type":"user.interrupt"},{"type":"user.message","content":[]}]}`},
	{"POST", "/v1/sessions/SESSION/events", `{"events":[{"type":"user.custom_tool_result","custom_tool_use_id":"x"}]}`},
	{"POST", "/v1/sessions/SESSION/events", `{"events":[{"type":"user.tool_confirmation","tool_use_id":"x",` +
		`"result":"deny","deny_message":"no"}]}`},
	{"POST", "/v1/sessions/SESSION/events", `{"events":[{"type":"user.message","content":"Hi","result":"allow"}]}`},
	{"POST", "/v1/sessions/SESSION/events", `{"events":[null]}`}, {"POST", "/v1/sessions/SESSION/events", `[[[[[[`},
	{"GET", "/v1/sessions/SESSION/events?types[]=user.message&limit=9&order=desc&created_at[lt]=2026-01-02T15:04:05Z", ""},
	{"GET", "/v1/sessions/SESSION/events?page=YXNjPjE", ""}, {"GET", "/v1/sessions/SESSION/events?page=YXNjPng", ""},
	{"GET", "/v1/sessions/SESSION/events?profile=adk-managed&from_seq=-1", ""},
	{"GET", "/v1/sessions/SESSION/events/stream?event_deltas[]=agent.message&from_seq=1", ""},
	{"GET", "/v1/sessions/SESSION/events/stream?from_seq=18446744073709551615", ""},
	{"GET", "/v1/sessions/SESSION/events/stream?profile=adk-managed", ""},
	{"PUT", "/v1/agents", ""}, {"GET", "/v1//agents", ""}, {"GET", "/v1/agents/", ""}, {"GET", "/", ""},
	{"POST", "/v1/sessions/SESSION/threads", ""}, {"DELETE", "/v1/agents/AGENT", ""}, {"HEAD", "/v1/agents", ""},
}

// FuzzRequests: whatever a client sends, the answer is in the format of the API and no fault of the server, and a
// request that is refused leaves nothing behind.
func FuzzRequests(f *testing.F) {
	for i, r := range requests {
		f.Add(r[0], r[1], r[2], []string{"", "3", "x", "-1", "99999999999999999999"}[i%5], "", "0")
	}
	f.Add("POST", "/v1/sessions/SESSION/events", hello, "", "key", "1")
	f.Add("POST", "/v1/agents", `{"name":"a","model":"parrot"}`, "", strings.Repeat("k", 129), "1")
	f.Add("GET", "/v1/sessions/SESSION/events/stream", "", "9223372036854775807", "", "")
	p := newParlour(f)
	f.Fuzz(func(t *testing.T, method, path, body, last, key, retry string) {
		if !strings.HasPrefix(path, "/") || strings.HasSuffix(path, "/archive") && strings.Contains(path, "SESSION") ||
			method == "DELETE" && strings.Contains(path, "SESSION") {
			t.Skip("it would end what the others need")
		}
		if _, err := http.NewRequest(method, "http://gateway"+p.names.Replace(path), nil); err != nil {
			t.Skip(err)
		}
		before := p.things(t)
		status, answer := p.ask(t, "acme", method, p.names.Replace(path), p.names.Replace(body), "Last-Event-ID", last,
			"Idempotency-Key", key, "X-Stainless-Retry-Count", retry)
		if !strings.Contains(path, "/stream") && !wellFormed(status, answer) || status >= 500 {
			t.Errorf("%s %s %q: %d %s", method, path, body, status, answer)
		}
		if after := p.things(t); status != http.StatusOK && after != before {
			t.Errorf("%s %s %q is refused with %s and changes %d things", method, path, body, answer, after-before)
		}
	})
}

package api_test

import (
	"encoding/base64"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// attempts has requests for every route, by its pattern. AGENT, ENV and SESSION stand for ids. The last ones take
// away what the others need.
var attempts = []struct{ pattern, path, body string }{
	{"GET /v1/agents/{id}", "/v1/agents/AGENT", ""},
	{"GET /v1/agents/{id}", "/v1/agents/AGENT?version=1", ""},
	{"GET /v1/agents/{id}/versions", "/v1/agents/AGENT/versions", ""},
	{"POST /v1/agents/{id}", "/v1/agents/AGENT", `{"description":"mine now"}`},
	{"POST /v1/agents/{id}", "/v1/agents/AGENT", `{"version":1,"name":"desk"}`},
	{"GET /v1/environments/{id}", "/v1/environments/ENV", ""},
	{"POST /v1/environments/{id}", "/v1/environments/ENV", `{"description":"mine now"}`},
	{"POST /v1/sessions", "/v1/sessions", `{"agent":"AGENT"}`},
	{"POST /v1/sessions", "/v1/sessions", `{"agent":{"type":"agent","id":"AGENT","version":1},"environment_id":"ENV"}`},
	{"GET /v1/sessions/{id}", "/v1/sessions/SESSION", ""},
	{"POST /v1/sessions/{id}", "/v1/sessions/SESSION", `{"title":"mine now"}`},
	{"POST /v1/sessions/{id}/pause", "/v1/sessions/SESSION/pause", ""},
	{"POST /v1/sessions/{id}/resume", "/v1/sessions/SESSION/resume", ""},
	{"POST /v1/sessions/{id}/events", "/v1/sessions/SESSION/events", hello},
	{"POST /v1/sessions/{id}/events", "/v1/sessions/SESSION/events", `{"events":[{"type":"user.interrupt"}]}`},
	{"GET /v1/sessions/{id}/events", "/v1/sessions/SESSION/events", ""},
	{"GET /v1/sessions/{id}/events", "/v1/sessions/SESSION/events?order=desc&limit=1&types[]=user.message", ""},
	{"GET /v1/sessions/{id}/events", "/v1/sessions/SESSION/events?profile=adk-managed", ""},
	{"GET /v1/sessions/{id}/events", "/v1/sessions/SESSION/events?page=YXNjPjE", ""},
	{"GET /v1/sessions/{id}/events/stream", "/v1/sessions/SESSION/events/stream", ""},
	{"GET /v1/sessions/{id}/events/stream", "/v1/sessions/SESSION/events/stream?from_seq=1", ""},
	{"GET /v1/sessions/{id}/events/stream", "/v1/sessions/SESSION/events/stream?profile=adk-managed&from_seq=-1", ""},
	{"POST /v1/sessions/{id}/archive", "/v1/sessions/SESSION/archive", ""},
	{"DELETE /v1/sessions/{id}", "/v1/sessions/SESSION", ""},
	{"POST /v1/environments/{id}/archive", "/v1/environments/ENV/archive", ""},
	{"DELETE /v1/environments/{id}", "/v1/environments/ENV", ""},
	{"POST /v1/agents/{id}/archive", "/v1/agents/AGENT/archive", ""},
}

// withoutIDs are the routes that TestTenantsInLists tries.
var withoutIDs = []string{"POST /v1/agents", "GET /v1/agents", "POST /v1/environments", "GET /v1/environments",
	"GET /v1/sessions"}

var anyID = regexp.MustCompile(`(agent|env|sesn|req)_[0-9A-Za-z]+`)

// TestTenantsAreStrangers: on every route, the id of another tenant is answered as one that nobody has; also the id of
// another user, where it is one of a session. The owner gets what was asked for.
func TestTenantsAreStrangers(t *testing.T) {
	p := newParlour(t)
	tried := slices.Clone(withoutIDs)
	nobody := strings.NewReplacer("AGENT", "agent_00000000000000000000000000", "ENV", "env_00000000000000000000000000",
		"SESSION", "sesn_00000000000000000000000000")
	before := p.things(t)
	for _, a := range attempts {
		tried = append(tried, a.pattern)
		method, _, _ := strings.Cut(a.pattern, " ")
		for _, header := range [][]string{nil, {"Last-Event-ID", "1"}, {"Idempotency-Key", "k"},
			{"X-Stainless-Retry-Count", "1"}} {
			for _, stranger := range []string{"other", "", "acm", "acme2", "acme:eve"} {
				if stranger == "acme:eve" && !strings.Contains(a.path, "SESSION") {
					continue // agents and environments belong to the tenant
				}
				status, got := p.ask(t, stranger, method, p.names.Replace(a.path), p.names.Replace(a.body), header...)
				noStatus, none := p.ask(t, stranger, method, nobody.Replace(a.path), nobody.Replace(a.body), header...)
				got, none = anyID.ReplaceAllString(got, "ID"), anyID.ReplaceAllString(none, "ID")
				if status != 404 || status != noStatus || got != none {
					t.Errorf("%s %s by %q with %v: %d %s; of nobody: %d %s", method, a.path, stranger, header, status, got,
						noStatus, none)
				}
			}
		}
	}
	if after := p.things(t); after != before {
		t.Errorf("strangers changed %d things", after-before)
	}
	for _, a := range attempts {
		method, _, _ := strings.Cut(a.pattern, " ")
		if status, body := p.ask(t, "acme", method, p.names.Replace(a.path), p.names.Replace(a.body)); status > 400 &&
			status != 409 { // the session may be at work, the agent has changed
			t.Errorf("%s %s by the owner: %d %s", method, a.path, status, body)
		}
	}
	for _, pattern := range p.server.Routes() {
		if !slices.Contains(tried, pattern) {
			t.Errorf("no stranger tries %s", pattern)
		}
	}
}

// TestTenantsInLists: lists, cursors and keys of requests of one tenant tell another nothing.
func TestTenantsInLists(t *testing.T) {
	p := newParlour(t)
	ask := func(tenant, method, path, body string, headers ...string) string {
		t.Helper()
		status, answer := p.ask(t, tenant, method, path, body, headers...)
		if status != 200 {
			t.Fatalf("%s %s by %s: %d %s", method, path, tenant, status, answer)
		}
		return answer
	}
	for _, list := range []struct{ path, body string }{{"/v1/agents", `{"name":"desk","model":"parrot"}`},
		{"/v1/environments", `{"name":"desk"}`}, {"/v1/sessions", `{"agent":"AGENT"}`}} {
		body := p.names.Replace(list.body)
		theirs := field(ask("acme", "POST", list.path, body, "Idempotency-Key", "k"), "id")
		ask("acme", "POST", list.path, body)
		if empty := ask("other", "GET", list.path, ""); strings.Contains(empty, "_") && strings.Contains(empty, `"id"`) {
			t.Errorf("%s of another tenant: %s", list.path, empty)
		}
		if list.path == "/v1/sessions" {
			agent := field(ask("other", "POST", "/v1/agents", `{"name":"own","model":"parrot"}`), "id")
			body = fmt.Sprintf(`{"agent":%q}`, agent)
		}
		for _, header := range [][]string{{"Idempotency-Key", "k"}, {"X-Stainless-Retry-Count", "1"}} {
			if id := field(ask("other", "POST", list.path, body, header...), "id"); id == theirs || id == "" {
				t.Errorf("%s by another tenant with %v: %q", list.path, header, id)
			}
		}
		other := strings.Replace(body, "desk", "desk 2", 1)
		ask("other", "POST", list.path, other, "Idempotency-Key", "k2") // acme's key k says nothing about this
		next := field(ask("acme", "GET", list.path+"?limit=1", ""), "next_page")
		b, err := base64.RawURLEncoding.DecodeString(next)
		if err != nil || !strings.HasPrefix(string(b), "desc>") {
			t.Fatalf("%s: the cursor %q, %v", list.path, b, err)
		}
		near := base64.RawURLEncoding.EncodeToString(b[:len(b)-1]) // of nobody, at the same place
		got, want := ask("other", "GET", list.path+"?page="+next, ""), ask("other", "GET", list.path+"?page="+near, "")
		if got != want || strings.Contains(got, theirs) {
			t.Errorf("%s with a cursor of acme: %s; of nobody: %s", list.path, got, want)
		}
	}
}

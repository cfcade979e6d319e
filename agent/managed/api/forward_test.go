package api_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"google.golang.org/adk/v2/model"

	"github.com/voicegw/voicegw/agent/managed"
	"github.com/voicegw/voicegw/agent/managed/api"
	"github.com/voicegw/voicegw/agent/provider"
	"github.com/voicegw/voicegw/journal"
	"github.com/voicegw/voicegw/journal/journaltest"
)

// apiNode is a process with an API, one of several on a journal.
type apiNode struct {
	client
	rt  *managed.Runtime
	srv *httptest.Server
	got []string // requests that came from another node
}

// newNode starts a process. Its API wants the key.
func newNode(t *testing.T, engine journal.Engine, name string) *apiNode {
	t.Helper()
	models := provider.NewResolver()
	script := &provider.Script{Turns: []provider.ScriptTurn{{Text: "Hello."}, {Text: "Hello again."}}}
	models.Add("script", func(provider.Ref) (model.LLM, error) { return script, nil })
	n := &apiNode{}
	n.srv = httptest.NewUnstartedServer(nil)
	n.client = client{t, "http://" + n.srv.Listener.Addr().String()}
	var err error
	if n.rt, err = managed.New(managed.Config{Journal: engine, Models: models, Node: name,
		Cluster: &managed.Cluster{Address: n.url}}); err != nil {
		t.Fatal(err)
	}
	own := &http.Transport{}
	h, err := api.New(api.Config{Runtime: n.rt, Transport: own, Authorize: func(_ *http.Request, k string) (managed.Owner,
		error) {
		if k != key {
			return managed.Owner{}, errors.New("wrong key")
		}
		return managed.Owner{Tenant: "acme"}, nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	n.srv.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Voicegw-Forwarded") != "" {
			n.got = append(n.got, fmt.Sprint(r.Method, " ", r.URL.RequestURI(), " ", r.Header.Get("Idempotency-Key")))
		}
		w.Header().Set("Cache-Control", "no-store") // as the command does
		h.ServeHTTP(w, r)
	})
	n.srv.Start()
	t.Cleanup(func() {
		n.srv.CloseClientConnections()
		n.srv.Close()
		own.CloseIdleConnections()
		_ = n.rt.Close(context.Background())
	})
	return n
}

// raw makes a request and returns the whole answer.
func (n *apiNode) raw(method, path, body string) *http.Response {
	n.Helper()
	r, err := http.NewRequestWithContext(n.Context(), method, n.url+path, strings.NewReader(body))
	if err != nil {
		n.Fatal(err)
	}
	r.Header.Set("X-Api-Key", key)
	r.Header.Set("Origin", n.url)
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		n.Fatal(err)
	}
	_ = resp.Body.Close()
	return resp
}

// TestForward: every node takes every request. The one that has the session answers it; the others read the journal.
func TestForward(t *testing.T) {
	engine := journaltest.NewMemory()
	a, b := newNode(t, engine, "a"), newNode(t, engine, "b")
	path := a.begin()
	live := b.stream(path + "/events/stream")
	ok := func(status int, body string) string {
		t.Helper()
		if status != http.StatusOK {
			t.Fatalf("%d %s", status, body)
		}
		return body
	}
	ok(a.do("POST", path+"/events", hello)) // a has it from now on
	a.until(live, "session.status_idle")
	said := strings.Replace(hello, "Hi", "Ho", 1)
	first := ok(b.do("POST", path+"/events?beta=%2F", said, "Idempotency-Key", "k"))
	if got := strings.Join(a.until(live, "session.status_idle"), " "); got != "9 10 11 12 13 14 15 16" {
		t.Errorf("the stream has the events %s", got)
	}
	if again := ok(b.do("POST", path+"/events", said, "Idempotency-Key", "k")); again != first {
		t.Errorf("the repetition answers %s, want %s", again, first)
	}
	if body := ok(b.do("POST", path, `{"title":"T"}`)); field(body, "title") != "T" {
		t.Errorf("update answers %s", body)
	}
	ok(b.do("POST", path+"/pause", ""))
	resp := b.raw("POST", path+"/resume", "")
	if resp.StatusCode != http.StatusOK || len(resp.Header.Values("Request-Id")) != 1 ||
		len(resp.Header.Values("Cache-Control")) != 1 {
		t.Errorf("an answer of the other node: %d %v", resp.StatusCode, resp.Header)
	}
	ok(b.do("GET", path, ""))
	ok(b.do("GET", path+"/events", ""))
	if status, body := b.do("POST", path+"/events", hello, "X-Api-Key", "another"); status != http.StatusUnauthorized {
		t.Errorf("a wrong key: %d %s", status, body)
	}
	if status, body := b.do("POST", path+"/events", `"`+strings.Repeat("x", api.BodyMax)); status !=
		http.StatusRequestEntityTooLarge {
		t.Errorf("a body that is too large: %d %s", status, body)
	}
	ok(b.do("POST", path+"/archive", ""))
	ok(b.do("DELETE", path, ""))
	if status, body := a.do("GET", path, ""); status != http.StatusNotFound {
		t.Errorf("a deleted session: %d %s", status, body)
	}
	want := []string{"POST " + path + "/events?beta=%2F k", "POST " + path + "/events k", "POST " + path + " ",
		"POST " + path + "/pause ", "POST " + path + "/resume ", "POST " + path + "/archive ", "DELETE " + path + " "}
	if got := strings.Join(a.got, "\n"); got != strings.Join(want, "\n") || len(b.got) > 0 {
		t.Errorf("forwarded were\n%s\nand to the other node %s\nwant\n%s", got, b.got, strings.Join(want, "\n"))
	}
}

// TestForwardRefusals: a request is forwarded once, and one to a node that does not answer can be repeated.
func TestForwardRefusals(t *testing.T) {
	engine := journaltest.NewMemory()
	a, b := newNode(t, engine, "a"), newNode(t, engine, "b")
	path := a.begin()
	if status, body := a.do("POST", path+"/events", hello); status != http.StatusOK {
		t.Fatalf("%d %s", status, body)
	}
	status, body := b.do("POST", path+"/events", hello, "Voicegw-Forwarded", "req_x")
	if status != 529 || !strings.Contains(body, "overloaded_error") || len(a.got) > 0 {
		t.Errorf("a second hop: %d %s, %v", status, body, a.got)
	}
	a.srv.CloseClientConnections()
	a.srv.Close()
	status, body = b.do("POST", path+"/events", hello)
	if status != 529 || !strings.Contains(body, "does not answer") || !strings.Contains(body, `"request_id":"req_`) {
		t.Errorf("a node that does not answer: %d %s", status, body)
	}
	if err := a.rt.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	for begin := time.Now(); ; { // as clients repeat it
		if status, body = b.do("POST", path+"/events", hello); status == http.StatusOK {
			break
		}
		if status != 529 || time.Since(begin) > 20*time.Second {
			t.Fatalf("the session has moved: %d %s", status, body)
		}
	}
}

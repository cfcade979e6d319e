package api_test

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/voicegw/voicegw/agent/managed/api"
	"github.com/voicegw/voicegw/agent/provider"
	"github.com/voicegw/voicegw/journal/journaltest"
)

// client is a client without a library.
type client struct {
	*testing.T
	url string
}

func (c *client) do(method, path, body string, headers ...string) (int, string) {
	c.Helper()
	r, err := http.NewRequestWithContext(c.Context(), method, c.url+path, bytes.NewReader([]byte(body)))
	if err != nil {
		c.Fatal(err)
	}
	r.Header.Set("X-Api-Key", key)
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		c.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		c.Fatal(err)
	}
	return resp.StatusCode, string(b)
}

// field returns the text of a field of a JSON object, found by its name alone.
func field(body, name string) string {
	_, rest, _ := strings.Cut(body, `"`+name+`":"`)
	value, _, _ := strings.Cut(rest, `"`)
	return value
}

// begin makes an agent and a session, and returns the path of the session.
func (c *client) begin() string {
	c.Helper()
	status, agent := c.do("POST", "/v1/agents", `{"name":"desk","model":"script"}`)
	if status != http.StatusOK {
		c.Fatalf("%d %s", status, agent)
	}
	status, session := c.do("POST", "/v1/sessions", fmt.Sprintf(`{"agent":%q}`, field(agent, "id")))
	if status != http.StatusOK {
		c.Fatalf("%d %s", status, session)
	}
	return "/v1/sessions/" + field(session, "id")
}

const hello = `{"events":[{"type":"user.message","content":[{"type":"text","text":"Hi"}]}]}`

// stream opens a stream.
func (c *client) stream(path string, headers ...string) *bufio.Scanner {
	c.Helper()
	r, err := http.NewRequestWithContext(c.Context(), "GET", c.url+path, nil)
	if err != nil {
		c.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+key)
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		c.Fatal(err)
	}
	c.Cleanup(func() { _ = resp.Body.Close() })
	if resp.StatusCode != http.StatusOK {
		c.Fatal(resp.Status)
	}
	return bufio.NewScanner(resp.Body)
}

// until reads the numbers of events up to one of a type.
func (c *client) until(s *bufio.Scanner, kind string) (numbers []string) {
	c.Helper()
	for s.Scan() {
		if id, ok := strings.CutPrefix(s.Text(), "id: "); ok {
			numbers = append(numbers, id)
		}
		if strings.Contains(s.Text(), `"type":"`+kind+`"`) {
			return numbers
		}
	}
	c.Fatalf("the stream ended before %s: %v", kind, s.Err())
	return nil
}

// TestStreamOutlastsTheServersLimits: the limits of a server for requests do not end a stream.
func TestStreamOutlastsTheServersLimits(t *testing.T) {
	srv := server(t, journaltest.NewMemory(), &atomic.Int32{}, provider.ScriptTurn{Text: "Hello."})
	c := &client{t, srv.URL}
	path := c.begin()
	s, other := c.stream(path+"/events/stream"), c.stream(path+"/events/stream?profile=adk-managed")
	<-time.After(5 * serverTimeout / 2) // silence
	if status, body := c.do("POST", path+"/events", hello); status != http.StatusOK {
		t.Fatalf("%d %s", status, body)
	}
	if got := strings.Join(c.until(s, "session.status_idle"), " "); got != "1 2 3 4 5 6 7 8" {
		t.Errorf("the stream has the events %s", got)
	}
	if got := strings.Join(c.until(other, "status.idle"), " "); got != "0 1 2" {
		t.Errorf("the stream in the other format has the events %s", got)
	}
}

// TestStreamResumes: a stream goes on behind the event that the client has seen last, at every place.
func TestStreamResumes(t *testing.T) {
	srv := server(t, journaltest.NewMemory(), &atomic.Int32{}, provider.ScriptTurn{Text: "Hello."})
	c := &client{t, srv.URL}
	path := c.begin()
	live := c.stream(path + "/events/stream")
	c.do("POST", path+"/events", hello)
	c.until(live, "session.status_idle")
	for last := range 8 {
		want := "1 2 3 4 5 6 7 8"[2*last:]
		s := c.stream(path+"/events/stream", "Last-Event-ID", fmt.Sprint(last))
		if got := strings.Join(c.until(s, "session.status_idle"), " "); got != want {
			t.Errorf("behind event %d come %s, want %s", last, got, want)
		}
		s = c.stream(path + "/events/stream?from_seq=" + fmt.Sprint(last+1))
		if got := strings.Join(c.until(s, "session.status_idle"), " "); got != want {
			t.Errorf("from event %d on come %s, want %s", last+1, got, want)
		}
	}
}

// TestRepeatedRequest: a client that repeats a request whose answer it has lost sends its message once.
func TestRepeatedRequest(t *testing.T) {
	srv := server(t, journaltest.NewMemory(), &atomic.Int32{}, provider.ScriptTurn{Text: "Hello."},
		provider.ScriptTurn{Text: "Hello again."}, provider.ScriptTurn{Text: "And again."})
	c := &client{t, srv.URL}
	path := c.begin() + "/events"
	_, first := c.do("POST", path, hello)
	_, again := c.do("POST", path, hello, "X-Stainless-Retry-Count", "1")
	if field(first, "id") == "" || field(again, "id") != field(first, "id") {
		t.Errorf("the repetition answers %s, want %s", again, first)
	}
	_, other := c.do("POST", path, hello)
	if field(other, "id") == field(first, "id") {
		t.Error("the same message, sent twice on purpose, counts once")
	}
	_, keyed := c.do("POST", path, hello, "Idempotency-Key", "k")
	_, keyedAgain := c.do("POST", path, hello, "Idempotency-Key", "k")
	if field(keyed, "id") != field(keyedAgain, "id") || field(keyed, "id") == field(other, "id") {
		t.Errorf("the key answers %s and %s", keyed, keyedAgain)
	}
	if status, body := c.do("POST", path, strings.Replace(hello, "Hi", "Ho", 1), "Idempotency-Key", "k"); status != 400 {
		t.Errorf("another message with the same key: %d %s", status, body)
	}
}

// TestRefusals: what the API does not serve, and what is wrong, is refused by name.
func TestRefusals(t *testing.T) {
	srv := server(t, journaltest.NewMemory(), &atomic.Int32{})
	c := &client{t, srv.URL}
	path := c.begin()
	for _, test := range []struct {
		method, path, body string
		status             int
		part               string
	}{
		{"GET", "/v1/vaults", "", 404, "does not serve"},
		{"POST", "/v1/agents", `{"name":"x"}`, 400, "model"},
		{"POST", "/v1/agents", `{"name":"x","model":"nobody/x"}`, 400, "model"},
		{"POST", "/v1/agents", `{"name":"x","model":"script","multiagent":{}}`, 400, "multiagent"},
		{"POST", "/v1/agents", `{"name":"x","model":"script","tools":[{"type":"agent_toolset_20260401",` +
			`"configs":[{"name":"bash"}]}]}`, 400, "bash"},
		{"POST", "/v1/agents", `[]`, 400, ""},
		{"POST", "/v1/agents", `{"name":3}`, 400, "name"},
		{"POST", "/v1/agents", `{"name":"x","model":"script"}{}`, 400, "more than one"},
		{"POST", "/v1/agents", `{"name":"` + strings.Repeat("x", api.BodyMax) + `"}`, 413, "bytes"},
		{"POST", "/v1/sessions", `{"agent":"agent_x"}`, 404, "agent_x"},
		{"POST", "/v1/sessions", `{}`, 400, "agent"},
		{"POST", "/v1/sessions", `{"agent":"a","budget":5}`, 400, "budget"},
		{"POST", path + "/events", `{"events":[]}`, 400, "events"},
		{"POST", path + "/events", `{"events":[{"type":"user.message","content":"Hi"}]}`, 400, "content"},
		{"POST", path + "/events", `{"events":[{"type":"agent.message"}]}`, 400, "agent.message"},
		{"POST", path + "/events", `{"events":[{"type":"user.tool_confirmation","tool_use_id":"x","result":"maybe"}]}`, 400,
			"maybe"},
		{"GET", path + "/events?limit=0", "", 400, "limit"},
		{"GET", path + "/events?page=x", "", 400, "page"},
		{"GET", path + "/events?after_id=x", "", 400, "after_id"},
		{"GET", path + "/events/stream?event_deltas[]=x", "", 400, "event_deltas"},
		{"GET", "/v1/sessions?order=up", "", 400, "order"},
		{"GET", "/v1/sessions?statuses[]=done", "", 400, "statuses"},
		{"GET", "/v1/agents?created_at[gte]=now", "", 400, "created_at[gte]"},
	} {
		status, body := c.do(test.method, test.path, test.body)
		if status != test.status || !strings.Contains(body, test.part) || !strings.Contains(body, `"request_id":"req_`) {
			t.Errorf("%s %s %.80s: %d %s, want %d with %q", test.method, test.path, test.body, status, body, test.status,
				test.part)
		}
	}
}

package api_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/voicegw/voicegw/agent/provider"
	"github.com/voicegw/voicegw/journal/journaltest"
)

// compatClient asks a server.
type compatClient struct {
	*testing.T
	srv *httptest.Server
}

func (c *compatClient) do(ctx context.Context, method, path, body string, header ...string) *http.Response {
	c.Helper()
	req, err := http.NewRequestWithContext(ctx, method, c.srv.URL+path, strings.NewReader(body))
	if err != nil {
		c.Fatal(err)
	}
	req.Header.Set("X-Api-Key", key)
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	resp, err := c.srv.Client().Do(req)
	if err != nil {
		c.Fatal(err)
	}
	c.Cleanup(func() { _ = resp.Body.Close() })
	return resp
}

// ask returns the body of an answer with a status.
func (c *compatClient) ask(want int, method, path, body string) map[string]any {
	c.Helper()
	resp := c.do(c.Context(), method, path, body)
	m := map[string]any{}
	if err := json.NewDecoder(resp.Body).Decode(&m); err != nil || resp.StatusCode != want {
		c.Fatalf("%s %s: %d, %v, %v", method, path, resp.StatusCode, m, err)
	}
	return m
}

// types reads events of a stream up to n of them.
func (c *compatClient) types(resp *http.Response, n int) string {
	c.Helper()
	var list []string
	for s := bufio.NewScanner(resp.Body); len(list) < n && s.Scan(); {
		if data, ok := strings.CutPrefix(s.Text(), "data: "); ok {
			var ev struct {
				Type string
				Seq  int
			}
			if err := json.Unmarshal([]byte(data), &ev); err != nil {
				c.Fatal(err)
			}
			list = append(list, fmt.Sprintf("%d %s", ev.Seq, ev.Type))
		}
	}
	return strings.Join(list, ", ")
}

// TestCompatProfile: a client of adk-managed streams and lists the events in its own format, and answers calls with
// the ids of the model.
func TestCompatProfile(t *testing.T) {
	var deleted atomic.Int32
	srv := server(t, journaltest.NewMemory(), &deleted, provider.ScriptTurn{Calls: []provider.ScriptCall{
		{ID: "tu_1", Name: "delete_file"}, {ID: "ctu_1", Name: "deploy"}}}, provider.ScriptTurn{Text: "Done."})
	c := &compatClient{t, srv}
	agent := c.ask(200, "POST", "/v1/agents", `{"name":"desk","model":"script","tools":[
		{"type":"custom","name":"deploy","description":"deploys","input_schema":{"type":"object"}},
		{"type":"agent_toolset_20260401","default_config":{"permission_policy":{"type":"always_ask"}}}]}`)
	env := c.ask(200, "POST", "/v1/environments", `{"name":"e","config":{"type":"cloud"}}`)
	session := c.ask(200, "POST", "/v1/sessions", fmt.Sprintf(`{"agent":%q,"environment_id":%q}`, agent["id"], env["id"]))
	events := fmt.Sprintf("/v1/sessions/%s/events", session["id"])
	live := c.do(t.Context(), "GET", events+"/stream?profile=adk-managed", "")
	all := c.do(t.Context(), "GET", events+"/stream?profile=adk-managed&from_seq=-1", "")
	c.ask(200, "POST", events, `{"events":[{"type":"user.message","content":[{"type":"text","text":"Do both"}]}]}`)
	const parked = "0 status.running, 1 agent.tool_use, 2 agent.custom_tool_use"
	if got := c.types(live, 3); got != parked {
		t.Errorf("the stream has %s", got)
	}
	c.ask(200, "POST", events, `{"events":[{"type":"user.tool_confirmation","tool_use_id":"tu_1","result":"allow"},
		{"type":"user.custom_tool_result","custom_tool_use_id":"ctu_1","content":[{"type":"text","text":"ok"}]}]}`)
	const end = "3 agent.message, 4 status.idle"
	if got := c.types(all, 5); got != parked+", "+end {
		t.Errorf("the stream from the beginning has %s", got)
	}
	for path, want := range map[string]string{"?profile=adk-managed&from_seq=2": end,
		"?profile=adk-managed&from_seq=0": "1 agent.tool_use"} {
		n := strings.Count(want, ",") + 1
		if got := c.types(c.do(t.Context(), "GET", events+"/stream"+path, ""), n); got != want {
			t.Errorf("%s: the stream has %s, want %s", path, got, want)
		}
	}
	again := c.do(t.Context(), "GET", events+"/stream?profile=adk-managed", "", "Last-Event-ID", "2")
	if got := c.types(again, 2); got != end {
		t.Errorf("the stream behind Last-Event-ID has %s", got)
	}
	if deleted.Load() != 1 {
		t.Errorf("the tool ran %d times", deleted.Load())
	}
	c.lists(events)
}

// lists holds the lists of the other format to the session of TestCompatProfile.
func (c *compatClient) lists(events string) {
	c.Helper()
	for query, want := range map[string]string{"": "0 1 2 3 4", "&order=desc": "4 3 2 1 0", "&from_seq=2": "3 4",
		"&types[]=status.idle": "4", "&limit=2": "0 1 2 3 4", "&limit=2&order=desc": "4 3 2 1 0", "&from_seq=4": ""} {
		var got []string
		for next := ""; ; {
			page := c.ask(200, "GET", events+"?profile=adk-managed"+query+next, "")
			for _, ev := range page["data"].([]any) {
				got = append(got, fmt.Sprint(ev.(map[string]any)["seq"]))
			}
			token, ok := page["next_page"].(string)
			if !ok {
				break
			}
			next = "&page=" + token
		}
		if strings.Join(got, " ") != want {
			c.Errorf("%s: the list has %v, want %s", query, got, want)
		}
	}
	for query, want := range map[string]string{"?profile=other": `"other" is neither native nor adk-managed`,
		"?profile=adk-managed&from_seq=-2": "from_seq: ", "?profile=adk-managed&from_seq=x": "from_seq: ",
		"?profile=adk-managed&page=x": "page: ", "?profile=adk-managed&colour=red": "colour: "} {
		if got := fmt.Sprint(c.ask(400, "GET", events+query, "")["error"]); !strings.Contains(got, want) {
			c.Errorf("%s is refused with %s", query, got)
		}
	}
	c.ask(400, "GET", events+"/stream?profile=other", "")
	c.ask(200, "GET", events+"?profile=native", "")
}

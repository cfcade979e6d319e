package api_test

import (
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/voicegw/voicegw/journal/journaltest"
)

// TestBudget: a session shows its budget, refuses a message at it, and takes one when the budget is removed. Budgets of
// agents are shown, and cleared with null.
func TestBudget(t *testing.T) {
	srv := server(t, journaltest.NewMemory(), &atomic.Int32{})
	c := &client{t, srv.URL}
	want := func(method, path, body string, status int, parts ...string) string {
		t.Helper()
		got, answer := c.do(method, path, body)
		for _, part := range parts {
			if got != status || !strings.Contains(answer, part) {
				t.Errorf("%s %s: %d %s, want %d %s", method, path, got, answer, status, part)
			}
		}
		return answer
	}
	agent := field(want("POST", "/v1/agents", `{"name":"desk","model":"script","budget":{"type":"limit","max_tokens":7}}`,
		http.StatusOK, `"budget":{"type":"limit","max_tokens":7}`), "id")
	want("POST", "/v1/agents", `{"name":"desk","model":"script","program":"own"}`, http.StatusBadRequest,
		`program: there is no program \"own\"`)
	of := `{"agent":"` + agent + `","budget":`
	want("POST", "/v1/sessions", of+`{"type":"limit"}}`, http.StatusBadRequest, "it limits nothing")
	path := "/v1/sessions/" + field(want("POST", "/v1/sessions", of+`{"type":"limit","max_turns":1}}`, http.StatusOK,
		`"budget":{"type":"limit","max_turns":1}`), "id")
	message := `{"events":[{"type":"user.message","content":[{"type":"text","text":"Hi"}]}]}`
	want("POST", path+"/events", message, http.StatusOK, `"data"`)
	want("POST", path+"/events", message, http.StatusBadRequest, "reached its budget: max_turns")
	want("POST", path, `{"budget":null}`, http.StatusOK, `"budget":null`)
	want("POST", path+"/events", message, http.StatusOK, `"data"`)
	want("POST", "/v1/agents/"+agent, `{"budget":null}`, http.StatusOK, `"version":2`)
}

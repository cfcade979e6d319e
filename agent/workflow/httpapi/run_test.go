package httpapi

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/voicegw/voicegw/agent/managed"
	"github.com/voicegw/voicegw/agent/workflow/exec"
)

// TestRun runs a workflow as one request, and goes on with its session.
func TestRun(t *testing.T) {
	t.Parallel()
	h := newShop(t, managed.Limits{})
	code, a := h.json("POST", "/api/workflows/greet/run", `{"message": "Hello"}`)
	if code != 200 || a.Result.Content != "HELLO" || a.Result.Author != "greet" || a.Result.Status != exec.Done ||
		a.Result.Usage.Steps != 2 || a.Result.Usage.LLMCalls != 1 || a.Result.Usage.Model != "parrot" {
		t.Errorf("%d %s", code, a.text)
	}
	id := a.Result.Session
	code, a = h.json("POST", "/api/workflows/greet/run", `{"message": "again", "session_id": "`+id+`"}`)
	if code != 200 || a.Result.Content != "AGAIN" || a.Result.Session != id || a.Result.Usage.Steps != 2 {
		t.Errorf("the second run: %d %s", code, a.text)
	}
	for path, want := range map[string]string{"/api/workflows": `"unverified":"nobody has proved it"`,
		"/api/tools": `{"description":"Ends the loop. Call it only when you are instructed to.","name":"exit_loop"}`,
		"/health":    `{"booted":true,"status":"ok"}`} {
		if code, a := h.json("GET", path, ""); code != 200 || !strings.Contains(a.text, want) {
			t.Errorf("%s: %d %s; want %s", path, code, a.text, want)
		}
	}
}

// TestUnverifiedIsShown: every listing has the reason of a workflow that is not proved, and of no other one.
func TestUnverifiedIsShown(t *testing.T) {
	t.Parallel()
	h := newShop(t, managed.Limits{})
	const why = "nobody has proved it"
	for path, times := range map[string]int{"/api/workflows": 1, "/api/agent-cards": 1,
		"/a2a/broken/.well-known/agent-card.json": 1, "/a2a/wait/.well-known/agent-card.json": 0} {
		if code, a := h.json("GET", path, ""); code != 200 || strings.Count(a.text, why) != times {
			t.Errorf("%s: %d %s; want %q %d times", path, code, a.text, why, times)
		}
	}
	a, err := h.rt.Agent(t.Context(), managed.Owner{}, managed.SharedID("broken"), 0)
	if err != nil || a.Metadata[exec.UnverifiedKey] != why {
		t.Errorf("the shared agent: %v %v", a, err)
	}
	if a, err := h.rt.Agent(t.Context(), managed.Owner{}, managed.SharedID("wait"), 0); err != nil || a.Metadata != nil {
		t.Errorf("an agent that is proved: %v %v", a, err)
	}
}

// TestRunRefuses shows the errors of the routes.
func TestRunRefuses(t *testing.T) {
	t.Parallel()
	h := newShop(t, managed.Limits{TenantSessions: 2})
	_, a := h.json("POST", "/api/workflows/greet/run", `{"message": "Hello"}`, "X-Api-Key", "acme/ada")
	id := a.Result.Session
	for _, c := range []struct {
		path, body, key string
		status          int
		code, message   string
	}{
		{"greet/run", `{"message": "Hello"}`, "bad", 401, "unauthorized", "the token is missing or wrong"},
		{"greet/run", `{"message": "Hello", "user_id": "bob"}`, "acme/ada", 403, "forbidden", `user_id is "bob"`},
		{"gret/run", `{"message": "Hello"}`, "", 404, "not_found", `there is no workflow "gret"; did you mean "greet"?`},
		{"greet/walk", `{}`, "", 404, "not_found", "there is no POST /api/workflows/greet/walk"},
		{"greet/run", `{"message": "Hello", "session_id": "` + id + `"}`, "other", 404, "not_found", "there is no session"},
		{"greet/run", `{"message": "Hello", "session_id": "` + id + `"}`, "acme/bob", 404, "not_found",
			"there is no session"},
		{"wait/run", `{"message": "Hello", "session_id": "` + id + `"}`, "acme/ada", 404, "not_found", "of wait"},
		{"greet/run", `{"message": "` + strings.Repeat("x", BodyMax) + `"}`, "", 413, "too_large", "1048576 bytes"},
		{"greet/run", `{"massage": "Hello"}`, "", 422, "invalid", "massage"},
		{"greet/run", `[]`, "", 422, "invalid", "must be a JSON object"},
		{"greet/run", `{}`, "", 422, "invalid", "message: it is missing"},
		{"greet/run", `{"events": [{"type": "user.interrupt"}]}`, "", 422, "invalid", "give its session_id"},
		{"greet/run", `{"message": "a", "session_id": "x", "events": [{"type": "user.interrupt"}]}`, "", 422,
			"invalid", "not both"},
		{"greet/stream", `{"message": 7}`, "", 422, "invalid", "message"},
		{"broken/run", `{"message": "Hello"}`, "", 500, "run_failed", "no luck"},
	} {
		code, a := h.json("POST", "/api/workflows/"+c.path, c.body, "X-Api-Key", c.key)
		if code != c.status || a.Error.Code != c.code || !strings.Contains(a.Error.Message, c.message) {
			t.Errorf("%s %.80s: %d %s; want %d %s %q", c.path, c.body, code, a.text, c.status, c.code, c.message)
		}
	}
	if _, a := h.json("POST", "/api/workflows/broken/run", `{"message": "Hello"}`); !strings.Contains(a.text,
		`"fault":"work_failed"`) {
		t.Errorf("the fault of a function is %s", a.text)
	}
	h.json("POST", "/api/workflows/greet/run", `{"message": "Hello"}`, "X-Api-Key", "acme/ada")
	code, a := h.json("POST", "/api/workflows/greet/run", `{"message": "Hello"}`, "X-Api-Key", "acme/ada")
	if code != http.StatusTooManyRequests || a.Error.Code != "quota" {
		t.Errorf("a session too many: %d %s", code, a.text)
	}
	if err := h.rt.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	code, a = h.json("POST", "/api/workflows/greet/run", `{"message": "Hello"}`, "X-Api-Key", "new")
	if code != http.StatusServiceUnavailable || a.Error.Code != "overloaded" {
		t.Errorf("a node that stops: %d %s", code, a.text)
	}
}

// TestRunWaits: a run that asks the client is answered with what it waits for, and goes on with the answer.
func TestRunWaits(t *testing.T) {
	t.Parallel()
	h := newShop(t, managed.Limits{})
	message, err := json.Marshal(map[string]string{"message": choose})
	if err != nil {
		t.Fatal(err)
	}
	code, a := h.json("POST", "/api/workflows/ask/run", string(message))
	if code != 200 || a.Result.Status != exec.Waiting || len(a.Result.Waits) != 1 {
		t.Fatalf("%d %s", code, a.text)
	}
	w := a.Result.Waits[0]
	if w.Agent != "clerk" || w.Tool != "get_user_choice" || w.Asks != "result" {
		t.Errorf("it waits for %+v", w)
	}
	in := `"session_id": "` + a.Result.Session + `"`
	if code, a := h.json("POST", "/api/workflows/ask/run", `{"message": "more", `+in+`}`); code != 409 ||
		!strings.Contains(a.Error.Message, "waits for answers: send them as events") {
		t.Errorf("a message in between: %d %s", code, a.text)
	}
	for range 2 { // whoever sends an answer again gets the result of the run again
		code, a = h.json("POST", "/api/workflows/ask/run", `{`+in+`, "events": [{"type": "user.custom_tool_result", `+
			`"custom_tool_use_id": "`+w.ID+`", "content": [{"type": "text", "text": "red"}]}]}`)
		if code != 200 || a.Result.Status != exec.Done || a.Result.Content != `get_user_choice: {"result":"red"}` ||
			a.Result.Usage.LLMCalls != 2 {
			t.Errorf("with the answer: %d %s", code, a.text)
		}
	}
	list := h.frames(h.ask(t.Context(), "GET", "/api/workflows/ask/stream?session_id="+a.Result.Session, ""))
	if end := list[len(list)-1]; end.event != "done" || !strings.Contains(end.data, `"status":"done"`) {
		t.Errorf("the whole run: %v", list)
	}
}

// TestConfirm: a run waits for a confirmation, which events give.
func TestConfirm(t *testing.T) {
	t.Parallel()
	h := newShop(t, managed.Limits{})
	for result, want := range map[string]string{"allow": `pay: {"result":3}`, "deny": `pay: {"error":"no money"}`} {
		before := h.paid.Load()
		body, _ := json.Marshal(map[string]string{"message": pay})
		_, a := h.json("POST", "/api/workflows/ask/run", string(body))
		if a.Result.Status != exec.Waiting || len(a.Result.Waits) != 1 || a.Result.Waits[0].Asks != "confirmation" ||
			a.Result.Waits[0].Tool != "pay" || a.Result.Waits[0].Agent != "clerk" || h.paid.Load() != before {
			t.Fatalf("it answers %s", a.text)
		}
		ev := map[string]any{"type": "user.tool_confirmation", "tool_use_id": a.Result.Waits[0].ID, "result": result}
		if result == "deny" {
			ev["deny_message"] = "no money"
		}
		body, _ = json.Marshal(map[string]any{"session_id": a.Result.Session, "events": []any{ev}})
		_, a = h.json("POST", "/api/workflows/ask/run", string(body))
		if a.Result.Status != exec.Done || a.Result.Content != want || (h.paid.Load() > before) != (result == "allow") {
			t.Errorf("with %s it answers %s", result, a.text)
		}
	}
}

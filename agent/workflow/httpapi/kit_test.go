package httpapi

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/genai"

	"github.com/voicegw/voicegw/agent/managed"
	"github.com/voicegw/voicegw/agent/provider"
	"github.com/voicegw/voicegw/agent/workflow"
	"github.com/voicegw/voicegw/agent/workflow/exec"
	"github.com/voicegw/voicegw/journal/memory"
)

// flows are the workflows of the tests. The agent of wait works until release, or until its run ends.
var flows = []string{`
name: greet
description: says it loudly
a2a: {version: 2.0.0, skills: [{id: greet, name: Greet, description: greets}]}
agents:
  - {name: draft, type: llm, model: parrot, instruction: Draft., output_key: draft}
  - {name: loud, type: code, function: loud, input_keys: [draft], output_key: loud}
orchestration: {type: sequential, agents: [draft, loud]}
`, `
name: wait
a2a: {}
agents:
  - {name: block, type: code, function: block, output_key: x}
orchestration: {type: sequential, agents: [block]}
`, `
name: broken
a2a: {}
unverified: nobody has proved it
agents:
  - {name: fail, type: code, function: fail, output_key: x}
orchestration: {type: sequential, agents: [fail]}
`, `
name: ask
a2a: {}
agents:
  - {name: clerk, type: llm, model: parrot, instruction: Ask., tools: [get_user_choice, pay],
     require_confirmation: [pay], output_key: choice}
orchestration: {type: sequential, agents: [clerk]}
`}

// pay makes the clerk of ask call a tool that needs a confirmation.
const pay = `call pay {"euros": 3}`

// choose makes the clerk of ask let the user choose.
const choose = `call get_user_choice {"options": ["red", "blue"]}`

// shop is a server of workflows.
type shop struct {
	*testing.T
	url     string
	server  *Server
	rt      *managed.Runtime
	began   chan struct{} // an agent blocks
	stopped chan struct{} // it was stopped
	release chan struct{}
	paid    atomic.Int32 // calls of the tool pay
}

// newShop serves flows. The key of a request is TENANT or TENANT/USER; "bad" is refused.
func newShop(t *testing.T, limits managed.Limits) *shop {
	t.Helper()
	h := &shop{T: t, began: make(chan struct{}, 9), stopped: make(chan struct{}, 9), release: make(chan struct{})}
	pay := managed.Tool{Declaration: &genai.FunctionDeclaration{Name: "pay"},
		Call: func(_ context.Context, c managed.ToolCall) (map[string]any, error) {
			h.paid.Add(1)
			return map[string]any{"result": c.Args["euros"]}, nil
		}}
	e, err := exec.New(exec.Config{Tools: []managed.Tool{pay}, Functions: map[string]exec.Function{
		"loud": {Call: func(_ context.Context, in map[string]any) (any, error) {
			return strings.ToUpper(fmt.Sprint(in["draft"])), nil
		}},
		"fail": {Call: func(context.Context, map[string]any) (any, error) { return nil, errors.New("no luck") }},
		"block": {Call: func(ctx context.Context, _ map[string]any) (any, error) {
			h.began <- struct{}{}
			select {
			case <-h.release:
				return "free", nil
			case <-ctx.Done():
				h.stopped <- struct{}{}
				return nil, ctx.Err()
			}
		}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	var shared []managed.Definition
	for _, text := range flows {
		w, found := workflow.Load("flow.yaml", []byte(text), e.Registry())
		if len(found) > 0 {
			t.Fatal(found)
		}
		c, _ := workflow.Compile(w)
		r, err := workflow.Verify(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		if err := e.Add(c, r); err != nil {
			t.Fatal(err)
		}
		d, err := e.Definition(w.Name)
		if err != nil {
			t.Fatal(err)
		}
		shared = append(shared, d)
	}
	limits.Backoff = []time.Duration{time.Millisecond}
	h.rt, err = managed.New(managed.Config{Journal: memory.New(), Models: provider.NewResolver(), Programs: e.Programs(),
		Shared: shared, Limits: limits})
	if err != nil {
		t.Fatal(err)
	}
	s, err := New(Config{Engine: e, Runtime: h.rt, URL: func() string { return h.url + "/" },
		Heartbeat: 20 * time.Millisecond,
		Authorize: func(_ *http.Request, key string) (managed.Owner, error) {
			if key == "bad" {
				return managed.Owner{}, errors.New("no")
			}
			tenant, user, _ := strings.Cut(key, "/")
			return managed.Owner{Tenant: tenant, User: user}, nil
		}})
	if err != nil {
		t.Fatal(err)
	}
	h.server = s
	srv := httptest.NewServer(s)
	h.url = srv.URL
	t.Cleanup(func() {
		srv.CloseClientConnections()
		srv.Close()
		s.Close()
		if err := h.rt.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return h
}

// ask sends a request with headers, in pairs. The body is not closed.
func (h *shop) ask(ctx context.Context, method, path, body string, headers ...string) *http.Response {
	h.Helper()
	r, err := http.NewRequestWithContext(ctx, method, h.url+path, strings.NewReader(body))
	if err != nil {
		h.Fatal(err)
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		h.Fatal(err)
	}
	return resp
}

// json sends a request and reads the answer.
func (h *shop) json(method, path, body string, headers ...string) (int, answer) {
	h.Helper()
	resp := h.ask(h.Context(), method, path, body, headers...)
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		h.Fatal(err)
	}
	a := answer{text: string(b)}
	if err := json.Unmarshal(b, &a); err != nil && !strings.HasPrefix(path, "/a2a/") {
		h.Errorf("%s %s answers %s: %v", method, path, b, err)
	}
	return resp.StatusCode, a
}

// answer is what the routes answer.
type answer struct {
	Result exec.Outcome
	Error  struct{ Code, Message string }
	text   string
}

// told is a frame of a stream.
type told struct{ id, event, data string }

// frames reads a stream to its end.
func (h *shop) frames(resp *http.Response) (list []told) {
	h.Helper()
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		h.Fatal(err)
	}
	for _, text := range strings.Split(strings.TrimSpace(string(b)), "\n\n") {
		if strings.HasPrefix(text, ":") {
			continue
		}
		var f told
		for _, line := range strings.Split(text, "\n") {
			key, value, _ := strings.Cut(line, ": ")
			switch key {
			case "id":
				f.id = value
			case "event":
				f.event = value
			case "data":
				f.data = value
			}
		}
		list = append(list, f)
	}
	return list
}

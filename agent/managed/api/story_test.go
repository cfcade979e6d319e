package api_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/adk/v2/model"
	"google.golang.org/genai"

	"github.com/voicegw/voicegw/agent/managed"
	"github.com/voicegw/voicegw/agent/managed/api"
	"github.com/voicegw/voicegw/agent/provider"
	"github.com/voicegw/voicegw/internal/npmtest"
	"github.com/voicegw/voicegw/journal"
	"github.com/voicegw/voicegw/journal/jetstream"
)

const key = "a-key"

// serverTimeout limits requests that end.
const serverTimeout = time.Second

// server serves the API with a scripted model and one built-in tool, which counts its calls.
func server(t *testing.T, engine journal.Engine, deleted *atomic.Int32, turns ...provider.ScriptTurn) *httptest.Server {
	t.Helper()
	models := provider.NewResolver()
	script := &provider.Script{Turns: turns}
	models.Add("script", func(provider.Ref) (model.LLM, error) { return script, nil })
	rt, err := managed.New(managed.Config{Journal: engine, Models: models, Tools: []managed.Tool{{
		Declaration: &genai.FunctionDeclaration{Name: "delete_file", Description: "deletes a file"},
		Call: func(context.Context, managed.ToolCall) (map[string]any, error) {
			deleted.Add(1)
			return map[string]any{"result": "deleted"}, nil
		}}}})
	if err != nil {
		t.Fatal(err)
	}
	s, err := api.New(api.Config{Runtime: rt, Authorize: func(_ *http.Request, k string) (managed.Owner, error) {
		if k != key {
			return managed.Owner{}, errors.New("wrong key")
		}
		return managed.Owner{Tenant: "acme"}, nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	srv := httptest.NewUnstartedServer(s)
	srv.Config.ReadTimeout, srv.Config.WriteTimeout = serverTimeout, serverTimeout
	srv.Start()
	t.Cleanup(func() {
		srv.CloseClientConnections()
		srv.Close()
		_ = rt.Close(context.Background())
	})
	return srv
}

func call(name string) provider.ScriptTurn {
	return provider.ScriptTurn{Calls: []provider.ScriptCall{{Name: name}}}
}

// TestOfficialClient: the story of a user of the official client, whose newest and an older version work unchanged.
func TestOfficialClient(t *testing.T) {
	for _, pkg := range []string{"@anthropic-ai/sdk", "anthropic-0"} {
		t.Run(pkg, func(t *testing.T) {
			engine, err := jetstream.Open(t.Context(), jetstream.Config{Dir: t.TempDir()})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = engine.Close() })
			var deleted atomic.Int32
			srv := server(t, engine, &deleted, provider.ScriptTurn{Text: "Hello, user."},
				call("deploy"), provider.ScriptTurn{Text: "It is deployed."},
				call("delete_file"), provider.ScriptTurn{Text: "It is deleted."},
				call("deploy"), provider.ScriptTurn{Text: "Good bye to you."})
			p := npmtest.Start(t, "testdata/story.cjs", "PKG="+pkg, "BASE="+srv.URL, "KEY="+key)
			p.Wait()
			judge(t, p.Events())
			if n := deleted.Load(); n != 1 {
				t.Errorf("the tool ran %d times", n)
			}
		})
	}
}

// judge holds the events of the story to what a user expects.
func judge(t *testing.T, events []npmtest.Event) {
	t.Helper()
	const turn = "session.status_running user.message span.model_request_start span.model_request_end "
	want := map[string]string{ // by the event, parts of its line
		"agent":     `"version":1`,
		"session":   `"status":"idle"`,
		"turn":      `"said":"Hello, user."`,
		"custom":    `"reason":"requires_action"`,
		"result":    `"said":"It is deployed."`,
		"ask":       `"permission":"ask"`,
		"allow":     `"said":"It is deleted."`,
		"interrupt": `"reason":"end_turn"`,
		"deltas":    `"parts":"Good bye to you.","said":"Good bye to you."`,
		"lists":     `"same":true,"down":true`,
		"archived":  `"status":"terminated"`,
		"deleted":   `"type":"session_deleted"`,
	}
	refused := map[string]int{"an unknown call": 400, "an unknown event": 400, "another session": 404,
		"a stale version": 409, "a message to the archive": 400, "a deleted session": 404, "a wrong key": 401}
	for _, e := range events {
		switch {
		case e.Type == "failed" || e.Type == "output":
			t.Error(e.Raw)
		case e.Type == "refused":
			if refused[e.Text] != e.Code || !strings.Contains(e.Raw, `"request":"req_`) {
				t.Errorf("%s is refused with %d: %s", e.Text, e.Code, e.Raw)
			}
			delete(refused, e.Text)
		default:
			if !strings.Contains(e.Raw, want[e.Type]) {
				t.Errorf("%s has no %s", e.Raw, want[e.Type])
			}
			delete(want, e.Type)
		}
		if e.Type == "turn" && e.Text != "user.message "+turn+"agent.message session.usage session.status_idle" {
			t.Errorf("a turn is told as %s", e.Text)
		}
	}
	if len(want) > 0 || len(refused) > 0 {
		t.Errorf("missing are %v, and refusals %v", want, refused)
	}
}

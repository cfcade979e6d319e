package api_test

import (
	"context"
	"errors"
	"iter"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/adk/v2/model"
	"google.golang.org/genai"

	"github.com/voicegw/voicegw/agent/managed"
	"github.com/voicegw/voicegw/agent/managed/api"
	"github.com/voicegw/voicegw/agent/provider"
	"github.com/voicegw/voicegw/internal/npmtest"
	"github.com/voicegw/voicegw/journal/jetstream"
)

// moody is a parrot. On request it hangs, or refuses some requests as overloaded.
type moody struct {
	provider.Parrot
	mu    sync.Mutex
	count int
}

func (m *moody) GenerateContent(ctx context.Context, r *model.LLMRequest, stream bool,
) iter.Seq2[*model.LLMResponse, error] {
	last := r.Contents[len(r.Contents)-1]
	text := last.Parts[len(last.Parts)-1].Text
	if text == "hang" {
		return func(yield func(*model.LLMResponse, error) bool) {
			<-ctx.Done()
			yield(nil, ctx.Err())
		}
	}
	if times, ok := strings.CutPrefix(text, "overload "); ok {
		m.mu.Lock()
		defer m.mu.Unlock()
		if n, _ := strconv.Atoi(times); m.count < n {
			m.count++
			return func(yield func(*model.LLMResponse, error) bool) {
				yield(nil, &provider.Error{Code: provider.Overloaded, Retryable: true})
			}
		}
	}
	m.count = 0
	return m.Parrot.GenerateContent(ctx, r, stream)
}

// TestChecksOfOfficialClient: what users of the official client rely on, with its newest and an older version.
func TestChecksOfOfficialClient(t *testing.T) {
	for _, pkg := range []string{"@anthropic-ai/sdk", "anthropic-0"} {
		t.Run(pkg, func(t *testing.T) {
			t.Parallel()
			p := npmtest.Start(t, "testdata/checks.cjs", "PKG="+pkg, "BASE="+checksServer(t), "KEY="+key)
			p.Wait()
			missing := map[string]bool{}
			for _, name := range []string{"silence", "result before idle", "an unknown call", "a wrong kind of answer",
				"an unknown field", "a second answer", "a route that is not served", "runner fresh", "runner late", "runner cut",
				"runner ask", "interrupt mid-model", "interrupt mid-tool", "interrupt parked", "interrupt with a message behind",
				"interrupt idle", "archive and delete at idle", "archive running", "the archive", "delete ends streams",
				"overload 1", "overload 9", "lost answers", "pages both ways", "agent versions"} {
				missing[name] = true
			}
			for _, e := range p.Events() {
				if e.Type != "check" || e.Code != 1 {
					t.Error(e.Raw)
				}
				delete(missing, e.Text)
			}
			if len(missing) > 0 {
				t.Errorf("missing are %v", missing)
			}
		})
	}
}

// checksServer serves the API with a moody model and two tools. One of the tools runs until it is stopped.
func checksServer(t *testing.T) string {
	t.Helper()
	engine, err := jetstream.Open(t.Context(), jetstream.Config{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = engine.Close() })
	models := provider.NewResolver()
	m := &moody{}
	models.Add("model", func(provider.Ref) (model.LLM, error) { return m, nil })
	tool := func(name string, call func(context.Context) (map[string]any, error)) managed.Tool {
		return managed.Tool{Declaration: &genai.FunctionDeclaration{Name: name, Description: name},
			Call: func(ctx context.Context, _ managed.ToolCall) (map[string]any, error) { return call(ctx) }}
	}
	rt, err := managed.New(managed.Config{Journal: engine, Models: models, Tools: []managed.Tool{
		tool("delete_file", func(context.Context) (map[string]any, error) {
			return map[string]any{"result": "deleted"}, nil
		}),
		tool("wait", func(ctx context.Context) (map[string]any, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		})}, Limits: managed.Limits{Backoff: []time.Duration{10 * time.Millisecond, 10 * time.Millisecond}}})
	if err != nil {
		t.Fatal(err)
	}
	s, err := api.New(api.Config{Runtime: rt, Heartbeat: 30 * time.Millisecond,
		Authorize: func(_ *http.Request, k string) (managed.Owner, error) {
			if k != key {
				return managed.Owner{}, errors.New("wrong key")
			}
			return managed.Owner{Tenant: "acme"}, nil
		}})
	if err != nil {
		t.Fatal(err)
	}
	srv := httptest.NewServer(s)
	t.Cleanup(func() {
		srv.CloseClientConnections()
		srv.Close()
		_ = rt.Close(context.Background())
	})
	return srv.URL
}

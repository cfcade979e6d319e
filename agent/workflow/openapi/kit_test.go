package openapi

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/voicegw/voicegw/agent/fetch"
	"github.com/voicegw/voicegw/agent/managed"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m)
}

// world is a server, and options with an environment and a clock.
type world struct {
	t    *testing.T
	url  string
	got  []*http.Request
	sent []string
	env  map[string]string
	now  time.Time
	opt  Options
}

func newWorld(t *testing.T, h http.HandlerFunc) *world {
	t.Helper()
	w := &world{t: t, env: map[string]string{}, now: time.Unix(1_000_000, 0)}
	s := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		w.got, w.sent = append(w.got, r), append(w.sent, string(b))
		h(rw, r)
	}))
	t.Cleanup(s.Close)
	c, err := fetch.New(fetch.Config{Allow: []string{"127.0.0.1"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Transport().CloseIdleConnections)
	w.url = s.URL
	w.opt = Options{Dir: t.TempDir(), Client: c, Now: func() time.Time { return w.now },
		Getenv: func(name string) (string, bool) { v, ok := w.env[name]; return v, ok }}
	return w
}

// load makes the tools of a document.
func (w *world) load(doc string, cfg Config) (map[string]managed.Tool, error) {
	w.t.Helper()
	cfg.Spec = "api.yaml"
	if err := os.WriteFile(filepath.Join(w.opt.Dir, cfg.Spec), []byte(doc), 0o600); err != nil {
		w.t.Fatal(err)
	}
	list, err := Load("api", cfg, w.opt)
	tools := map[string]managed.Tool{}
	for _, one := range list {
		tools[one.Declaration.Name] = one
	}
	return tools, err
}

// call runs a tool of a document with one operation.
func (w *world) call(tools map[string]managed.Tool, name, args string) map[string]any {
	w.t.Helper()
	var a map[string]any
	if err := json.Unmarshal([]byte(args), &a); err != nil {
		w.t.Fatal(err)
	}
	t, ok := tools[name]
	if !ok {
		w.t.Fatalf("there is no tool %s", name)
	}
	got, err := t.Call(context.Background(), managed.ToolCall{Key: "key 1", Args: a})
	if (err != nil) != (got["status"] == "error") || err != nil && got["error"] != err.Error() {
		w.t.Errorf("%s: the result is %v, and the error %v", name, got, err)
	}
	return got
}

// last is the last request.
func (w *world) last() *http.Request { return w.got[len(w.got)-1] }

// document is a document with paths.
func document(server, paths string) string {
	return "openapi: 3.0.3\ninfo: {title: t, version: '1'}\nservers: [{url: '" + server + "'}]\npaths:\n" + paths
}

// ok is an operation's responses.
const ok = "responses: {'200': {description: ok}}"

func answer(text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { _, _ = io.Copy(w, strings.NewReader(text)) }
}

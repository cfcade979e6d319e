package tools

import (
	"context"
	"maps"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/voicegw/voicegw/agent/fetch"
	"github.com/voicegw/voicegw/agent/managed"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m)
}

// kit is the tools by name.
type kit map[string]managed.Tool

// folder is a Config with a folder.
func folder(t testing.TB, path string, quota int64) Config {
	t.Helper()
	f, err := OpenFolder(path, quota)
	if err != nil {
		t.Fatal(err)
	}
	return Config{Folder: f}
}

// newKit makes the tools; their client reaches this machine.
func newKit(t testing.TB, cfg Config) kit {
	t.Helper()
	c, err := fetch.New(fetch.Config{Allow: []string{"127.0.0.1"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Transport().CloseIdleConnections)
	cfg.Client = c
	list, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	k := kit{}
	for _, one := range list {
		k[one.Declaration.Name] = one
	}
	return k
}

// call runs a tool; an error is in the result, too.
func (k kit) call(t testing.TB, name string, args map[string]any) map[string]any {
	t.Helper()
	before := maps.Clone(args)
	got, err := k[name].Call(context.Background(), managed.ToolCall{Key: "key 1", Name: name, Args: args})
	if (err != nil) != (got["status"] == "error") || err != nil && got["error"] != err.Error() {
		t.Errorf("%s: the result is %v, and the error %v", name, got, err)
	}
	if !reflect.DeepEqual(args, before) {
		t.Errorf("%s changes its arguments to %v", name, args)
	}
	return got
}

// fails holds a call to an error.
func (k kit) fails(t testing.TB, name string, args map[string]any, want string) {
	t.Helper()
	if got := k.call(t, name, args); got["status"] != "error" || !strings.Contains(got["error"].(string), want) {
		t.Errorf("%s %.200v: the result is %.300v; want %s", name, args, got, want)
	}
}

func serve(t *testing.T, h http.HandlerFunc) string {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s.URL
}

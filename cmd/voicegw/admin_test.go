package main

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/zap"
)

// testAdmin opens an admin listener whose pages are all well.
func testAdmin(t *testing.T, args ...string) *admin {
	t.Helper()
	o, err := configured(t, "", nil, append([]string{"--admin-listen", "127.0.0.1:0"}, args...)...)
	if err != nil {
		t.Fatal(err)
	}
	well := http.HandlerFunc(healthy)
	a, err := openAdmin(o, well, well, well, zap.NewNop())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(a.close)
	return a
}

// asked is a request to an admin listener, and the status of its answer.
type asked struct {
	path, host, origin, authorization string
	status                            int
}

func (q *asked) of(t *testing.T, a *admin) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, a.url()+q.path, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Host = q.host
	for name, v := range map[string]string{"Origin": q.origin, "Authorization": q.authorization} {
		if v != "" {
			r.Header.Set(name, v)
		}
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	if resp.StatusCode != q.status {
		t.Errorf("/%s by %q of %q with %q: %s, want %d", q.path, q.host, q.origin, q.authorization, resp.Status, q.status)
	}
	if (resp.StatusCode == 401) != (resp.Header.Get("WWW-Authenticate") == "Bearer") {
		t.Errorf("/%s: %s says WWW-Authenticate: %q", q.path, resp.Status, resp.Header.Get("WWW-Authenticate"))
	}
}

// TestAdminIsForThisMachine refuses what a page of elsewhere could make a browser send.
func TestAdminIsForThisMachine(t *testing.T) {
	t.Parallel()
	a := testAdmin(t)
	own := strings.TrimSuffix(a.url(), "/")
	for _, q := range []asked{
		{path: "healthz", status: 200},
		{path: "readyz", host: "localhost:1", status: 200},
		{path: "metrics", status: 200},
		{path: "metrics", origin: own, status: 200},
		{path: "metrics", origin: "https://evil.example", status: 403},
		{path: "metrics", origin: "null", status: 403},
		{path: "readyz", host: "[::1]", status: 200},
		{path: "readyz", host: "evil.example", status: 421},
		{path: "readyz", host: "evil.example", origin: "http://evil.example", status: 421},
		{path: "readyz", origin: "https://evil.example", status: 403},
		{path: "", status: 404},
		{path: "v1/voice", status: 404},
		{path: "debug/pprof/", status: 200},
		{path: "debug/pprof/goroutine?debug=2", status: 200},
		{path: "debug/pprof/cmdline", status: 404},
	} {
		q.of(t, a)
	}
}

// TestAdminToken: with a token other names are answered, and nothing but the probes without it.
func TestAdminToken(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(file, []byte("0123456789abcdef\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	a := testAdmin(t, "--admin-token-file", file)
	const good = "Bearer 0123456789abcdef"
	for _, q := range []asked{
		{path: "healthz", host: "10.1.2.3:9090", status: 200},
		{path: "readyz", host: "10.1.2.3:9090", status: 200},
		{path: "metrics", status: 401},
		{path: "metrics", authorization: "Bearer ", status: 401},
		{path: "metrics", authorization: "Bearer 0123456789abcdeF", status: 401},
		{path: "metrics", authorization: "Basic 0123456789abcdef", status: 401},
		{path: "metrics", authorization: good, status: 200},
		{path: "metrics", host: "10.1.2.3:9090", authorization: good, status: 200},
		{path: "metrics", host: "console.example", origin: "https://evil.example", authorization: good, status: 403},
		{path: "v1/calls", status: 401},
		{path: "v1/calls/x/hang-up", status: 401},
		{path: "v1/calls", authorization: good, status: 200},
		{path: "debug/pprof/", status: 401},
		{path: "healthz/../metrics", status: 401},
	} {
		q.of(t, a)
	}
}

// TestAdminTokenMistakes: an admin listener that everybody may use does not open.
func TestAdminTokenMistakes(t *testing.T) {
	t.Parallel()
	short := filepath.Join(t.TempDir(), "short")
	if err := os.WriteFile(short, []byte("0123456789abcde\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ listen, token, want string }{
		{"0.0.0.0:0", "", "admin.listen is \"0.0.0.0:0\""},
		{":9090", "", "admin.token_file beside it"},
		{"127.0.0.1:0", short, "has 15 bytes; it must have 16 or more"},
		{"127.0.0.1:0", short + ".gone", "admin.token_file: stat "},
	} {
		args := []string{"--admin-listen", c.listen}
		if c.token != "" {
			args = append(args, "--admin-token-file", c.token)
		}
		o, err := configured(t, "", nil, args...)
		if err == nil {
			_, err = openAdmin(o, nil, nil, nil, zap.NewNop())
		}
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("listen %s, token %s: %v; want %q", c.listen, c.token, err, c.want)
		}
	}
}

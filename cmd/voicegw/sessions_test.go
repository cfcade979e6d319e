package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/zap"

	"github.com/voicegw/voicegw/access"
	"github.com/voicegw/voicegw/agent/managed"
	"github.com/voicegw/voicegw/settings"
)

// sessionClaims are those that hold of the nets of sessions with the usual limits.
var sessionClaims = sync.OnceValues(func() (int, error) {
	return managed.Prove(context.Background(), managed.Limits{})
})

// provedOnce proves the nets of sessions with the usual limits, once for all tests.
func provedOnce(_ context.Context, l managed.Limits) (claims int, err error) {
	if !reflect.DeepEqual(l, managed.Limits{}) {
		return 0, fmt.Errorf("these are not the usual limits: %+v", l)
	}
	return sessionClaims()
}

// sessionsServer is the sessions API of serve, on a data directory of its own.
func sessionsServer(t *testing.T, cfg access.Config, quota ...settings.Quota) string {
	t.Helper()
	dir := t.TempDir()
	file := filepath.Join(dir, "desk.yaml")
	text := "name: desk\nmodel: parrot\ntools:\n- {type: custom, name: deploy, description: deploys, " +
		"input_schema: {type: object}}\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	guard, err := access.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	s := &settings.Settings{Listen: settings.ListenDefault, DataDir: filepath.Join(dir, "data"), Agents: dir}
	for _, q := range quota {
		s.Quota = q
	}
	api, err := openSessions(t.Context(), s, guard, zap.NewNop(), provedOnce)
	if err != nil {
		t.Fatal(err)
	}
	srv := httptest.NewServer(api.before(http.NotFoundHandler()))
	t.Cleanup(func() {
		srv.Close()
		api.close(context.Background())
	})
	return srv.URL
}

// TestSessionsCommand steers a session from the command line: message, custom tool, interrupt, pause, archive, delete.
func TestSessionsCommand(t *testing.T) {
	t.Parallel()
	url := sessionsServer(t, access.Config{})
	do := func(words ...string) string {
		t.Helper()
		var stdout, stderr strings.Builder
		if code := run(append(words, "--url", url), &stdout, &stderr); code != 0 {
			t.Fatalf("%q: exit code %d: %s", words, code, stderr.String())
		}
		return stdout.String()
	}
	agent, _, _ := strings.Cut(do("agents", "list"), " ")
	out := do("sessions", "start", agent, "Hello")
	id, out, _ := strings.Cut(out, "\n")
	if !strings.HasPrefix(id, "sesn_") || !strings.Contains(out, "agent.message                Hello") {
		t.Errorf("start prints %s %s", id, out)
	}
	out = do("sessions", "send", id, `call deploy {"x":1}`)
	_, use, _ := strings.Cut(out, "waits for ")
	use = strings.TrimSpace(use)
	if out = do("sessions", "send", id, "done", "--result", use); !strings.Contains(out, `deploy: {"result":"done"}`) {
		t.Errorf("send prints %s", out)
	}
	do("sessions", "send", id, "--interrupt")
	do("sessions", "pause", id)
	if out = do("sessions", "list"); !strings.Contains(out, "idle, paused") {
		t.Errorf("list prints %s", out)
	}
	do("sessions", "resume", id)
	out = do("sessions", "export", id)
	if strings.Count(out, "\n") < 15 || !strings.Contains(out, `"type":"user.interrupt"`) {
		t.Errorf("export prints %s", out)
	}
	do("sessions", "archive", id)
	if out = do("sessions", "show", id); !strings.Contains(out, `"status": "terminated"`) {
		t.Errorf("show prints %s", out)
	}
	do("sessions", "delete", id)
	var stdout, stderr strings.Builder
	code := run([]string{"sessions", "show", id, "--url", url}, &stdout, &stderr)
	if code != exitFailed || !strings.Contains(stderr.String(), "there is no session") {
		t.Errorf("a deleted session: %d %s", code, stderr.String())
	}
}

// TestSessionsNeedTokens: with keys to verify tokens, a request needs a token with the scope, and sees what its tenant
// owns alone.
func TestSessionsNeedTokens(t *testing.T) {
	secret := []byte(strings.Repeat("s", access.SecretLenMin))
	url := sessionsServer(t, access.Config{Secrets: [][]byte{secret}})
	as := func(tenant, scope string, words ...string) (int, string) {
		t.Helper()
		token, err := access.Mint(secret, access.Claims{ID: tenant, Tenant: tenant,
			Expiry: time.Now().Add(time.Minute), Scopes: []string{scope}})
		if err != nil {
			t.Fatal(err)
		}
		t.Setenv(sessionTokenVariable, token)
		var stdout, stderr strings.Builder
		code := run(append(words, "--url", url), &stdout, &stderr)
		return code, stdout.String() + stderr.String()
	}
	_, list := as("acme", "sessions", "agents", "list")
	agent, _, _ := strings.Cut(list, " ")
	code, out := as("acme", "sessions", "sessions", "start", agent, "Hello")
	id, _, _ := strings.Cut(out, "\n")
	if code != 0 {
		t.Fatal(out)
	}
	if code, out := as("acme", "sessions", "sessions", "show", id); code != 0 {
		t.Error(out)
	}
	code, out = as("other", "sessions", "sessions", "show", id)
	if code == 0 || !strings.Contains(out, "there is no session") {
		t.Errorf("another tenant: %d %s", code, out)
	}
	code, out = as("acme", "calls", "sessions", "show", id)
	if code == 0 || !strings.Contains(out, sessionTokenVariable) {
		t.Errorf("another scope: %d %s", code, out)
	}
}

// TestSessionsPage: the page for chats is there without a token, and may ask the API like a browser does.
func TestSessionsPage(t *testing.T) {
	t.Parallel()
	url := sessionsServer(t, access.Config{})
	ask := func(method, path, body string, headers ...string) (int, string) {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), method, url+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		for i := 0; i < len(headers); i += 2 {
			r.Header.Set(headers[i], headers[i+1])
		}
		if host := r.Header.Get("Host"); host != "" {
			r.Host = host
		}
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		text, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		return resp.StatusCode, string(text)
	}
	if code, text := ask("GET", "/chat", ""); code != http.StatusOK || !strings.Contains(text, "<title>Agents</title>") {
		t.Errorf("the page: %d %s", code, text)
	}
	const agent = `{"name": "parrot", "model": "parrot"}`
	for site, want := range map[string]int{"same-origin": http.StatusOK, "cross-site": http.StatusForbidden} {
		code, text := ask("POST", "/v1/agents", agent, "Sec-Fetch-Site", site)
		if code != want || code != http.StatusOK && !strings.Contains(text, `"type":"permission_error"`) {
			t.Errorf("a page of %s asks the API: %d %s", site, code, text)
		}
	}
	code, text := ask("POST", "/v1/agents", agent, "Host", "evil.example")
	if code != http.StatusForbidden || !strings.Contains(text, `"type":"permission_error"`) ||
		!strings.Contains(text, `\"evil.example\"`) {
		t.Errorf("a foreign name: %d %s", code, text)
	}
}

// TestSessionsSettings: the settings of quotas are those of the sessions API, and what other servers of that API have
// is refused in its format.
func TestSessionsSettings(t *testing.T) {
	t.Parallel()
	url := sessionsServer(t, access.Config{}, settings.Quota{Sessions: 1, Bytes: 1 << 30, SessionBytes: 1 << 30})
	do := func(words ...string) string {
		var stdout, stderr strings.Builder
		run(append(words, "--url", url), &stdout, &stderr)
		return stdout.String() + stderr.String()
	}
	agent, _, _ := strings.Cut(do("agents", "list"), " ")
	id := strings.TrimSpace(do("sessions", "start", agent))
	if out := do("sessions", "start", agent); !strings.Contains(out, "you have 1 sessions that are not archived") {
		t.Errorf("a second session: %s", out)
	}
	do("sessions", "archive", id)
	if out := do("sessions", "start", agent); !strings.HasPrefix(out, "sesn_") {
		t.Errorf("after archiving: %s", out)
	}
	for _, path := range []string{"/v1/files", "/v1/vaults/x", "/v1/memory_stores", "/v1/models",
		"/v1/sessions/x/threads"} {
		resp, err := http.Get(url + path)
		if err != nil {
			t.Fatal(err)
		}
		var e struct{ Error struct{ Type string } }
		err = json.NewDecoder(resp.Body).Decode(&e)
		_ = resp.Body.Close()
		if err != nil || resp.StatusCode != http.StatusNotFound || e.Error.Type != "not_found_error" {
			t.Errorf("%s: %d %+v, %v", path, resp.StatusCode, e, err)
		}
	}
}

// TestBadAgents: a definition that cannot be used is refused at the start, with its file.
func TestBadAgents(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for text, part := range map[string]string{"name: desk\nmodle: parrot": "modle",
		"name: desk\nmodel: nobody/x": "nobody"} {
		if err := os.WriteFile(filepath.Join(dir, "desk.yaml"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		s := &settings.Settings{Listen: settings.ListenDefault, DataDir: filepath.Join(dir, "data"), Agents: dir}
		guard, err := access.New(access.Config{})
		if err != nil {
			t.Fatal(err)
		}
		_, err = openSessions(t.Context(), s, guard, zap.NewNop(), provedOnce)
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// TestManagedQuickStart runs the first block of docs/managed.md, with a server that is there already.
func TestManagedQuickStart(t *testing.T) {
	t.Parallel()
	url := sessionsServer(t, access.Config{})
	_, lines, _ := strings.Cut(snippet(t, "docs/managed.md", "voicegw serve --data-dir").text, "\n")
	script := fmt.Sprintf("voicegw() { %q \"$@\" --url %s; }\n%s", binary, url, lines)
	cmd := exec.Command("bash", "-euc", script)
	cmd.Dir = t.TempDir()
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "agent.message                Hello there") ||
		!strings.Contains(string(out), "8 events  desk") {
		t.Errorf("%v\n%s", err, out)
	}
}

// TestSeveralNodes: three gateways with a part of the journal each serve the same sessions. One that ends hands over
// what it has.
func TestSeveralNodes(t *testing.T) {
	t.Parallel()
	guard, err := access.New(access.Config{})
	if err != nil {
		t.Fatal(err)
	}
	var routes []string
	var servers []*httptest.Server
	for range 3 {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		routes = append(routes, l.Addr().String())
		_ = l.Close()
		servers = append(servers, httptest.NewUnstartedServer(http.NotFoundHandler()))
	}
	dir := t.TempDir()
	nodes := make([]*sessionsAPI, 3)
	var opening sync.WaitGroup
	for i, name := range []string{"a", "b", "c"} {
		s := &settings.Settings{Listen: settings.ListenDefault, DataDir: filepath.Join(dir, name), Journal: settings.Journal{
			Node: name, Advertise: "http://" + servers[i].Listener.Addr().String(), Listen: routes[i], Routes: routes}}
		opening.Go(func() {
			api, err := openSessions(t.Context(), s, guard, zap.NewNop(), provedOnce)
			if err != nil {
				t.Error(err)
				return
			}
			nodes[i], servers[i].Config.Handler = api, api.before(http.NotFoundHandler())
			servers[i].Start()
		})
	}
	opening.Wait()
	t.Cleanup(func() {
		for i, api := range nodes {
			servers[i].CloseClientConnections()
			servers[i].Close()
			api.close(context.Background())
		}
	})
	if t.Failed() {
		return
	}
	at := func(i int, words ...string) string {
		t.Helper()
		var stdout, stderr strings.Builder
		for begin := time.Now(); time.Since(begin) < patience; stdout.Reset() { // while a session moves, it is refused
			if run(append(words, "--url", servers[i].URL), &stdout, &stderr) == 0 {
				return stdout.String()
			}
		}
		t.Fatalf("%q: %s", words, stderr.String())
		return ""
	}
	file := filepath.Join(dir, "desk.json")
	if err := os.WriteFile(file, []byte(`{"name":"desk","model":"parrot"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	agent := strings.TrimSpace(at(0, "agents", "create", file))
	id, _, _ := strings.Cut(at(0, "sessions", "start", agent, "Hello"), "\n")
	const said = "agent.message                "
	if out := at(1, "sessions", "send", id, "Good evening"); !strings.Contains(out, said+"Good evening") {
		t.Errorf("the second node prints %s", out)
	}
	nodes[0].close(context.Background())
	if out := at(2, "sessions", "send", id, "Good night"); !strings.Contains(out, said+"Good night") {
		t.Errorf("the third node prints %s", out)
	}
	if n := strings.Count(at(1, "sessions", "export", id), `"seq":`); n < 20 {
		t.Errorf("the session has %d events", n)
	}
}

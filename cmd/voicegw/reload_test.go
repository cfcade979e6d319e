//go:build unix

package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"go.uber.org/zap"

	"github.com/voicegw/voicegw/access"
	"github.com/voicegw/voicegw/live/sim"
	"github.com/voicegw/voicegw/settings"
	"github.com/voicegw/voicegw/transport"
	"github.com/voicegw/voicegw/transport/ws"
	"github.com/voicegw/voicegw/webhook"
)

// files writes the files of a directory.
func files(t *testing.T, dir string, texts map[string]string) {
	t.Helper()
	for name, text := range texts {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// TestReload changes settings and secrets of a running gateway. A file with a mistake changes nothing,
// and what needs a restart is named.
func TestReload(t *testing.T) {
	t.Parallel()
	service, err := sim.New(sim.Config{APIKey: "the-new-key"})
	if err == nil {
		err = service.Start("127.0.0.1:0")
	}
	if err != nil {
		t.Fatal(err)
	}
	defer service.Close()
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	const before, after, other = "0123456789-before-0123456789-before", "0123456789-after-0123456789-after-01",
		"0123456789-other-0123456789-other-01"
	config := func(more string) string {
		return "model: {base_url: '" + service.URL() + "', key_file: " + in("key") + "}\naccess: {secret_file: " +
			in("secret") + "}\nadmin: {listen: '127.0.0.1:0', token_file: " + in("admin") + "}\n" + more
	}
	files(t, dir, map[string]string{"key": "the-old-key", "secret": before, "admin": before,
		"voicegw.yaml": config("voice: Puck\ninstructions: Be brief.\n")})
	s := startServe(t, nil, "--config", in("voicegw.yaml"))
	hangUp := func(words string) string {
		t.Helper()
		seen := len(s.stderr.String())
		s.signal(syscall.SIGHUP)
		s.stderr.waitForAfter(t, seen, words)
		return s.stderr.String()[seen:]
	}
	token := func(secret string) string {
		t.Helper()
		r := command(t, []string{settings.SecretVariable + "=" + secret}, "token")
		return strings.TrimSpace(r.stdout)
	}
	if got := s.ended(t, token(before)); got == transport.ReasonNone {
		t.Error("the model took the old key")
	}
	hangUp("no setting has changed")

	files(t, dir, map[string]string{"key": "the-new-key", "secret": after + "\n" + before, "admin": after,
		"voicegw.yaml": config("voise: Kore\ninstructions: Be long.\n")})
	hangUp("the settings are wrong, so nothing changes")
	if got := s.ended(t, token(after)); got != transport.ReasonUnauthorized {
		t.Errorf("after a reload that was refused, a call with the new secret ended by %q", got)
	}

	files(t, dir, map[string]string{
		"voicegw.yaml": config("voice: Kore\ninstructions: Be long.\ncalls_max: 7\nlog: {level: debug}\n")})
	said := hangUp("need a restart")
	for _, want := range []string{`"access.secret_file", "admin.token_file", "instructions", "log.level", ` +
		`"model.key_file", "voice"`, `{"settings": ["calls_max"]}`} {
		if !strings.Contains(said, want) {
			t.Errorf("the log does not say %s:\n%s", want, said)
		}
	}
	for _, secret := range []string{after, before} {
		if got := s.ended(t, token(secret)); got != transport.ReasonNone {
			t.Errorf("a call ended by %q\n%s", got, s.stderr.String())
		}
	}
	if got := s.ended(t, token(other)); got != transport.ReasonUnauthorized {
		t.Errorf("a call with another secret ended by %q", got)
	}
	setup := string(service.Connections()[len(service.Connections())-1].Setup)
	if !strings.Contains(setup, "Kore") || !strings.Contains(setup, "Be long.") {
		t.Errorf("the model is told %s", setup)
	}
	_, url, _ := strings.Cut(s.stderr.String(), "the admin listener is at ")
	url, _, _ = strings.Cut(url, "\n")
	for secret, want := range map[string]int{before: 401, after: 200} {
		r, _ := http.NewRequestWithContext(t.Context(), "GET", url+"metrics", nil)
		r.Header.Set("Authorization", "Bearer "+secret)
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		if resp.StatusCode != want {
			t.Errorf("the metrics answer %s, want %d", resp.Status, want)
		}
	}
	for _, secret := range []string{before, after, "the-new-key", "the-old-key"} {
		if strings.Contains(s.stderr.String(), secret) {
			t.Errorf("the log has %q", secret)
		}
	}
	s.end()
}

// TestReloadTakesAndNames tries single changes on a gateway that is not started.
func TestReloadTakesAndNames(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	files(t, dir, map[string]string{"secret": testSecret, "key": "k", "tools.json": `[{"name":"a","description":"x"}]`})
	real := "model: {base_url: 'ws://127.0.0.1:1', key_file: " + filepath.Join(dir, "key") + "}\n"
	tools := "session: {tools_file: " + filepath.Join(dir, "tools.json") + "}\n"
	hooks := func(host string) string {
		return "webhooks: {secret_file: " + filepath.Join(dir, "secret") + ", begin_url: 'https://" + host + ".example'"
	}
	for _, c := range []struct {
		name, before, after string
		write               map[string]string
		done, later         []string
	}{
		{"nothing", "voice: Puck", "voice: Puck", nil, nil, nil},
		{"a default", "", "calls_max: 100", nil, nil, nil},
		{"both kinds", "", "voice: Puck\ntiming: {call_max: 5m}", nil, []string{"voice"}, []string{"timing.call_max"}},
		{"a voice that is gone", "voice: Puck", "", nil, []string{"voice"}, nil},
		{"named instructions", "instructions: {a: x}", "instructions: {a: y}", nil, []string{"instructions"}, nil},
		{"tokens", "", "access: {secret_file: " + filepath.Join(dir, "secret") + "}", nil, nil,
			[]string{"access.secret_file"}},
		{"functions", tools, tools, map[string]string{"tools.json": `[{"name":"b","description":"x"}]`},
			[]string{"session.tools_file"}, nil},
		{"the first functions", "", tools, nil, nil, []string{"session.tools_file"}},
		{"no functions", tools, "", nil, []string{"session.tools_file"}, nil},
		{"functions of an agent", tools + "data_dir: " + dir + "\n", tools + "data_dir: " + dir + "\n",
			map[string]string{"tools.json": `[{"name":"b","description":"x","agent":"a"}]`}, nil,
			[]string{"session.tools_file"}},
		{"functions and the transfer", tools, tools + "handoff: {tool: true, targets: [a=+491]}\n",
			map[string]string{"tools.json": `[{"name":"c","description":"x"}]`},
			[]string{"handoff.targets", "handoff.tool", "session.tools_file"}, nil},
		{"the transfer as the first function", "", "handoff: {tool: true, targets: [a=+491]}\n", nil, nil,
			[]string{"handoff.targets", "handoff.tool"}},
		{"targets of operators", "handoff: {targets: [a=+491]}\n", "handoff: {targets: [a=+492]}\n", nil,
			[]string{"handoff.targets"}, nil},
		{"targets of the model and a restart", tools + "handoff: {tool: true, targets: [a=+491]}\n",
			tools + "timing: {tool_timeout: 9s}\nhandoff: {tool: true, targets: [a=+492]}\n", nil, nil,
			[]string{"handoff.targets", "timing.tool_timeout"}},
		{"private addresses", "", "webhooks: {allow: [10.0.0.1]}\n", nil, []string{"webhooks.allow"}, nil},
		{"private addresses of another webhook", hooks("a") + "}\n", hooks("b") + ", allow: [10.0.0.1]}\n", nil, nil,
			[]string{"webhooks.allow", "webhooks.begin_url"}},
		{"private addresses of functions and a restart", tools + hooks("a") + "}\n",
			tools + "timing: {tool_timeout: 9s}\n" + hooks("a") + ", allow: [10.0.0.1]}\n",
			map[string]string{"tools.json": `[{"name":"b","description":"x","url":"https://a.example"}]`}, nil,
			[]string{"session.tools_file", "timing.tool_timeout", "webhooks.allow"}},
		{"a secret of an endpoint that is closed", "", "twilio: {secret_file: " + filepath.Join(dir, "secret") + "}", nil,
			nil, []string{"twilio.secret_file"}},
		{"targets of an endpoint that is closed", "", "twilio: {targets: [a=+491]}", nil, nil, []string{"twilio.targets"}},
		{"a secret of webhooks", "webhooks: {secret_file: " + filepath.Join(dir, "key") + "}",
			"webhooks: {secret_file: " + filepath.Join(dir, "secret") + "}", nil, []string{"webhooks.secret_file"}, nil},
		{"the model", real, strings.Replace(real, "model: {", "model: {name: gemini-own, ", 1), nil, []string{"model.name"},
			nil},
		{"a key and another service", real, strings.Replace(real, "127.0.0.1:1", "127.0.0.1:2", 1),
			map[string]string{"key": "of-the-other"}, nil, []string{"model.base_url", "model.key_file"}},
		{"the embedded model", "", real, nil, nil, []string{"model.base_url", "model.key_file"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			started, err := configured(t, c.before+"\n", nil)
			if err != nil {
				t.Fatal(err)
			}
			files(t, dir, c.write)
			next, err := configured(t, c.after+"\n", nil)
			if err != nil {
				t.Fatal(err)
			}
			guard, err := access.New(access.Config{})
			if err != nil {
				t.Fatal(err)
			}
			cfg, err := next.Gateway()
			if err != nil {
				t.Fatal(err)
			}
			s := &serving{settings: started, log: zap.NewNop(), guard: guard, model: &model{wire: started.Wire()},
				toolSlots: started.ToolsFile != "", webhooks: &webhooks{}}
			s.rules.Store(&callRules{dialer: s.model.dialer()})
			r := &reloader{serving: s, level: zap.NewAtomicLevel(), now: started}
			done, later, err := r.take(next)
			if err != nil || !slices.Equal(done, c.done) || !slices.Equal(later, c.later) {
				t.Errorf("%v: it takes %q, and %q need a restart; want %q and %q", err, done, later, c.done, c.later)
			}
			if slices.Contains(later, "model.key_file") && !reflect.DeepEqual(s.rules.Load().dialer, s.model.dialer()) {
				t.Error("the key changed without the service")
			}
			tools := s.rules.Load().tools
			held := slices.ContainsFunc(later, func(key string) bool {
				return slices.Contains([]string{toolsKey, allowKey, "handoff.tool", "timing.tool_timeout"}, key)
			})
			if held != (tools == nil) || tools != nil && len(tools) != len(cfg.Tools) ||
				len(tools) > 0 && tools[0].Name != cfg.Tools[0].Name {
				t.Errorf("the functions of calls are %+v, want %+v, or those of the start", tools, cfg.Tools)
			}
		})
	}
}

// TestReloadAsterisk: the credentials of Asterisk change together, or all of them need a restart. A change that had to
// wait for another one is made when it need not wait any more.
func TestReloadAsterisk(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	files(t, dir, map[string]string{"old": "p", "new": "q"})
	config := func(more string) *settings.Settings {
		s, err := configured(t, "endpoints: [asterisk]\nasterisk: {user: pbx"+
			strings.NewReplacer("OLD", filepath.Join(dir, "old"), "NEW", filepath.Join(dir, "new")).Replace(more)+"}\n", nil)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	const password, user, ari = "asterisk.password_file", "asterisk.ari_user", "asterisk.ari_url"
	const targets = "asterisk.targets"
	for _, c := range []struct {
		name, before, after string
		done, later         []string
	}{
		{"the password", ", password_file: OLD", ", password_file: NEW, ari_user: u", []string{user, password}, nil},
		{"the first password", "", ", password_file: NEW, ari_user: u", nil, []string{user, password}},
		{"no password", ", password_file: OLD", ", ari_user: u", nil, []string{user, password}},
		{"another server", ", password_file: OLD, ari_url: 'http://a.example'",
			", password_file: NEW, ari_url: 'http://b.example'", nil, []string{ari, password}},
		{"another user without a password", "", ", ari_user: u", []string{user}, nil},
		{"a target", "", ", targets: [a=1]", []string{targets}, nil},
		{"a target at another server", ", ari_url: 'http://a.example'", ", ari_url: 'http://b.example', targets: [a=1]", nil,
			[]string{ari, targets}},
	} {
		r := reloading(t, config(c.before))
		var err error
		if r.serving.endpoints, err = openEndpoints(r.now, noLines{}, zap.NewNop()); err != nil {
			t.Fatal(err)
		}
		defer r.serving.endpoints.Close()
		done, later, err := r.take(config(c.after))
		if err != nil || !slices.Equal(done, c.done) || !slices.Equal(later, c.later) {
			t.Errorf("%s: %v: it takes %q, and %q need a restart; want %q and %q", c.name, err, done, later, c.done, c.later)
		}
		if c.name != "another server" {
			continue
		}
		done, later, err = r.take(config(", password_file: NEW, ari_url: 'http://a.example'"))
		if err != nil || !slices.Equal(done, []string{password}) || later != nil {
			t.Errorf("with the old server again: %v: it takes %q, and %q need a restart", err, done, later)
		}
	}
}

// take plans a reload and makes its changes.
func (r *reloader) take(next *settings.Settings) (done, later []string, err error) {
	p, err := r.plan(next)
	if err != nil {
		return nil, nil, err
	}
	r.commit(p)
	return p.done, p.later, nil
}

// reloading is a reloader over settings that were started, and an admin listener.
func reloading(t *testing.T, started *settings.Settings) *reloader {
	t.Helper()
	admission, err := started.Access()
	if err != nil {
		t.Fatal(err)
	}
	guard, err := access.New(admission)
	if err != nil {
		t.Fatal(err)
	}
	s := &serving{settings: started, log: zap.NewNop(), guard: guard, model: &model{wire: started.Wire()}}
	s.rules.Store(&callRules{})
	a := &admin{}
	token, err := adminToken(started)
	if err != nil {
		t.Fatal(err)
	}
	a.setToken(token)
	return &reloader{serving: s, admin: a, level: zap.NewAtomicLevel(), now: started}
}

// TestReloadFunctions: SIGHUP gives calls that begin afterwards other functions, which another secret signs, and a
// carrier another secret; a running call keeps its functions. A broken file of functions changes nothing.
func TestReloadFunctions(t *testing.T) {
	t.Parallel()
	const other = "another secret of these webhooks"
	var mu sync.Mutex
	signed := map[string]string{} // by path
	crm := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		mu.Lock()
		defer mu.Unlock()
		for _, secret := range []string{hookSecret, other} {
			if webhook.Verify([]byte(secret), r.Header.Get(webhook.SignatureHeader), body, time.Now(), time.Minute) == nil {
				signed[r.URL.Path] = secret
			}
		}
		_, _ = io.WriteString(w, `{"from": "`+r.URL.Path+`"}`)
	}))
	defer crm.Close()
	model := scripted(t, `on text 1: call orders {"number":"4711"}`)
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	tools := func(path string) string {
		return "[{name: orders, description: knows orders, url: '" + crm.URL + path + "'}]"
	}
	files(t, dir, map[string]string{"hook": hookSecret, "carrier": testSecret, "tools.yaml": tools("/old"),
		"voicegw.yaml": "model: {base_url: '" + model.URL() + "'}\nsession: {tools_file: " + in("tools.yaml") + "}\n" +
			"webhooks: {secret_file: " + in("hook") + ", allow: [127.0.0.1], end_url: '" + crm.URL + "/end'}\n" +
			"endpoints: [twilio]\ntwilio: {secret_file: " + in("carrier") + "}\n"})
	s := startServe(t, nil, "--config", in("voicegw.yaml"))
	hangUp := func(words string) {
		t.Helper()
		seen := len(s.stderr.String())
		s.signal(syscall.SIGHUP)
		s.stderr.waitForAfter(t, seen, words)
	}
	dial := func() *ws.Client {
		t.Helper()
		hello := transport.Hello{InputRateHz: 8000, OutputRateHz: 8000}
		call, err := ws.Dial(t.Context(), s.voiceURL, hello, ws.DialConfig{})
		if err != nil {
			t.Fatal(err)
		}
		return call
	}
	ask := func(call *ws.Client, path, secret string) {
		t.Helper()
		if err := call.SendEvent(t.Context(), &transport.Event{Kind: transport.EventText, Text: "My order?"}); err != nil {
			t.Fatal(err)
		}
		got := func() string { mu.Lock(); defer mu.Unlock(); return signed[path] }
		if !waitFor(func() bool { return got() == secret }, patience) {
			t.Errorf("a request to %s is signed with %q, want %q", path, got(), secret)
		}
	}
	running := dial()
	files(t, dir, map[string]string{"tools.yaml": "[{name: orders, ulr: x}]"})
	hangUp("so nothing changes")
	call := dial()
	ask(call, "/old", hookSecret)
	_ = call.Close()
	mu.Lock()
	clear(signed)
	mu.Unlock()
	files(t, dir, map[string]string{"tools.yaml": tools("/new"), "hook": other, "carrier": strings.Repeat("carrier ", 4)})
	hangUp(`["session.tools_file", "twilio.secret_file", "webhooks.secret_file"]`)
	call = dial()
	ask(call, "/new", other)
	_ = call.Close()
	ask(running, "/old", hookSecret)
	_ = running.Close()
	if !waitFor(func() bool { mu.Lock(); defer mu.Unlock(); return signed["/end"] == other }, patience) {
		t.Error("no record was signed with the new secret")
	}
	for secret, want := range map[string]int{testSecret: 403, strings.Repeat("carrier ", 4)[:31]: 101} {
		r, _ := http.NewRequestWithContext(t.Context(), "GET", strings.Replace(s.url, "ws", "http", 1)+"v1/twilio", nil)
		r.Header = http.Header{"Connection": {"Upgrade"}, "Upgrade": {"websocket"}, "Sec-Websocket-Version": {"13"},
			"Sec-Websocket-Key": {"dGhlIHNhbXBsZSBub25jZQ=="}, "Authorization": {"Bearer " + secret}}
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		if resp.StatusCode != want {
			t.Errorf("a carrier with the secret %q gets %s, want %d", secret, resp.Status, want)
		}
	}
	s.end()
}

// TestReloadKeepsAdminToken: a token that goes together with the address that needs it stays until the address changes,
// which needs a restart. Without it the open address would answer to everybody.
func TestReloadKeepsAdminToken(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	files(t, dir, map[string]string{"token": testSecret})
	token := ", token_file: " + filepath.Join(dir, "token")
	for name, c := range map[string]struct {
		before, after string
		open          bool // the listener may go on without a token
	}{
		"another address": {"admin: {listen: '0.0.0.0:9090'" + token + "}\n", "admin: {listen: '127.0.0.1:9090'}\n", false},
		"no address":      {"admin: {listen: '0.0.0.0:9090'" + token + "}\n", "voice: Puck\n", false},
		"the same":        {"admin: {listen: '127.0.0.1:9090'" + token + "}\n", "admin: {listen: '127.0.0.1:9090'}\n", true},
	} {
		started, err := configured(t, c.before, nil)
		if err != nil {
			t.Fatal(err)
		}
		next, err := configured(t, c.after, nil)
		if err != nil {
			t.Fatal(err)
		}
		r := reloading(t, started)
		_, later, err := r.take(next)
		if err != nil || slices.Contains(later, "admin.token_file") == c.open || (*r.admin.token.Load() == "") != c.open {
			t.Errorf("%s: %v, %q need a restart, and the token is %q", name, err, later, *r.admin.token.Load())
		}
	}
}

// TestReloadAllOrNothing: settings with one mistake, which only an endpoint notices, change nothing.
func TestReloadAllOrNothing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	secret := filepath.Join(dir, "secret")
	files(t, dir, map[string]string{"secret": testSecret})
	config := func(servers string) *settings.Settings {
		s, err := configured(t, "endpoints: [webrtc]\nlisten: '127.0.0.1:0'\naccess: {secret_file: "+secret+
			"}\nwebrtc: {ice_servers: '"+servers+"'}\n", nil)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	r := reloading(t, config("stun:stun.example.com"))
	var err error
	if r.serving.endpoints, err = openEndpoints(r.now, noLines{}, zap.NewNop()); err != nil {
		t.Fatal(err)
	}
	defer r.serving.endpoints.Close()
	good := command(t, []string{settings.SecretVariable + "=" + testSecret}, "token")
	files(t, dir, map[string]string{"secret": strings.Repeat("another ", 8)})
	if _, _, err := r.take(config("stun:")); err == nil {
		t.Error("a server without a name is taken")
	}
	if _, err := r.serving.guard.Verify(t.Context(), strings.TrimSpace(good.stdout), access.ScopeCalls); err != nil {
		t.Errorf("the secret has changed: %v", err)
	}
}

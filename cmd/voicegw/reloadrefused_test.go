//go:build unix

package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"

	"github.com/voicegw/voicegw/access"
	"github.com/voicegw/voicegw/settings"
	"github.com/voicegw/voicegw/transport"
)

// reloadTrial is a gateway whose files a test changes before it reloads.
type reloadTrial struct {
	*reloader
	*testing.T
	dir  string
	logs *observer.ObservedLogs

	token string // good for the secret of the start
	held  func() // gives back the permit of the rule's only call
	paths http.Handler
}

// The secrets of the trial before and after a reload.
const oldSecret, newSecret = "old-old-old-old-old-old-old-old-old-old", "new-new-new-new-new-new-new-new-new-new"

// good are the files before (with the old secret) or after a reload.
func (t *reloadTrial) good(secret, voice string, calls int) map[string]string {
	at := func(name string) string { return filepath.Join(t.dir, name) }
	return map[string]string{"access": secret, "admin": secret, "carrier": secret, "hook": secret, "turn": secret,
		"tools.yaml": "[{name: " + voice + ", description: x}]\n",
		"rules.yaml": fmt.Sprintf("[{name: few, when: {from: '+1'}, voice: %s, calls: %d}]\n", voice, calls),
		"voicegw.yaml": "listen: '127.0.0.1:0'\nendpoints: [webrtc, twilio]\nvoice: " + voice + "\nlog: {level: " +
			map[string]string{"Puck": "info", "Kore": "debug"}[voice] + "}\n" +
			"access: {secret_file: " + at("access") + "}\nadmin: {listen: '127.0.0.1:0', token_file: " + at("admin") + "}\n" +
			"rules: " + at("rules.yaml") + "\nsession: {tools_file: " + at("tools.yaml") + "}\n" +
			"twilio: {secret_file: " + at("carrier") + "}\nwebrtc: {ice_servers: ['stun:" + voice + ".example.com'], " +
			"turn_servers: ['turn:t.example.com'], turn_secret_file: " + at("turn") + "}\n" +
			"webhooks: {secret_file: " + at("hook") + ", end_url: 'https://crm.example/end'}\n"}
}

// newReloadTrial starts all that a reload changes, except the network, with a call of the rule.
func newReloadTrial(t *testing.T) *reloadTrial {
	r := &reloadTrial{T: t, dir: t.TempDir()}
	files(t, r.dir, r.good(oldSecret, "Puck", 2))
	core, logs := observer.New(zapcore.DebugLevel)
	r.logs = logs
	read := func() (*settings.Settings, error) {
		return configured(t, "", nil, "--config", filepath.Join(r.dir, "voicegw.yaml"))
	}
	set, err := read()
	if err != nil {
		t.Fatal(err)
	}
	s, err := newServing(set, &model{wire: set.Wire()}, zap.New(core))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.gw.Close() })
	if err := s.open(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.endpoints.Close() })
	a := &admin{}
	a.setToken(oldSecret)
	r.reloader = &reloader{serving: s, admin: a, level: zap.NewAtomicLevelAt(set.Log.Level), read: read, now: set}
	r.token = strings.TrimSpace(command(t, []string{settings.SecretVariable + "=" + oldSecret}, "token").stdout)
	p, err := s.plan(t.Context(), &transport.Hello{From: "+1"})
	if err != nil {
		t.Fatal(err)
	}
	r.held = p.Release
	r.paths = s.gate.next
	return r
}

// carrier returns the status that a carrier with this secret gets.
func (t *reloadTrial) carrier(secret string) int {
	r := httptest.NewRequest("GET", "http://127.0.0.1/v1/twilio", nil)
	r.Header = http.Header{"Connection": {"Upgrade"}, "Upgrade": {"websocket"}, "Sec-Websocket-Version": {"13"},
		"Sec-Websocket-Key": {"dGhlIHNhbXBsZSBub25jZQ=="}, "Authorization": {"Bearer " + secret}}
	w := httptest.NewRecorder() // no connection to upgrade
	t.paths.ServeHTTP(w, r)
	return w.Code
}

// state says how the gateway treats a new call, a carrier and an operator.
func (t *reloadTrial) state() string {
	s := t.serving
	rules := s.rules.Load()
	_, err := s.guard.Verify(t.Context(), t.token, access.ScopeCalls)
	carrier := t.carrier(oldSecret)
	p, full := s.plan(t.Context(), &transport.Hello{From: "+1"})
	if full == nil {
		p.Release()
	}
	names := []string{}
	for _, tool := range rules.tools {
		names = append(names, tool.Name)
	}
	return fmt.Sprintf("token %t, carrier %d, admin %q, level %v, voice %s, functions %q, rules %+v, "+
		"full %t", err == nil, carrier, *t.admin.token.Load(), t.level.Level(), rules.setup.Voice, names,
		rules.clients[0].Rule.Voice, full != nil)
}

// TestReloadRefusedChangesNothing: a reload with one bad part names it and changes nothing, whatever else has changed:
// not the limits of rules, and no secret. The same reload without the bad part changes all of it.
func TestReloadRefusedChangesNothing(t *testing.T) {
	t.Parallel()
	r := newReloadTrial(t)
	before := r.state()
	for name, c := range map[string]struct{ file, from, to, says string }{
		"setting":           {"voicegw.yaml", "voice:", "voise:", "did you mean voice?"},
		"voice":             {"voicegw.yaml", "voice: Kore", "voice: '!'", `voice is "!"`},
		"rules":             {"rules.yaml", "voice:", "voise:", `"voise" is no field of a rule`},
		"limit of rules":    {"rules.yaml", "calls: 1", "calls: 0", "calls is"},
		"secret of tokens":  {"access", newSecret, "short", "access.secret_file"},
		"admin token":       {"admin", newSecret, "short", "admin.token_file"},
		"carrier's secret":  {"carrier", newSecret, "short", "twilio.secret_file"},
		"webhooks' secret":  {"hook", newSecret, "short", "webhooks.secret_file"},
		"ICE server":        {"voicegw.yaml", "stun:Kore.example.com", "stun:", "webrtc.ice_servers"},
		"secret of TURN":    {"turn", newSecret, "", "webrtc.turn_secret_file"},
		"functions":         {"tools.yaml", "name:", "nmae:", "session.tools_file"},
		"function twice":    {"tools.yaml", "[", "[{name: Kore, description: x}, ", "session.tools_file"},
		"prompt":            {"voicegw.yaml", "voice:", "prompts: {goodbye: /nowhere.wav}\nvoice:", "prompts.goodbye"},
		"the last function": {"tools.yaml", "}]", "}, {name: z, description: x, url: 'http://crm.example'}]", "z: webhook"},
	} {
		after := r.good(newSecret, "Kore", 1)
		bad := strings.Replace(after[c.file], c.from, c.to, 1)
		if bad == after[c.file] {
			t.Fatalf("%s: %s has no %q", name, c.file, c.from)
		}
		after[c.file] = bad
		files(t, r.dir, after)
		r.reload()
		said := r.logs.FilterLoggerName("reload").TakeAll()
		r.logs.TakeAll()
		if len(said) != 1 || said[0].Level != zapcore.ErrorLevel ||
			said[0].Message != "the settings are wrong, so nothing changes" ||
			!strings.Contains(said[0].ContextMap()["error"].(string), c.says) {
			t.Errorf("%s: the log says %+v, want %q", name, said, c.says)
		}
		if now := r.state(); now != before {
			t.Errorf("%s: after a refused reload\n %s\nbefore it\n %s", name, now, before)
		}
	}
	files(t, r.dir, r.good(newSecret, "Kore", 1))
	r.reload()
	for i, was := range strings.Split(before, ", ") {
		if now := strings.Split(r.state(), ", ")[i]; now == was {
			t.Errorf("a good reload leaves %s", now)
		}
	}
	r.held()
}

//go:build unix

package main

import (
	"context"
	"crypto/hmac"
	"crypto/sha1"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"

	"github.com/voicegw/voicegw"
	"github.com/voicegw/voicegw/access"
	"github.com/voicegw/voicegw/agent/fetch"
	"github.com/voicegw/voicegw/live"
	"github.com/voicegw/voicegw/settings"
	"github.com/voicegw/voicegw/transport"
	"github.com/voicegw/voicegw/transport/phone/phonetest"
	"github.com/voicegw/voicegw/webhook"
)

// reloadTrial is a gateway whose files a test changes before it reloads.
type reloadTrial struct {
	*reloader
	*testing.T
	dir  string
	logs *observer.ObservedLogs

	token  string   // good for the secret of the start
	tokens []string // for each secret
	held   func()   // gives back the permit of the rule's only call
	paths  http.Handler
	offer  string           // of a caller by WebRTC
	crm    *httptest.Server // the webhooks
	signed chan string      // the secret of each record of the call "probe" that they get
	asked  chan string      // of Asterisk's REST interface, which has the same address
	phones *httptest.Server // where carriers call; each call is transferred to desk at once
}

// The secrets of the trial before and after a reload.
const oldSecret, newSecret = "old-old-old-old-old-old-old-old-old-old", "new-new-new-new-new-new-new-new-new-new"

// good are the files before (with the old secret) or after a reload.
func (t *reloadTrial) good(secret, voice string, calls int) map[string]string {
	at := func(name string) string { return filepath.Join(t.dir, name) }
	number := map[string]string{"Puck": "+491", "Kore": "+492"}[voice]
	return map[string]string{"access": secret, "admin": secret, "carrier": secret, "hook": secret, "turn": secret,
		"pbx":        secret,
		"tools.yaml": "[{name: " + voice + ", description: x}]\n",
		"rules.yaml": fmt.Sprintf("[{name: few, when: {from: '+1'}, voice: %s, calls: %d}]\n", voice, calls),
		"voicegw.yaml": "listen: '127.0.0.1:0'\nendpoints: [webrtc, twilio, asterisk]\nvoice: " + voice + "\nlog: {level: " +
			map[string]string{"Puck": "info", "Kore": "debug"}[voice] + "}\n" +
			"access: {secret_file: " + at("access") + ", reuse: true}\n" +
			"admin: {listen: '127.0.0.1:0', token_file: " + at("admin") + "}\n" +
			"rules: " + at("rules.yaml") + "\nsession: {tools_file: " + at("tools.yaml") + "}\n" +
			"twilio: {auth_token_file: " + at("carrier") + ", secret_file: " + at("carrier") +
			", targets: [desk=" + number + "]}\n" +
			"webrtc: {ice_servers: ['stun:" + voice + ".example.com'], " +
			"turn_servers: ['turn:t.example.com'], turn_secret_file: " + at("turn") + "}\n" +
			"asterisk: {user: pbx, password_file: " + at("pbx") + ", ari_url: '" + t.crm.URL + "/ari', targets: [desk=" +
			voice + "]}\n" +
			"handoff: {tool: true, targets: [desk=" + voice + "]}\n" +
			"webhooks: {secret_file: " + at("hook") + ", end_url: '" + t.crm.URL + "/end', allow: [127.0.0.1, " +
			map[string]string{"Puck": "10.0.0.1", "Kore": "127.0.0.2"}[voice] + "]}\n"}
}

// newReloadTrial starts all that a reload changes, except the network, with a call of the rule.
func newReloadTrial(t *testing.T) *reloadTrial {
	r := &reloadTrial{T: t, dir: t.TempDir(), signed: make(chan string, 1), asked: make(chan string, 1),
		offer: newRelayedCall(t).offer(t)}
	r.crm = httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, req *http.Request) {
		if strings.HasPrefix(req.URL.Path, "/ari/") {
			r.asked <- req.FormValue("value")
		}
		body, _ := io.ReadAll(req.Body)
		for _, secret := range []string{oldSecret, newSecret} {
			if webhook.Verify([]byte(secret), req.Header.Get(webhook.SignatureHeader), body, time.Now(), time.Minute) == nil &&
				strings.Contains(string(body), `"probe"`) {
				r.signed <- secret
			}
		}
	}))
	t.Cleanup(r.crm.Close)
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
	s, err := newServing(set, &model{wire: live.Wire{BaseURL: scripted(t, "").URL()}}, zap.New(core))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.gw.Close() })
	if s.endpoints, err = openEndpoints(set, transferring{s.gw.Lines()}, s.log); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.endpoints.Close() })
	r.paths = s.tenants(s.endpoints.before(http.NotFoundHandler()))
	r.phones = httptest.NewServer(r.paths)
	t.Cleanup(r.phones.Close)
	a := &admin{}
	a.setToken(oldSecret)
	r.reloader = &reloader{serving: s, admin: a, level: zap.NewAtomicLevelAt(set.Log.Level), read: read, now: set}
	for _, secret := range []string{oldSecret, newSecret} {
		token := command(t, []string{settings.SecretVariable + "=" + secret}, "token").stdout
		r.tokens = append(r.tokens, strings.TrimSpace(token))
	}
	r.token = r.tokens[0]
	p, err := s.plan(t.Context(), &transport.Hello{From: "+1"})
	if err != nil {
		t.Fatal(err)
	}
	r.held = p.Release
	return r
}

// transferring are lines of a gateway on which calls of a proven carrier are transferred to desk at once.
type transferring struct{ transport.Lines }

// Take begins a handshake.
func (l transferring) Take(h transport.Handshake) (transport.Line, error) {
	if h.Proven {
		return transferred{}, nil
	}
	return l.Lines.Take(h)
}

// transferred is the line of such a call.
type transferred struct{}

// Check takes every hello.
func (transferred) Check(context.Context, *transport.Hello) error { return nil }

// Call transfers the call.
func (transferred) Call(ctx context.Context, p transport.Peer) error {
	_ = p.Ready(ctx, transport.Ready{})
	_ = p.Send(ctx, &transport.Message{Kind: transport.MessageTransfer, Text: "desk"})
	return p.Close(transport.ReasonTransferred, "")
}

// Release does nothing.
func (transferred) Release() {}

// desk calls as a carrier and as Asterisk, and returns to whom each call is transferred.
func (t *reloadTrial) desk() (number, extension string) {
	t.Helper()
	call := func(path, dialect string) (secret string) {
		for _, secret := range []string{oldSecret, newSecret} {
			r := http.Request{Header: http.Header{}}
			r.SetBasicAuth("pbx", secret)
			p, err := phonetest.Dial(t.Context(), phonetest.Config{URL: t.phones.URL + path, Header: r.Header, Dialect: dialect})
			if err == nil {
				<-p.Done()
				p.HangUp()
				return secret
			}
		}
		t.Errorf("%s takes no call", path)
		return oldSecret
	}
	carrier := &twilio{public: t.phones.URL, at: t.phones.URL, token: call("/v1/twilio", phonetest.Twilio)}
	number = carrier.post(t.T, "/v1/twilio/after")
	call("/v1/asterisk?channel=1", phonetest.Asterisk)
	return number, <-t.asked
}

// carrier returns the status that a carrier with these credentials gets at a path.
func (t *reloadTrial) carrier(path, credentials string) int {
	r := httptest.NewRequest("GET", "http://127.0.0.1/v1/"+path, nil)
	r.Header = http.Header{"Connection": {"Upgrade"}, "Upgrade": {"websocket"}, "Sec-Websocket-Version": {"13"},
		"Sec-Websocket-Key": {"dGhlIHNhbXBsZSBub25jZQ=="}, "Authorization": {credentials}}
	w := httptest.NewRecorder() // no connection to upgrade
	t.paths.ServeHTTP(w, r)
	return w.Code
}

// ice returns the servers that the answer to a WHIP request names, and the secret that made their credentials.
func (t *reloadTrial) ice() string {
	for _, token := range t.tokens {
		r := httptest.NewRequest("POST", "http://127.0.0.1/v1/whip", strings.NewReader(t.offer))
		r.Header = http.Header{"Content-Type": {"application/sdp"}, "Authorization": {"Bearer " + token}}
		w := httptest.NewRecorder()
		if t.paths.ServeHTTP(w, r); w.Code != http.StatusCreated {
			continue
		}
		end := httptest.NewRequest("DELETE", "http://127.0.0.1"+w.Header().Get("Location"), nil)
		end.Header = r.Header
		t.paths.ServeHTTP(httptest.NewRecorder(), end)
		said := ""
		for _, link := range w.Header().Values("Link") {
			server, rest, _ := strings.Cut(link, ";")
			said += server
			for _, secret := range []string{oldSecret, newSecret} {
				mac := hmac.New(sha1.New, []byte(secret))
				_, user, _ := strings.Cut(rest, `username="`)
				user, _, _ = strings.Cut(user, `"`)
				_, _ = io.WriteString(mac, user)
				if strings.Contains(rest, `"`+base64.StdEncoding.EncodeToString(mac.Sum(nil))+`"`) {
					said += " by " + secret
				}
			}
		}
		return said
	}
	t.Error("no caller by WebRTC is taken")
	return ""
}

// state says how the gateway treats a new call, a carrier and an operator.
func (t *reloadTrial) state() string {
	s := t.serving
	rules := s.rules.Load()
	_, err := s.guard.Verify(t.Context(), t.token, access.ScopeCalls)
	carrier := t.carrier("twilio", "Bearer "+oldSecret)
	pbx := t.carrier("asterisk", "Basic "+base64.StdEncoding.EncodeToString([]byte("pbx:"+oldSecret)))
	s.webhooks.queues["end"].Ended(voicegw.Record{Call: "probe"})
	var denied *fetch.DeniedError
	_, unsent := s.webhooks.client.Do(t.Context(), fetch.Request{Timeout: time.Second,
		URL: strings.Replace(t.crm.URL, "127.0.0.1", "127.0.0.2", 1)})
	p, full := s.plan(t.Context(), &transport.Hello{From: "+1"})
	if full == nil {
		p.Release()
	}
	names := []string{}
	for _, tool := range rules.tools {
		names = append(names, tool.Name)
	}
	number, extension := t.desk()
	return fmt.Sprintf("token %t, carrier %d, PBX %d, admin %q, level %v, voice %s, functions %v, rules %+v, "+
		"full %t, ICE %s, records signed by %s, denied %t, targets %v, number %s, extension %s", err == nil, carrier, pbx,
		*t.admin.token.Load(), t.level.Level(), rules.setup.Voice, names, rules.clients[0].Rule.Voice, full != nil,
		t.ice(), <-t.signed, errors.As(unsent, &denied), s.targets(), number, extension)
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
		"Asterisk's secret": {"pbx", newSecret, "", "asterisk.password_file"},
		"private addresses": {"voicegw.yaml", "allow: [127.0.0.1, ", "allow: [", `webhooks.allow: webhook: the URL begins`},
		"no address":        {"voicegw.yaml", "127.0.0.2]", "'x:1']", "webhooks.allow: fetch:"},
		"target":            {"voicegw.yaml", "Kore]}\nwebhooks", "a b]}\nwebhooks", "handoff.targets"},
		"number":            {"voicegw.yaml", "desk=+492", "desk=Ann", "twilio.targets: mediastream"},
		"extension":         {"voicegw.yaml", "desk=Kore]}\nhandoff", "desk=a/b]}\nhandoff", "asterisk.targets: asterisk"},
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

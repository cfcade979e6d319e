package main

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"go.uber.org/zap"

	"github.com/voicegw/voicegw/live/sim"
	"github.com/voicegw/voicegw/settings"
	"github.com/voicegw/voicegw/transport"
	"github.com/voicegw/voicegw/transport/ws"
)

const testSecret = "0123456789abcdef0123456789abcdef"

// mint is a token of `voicegw token`.
func mint(t *testing.T, args ...string) string {
	t.Helper()
	r := command(t, []string{settings.SecretVariable + "=" + testSecret}, append([]string{"token"}, args...)...)
	r.want(t, 0)
	return strings.TrimSpace(r.stdout)
}

// ended is how a call ended, or why it was refused.
func (s *served) ended(t *testing.T, token string) transport.Reason {
	t.Helper()
	h := hello()
	h.Token = token
	client, err := ws.Dial(t.Context(), s.voiceURL, h, ws.DialConfig{})
	if err == nil {
		_ = client.Close()
		return transport.ReasonNone
	}
	return refusal(err)
}

// TestTokens lets calls in by tokens, once each, and nobody else.
func TestTokens(t *testing.T) {
	t.Parallel()
	file := writeFile(t, "secret", []byte("another-secret-of-more-than-32-bytes\n"+testSecret+"\n"))
	s := startServe(t, nil, "--access-secret-file", file)
	good := mint(t, "--tenant", "acme", "--call-max", "1m", "--tools", "weather,time", "--calls", "2")
	twice := mint(t, "--connections", "2")
	newest := strings.TrimSpace(command(t, nil, "token", "--access-secret-file", file).stdout)
	for _, c := range []struct {
		name, token string
		want        transport.Reason
	}{
		{"good", good, transport.ReasonNone},
		{"good, again", good, transport.ReasonUnauthorized},
		{"of the newest secret", newest, transport.ReasonNone},
		{"none", "", transport.ReasonUnauthorized},
		{"of two connections", twice, transport.ReasonNone},
		{"its second", twice, transport.ReasonNone},
		{"its third", twice, transport.ReasonUnauthorized},
		{"for another", mint(t, "--access-audience", "shop"), transport.ReasonUnauthorized},
		{"for too long", mint(t, "--life", "2h"), transport.ReasonUnauthorized},
	} {
		if got := s.ended(t, c.token); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
	in := speech(t, "over")
	args := []string{"call", "--url", s.voiceURL, "--in", in, "--max", "1s"}
	command(t, []string{tokenVariable + "=" + mint(t)}, args...).want(t, 0, "model parrot")
	command(t, nil, args...).want(t, exitFailed, "unauthorized")
	resp, body := get(t, http.DefaultClient, s.url+"v1/voice?token="+mint(t))
	if resp.StatusCode != http.StatusUpgradeRequired || strings.Contains(body, "eyJ") {
		t.Errorf("a token in a URL: %s %q", resp.Status, body)
	}
	s.end()
	if strings.Contains(s.stderr.String(), "eyJ") || strings.Contains(s.stderr.String(), testSecret) {
		t.Errorf("a secret is in the log: %s", s.stderr.String())
	}
}

func TestTokenRefuses(t *testing.T) {
	t.Parallel()
	secret := []string{settings.SecretVariable + "=" + testSecret}
	for _, c := range []struct {
		env   []string
		args  []string
		words []string
	}{
		{nil, nil, []string{"no secret", "--access-secret-file", settings.SecretVariable}},
		{[]string{settings.SecretVariable + "=short-Secret"}, nil, []string{"at least 32 bytes", "not shown"}},
		{nil, []string{"--access-secret-file", writeFile(t, "empty", nil)}, []string{"one to eight secrets"}},
		{nil, []string{"--access-secret-file", "nope"}, []string{"no such file"}},
		{secret, []string{"--life", "25h"}, []string{"--life is 25h"}},
		{secret, []string{"--tools", "x", "--no-tools"}, []string{"contradict"}},
		{secret, []string{"--call-max", "1ms"}, []string{"whole seconds"}},
		{secret, []string{"--connections", "101"}, []string{"connections is 101"}},
		{secret, []string{"--calls", "-1"}, []string{"-1 calls"}},
		{secret, []string{"now"}, []string{`not "now"`}},
		{secret, []string{"--secret", "x"}, []string{"--secret"}},
	} {
		r := command(t, c.env, append([]string{"token"}, c.args...)...)
		r.want(t, exitUsage, c.words...)
		if strings.Contains(r.stderr, "short-Secret") {
			t.Errorf("a secret is shown: %s", r.stderr)
		}
	}
}

func TestAccessConfiguration(t *testing.T) {
	t.Parallel()
	key := []string{"GEMINI_API_KEY=k", settings.SecretVariable + "=" + testSecret}
	if _, err := configured(t, "listen: :8080", key); err != nil {
		t.Errorf("strangers, a key and tokens: %v", err)
	}
	for words, file := range map[string]string{
		"at your expense": "listen: :8080\naccess: {optional: true}",
		"access.jwks":     "access: {jwks: 'http://keys.example/'}",
		"60 to":           "access: {tenant_bytes_per_minute: 59}",
		"admin.listen":    "admin: {listen: ':9090'}",
		"acme_hosts":      "tls: {acme_hosts: [localhost]}",
		"either this":     "tls: {acme_hosts: [a.example], self_signed: true}",
		"acme_directory":  "tls: {acme_directory: 'http://x'}",
	} {
		if _, err := configured(t, file, key); err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("%s: %v", file, err)
		}
	}
}

// TestTokenSaysWhatTheModelGets asks the model for what a token names, with the tools it allows and
// no others.
func TestTokenSaysWhatTheModelGets(t *testing.T) {
	t.Parallel()
	model, err := sim.New(sim.Config{})
	if err == nil {
		err = model.Start("127.0.0.1:0")
	}
	if err != nil {
		t.Fatal(err)
	}
	defer model.Close()
	url := unproved(t, []string{settings.SecretVariable + "=" + testSecret}, "--model-base-url", model.URL(),
		"--session-tools-file",
		writeFile(t, "tools.json", []byte(`[{"name":"weather","description":"x"},{"name":"bank","description":"y"}]`)))
	s := &served{voiceURL: url + "/v1/voice"}
	for i, c := range []struct {
		args          []string
		weather, bank bool
		name          string
	}{
		{nil, true, true, "models/gemini-3.1"},
		{[]string{"--tools", "weather"}, true, false, "models/gemini-3.1"},
		{[]string{"--no-tools"}, false, false, "models/gemini-3.1"},
		{[]string{"--model", "gemini-own"}, true, true, "models/gemini-own"},
	} {
		if got := s.ended(t, mint(t, c.args...)); got != transport.ReasonNone {
			t.Fatalf("%q: %s", c.args, got)
		}
		setup := string(model.Connections()[i].Setup)
		if strings.Contains(setup, `"weather"`) != c.weather || strings.Contains(setup, `"bank"`) != c.bank {
			t.Errorf("%q: the model is told of %s", c.args, setup)
		}
		if !strings.Contains(setup, c.name) {
			t.Errorf("%q: want the model %s in %s", c.args, c.name, setup)
		}
	}
}

// unproved is the URL of what `serve` would serve, in this process and without the proofs.
func unproved(t *testing.T, env []string, args ...string) string {
	t.Helper()
	o, err := configured(t, "", env, append(args, "--listen", "127.0.0.1:0")...)
	if err != nil {
		t.Fatal(err)
	}
	m, err := openModel(o)
	if err != nil {
		t.Fatal(err)
	}
	s, err := newServing(o, m, zap.NewNop())
	if err == nil {
		err = s.open()
	}
	if err == nil {
		err = s.listen()
	}
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(s.gate)
	t.Cleanup(func() {
		err := errors.Join(s.gw.Close(), s.endpoints.Close(), s.server.listener.Close(), m.close())
		server.Close()
		if err != nil {
			t.Error(err)
		}
	})
	return server.URL
}

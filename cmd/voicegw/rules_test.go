//go:build unix

package main

import (
	"bytes"
	"errors"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/voicegw/voicegw/live/sim"
	"github.com/voicegw/voicegw/settings"
	"github.com/voicegw/voicegw/transport"
	"github.com/voicegw/voicegw/transport/ws"
)

// TestRulesForClients follows docs/rules.md: two clients with different tokens get different instructions, voices and
// functions; a reload changes the rules for calls that begin afterwards, and a file with a mistake changes nothing.
func TestRulesForClients(t *testing.T) {
	t.Parallel()
	model, err := sim.New(sim.Config{})
	if err == nil {
		err = model.Start("127.0.0.1:0")
	}
	if err != nil {
		t.Fatal(err)
	}
	defer model.Close()
	text := snippet(t, "docs/rules.md", "- name: blocked").text
	rules := writeFile(t, "rules.yaml", []byte(text))
	tools := writeFile(t, "tools.yaml", []byte("- {name: orders, description: tells the state of an order}\n"))
	secret := writeFile(t, "secret", bytes.Repeat([]byte("s"), 40))
	s := startServe(t, nil, "--rules", rules, "--session-tools-file", tools, "--access-secret-file", secret,
		"--model-base-url", model.URL(), "--handoff-targets", "sales=+4930123456", "--handoff-tool", "--admin-listen",
		"127.0.0.1:0", "--instructions", "The instructions of everybody.", "--model-temperature", "0.3",
		"--model-max-output-tokens", "500")
	token := func(args ...string) string {
		out := command(t, nil, append([]string{"token", "--access-secret-file", secret}, args...)...)
		out.want(t, 0)
		return strings.TrimSpace(out.stdout)
	}
	setup := func(args ...string) string {
		t.Helper()
		h := hello()
		h.Token = token(args...)
		c, err := ws.Dial(t.Context(), s.voiceURL, h, ws.DialConfig{})
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		var list []sim.Connection
		if !waitFor(func() bool { list = model.Connections(); return len(list) > 0 && len(list[len(list)-1].Setup) > 0 },
			patience) {
			t.Fatal("the model gets no call")
		}
		return string(list[len(list)-1].Setup)
	}
	for _, c := range []struct{ tenant, has, hasNot string }{
		{"acme",
			`You answer the phone of Acme.|Kore|orders|transfer|"temperature":0.2|"maxOutputTokens":500`, "everybody"},
		{"globex", `The instructions of everybody.|"temperature":0.3`, "Acme|Kore|orders|transfer"},
	} {
		got := setup("--tenant", c.tenant)
		for _, want := range strings.Split(c.has, "|") {
			if !strings.Contains(got, want) {
				t.Errorf("the model of %s has no %q: %s", c.tenant, want, got)
			}
		}
		for _, other := range strings.Split(c.hasNot, "|") {
			if strings.Contains(got, other) {
				t.Errorf("the model of %s has %q: %s", c.tenant, other, got)
			}
		}
	}
	if got := setup("--tenant", "acme", "--tools", "orders,else"); strings.Contains(got, "transfer") {
		t.Errorf("a token does not narrow its rule: %s", got)
	}
	reload := func(text, words string) {
		t.Helper()
		if err := os.WriteFile(rules, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		seen := len(s.stderr.String())
		s.signal(syscall.SIGHUP)
		s.stderr.waitForAfter(t, seen, words)
	}
	reload(strings.Replace(text, "voice:", "voise:", 1), `\"voise\" is no field of a rule; did you mean voice?`)
	if got := setup("--tenant", "acme"); !strings.Contains(got, "Kore") {
		t.Errorf("a file with a mistake changes the rules: %s", got)
	}
	reload("- {name: acme, when: {tenant: acme}, refuse: Acme has not paid.}\n", `{"settings": ["rules"]}`)
	if got := s.ended(t, token("--tenant", "acme")); got != transport.ReasonUnauthorized {
		t.Errorf("a call that the rules refuse ended by %q", got)
	}
	if got := setup("--tenant", "globex", "--tools", "orders"); !strings.Contains(got, "orders") {
		t.Errorf("after the reload, the model of globex has no function: %s", got)
	}
	s.end()
}

// TestRuleLimits: calls of a rule count together, also those that began before a reload. A call that is refused or over
// gives back its permit.
func TestRuleLimits(t *testing.T) {
	t.Parallel()
	read := func(text string) *settings.Settings {
		set, err := configured(t, "rules: "+writeFile(t, "rules.yaml", []byte(text)), nil)
		if err != nil {
			t.Fatal(err)
		}
		return set
	}
	hello := &transport.Hello{From: "+1"}
	s := &serving{settings: read("- {name: few, when: {from: '+1'}, calls: 2, labels: {team: shop}}")}
	list, _, err := clientRules(s.settings, nil)
	if err != nil {
		t.Fatal(err)
	}
	s.rules.Store(&callRules{clients: list})
	var release []func()
	for range 2 {
		p, err := s.plan(t.Context(), hello)
		if err != nil || p.Labels[ruleLabel] != "few" || p.Labels["team"] != "shop" {
			t.Fatal(p, err)
		}
		release = append(release, p.Release)
	}
	full := func(want bool) {
		t.Helper()
		p, err := s.plan(t.Context(), hello)
		var refused *transport.Refused
		if got := errors.As(err, &refused); got != want || want && refused.Reason != transport.ReasonLimit {
			t.Errorf("a call more: %v", err)
		}
		if p != nil && p.Release != nil {
			p.Release()
		}
	}
	full(true)
	if p, err := s.plan(t.Context(), &transport.Hello{From: "+2"}); err != nil || p.Labels != nil {
		t.Errorf("a call that no rule takes: %+v %v", p, err)
	}
	for _, c := range []struct {
		text string
		full bool
	}{
		{"- {name: few, when: {from: '+1'}, calls: 3}", false},
		{"- {name: few, when: {from: '+1'}, calls: 1}", true},
		{"- {name: few, when: {from: '+1'}}", false},
		{"- {name: few, when: {from: '+1'}, calls: 2}", true},
	} {
		before := s.rules.Load().clients
		var limit func()
		if list, limit, err = clientRules(read(c.text), before); err != nil {
			t.Fatal(err)
		}
		limit()
		s.rules.Store(&callRules{clients: list})
		full(c.full)
	}
	release[0]()
	full(false)
}

// TestRulesSchemaCommand prints the schema.
func TestRulesSchemaCommand(t *testing.T) {
	t.Parallel()
	out := command(t, nil, "config", "schema", "--rules")
	out.want(t, 0)
	if out.stdout != string(settings.RulesSchema()) {
		t.Errorf("it prints %.200s", out.stdout)
	}
}

// TestGreetingReload: a greeting changes at a reload, but neither comes nor goes, because the net depends on that.
func TestGreetingReload(t *testing.T) {
	t.Parallel()
	read := func(text string) *settings.Settings {
		set, err := configured(t, text, nil)
		if err != nil {
			t.Fatal(err)
		}
		return set
	}
	rules := "rules: " + writeFile(t, "rules.yaml", []byte("- {name: x, greeting: Say good morning.}"))
	for _, c := range []struct {
		before, after, key string
		held               bool
	}{
		{"greeting: Say hello.", "greeting: Say hi.", "greeting", false},
		{"greeting: Say hello.", "greeting: ''", "greeting", true},
		{"greeting: ''", "greeting: Say hi.", "greeting", true},
		{"greeting: Say hello.", rules, "rules", false},
		{"greeting: ''", rules, "rules", true},
	} {
		r := &reloader{serving: &serving{settings: read(c.before)}}
		if got := r.held(c.key, read(c.after)); got != c.held {
			t.Errorf("from %s to %s: %s needs a restart: %t", c.before, c.after, c.key, got)
		}
	}
	s := &serving{settings: read("greeting: Say hello.")}
	s.rules.Store(&callRules{greeting: "Say hello."})
	for _, c := range []struct {
		later []string
		want  string
	}{{[]string{"greeting"}, "Say hello."}, {nil, "Say hi."}} {
		p := &replacement{next: read("greeting: Say hi."), later: c.later}
		r := &reloader{serving: s, now: s.settings}
		if err := r.calls(p, hookTools{}); err != nil {
			t.Fatal(err)
		}
		r.commit(p)
		if p, err := s.plan(t.Context(), &transport.Hello{}); err != nil || p.Greeting != c.want {
			t.Errorf("restart for %q: the plan greets %q, %v; want %q", c.later, p.Greeting, err, c.want)
		}
	}
}

package webhook_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strings"
	"testing"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"

	"github.com/voicegw/voicegw"
	"github.com/voicegw/voicegw/agent/fetch"
	"github.com/voicegw/voicegw/live"
	"github.com/voicegw/voicegw/transport"
	"github.com/voicegw/voicegw/webhook"
)

// asked is a begin webhook in memory.
type asked struct {
	fetch.Response
	body string
}

// Do answers.
func (a *asked) Do(_ context.Context, r fetch.Request) (*fetch.Response, error) {
	a.body = string(r.Body)
	return &a.Response, nil
}

// begin asks a server that answers with a body, behind a token of a tenant.
func begin(t testing.TB, status int, body string, open bool) (p *voicegw.Plan, released bool, request string,
	err error) {
	t.Helper()
	return beginLogged(t, status, body, open, zap.NewNop())
}

func beginLogged(t testing.TB, status int, body string, open bool, log *zap.Logger) (p *voicegw.Plan, released bool,
	request string, err error) {
	t.Helper()
	server := &asked{Response: fetch.Response{Status: status, Body: []byte(body)}}
	h, err := webhook.New(webhook.Config{URL: "https://crm.example/begin", Secret: secret, Client: server, Tries: 1})
	if err != nil {
		t.Fatal(err)
	}
	greeting, planned := "Hello.", live.Setup{Voice: "Puck", Model: "a-model"}
	if open {
		greeting = "" // the settings have none
	}
	b := webhook.Begin{Hook: h, Open: open, Log: log, Models: voicegw.Names{List: []string{"big-model", "huge-model"}},
		Next: func(context.Context, *transport.Hello) (*voicegw.Plan, error) {
			return &voicegw.Plan{Labels: map[string]string{"tenant": "acme"}, Release: func() { released = true },
				Allow: func(tool string) bool { return tool != "secret" }, Greeting: greeting, Setup: &planned,
				Session: &voicegw.SessionRules{Generation: true, Voices: voicegw.Names{All: true},
					Models: voicegw.Names{All: true}}}, nil
		}}
	p, err = b.Plan(context.Background(), &transport.Hello{Endpoint: "twilio", From: "+491", To: "+492", Token: "a.b.c",
		Params: map[string]string{"campaign": "7"}})
	return p, released, server.body, err
}

// TestBegin: the server decides, within what is decided before it, and learns no token.
func TestBegin(t *testing.T) {
	t.Parallel()
	p, released, request, err := begin(t, 200, `{"instructions": "Be brief.", "tools": ["orders", "secret"],
		"greeting": "Hello Ann.", "voice": "Kore", "language": "de-DE", "model": "big-model", "temperature": 0.5,
		"labels": {"customer": "17", "tenant": "globex"}}`, false)
	if err != nil || released {
		t.Fatal(err, released)
	}
	if p.SystemInstruction != "Be brief." || !maps.Equal(p.Labels, map[string]string{"customer": "17", "tenant": "acme"}) {
		t.Errorf("the plan is %+v", p)
	}
	if s := p.Setup; p.Greeting != "Hello Ann." || s.Voice != "Kore" || s.Language != "de-DE" ||
		s.Model != "big-model" || s.Temperature == nil || *s.Temperature != 0.5 ||
		p.Session.Voices.Any() || p.Session.Models.Any() || p.Session.Generation {
		t.Errorf("the plan is %q, %+v, %+v", p.Greeting, s, p.Session)
	}
	for tool, want := range map[string]bool{"orders": true, "secret": false, "others": false} {
		if p.Allow(tool) != want {
			t.Errorf("the tool %s is allowed: %t", tool, !want)
		}
	}
	want := `{"type":"begin","call":{"endpoint":"twilio","from":"+491","to":"+492","params":{"campaign":"7"},` +
		`"labels":{"tenant":"acme"}}}`
	if request != want {
		t.Errorf("the server got %s, want %s", request, want)
	}
	for _, body := range []string{"", "{}", `{"tools": null}`} {
		if p, _, _, err := begin(t, 200, body, false); err != nil || p.SystemInstruction != "" || !p.Allow("others") ||
			p.Greeting != "Hello." || p.Setup.Voice != "Puck" || p.Setup.Model != "a-model" || p.Setup.Temperature != nil ||
			!p.Session.Voices.All || !p.Session.Models.All || !p.Session.Generation {
			t.Errorf("%q: %+v, %v", body, p, err)
		}
	}
}

// TestBeginRefused: the server refuses a call with words of its own. A server that does not decide lets no call begin,
// unless the operator wants that.
func TestBeginRefused(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		status int
		body   string
		open   bool
		reason transport.Reason
		words  string
	}{
		{200, `{"refuse": "We are closed."}`, false, transport.ReasonUnauthorized, "We are closed."},
		{200, `{"refuse": "We are closed."}`, true, transport.ReasonUnauthorized, "We are closed."},
		{500, ``, false, transport.ReasonBusy, "Try again later."},
		{200, `<html>`, false, transport.ReasonBusy, ""},
		{200, `{"instruction": "x"}`, false, transport.ReasonBusy, ""},
		{200, `{"refuse": "` + strings.Repeat("x", 121) + `"}`, false, transport.ReasonBusy, ""},
		{200, `{"labels": {"": "x"}}`, false, transport.ReasonBusy, ""},
		{200, `{"labels": {"a": "` + strings.Repeat("x", 257) + `"}}`, false, transport.ReasonBusy, ""},
		{200, `{"instructions": "` + strings.Repeat("x", 33<<10) + `"}`, false, transport.ReasonBusy, ""},
		{200, `{"labels": ` + many(17) + `}`, false, transport.ReasonBusy, ""},
		{200, `{"greeting": "` + strings.Repeat("x", 4001) + `"}`, false, transport.ReasonBusy, ""},
		{200, `{"greeting": "Hello."}`, true, transport.ReasonNone, ""}, // no decision: there is no greeting
		{200, `{"voice": "no voice"}`, false, transport.ReasonBusy, ""},
		{200, `{"language": "German!"}`, false, transport.ReasonBusy, ""},
		{200, `{"model": "other-model"}`, false, transport.ReasonBusy, ""},
		{200, `{"temperature": 2.1}`, false, transport.ReasonBusy, ""},
		{500, ``, true, transport.ReasonNone, ""},
		{200, `[]`, true, transport.ReasonNone, ""},
	} {
		p, released, _, err := begin(t, c.status, c.body, c.open)
		if c.reason == transport.ReasonNone {
			if err != nil || p.Labels["tenant"] != "acme" || released || p.Greeting != "" {
				t.Errorf("%d %.40s: %v", c.status, c.body, err)
			}
			continue
		}
		var refused *transport.Refused
		if !errors.As(err, &refused) || refused.Reason != c.reason || !strings.Contains(refused.Message, c.words) ||
			!released {
			t.Errorf("%d %.40s: %+v, %v; want %v with %q", c.status, c.body, p, err, c.reason, c.words)
		}
	}
}

// TestBeginSaysWhy: the log names what is wrong with a decision, once.
func TestBeginSaysWhy(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]string{
		`{"voice": "no voice"}`:    `Setup.Voice is "no voice"`,
		`{"model": "other-model"}`: `model is "other-model"; webhooks.begin_models allows big-model, huge-model`,
		`{"temperature": -1}`:      `Setup.Temperature is -1`,
	} {
		core, logs := observer.New(zapcore.DebugLevel)
		if _, _, _, err := beginLogged(t, 200, body, false, zap.New(core)); err == nil {
			t.Errorf("%s: the call begins", body)
		}
		for _, line := range logs.All() {
			if n := strings.Count(fmt.Sprint(line.Message, line.ContextMap()), want); n != 1 {
				t.Errorf("%s: %v says %q %d times", body, line.ContextMap(), want, n)
			}
		}
		if logs.Len() != 1 {
			t.Errorf("%s: the log has %d lines", body, logs.Len())
		}
	}
}

// many is an object with so many labels.
func many(n int) string {
	all := map[string]string{}
	for i := range n {
		all[fmt.Sprint(i)] = "x"
	}
	b, _ := json.Marshal(all)
	return string(b)
}

// FuzzBegin: whatever a server answers, the plan holds to the limits, or the call is refused.
func FuzzBegin(f *testing.F) {
	f.Add(`{"instructions":"x","tools":["a"],"labels":{"a":"b"}}`)
	f.Add(`{"refuse":"\u0000"}`)
	f.Add(`{"tools":[null]}`)
	f.Fuzz(func(t *testing.T, body string) {
		p, released, _, err := begin(t, 200, body, false)
		switch {
		case err != nil && (p != nil || !released):
			t.Errorf("%q: %+v beside %v", body, p, err)
		case err == nil && (len(p.Labels) > 17 || p.Labels["tenant"] != "acme" || p.Allow("secret") || released):
			t.Errorf("%q: %+v", body, p)
		}
	})
}

package webhook_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"

	"github.com/voicegw/voicegw"
	"github.com/voicegw/voicegw/agent/fetch"
	"github.com/voicegw/voicegw/webhook"
)

// answers is a server in memory that gives one answer after the other, and repeats the last one.
type answers struct {
	list []fetch.Response
	keys []string
}

// Do gives the next answer. Status 0 never comes.
func (a *answers) Do(ctx context.Context, r fetch.Request) (*fetch.Response, error) {
	a.keys = append(a.keys, r.Header.Get("Idempotency-Key"))
	next := a.list[0]
	if len(a.list) > 1 {
		a.list = a.list[1:]
	}
	if next.Status == 0 {
		select {
		case <-ctx.Done():
		case <-time.After(r.Timeout):
		}
		return nil, context.DeadlineExceeded
	}
	return &next, nil
}

// TestTool: what the server answers goes to the model, and if it does not answer well, the model learns why.
func TestTool(t *testing.T) {
	t.Parallel()
	html := http.Header{"Content-Type": {"text/html; charset=utf-8"}}
	for name, c := range map[string]struct {
		list   []fetch.Response
		want   string // the answer, or the error
		failed bool
		tries  int
		took   time.Duration
	}{
		"JSON":     {[]fetch.Response{{Status: 200, Body: []byte(` {"sent": true} `)}}, `{"sent": true}`, false, 1, 0},
		"a number": {[]fetch.Response{{Status: 201, Body: []byte(`7`)}}, `7`, false, 1, 0},
		"nothing":  {[]fetch.Response{{Status: 204}}, ``, false, 1, 0},
		"at last": {[]fetch.Response{{Status: 503}, {Status: 429}, {Status: 200, Body: []byte(`1`)}},
			`1`, false, 3, 750 * time.Millisecond},
		"later": {[]fetch.Response{{Status: 429, Header: http.Header{"Retry-After": {"3"}}},
			{Status: 200, Body: []byte(`1`)}},
			`1`, false, 2, 3 * time.Second},
		"much later": {[]fetch.Response{{Status: 429, Header: http.Header{"Retry-After": {"9999999"}}}},
			"status 429", true, 1, 0},
		"HTML": {[]fetch.Response{{Status: 200, Header: html, Body: []byte("<html>")}},
			`answered with "text/html", which is not JSON`, true, 1, 0},
		"half JSON": {[]fetch.Response{{Status: 200, Body: []byte(`{"sent":`)}}, `which is not JSON`, true, 1, 0},
		"too much": {[]fetch.Response{{Status: 200, Body: []byte(`"` + strings.Repeat("x", webhook.AnswerMax) + `"`)}},
			"answered with 65538 bytes", true, 1, 0},
		"moved":  {[]fetch.Response{{Status: 307}}, "status 307", true, 1, 0},
		"no":     {[]fetch.Response{{Status: 404}}, "status 404", true, 1, 0},
		"broken": {[]fetch.Response{{Status: 500}}, "status 500", true, 3, 750 * time.Millisecond},
		"slow":   {[]fetch.Response{{}}, "did not answer in time", true, 1, 5 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				server := &answers{list: c.list}
				h, err := webhook.New(webhook.Config{URL: "https://crm.example/orders?key=hidden", Secret: secret, Client: server,
					Timeout: 5 * time.Second})
				if err != nil {
					t.Fatal(err)
				}
				core, log := observer.New(zapcore.WarnLevel)
				began := time.Now()
				out, err := h.Tool(voicegw.Tool{Name: "orders"}, zap.New(core)).Call(context.Background(), json.RawMessage(`{}`))
				got := string(out)
				if err != nil {
					got = err.Error()
				}
				if (err != nil) != c.failed || !strings.Contains(got, c.want) || strings.Contains(got, "hidden") {
					t.Errorf("%q, %v; want %q", got, err, c.want)
				}
				if took := time.Since(began); took != c.took || len(server.keys) != c.tries {
					t.Errorf("%d tries took %v; want %d and %v", len(server.keys), took, c.tries, c.took)
				}
				for _, k := range server.keys {
					if k == "" || k != server.keys[0] {
						t.Errorf("the keys of the tries are %q", server.keys)
					}
				}
				if n := h.Count(webhook.OK); (n == 1) == c.failed || (log.Len() == 1) != c.failed {
					t.Errorf("%d requests went well, %d lines of the log", n, log.Len())
				}
			})
		})
	}
}

// TestToolNobodyWaitsFor: a call of a function that the model or the caller gives up is no failure of the server, and
// is not repeated. A log is optional.
func TestToolNobodyWaitsFor(t *testing.T) {
	t.Parallel()
	for name, first := range map[string]fetch.Response{"in a try": {}, "between tries": {Status: 503}} {
		synctest.Test(t, func(t *testing.T) {
			server := &answers{list: []fetch.Response{first}}
			h, err := webhook.New(webhook.Config{URL: "https://crm.example/", Secret: secret, Client: server,
				Backoff: 3 * time.Second})
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithCancel(t.Context())
			time.AfterFunc(time.Second, cancel)
			_, err = h.Tool(voicegw.Tool{Name: "orders"}, nil).Call(ctx, json.RawMessage(`{}`))
			if err == nil || h.Count(webhook.Cancelled) != 1 || h.Count(webhook.TimedOut)+h.Count(webhook.Failed) > 0 ||
				len(server.keys) != 1 {
				t.Errorf("%s: %v after %d tries, %d count as cancelled", name, err, len(server.keys),
					h.Count(webhook.Cancelled))
			}
		})
	}
}

// TestHookOnTheNetwork posts to a real server, and to no other than that of its URL.
func TestHookOnTheNetwork(t *testing.T) {
	t.Parallel()
	mux := http.NewServeMux()
	mux.HandleFunc("/orders", func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if err := webhook.Verify(secret, r.Header.Get(webhook.SignatureHeader), body, time.Now(), time.Minute); err != nil {
			http.Error(w, err.Error(), http.StatusForbidden)
			return
		}
		_, _ = w.Write(body)
	})
	mux.Handle("/moved", http.RedirectHandler("/elsewhere", http.StatusTemporaryRedirect))
	mux.HandleFunc("/elsewhere", func(http.ResponseWriter, *http.Request) { t.Error("a request went elsewhere") })
	server := httptest.NewServer(mux)
	defer server.Close()
	post := func(url string, allow ...string) (json.RawMessage, error) {
		client, err := fetch.New(fetch.Config{Allow: allow})
		if err != nil {
			t.Fatal(err)
		}
		defer client.Transport().CloseIdleConnections()
		h, err := webhook.New(webhook.Config{URL: url, Secret: secret, Allow: []string{"127.0.0.1"}, Client: client})
		if err != nil {
			t.Fatal(err)
		}
		return h.Post(t.Context(), "key", map[string]int{"n": 7})
	}
	if out, err := post(server.URL+"/orders", "127.0.0.1"); err != nil || string(out) != `{"n":7}` {
		t.Errorf("%s, %v", out, err)
	}
	if _, err := post(server.URL+"/moved", "127.0.0.1"); err == nil || !strings.Contains(err.Error(), "status 307") {
		t.Errorf("a redirect: %v", err)
	}
	_, err := post(server.URL + "/orders")
	var wrong *webhook.Error
	if !errors.As(err, &wrong) || wrong.Result != webhook.Failed || strings.Contains(err.Error(), "127.0.0.1") ||
		!errors.As(err, new(*fetch.DeniedError)) {
		t.Errorf("a private address that is not allowed: %v", err)
	}
}

// TestWebhookRefused: a hook has an https URL, or one of a host that is allowed, and a secret.
func TestWebhookRefused(t *testing.T) {
	t.Parallel()
	const good = "https://example.com/"
	for want, cfg := range map[string]webhook.Config{
		"the scheme of the URL": {Secret: secret}, "must be https": {URL: "http://127.0.0.1/x", Secret: secret},
		"the secret has 5 bytes": {URL: good, Secret: []byte("short")},
		"a user name":            {URL: "https://a:b@example.com", Secret: secret},
		"there are -1 tries":     {URL: good, Secret: secret, Tries: -1},
		"the timeout is 1ms":     {URL: good, Secret: secret, Timeout: time.Millisecond},
		"the backoff is 1h":      {URL: good, Secret: secret, Backoff: time.Hour},
		"bits behind":            {URL: good, Secret: secret, Allow: []string{"10.1.2.3/8"}},
	} {
		if _, err := webhook.New(cfg); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v; want %q", cfg, err, want)
		}
	}
	for url, allow := range map[string]string{"http://127.0.0.1/x": "127.0.0.1", "http://[::1]:8080/x": "[::1]",
		"http://crm.internal/x": "CRM.internal"} {
		if _, err := webhook.New(webhook.Config{URL: url, Secret: secret, Allow: []string{allow}}); err != nil {
			t.Errorf("%s with %s: %v", url, allow, err)
		}
	}
}

// TestSignature refuses what was changed, and what is old.
func TestSignature(t *testing.T) {
	t.Parallel()
	at, body := time.Unix(1767225660, 0), []byte(`{"n":7}`)
	good := webhook.Sign(secret, at, body)
	if want := "t=1767225660,v1="; !strings.HasPrefix(good, want) || len(good) != len(want)+64 {
		t.Errorf("the signature is %s", good)
	}
	for name, c := range map[string]struct {
		signature, body, want string
		late                  time.Duration
	}{
		"good":           {good, `{"n":7}`, "", time.Minute},
		"from tomorrow":  {good, `{"n":7}`, "old", -2 * time.Hour},
		"old":            {good, `{"n":7}`, "old", 2 * time.Hour},
		"another body":   {good, `{"n":8}`, "is wrong", 0},
		"another time":   {strings.Replace(good, "660", "661", 1), `{"n":7}`, "is wrong", 0},
		"no time":        {good[13:], `{"n":7}`, "is not t=SECONDS", 0},
		"a strange time": {strings.Replace(good, "1767225660", "x", 1), `{"n":7}`, "is not t=SECONDS", 0},
		"empty":          {"", `{"n":7}`, "is not t=SECONDS", 0},
	} {
		err := webhook.Verify(secret, c.signature, []byte(c.body), at.Add(c.late), time.Hour)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v; want %q", name, err, c.want)
		}
	}
	if webhook.Verify([]byte("another secret of it"), good, body, at, time.Hour) == nil {
		t.Error("another secret is taken")
	}
}

package main

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/voicegw/voicegw/live/sim"
	"github.com/voicegw/voicegw/settings"
	"github.com/voicegw/voicegw/transport"
	"github.com/voicegw/voicegw/transport/ws"
	"github.com/voicegw/voicegw/webhook"
)

// hookSecret signs the requests of tests.
const hookSecret = "0123456789abcdef0123456789abcdef"

// crm is an operator's HTTP server: it notes the requests with a good signature by path, and answers each path so.
type crm struct {
	*httptest.Server
	answers map[string]string

	mu  sync.Mutex
	got map[string][]string
}

func newCRM(t *testing.T, answers map[string]string) *crm {
	c := &crm{answers: answers, got: map[string][]string{}}
	c.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err == nil {
			err = webhook.Verify([]byte(hookSecret), r.Header.Get(webhook.SignatureHeader), body, time.Now(), time.Minute)
		}
		if err != nil {
			t.Errorf("%s: %v", r.URL, err)
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		c.got[r.URL.Path] = append(c.got[r.URL.Path], string(body))
		_, _ = io.WriteString(w, c.answers[r.URL.Path])
	}))
	t.Cleanup(c.Close)
	return c
}

// requests are the bodies of a path so far.
func (c *crm) requests(path string) []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]string(nil), c.got[path]...)
}

// scripted starts a model of a script.
func scripted(t *testing.T, script string) *sim.Server {
	t.Helper()
	s, err := sim.ParseScenario("a story", script)
	if err != nil {
		t.Fatal(err)
	}
	model, err := sim.New(sim.Config{Scenario: s, Speed: 20})
	if err == nil {
		err = model.Start("127.0.0.1:0")
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = model.Close() })
	return model
}

// received reports whether a model had a reply of a tool with a text in it.
func received(model *sim.Server, text string) bool {
	for _, c := range model.Connections() {
		for _, r := range c.ToolReplies {
			if strings.Contains(r.Response, text) {
				return true
			}
		}
	}
	return false
}

// TestWebhooks: servers of the operator plan a call, answer the model, and get the record.
func TestWebhooks(t *testing.T) {
	t.Parallel()
	c := newCRM(t, map[string]string{"/orders": `{"state": "late"}`, "/end": "thanks", "/page": "<html>",
		"/begin": `{"instructions": "The caller is Ann.", "tools": ["orders", "page"], "labels": {"customer": "17"}}`})
	model := scripted(t, `on text 1: call orders {"number":"4711"}
on tool_reply 1: call page {}
on tool_reply 2: call other {}`)
	tools := writeFile(t, "tools.yaml", []byte(strings.ReplaceAll(`
- {name: orders, description: knows orders, url: URL/orders, timeout: 5s,
   parameters: {type: object, properties: {number: {type: string}}}}
- {name: page, description: is broken, url: URL/page}
- {name: other, description: is not for this call, url: URL/other}
`, "URL", c.URL)))
	s := startServe(t, nil, "--model-base-url", model.URL(), "--webhooks-secret-file",
		writeFile(t, "hook.secret", []byte(hookSecret+"\n")), "--webhooks-allow", "127.0.0.1", "--webhooks-begin-url",
		c.URL+"/begin", "--webhooks-end-url", c.URL+"/end", "--session-tools-file", tools, "--admin-listen", "127.0.0.1:0")
	s.stderr.waitFor(t, "the admin listener is at ")
	admin := regexp.MustCompile(`the admin listener is at (\S+)`).FindStringSubmatch(s.stderr.String())[1]
	call, err := ws.Dial(t.Context(), s.voiceURL, transport.Hello{InputRateHz: 8000, OutputRateHz: 8000, Client: "desk",
		Params: map[string]string{"page": "7"}}, ws.DialConfig{})
	if err != nil {
		t.Fatal(err)
	}
	asks := &transport.Event{Kind: transport.EventText, Text: "Where is my order?"}
	if err := call.SendEvent(t.Context(), asks); err != nil {
		t.Fatal(err)
	}
	for what, want := range map[string]string{"the order": `{"output":{"state":"late"}}`, "a page": "which is not JSON",
		"a function that the call may not use": `there is no function`} {
		if !waitFor(func() bool { return received(model, want) }, patience) {
			t.Errorf("the model does not learn of %s: %+v", what, model.Connections())
		}
	}
	_, metrics := get(t, http.DefaultClient, admin+"metrics")
	for _, line := range []string{`voicegw_webhook_requests_total{hook="tool",result="ok"} 1`,
		`voicegw_webhook_requests_total{hook="tool",result="refused"} 1`, `voicegw_webhook_waiting{hook="end"} 0`} {
		if !strings.Contains(metrics, line) {
			t.Errorf("the metrics have no %s", line)
		}
	}
	_ = call.Close()
	if !waitFor(func() bool { return len(c.requests("/end")) == 1 }, patience) {
		t.Error("no record came")
	}
	id := call.Ready().Call
	for path, want := range map[string]string{
		"/begin":  `{"type":"begin","call":{"endpoint":"ws","client":"desk","params":{"page":"7"}}}`,
		"/orders": `"labels":{"customer":"17"}},"name":"orders","arguments":{"number":"4711"}}`,
		"/end":    `{"type":"end","record":{"call":"` + id + `"`,
	} {
		if got := strings.Join(c.requests(path), "\n"); !strings.Contains(got, want) {
			t.Errorf("%s got %s; want %s", path, got, want)
		}
	}
	got := string(model.Connections()[0].Setup)
	if !strings.Contains(got, "The caller is Ann.") || strings.Contains(got, `"other"`) {
		t.Errorf("the model was set up with %s", got)
	}
	s.end()
}

// TestBeginChoosesModel: the begin webhook chooses the model and the temperature of a call; a model that the token of
// the call names stays. A model that the operator does not allow begins no call, and the log names it.
func TestBeginChoosesModel(t *testing.T) {
	t.Parallel()
	c := newCRM(t, map[string]string{"/begin": `{"model": "gemini-big", "temperature": 0.5}`})
	model := scripted(t, "")
	s := startServe(t, []string{settings.SecretVariable + "=" + testSecret}, "--model-base-url", model.URL(),
		"--webhooks-secret-file", writeFile(t, "hook.secret", []byte(hookSecret)), "--webhooks-allow", "127.0.0.1",
		"--webhooks-begin-url", c.URL+"/begin", "--webhooks-begin-models", "gemini-big")
	token := func(args ...string) string {
		r := command(t, []string{settings.SecretVariable + "=" + testSecret}, append([]string{"token"}, args...)...)
		return strings.TrimSpace(r.stdout)
	}
	for want, args := range map[string][]string{"gemini-big": nil, "gemini-own": {"--model", "gemini-own"}} {
		before := len(model.Connections())
		if got := s.ended(t, token(args...)); got != transport.ReasonNone {
			t.Fatalf("%s: the call ended by %q\n%s", want, got, s.stderr.String())
		}
		setup := string(model.Connections()[before].Setup)
		if !strings.Contains(setup, want) || !strings.Contains(setup, `"temperature":0.5`) {
			t.Errorf("%s: the model was set up with %s", want, setup)
		}
	}
	c.mu.Lock()
	c.answers["/begin"] = `{"model": "gemini-other"}`
	c.mu.Unlock()
	if got := s.ended(t, token()); got != transport.ReasonBusy {
		t.Errorf("with a model that is not allowed the call ended by %q", got)
	}
	s.stderr.waitFor(t, `{"why": "model is \"gemini-other\"; webhooks.begin_models allows gemini-big"`)
	s.end()
}

// TestWebhookSettings names what is wrong with webhooks.
func TestWebhookSettings(t *testing.T) {
	t.Parallel()
	secret, short := writeFile(t, "secret", []byte(hookSecret)), writeFile(t, "short", []byte("short"))
	tools := func(text string) string { return writeFile(t, "tools.yaml", []byte(text)) }
	for want, args := range map[string][]string{
		"webhooks.end_url: webhook: the URL begins with http://": {"--webhooks-end-url=http://crm.example/x",
			"--webhooks-secret-file=" + secret},
		"webhooks.begin_url: webhooks.secret_file: the secret has 5 bytes": {"--webhooks-begin-url=https://crm.example/x",
			"--webhooks-secret-file=" + short},
		"orders: there is no secret to sign with": {"--session-tools-file=" +
			tools("[{name: orders, url: 'https://crm.example'}]")},
		"both agent and url": {"--session-tools-file=" +
			tools("[{name: x, url: 'https://a.example', agent: y}]")},
		`timeout is "1h"; a length of time from 1s to timing.tool_timeout (15s)`: {"--session-tools-file=" +
			tools("[{name: x, url: 'https://a.example', timeout: 1h}]")},
		"need url beside them": {"--session-tools-file=" + tools("[{name: x, timeout: 3s}]")},
		`unknown field "ulr"`:  {"--session-tools-file=" + tools("[{name: x, ulr: 'https://a.example'}]")},
	} {
		o, err := configured(t, "", nil, args...)
		if err == nil {
			err = opened(o)
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v; want %q", args, err, want)
		}
	}
}

// TestWebhooksInDocs: the request, the decision and the functions of docs/webhooks.md are those of the gateway.
func TestWebhooksInDocs(t *testing.T) {
	t.Parallel()
	strict := func(begins string, to any) {
		d := json.NewDecoder(strings.NewReader(snippet(t, "docs/webhooks.md", begins).text))
		d.DisallowUnknownFields()
		if err := d.Decode(to); err != nil {
			t.Errorf("%s: %v", begins, err)
		}
	}
	var decision webhook.Decision
	strict(`{"instructions"`, &decision)
	var request struct {
		Type, Name string
		Call       webhook.Call
		Arguments  json.RawMessage
	}
	strict(`{"type": "tool"`, &request)
	if request.Call.ID == "" || decision.Labels["customer"] != request.Call.Labels["customer"] {
		t.Errorf("%+v, %+v", request, decision)
	}
	o, err := configured(t, "", nil, "--session-tools-file", writeFile(t, "tools.yaml",
		[]byte(snippet(t, "docs/webhooks.md", "- name: orders").text)))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := o.Gateway(); err != nil || len(o.WebTools) != 1 || o.WebTools[0].Timeout != 5*time.Second {
		t.Errorf("%+v, %v", o.WebTools, err)
	}
	if u, err := url.Parse(o.WebTools[0].URL); err != nil || u.Host != "crm.example" {
		t.Errorf("%v, %v", u, err)
	}
}

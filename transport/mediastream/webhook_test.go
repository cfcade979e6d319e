package mediastream

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/voicegw/voicegw/transport"
)

// someLines are lines that anybody gets.
type someLines struct{}

type someLine struct{ transport.Line }

func (someLine) Release() {}

func (someLines) Take(transport.Handshake) (transport.Line, error) { return someLine{}, nil }

// post sends a webhook to an endpoint, signed as Twilio would unless unsigned, and returns the
// answer.
func post(t *testing.T, d *Endpoint, path, body string, edit func(r *http.Request)) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequest(http.MethodPost, "http://10.0.0.1"+path, strings.NewReader(body))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	form, _ := url.ParseQuery(body)
	r.Header.Set(signatureHeader, string(signature(token, "https://voice.example.com"+path, form)))
	if edit != nil {
		edit(r)
	}
	w := httptest.NewRecorder()
	d.ServeHTTP(w, r)
	return w
}

func publicEndpoint(t *testing.T, cfg Config) *Endpoint {
	t.Helper()
	cfg.AuthToken, cfg.PublicURL = token, "https://voice.example.com"
	cfg.Hosts = []string{"10.0.0.1"} // behind a proxy that does not hand the Host on
	if cfg.Lines == nil {
		cfg.Lines = someLines{}
	}
	d, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

const announced = "CallSid=CA1&From=%2B4930123&To=%2B4930456"

func TestVoice(t *testing.T) {
	d := publicEndpoint(t, Config{Parameters: func(_ context.Context, form url.Values) (map[string]string, error) {
		return map[string]string{"token": "t-" + form.Get("CallSid"), "customer": `"<&>'`, "empty": ""}, nil
	}})
	const query = "?instructions=sales&token=theirs&secret=theirs&pass=theirs&language=de-DE&from=x"
	w := post(t, d, "/v1/twilio/voice"+query, announced, nil)
	want := `<?xml version="1.0" encoding="UTF-8"?>
<Response><Connect action="https://voice.example.com/v1/twilio/after">` +
		`<Stream url="wss://voice.example.com/v1/twilio">` +
		`<Parameter name="customer" value="&#34;&lt;&amp;&gt;&#39;"/><Parameter name="from" value="+4930123"/>` +
		`<Parameter name="instructions" value="sales"/><Parameter name="language" value="de-DE"/>` +
		`<Parameter name="pass" value="` + passIn(t, w.Body.String()) + `"/>` +
		`<Parameter name="to" value="+4930456"/><Parameter name="token" value="t-CA1"/></Stream></Connect></Response>
`
	if w.Code != 200 || w.Body.String() != want || !strings.HasPrefix(w.Header().Get("Content-Type"), "text/xml") {
		t.Errorf("answered %d:\n%s\nwant\n%s", w.Code, w.Body, want)
	}
}

func TestVoiceRejects(t *testing.T) {
	if w := post(t, publicEndpoint(t, Config{Lines: noLines{}}), "/v1/twilio/voice", announced, nil); w.Code != 200 ||
		!strings.Contains(w.Body.String(), `<Response><Reject reason="busy"/></Response>`) {
		t.Errorf("without a line: %d %s", w.Code, w.Body)
	}
	no := func(context.Context, url.Values) (map[string]string, error) { return nil, errors.New("no") }
	w := post(t, publicEndpoint(t, Config{Parameters: no}), "/v1/twilio/voice", announced, nil)
	if !strings.Contains(w.Body.String(), "<Hangup/>") {
		t.Errorf("refused by Parameters: %s", w.Body)
	}
}

// TestWebhookIsProven: what is not Twilio's is refused, for both webhooks.
func TestWebhookIsProven(t *testing.T) {
	d := publicEndpoint(t, Config{})
	for _, path := range []string{"/v1/twilio/voice", "/v1/twilio/after"} {
		for _, tt := range []struct {
			name   string
			edit   func(r *http.Request)
			status int
		}{
			{"signed", nil, 200},
			{"not signed", func(r *http.Request) { r.Header.Del(signatureHeader) }, 403},
			{"wrongly signed", func(r *http.Request) { r.Header.Set(signatureHeader, sign("x")) }, 403},
			{"another address", func(r *http.Request) { r.URL.RawQuery = "instructions=other" }, 403},
			{"another form", func(r *http.Request) { r.Body = http.NoBody }, 403},
			{"JSON", func(r *http.Request) { r.Header.Set("Content-Type", "application/json") }, 415},
			{"no type", func(r *http.Request) { r.Header.Del("Content-Type") }, 415},
			{"a form that is none", func(r *http.Request) { r.URL.RawQuery = "%zz" }, 400},
		} {
			if w := post(t, d, path, announced, tt.edit); w.Code != tt.status {
				t.Errorf("%s, %s: %d, want %d", path, tt.name, w.Code, tt.status)
			}
		}
		if w := post(t, d, path, "a="+strings.Repeat("x", formBytesMax), nil); w.Code != 413 {
			t.Errorf("%s, a long form: %d, want 413", path, w.Code)
		}
	}
	open, _ := New(Config{Lines: someLines{}, Hosts: []string{"10.0.0.1"}})
	if w := post(t, open, "/v1/twilio/voice", announced, nil); w.Code != 403 {
		t.Errorf("nothing configured, not on the loopback: %d, want 403", w.Code)
	}
}

func TestAfter(t *testing.T) {
	d := publicEndpoint(t, Config{Targets: map[string]string{"sales": "+493099", "desk": "sip:desk@example.com"}})
	after := func(call string) string {
		w := post(t, d, "/v1/twilio/after", "CallSid="+call, nil)
		body := strings.TrimSpace(w.Body.String())
		return strings.TrimSuffix(body[strings.Index(body, "<Response>")+10:], "</Response>")
	}
	for _, tt := range []struct{ to, want string }{
		{"sales", "<Dial><Number>+493099</Number></Dial>"},
		{"desk", "<Dial><Sip>sip:desk@example.com</Sip></Dial>"},
		{"+441234", "<Dial><Number>+441234</Number></Dial>"},
		{"", ""}, {"ask for Ann", ""}, {"sip:nobody", ""}, {"sip:a@b <x>", ""}, {"1", ""}, {strings.Repeat("1", 33), ""},
		{"+49<Redirect>", ""}, {"4930;wait", ""},
	} {
		err := d.transfer("CA1")(t.Context(), tt.to)
		if (err == nil) != (tt.want != "") {
			t.Errorf("transfer to %q: %v", tt.to, err)
		}
		if tt.want == "" {
			tt.want = "<Hangup/>"
		}
		if got := after("CA1"); got != tt.want {
			t.Errorf("behind a transfer to %q: %s, want %s", tt.to, got, tt.want)
		}
		if got := after("CA1"); got != "<Hangup/>" {
			t.Errorf("asked again: %s", got)
		}
	}
	d = publicEndpoint(t, Config{AfterURL: "https://example.com/next?a=1&b=2"})
	if got := after("CA1"); got != "<Redirect>https://example.com/next?a=1&amp;b=2</Redirect>" {
		t.Errorf("with AfterURL: %s", got)
	}
}

func TestTransfersAreBounded(t *testing.T) {
	var tr transfers
	for i := range transfersMax + 10 {
		tr.put(strings.Repeat("x", i), "1")
	}
	if len(tr.open) != transfersMax {
		t.Errorf("%d transfers are remembered", len(tr.open))
	}
	if _, ok := tr.take(strings.Repeat("x", transfersMax+9)); !ok {
		t.Error("the last one was forgotten")
	}
	tr.open["old"] = transfer{"1", tr.open["xx"].at.Add(-2 * transferKept)}
	if _, ok := tr.take("old"); ok {
		t.Error("an old transfer was taken")
	}
}

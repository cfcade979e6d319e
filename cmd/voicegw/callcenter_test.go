package main

import (
	"crypto/hmac"
	"crypto/sha1"
	"encoding/base64"
	"io"
	"maps"
	"net/http"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/voicegw/voicegw/audio/audiotest"
	"github.com/voicegw/voicegw/transport"
	"github.com/voicegw/voicegw/transport/phone/phonetest"
)

// twilio is Twilio's side of a call: its requests have the signatures of an account.
type twilio struct {
	token, public string // of the account, and the address that it calls
	at            string // where that is
}

// sign is the signature of a request.
func (c *twilio) sign(address string, form url.Values) string {
	mac := hmac.New(sha1.New, []byte(c.token))
	_, _ = io.WriteString(mac, address)
	for _, name := range slices.Sorted(maps.Keys(form)) {
		_, _ = io.WriteString(mac, name+form.Get(name))
	}
	return base64.StdEncoding.EncodeToString(mac.Sum(nil))
}

// post makes a signed request and returns the TwiML.
func (c *twilio) post(t *testing.T, path string) string {
	t.Helper()
	form := url.Values{"CallSid": {"CA1"}, "From": {"+4930111"}, "To": {"+4930222"}}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, c.at+path, strings.NewReader(form.Encode()))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("X-Twilio-Signature", c.sign(c.public+path, form))
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("%s: %s %s %v", path, resp.Status, b, err)
	}
	return string(b)
}

// call opens the stream that TwiML names.
func (c *twilio) call(t *testing.T, twiml string) *phonetest.Phone {
	t.Helper()
	stream := regexp.MustCompile(`<Stream url="([^"]+)">`).FindStringSubmatch(twiml)
	if stream == nil || !strings.HasPrefix(stream[1], "wss"+strings.TrimPrefix(c.public, "https")) {
		t.Fatalf("the webhook was answered by %s", twiml)
	}
	params := map[string]string{}
	for _, p := range regexp.MustCompile(`<Parameter name="([^"]+)" value="([^"]*)"/>`).FindAllStringSubmatch(twiml, -1) {
		params[p[1]] = p[2]
	}
	path := strings.TrimPrefix(stream[1], "wss"+strings.TrimPrefix(c.public, "https"))
	p, err := phonetest.Dial(t.Context(), phonetest.Config{URL: "ws" + strings.TrimPrefix(c.at, "http") + path,
		Header: http.Header{"X-Twilio-Signature": {c.sign(stream[1], nil)}}, Params: params})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.HangUp)
	return p
}

// callCenter starts the gateway of docs/callcenter.md, with an operator's server and a model.
func callCenter(t *testing.T, c *crm, modelURL string) (*served, *twilio) {
	t.Helper()
	carrier := &twilio{token: strings.Repeat("t", 32), public: "https://voice.example.com"}
	tools := writeFile(t, "tools.yaml", []byte(strings.ReplaceAll(snippet(t, "docs/callcenter.md", "- name: orders").text,
		"https://crm.example", c.URL)))
	file := strings.NewReplacer("https://crm.example", c.URL, "tools.yaml", tools, "archive: calls", "archive: "+
		filepath.Join(t.TempDir(), "calls"), "twilio.token", writeFile(t, "twilio.token", []byte(carrier.token)),
		"hook.secret", writeFile(t, "hook.secret", []byte(hookSecret)), "consent.wav", speech(t, "hello")).
		Replace(snippet(t, "docs/callcenter.md", "endpoints: [twilio]").text)
	s := startServe(t, nil, "--config", writeFile(t, "voicegw.yaml", []byte(file)), "--model-base-url", modelURL,
		"--webhooks-allow", "127.0.0.1", "--admin-listen", "127.0.0.1:0")
	carrier.at = strings.TrimSuffix(s.url, "/")
	return s, carrier
}

// TestCallCenter follows docs/callcenter.md: a telephone call with consent by a key, a secret number, a function that
// the operator's server answers, and a transfer.
func TestCallCenter(t *testing.T) {
	t.Parallel()
	c := newCRM(t, map[string]string{"/begin": `{"instructions": "The caller is Ann Lee."}`,
		"/orders": `{"state": "late"}`})
	model := scripted(t, `on turn 1: call orders {"number":"4711"}
on tool_reply 1: call transfer {"target":"people"}`)
	s, carrier := callCenter(t, c, model.URL())
	p := carrier.call(t, carrier.post(t, "/v1/twilio/voice"))
	if !waitFor(func() bool { return audiotest.FirstLoud(p.Heard(), 8000) >= 0 && len(p.Heard()) > 8000 }, patience) {
		t.Fatal("the caller is not asked for consent")
	}
	for _, key := range strings.Split("1*5105#", "") {
		p.Press(key)
	}
	if !waitFor(func() bool { return len(c.requests("/digits")) == 1 }, patience) {
		t.Errorf("no digits came\n%s", s.stderr.String())
	}
	said := audiotest.Resample(audiotest.Speech("question"), 8000).Samples
	asked := func() bool { return len(c.requests("/orders")) > 0 }
	for try := 0; try < 3 && !asked(); try++ { // the greeting may be playing still
		p.Say(said)
		waitFor(asked, patience/3)
	}
	if !waitFor(func() bool { return received(model, `{"output":{"state":"late"}}`) }, patience) {
		t.Errorf("the model does not learn of the order: %+v\n%s", model.Connections(), s.stderr.String())
	}
	<-p.Done()
	if code, _ := p.End(); code != transport.ReasonTransferred.Code() {
		t.Errorf("the stream was closed with %d\n%s", code, s.stderr.String())
	}
	if got := carrier.post(t, "/v1/twilio/after"); !strings.Contains(got, "<Dial><Number>+4930123456</Number></Dial>") {
		t.Errorf("behind the stream Twilio is told %s", got)
	}
	if !waitFor(func() bool { return len(c.requests("/end")) == 1 }, patience) {
		t.Error("no record came")
	}
	for path, want := range map[string]string{"/begin": `"from":"+4930111","to":"+4930222"`, "/digits": `"digits":"5105"`,
		"/orders": `"arguments":{"number":"4711"}`, "/end": `"reason":"transferred"`} {
		if got := strings.Join(c.requests(path), "\n"); !strings.Contains(got, want) {
			t.Errorf("%s got %s; want %s", path, got, want)
		}
	}
	for _, conn := range model.Connections() {
		setup := string(conn.Setup)
		if !strings.Contains(setup, "The caller is Ann Lee.") || strings.Contains(setup, "+4930123456") {
			t.Errorf("the model was set up with %s", setup)
		}
	}
	if strings.Contains(s.stderr.String(), "5105") {
		t.Error("the log has the secret number")
	}
	s.end()
}

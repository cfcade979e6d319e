package rtc_test

import (
	"bytes"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pion/webrtc/v4"

	"github.com/voicegw/voicegw"
	"github.com/voicegw/voicegw/access"
	"github.com/voicegw/voicegw/live/sim"
	"github.com/voicegw/voicegw/transport"
	"github.com/voicegw/voicegw/transport/openai"
	"github.com/voicegw/voicegw/transport/rtc"
)

const realtimePath = "/v1/realtime/calls"

// realtime is a caller that speaks OpenAI's Realtime API over a data channel.
type realtime struct {
	*pipecat
	location string
}

// realtimeCalls is the handler for such callers.
func realtimeCalls(e *rtc.Endpoint, secrets *openai.Secrets) http.Handler {
	return e.RealtimeCalls(openai.Name, func(key string, session []byte) (string, rtc.Configurer, error) {
		token, c, err := secrets.Call(key, session)
		return token, c, err
	})
}

func newSecrets(t *testing.T, l transport.Lines) *openai.Secrets {
	t.Helper()
	s, err := openai.NewSecrets(openai.Config{Lines: l})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// send sends a request to a handler.
func send(h http.Handler, method, path, kind, key, body string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, "http://127.0.0.1"+path, strings.NewReader(body))
	r.Header.Set("Content-Type", kind)
	if key != "" {
		r.Header.Set("Authorization", "Bearer "+key)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// form is a body with these fields, and its type.
func form(t *testing.T, fields ...string) (kind, body string) {
	t.Helper()
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	for i := 0; i < len(fields); i += 2 {
		if err := w.WriteField(fields[i], fields[i+1]); err != nil {
			t.Fatal(err)
		}
	}
	_ = w.Close()
	return w.FormDataContentType(), b.String()
}

// realtime makes a call with a session, "" for none.
func (w *world) realtime(t *testing.T, session string) *realtime {
	t.Helper()
	p := &realtime{pipecat: &pipecat{caller: w.prepare(manner{noData: true}),
		handler: realtimeCalls(w.endpoint, newSecrets(t, w.gw.Lines()))}}
	var err error
	if p.dc, err = p.pc.CreateDataChannel("oai-events", nil); err != nil {
		t.Fatal(err)
	}
	p.dc.OnOpen(func() { p.change(func() { p.open = true }) })
	p.dc.OnMessage(func(m webrtc.DataChannelMessage) { p.change(func() { p.said = append(p.said, string(m.Data)) }) })
	kind, body := "application/sdp", p.offer(nil)
	if session != "" {
		kind, body = form(t, "sdp", body, "session", session)
	}
	resp := send(p.handler, http.MethodPost, realtimePath, kind, "key", body)
	if resp.Code != http.StatusCreated || resp.Header().Get("Content-Type") != "application/sdp" {
		t.Fatalf("the offer is answered %d %s", resp.Code, resp.Body)
	}
	p.location = resp.Header().Get("Location")
	p.join(resp.Body.String())
	p.until("the data channel is open", func() bool { return p.open })
	return p
}

// TestRealtimeCall is a program that only sends sound and hangs up over HTTP: the call begins though
// it sends no event.
func TestRealtimeCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hellos := make(chan transport.Hello, 1)
		cfg := voicegw.Config{Hooks: voicegw.Hooks{Running: func(s *voicegw.Session) { hellos <- s.Hello() }}}
		bubble(t, sim.Config{}, cfg, func(t *testing.T, w *world) {
			p := w.realtime(t, "")
			p.reads(`"type":"session.created"`)
			if h := <-hellos; h.Endpoint != "openai" || h.Token != "key" || h.InputRateHz != 16000 {
				t.Errorf("the hello is %+v", h)
			}
			p.say(speech("hello"))
			p.reads(`"output_audio_buffer.stopped"`)
			p.hears(0, speech("hello"), 0.95)
			if resp := send(p.handler, http.MethodPost, p.location+"/hangup", "", "another", ""); resp.Code != 404 {
				t.Errorf("another key's hang-up is answered %d", resp.Code)
			}
			if resp := send(p.handler, http.MethodPost, p.location+"/hangup", "", "key", ""); resp.Code != 200 {
				t.Errorf("the hang-up is answered %d %s", resp.Code, resp.Body)
			}
			w.eventually("the call is over", func() bool { return w.gw.Calls() == 0 })
		})
	})
}

// TestRealtimePushToTalk holds a button: the model hears what was committed, when it is asked to
// answer, and the caller hears no more of a reply that the client clears.
func TestRealtimePushToTalk(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		p := w.realtime(t, `{"type":"realtime","audio":{"input":{"turn_detection":null}}}`)
		p.tell(`{"type":"input_audio_buffer.clear"}`)
		p.reads(`"input_audio_buffer.cleared"`)
		p.say(speech("hello"))
		p.listenFor(4 * time.Second)
		p.tell(`{"type":"input_audio_buffer.commit"}`)
		p.tell(`{"type":"response.create"}`)
		p.reads(`"output_audio_buffer.stopped"`)
		p.hears(0, speech("hello"), 0.95)
		p.tell(`{"type":"conversation.item.create","item":{"type":"message","role":"user","content":[` +
			`{"type":"input_text","text":"Say something that takes a while to say, please."}]}}`)
		p.tell(`{"type":"response.create"}`)
		p.until("another reply begins", func() bool {
			return strings.Count(strings.Join(p.said, "\n"), `"output_audio_buffer.started"`) == 2
		})
		p.tell(`{"type":"response.cancel"}`)
		p.tell(`{"type":"output_audio_buffer.clear"}`)
		p.reads(`"output_audio_buffer.cleared"`)
		p.reads(`"client_cancelled"`)
		p.listenFor(200 * time.Millisecond)
		from := p.listened()
		p.listenFor(time.Second)
		for i, s := range p.sound(from) {
			if s > 100 || s < -100 {
				t.Fatalf("sample %d behind the clear is %d", i, s)
			}
		}
	})
}

// listened is how many samples were heard.
func (c *caller) listened() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.length
}

// TestRealtimeRefuses says which part of a request is wrong.
func TestRealtimeRefuses(t *testing.T) {
	t.Parallel()
	w := newStage(t, newLines(), rtc.Config{})
	handler := realtimeCalls(w.endpoint, newSecrets(t, newLines()))
	good := w.prepare(manner{}).offer(nil)
	forms := func(fields ...string) [2]string {
		kind, body := form(t, fields...)
		return [2]string{kind, body}
	}
	sdp := "application/sdp"
	for name, tt := range map[string]struct {
		method, key string
		body        [2]string // its type, and itself
		status      int
	}{
		"good":                 {http.MethodPost, "", [2]string{sdp, good}, 201},
		"a form":               {http.MethodPost, "", forms("sdp", good, "session", `{"type":"realtime"}`), 201},
		"an unknown secret":    {http.MethodPost, "ek_x", [2]string{sdp, good}, 401},
		"no SDP":               {http.MethodPost, "", [2]string{sdp, ""}, 400},
		"a form without SDP":   {http.MethodPost, "", forms("session", `{}`), 400},
		"a bad session":        {http.MethodPost, "", forms("sdp", good, "session", `[]`), 400},
		"no form":              {http.MethodPost, "", [2]string{"multipart/form-data; boundary=x", "hello"}, 400},
		"a long SDP":           {http.MethodPost, "", [2]string{sdp, strings.Repeat("x", 1<<20)}, 413},
		"a long SDP in a form": {http.MethodPost, "", forms("sdp", strings.Repeat("x", 1<<20)), 413},
		"a long session":       {http.MethodPost, "", forms("sdp", good, "session", strings.Repeat("x", 2<<20)), 413},
		"JSON":                 {http.MethodPost, "", [2]string{jsonType, `{}`}, 415},
		"one way": {http.MethodPost, "", [2]string{sdp, strings.ReplaceAll(good, "a=sendrecv", "a=sendonly")},
			406},
		"get":       {http.MethodGet, "", [2]string{sdp, ""}, 405},
		"preflight": {http.MethodOptions, "", [2]string{sdp, ""}, 200},
	} {
		if resp := send(handler, tt.method, realtimePath, tt.body[0], tt.key, tt.body[1]); resp.Code != tt.status {
			t.Errorf("%s: %d %s, want %d", name, resp.Code, resp.Body, tt.status)
		}
	}
}

// TestRealtimeSecretOfToken: a client secret stands for a call token that is good for one call. A
// token that is not valid makes none.
func TestRealtimeSecretOfToken(t *testing.T) {
	t.Parallel()
	key := []byte(strings.Repeat("k", access.SecretLenMin))
	guard, err := access.New(access.Config{Secrets: [][]byte{key}})
	if err != nil {
		t.Fatal(err)
	}
	w := newStage(t, access.NewLines(newLines(), guard), rtc.Config{})
	secrets := newSecrets(t, access.NewLines(newLines(), guard))
	handler, good := realtimeCalls(w.endpoint, secrets), w.prepare(manner{}).offer(nil)
	ask := func(token string) *httptest.ResponseRecorder {
		return send(secrets, http.MethodPost, "/v1/realtime/client_secrets", jsonType, token, `{}`)
	}
	for _, token := range []string{"", "wrong"} {
		if resp := ask(token); resp.Code != 401 || !strings.Contains(resp.Body.String(), `"invalid_request_error"`) {
			t.Errorf("the token %q is answered %d %s", token, resp.Code, resp.Body)
		}
	}
	token, err := access.Mint(key, access.Claims{ID: "1", Expiry: time.Now().Add(time.Minute)})
	if err != nil {
		t.Fatal(err)
	}
	resp := ask(token)
	_, secret, _ := strings.Cut(resp.Body.String(), `"value":"`)
	secret, _, _ = strings.Cut(secret, `"`)
	for i, want := range []int{201, 401} {
		resp := send(handler, http.MethodPost, realtimePath, "application/sdp", secret, good)
		if resp.Code != want {
			t.Errorf("offer %d with one secret is answered %d %s, want %d", i+1, resp.Code, resp.Body, want)
		}
	}
}

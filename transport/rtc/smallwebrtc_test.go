package rtc_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pion/webrtc/v4"

	"github.com/voicegw/voicegw"
	"github.com/voicegw/voicegw/live/sim"
	"github.com/voicegw/voicegw/transport"
	"github.com/voicegw/voicegw/transport/rtc"
	"github.com/voicegw/voicegw/transport/rtvi"
)

const jsonType = "application/json"

// pipecat is a caller that speaks RTVI over a data channel, as Pipecat's SmallWebRTCTransport does.
type pipecat struct {
	*caller
	handler http.Handler
	id      string   // pc_id
	said    []string // guarded by the caller's mu
}

func speakRTVI() rtc.Dialect { return rtvi.NewChannel() }

// ask sends a request to the handler for Pipecat's clients.
func ask(t *testing.T, handler http.Handler, method string, body any, header ...string) (status int,
	answer map[string]string) {
	t.Helper()
	b, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	r := httptest.NewRequest(method, "http://127.0.0.1/api/offer", strings.NewReader(string(b)))
	r.Header.Set("Content-Type", jsonType)
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	handler.ServeHTTP(w, r)
	_ = json.Unmarshal(w.Body.Bytes(), &answer)
	return w.Code, answer
}

// pipecat makes a call.
func (w *world) pipecat(t *testing.T, requestData any) *pipecat {
	t.Helper()
	p := &pipecat{caller: w.prepare(manner{noData: true}), handler: w.endpoint.SmallWebRTC("rtvi", speakRTVI)}
	var err error
	if p.dc, err = p.pc.CreateDataChannel("chat", nil); err != nil {
		t.Fatal(err)
	}
	p.dc.OnOpen(func() { p.change(func() { p.open = true }) })
	p.dc.OnMessage(func(m webrtc.DataChannelMessage) { p.change(func() { p.said = append(p.said, string(m.Data)) }) })
	status, answer := ask(t, p.handler, http.MethodPost, map[string]any{"sdp": p.offer(nil), "type": "offer", "pc_id": nil,
		"restart_pc": false, "requestData": requestData}, "Authorization", "Bearer secret")
	if status != http.StatusOK || answer["type"] != "answer" {
		t.Fatalf("the offer is answered %d %v", status, answer)
	}
	p.id = answer["pc_id"]
	p.join(answer["sdp"])
	p.until("the data channel is open", func() bool { return p.open })
	return p
}

// tell sends a message.
func (p *pipecat) tell(text string) {
	p.t.Helper()
	if err := p.dc.SendText(text); err != nil {
		p.t.Fatal(err)
	}
}

// reads waits for a message that holds a text.
func (p *pipecat) reads(text string) {
	p.t.Helper()
	p.until("the caller reads "+text, func() bool { return strings.Contains(strings.Join(p.said, "\n"), text) })
}

const clientReady = `{"label":"rtvi-ai","type":"client-ready","id":"r-1","data":{"version":"2.1.0"}}`

// TestSmallWebRTC is a call of Pipecat's: its events are those of RTVI, its fields those of Pipecat's
// requests.
func TestSmallWebRTC(t *testing.T) {
	hellos := make(chan transport.Hello, 1)
	cfg := voicegw.Config{Hooks: voicegw.Hooks{Running: func(s *voicegw.Session) { hellos <- s.Hello() }}}
	synctest.Test(t, func(t *testing.T) {
		bubble(t, sim.Config{}, cfg, func(t *testing.T, w *world) { pipecatTalks(t, w, hellos) })
	})
}

// pipecatTalks is the story of TestSmallWebRTC.
func pipecatTalks(t *testing.T, w *world, hellos <-chan transport.Hello) {
	t.Helper()
	p := w.pipecat(t, map[string]any{"customer": "12", "vip": true})
	p.tell("ping: 1")
	p.tell(`{"type":"signalling","message":{"type":"trackStatus","receiver_index":0,"enabled":true}}`)
	p.tell(clientReady)
	p.reads(`"type":"bot-ready","id":"r-1"`)
	if h := <-hellos; h.Endpoint != "rtvi" || h.Params["customer"] != "12" || h.Params["vip"] != "true" {
		t.Errorf("the hello is %+v", h)
	}
	p.say(speech("hello"))
	p.reads(`"bot-stopped-speaking"`)
	p.reads(`"user-transcription"`)
	p.reads(`"bot-transcription"`)
	p.hears(0, speech("hello"), 0.95)
	status, answer := ask(t, p.handler, http.MethodPatch, map[string]any{"pc_id": p.id, "candidates": []any{
		map[string]any{"candidate": "candidate:1 1 udp 1 192.0.2.1 9 typ host", "sdp_mid": "0"}}},
		"Authorization", "Bearer secret")
	if status != http.StatusOK || answer["status"] != "success" {
		t.Errorf("candidates are answered %d %v", status, answer)
	}
	again := p.offer(&webrtc.OfferOptions{ICERestart: true})
	status, answer = ask(t, p.handler, http.MethodPost, map[string]any{"sdp": again, "type": "offer", "pc_id": p.id},
		"Authorization", "Bearer secret")
	if status != http.StatusOK || answer["pc_id"] != p.id || w.gw.Calls() != 1 {
		t.Fatalf("another offer of the call is answered %d %v, %d calls run", status, answer, w.gw.Calls())
	}
	next := webrtc.SessionDescription{Type: webrtc.SDPTypeAnswer, SDP: answer["sdp"]}
	if err := p.pc.SetRemoteDescription(next); err != nil {
		t.Fatal(err)
	}
	p.listenFor(500 * time.Millisecond)
	p.tell(`{"label":"rtvi-ai","type":"send-text","id":"t-1","data":{"content":"Are you there?"}}`)
	w.read("Are you there?")
	p.tell(`{"label":"rtvi-ai","type":"disconnect-bot"}`)
	p.reads(`"peerLeft"`)
	w.eventually("the call is over", func() bool { return w.gw.Calls() == 0 })
}

// TestSmallWebRTCRestarts: a client that makes its connection anew leaves its old call.
func TestSmallWebRTCRestarts(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		p := w.pipecat(t, nil)
		p.tell(clientReady)
		p.reads("bot-ready")
		next := w.prepare(manner{noData: true})
		if _, err := next.pc.CreateDataChannel("chat", nil); err != nil {
			t.Fatal(err)
		}
		status, answer := ask(t, p.handler, http.MethodPost, map[string]any{"sdp": next.offer(nil), "type": "offer",
			"pc_id": p.id, "restart_pc": true}, "Authorization", "Bearer secret")
		if status != http.StatusOK || answer["pc_id"] == p.id {
			t.Errorf("the restart is answered %d %v", status, answer)
		}
		p.reads("peerLeft")
	})
}

// TestSmallWebRTCWaits ends the call of a client that does not introduce itself, or not as such.
func TestSmallWebRTCWaits(t *testing.T) {
	for first, reason := range map[string]transport.Reason{
		"ping": transport.ReasonHelloTimeout, "nonsense": transport.ReasonBadJSON,
		`{"label":"rtvi-ai","type":"send-text"}`: transport.ReasonEventBeforeHello,
	} {
		stageInBubble(t, func(t *testing.T, w *world, l *lines) {
			p := w.pipecat(t, nil)
			p.tell(first)
			peer := <-l.peers
			if err := peer.Ready(t.Context(), transport.Ready{Call: "c-1"}); err == nil {
				t.Errorf("after %q the call is ready", first)
			}
			if e := ending(t, peer); e.Reason != reason {
				t.Errorf("%q ended the call by %s", first, e.Reason)
			}
		})
	}
}

// TestSmallWebRTCRefuses says which part of a request is wrong.
func TestSmallWebRTCRefuses(t *testing.T) {
	t.Parallel()
	l := newLines()
	w := newStage(t, l, rtc.Config{})
	handler := w.endpoint.SmallWebRTC("rtvi", speakRTVI)
	good, bare := w.prepare(manner{}).offer(nil), w.prepare(manner{noData: true}).offer(nil)
	offer := func(sdp string) map[string]any { return map[string]any{"sdp": sdp, "type": "offer"} }
	many := map[string]any{"candidates": make([]map[string]string, 40)}
	for name, tt := range map[string]struct {
		method string
		body   any
		kind   string
		status int
	}{
		"good":            {http.MethodPost, offer(good), jsonType, 200},
		"no JSON":         {http.MethodPost, "x", jsonType, 400},
		"no offer":        {http.MethodPost, map[string]any{"sdp": good, "type": "answer"}, jsonType, 400},
		"no SDP":          {http.MethodPost, offer("hello"), jsonType, 400},
		"long":            {http.MethodPost, offer(strings.Repeat("x", 70000)), jsonType, 413},
		"very long":       {http.MethodPost, offer(strings.Repeat("x", 200000)), jsonType, 413},
		"a form":          {http.MethodPost, offer(good), "text/plain", 415},
		"no data channel": {http.MethodPost, offer(bare), jsonType, 406},
		"one way":         {http.MethodPost, offer(strings.ReplaceAll(good, "a=sendrecv", "a=sendonly")), jsonType, 406},
		"data of a list": {http.MethodPost, map[string]any{"sdp": good, "type": "offer", "requestData": []int{1}},
			jsonType, 400},
		"get":             {http.MethodGet, nil, jsonType, 405},
		"of nobody":       {http.MethodPatch, map[string]any{"pc_id": "x"}, jsonType, 404},
		"many candidates": {http.MethodPatch, many, jsonType, 400},
		"preflight":       {http.MethodOptions, nil, jsonType, 200},
	} {
		status, _ := ask(t, handler, tt.method, tt.body, "Content-Type", tt.kind)
		if status != tt.status {
			t.Errorf("%s: %d, want %d", name, status, tt.status)
		}
	}
	<-l.peers
	if n := len(l.peers); n > 0 {
		t.Errorf("%d calls more were made", n)
	}
}

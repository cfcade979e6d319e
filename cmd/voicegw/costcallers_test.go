//go:build unix

package main

import (
	"context"
	wire "encoding/binary"
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/pion/webrtc/v4"
	"github.com/pion/webrtc/v4/pkg/media"

	"github.com/voicegw/voicegw/audio"
	"github.com/voicegw/voicegw/internal/endpointtest"
	"github.com/voicegw/voicegw/transport/phone/phonetest"
	"github.com/voicegw/voicegw/transport/rtc"
	"github.com/voicegw/voicegw/transport/ws/wsclient"
)

// sessionGoroutines are those of a call behind any endpoint: one runs its net, two read from and write
// to the peer, two the model, and one pings the model.
const sessionGoroutines = 6

// wayIn is how callers come in by an endpoint, and what goroutines that costs a call.
type wayIn struct {
	name     string
	ours     int // of the endpoint
	requests int // of net/http: the request that is the call
	library  int // of the WebRTC library, at most
	call     func(s *costly)
}

// waysIn are those of all endpoints.
func waysIn() []wayIn {
	return []wayIn{
		{name: "own", requests: 1, call: callOwn},
		{name: "webrtc", ours: 5, library: 21, call: callWebRTC},
		{name: "twilio", ours: 1, requests: 1, call: func(s *costly) { callPhone(s, "v1/twilio", phonetest.Twilio) }},
		{name: "asterisk", ours: 1, requests: 1, call: func(s *costly) {
			callPhone(s, "v1/asterisk?channel=1", phonetest.Asterisk)
		}},
		{name: "gemini", ours: 1, requests: 1, call: func(s *costly) {
			callSocket(s, geminiPath,
				websocket.MessageText, `{"setup":{"model":"models/x"}}`, geminiFrame)
		}},
		{name: "openai", ours: 1, requests: 1, call: func(s *costly) {
			callSocket(s, "v1/realtime?model=x", websocket.MessageText,
				`{"type":"session.update","session":{"type":"realtime"}}`, openaiFrame)
		}},
		{name: "rtvi", ours: 2, requests: 1, call: func(s *costly) {
			callSocket(s, "v1/rtvi", websocket.MessageBinary, `{"label":"rtvi-ai","type":"client-ready","id":"1"}`, rtviFrame)
		}},
	}
}

// callOwn calls as `voicegw call` does, until the test is over.
func callOwn(s *costly) {
	ctx, cancel := context.WithCancel(context.Background())
	var calling sync.WaitGroup
	calling.Go(func() {
		_, _ = wsclient.Call(ctx, wsclient.Config{URL: strings.Replace(s.url, "http", "ws", 1) + "v1/voice", Max: time.Hour,
			In: audio.PCM{RateHz: 16000, Samples: slices.Repeat(endpointtest.Question(), 20)}})
	})
	s.tb.Cleanup(calling.Wait)
	s.tb.Cleanup(cancel)
}

// callPhone calls as a carrier does.
func callPhone(s *costly, path, dialect string) {
	p, err := phonetest.Dial(context.Background(), phonetest.Config{URL: strings.Replace(s.url, "http", "ws", 1) + path,
		Dialect: dialect})
	if err != nil {
		s.tb.Fatal(err)
	}
	s.tb.Cleanup(p.HangUp)
	r, err := audio.NewResampler(16000, 8000)
	if err != nil {
		s.tb.Fatal(err)
	}
	p.Say(slices.Repeat(r.Resample(nil, endpointtest.Question()), 20))
}

// callSocket calls as a program made for another service does: it greets, sends frames and drops
// what it hears.
func callSocket(s *costly, path string, typ websocket.MessageType, greeting string, frame func([]int16) []byte) {
	c, _, err := websocket.Dial(context.Background(), strings.Replace(s.url, "http", "ws", 1)+path, nil)
	if err != nil {
		s.tb.Fatal(err)
	}
	c.SetReadLimit(-1)
	if err := c.Write(context.Background(), websocket.MessageText, []byte(greeting)); err != nil {
		s.tb.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var talking sync.WaitGroup
	talking.Go(func() {
		for {
			if _, _, err := c.Read(context.Background()); err != nil {
				return
			}
		}
	})
	talking.Go(func() {
		talkInRealTime(ctx, 320, func(pcm []int16) { _ = c.Write(context.Background(), typ, frame(pcm)) })
		_ = c.CloseNow()
	})
	s.tb.Cleanup(talking.Wait)
	s.tb.Cleanup(cancel)
}

// talkInRealTime gives a frame of the question each 20 ms, again and again.
func talkInRealTime(ctx context.Context, frameLen int, send func(pcm []int16)) {
	question := endpointtest.Question()
	if frameLen == 160 {
		r, _ := audio.NewResampler(16000, 8000)
		question = r.Resample(nil, question)
	}
	tick := time.NewTicker(audio.FrameDuration)
	defer tick.Stop()
	for rest := question; ctx.Err() == nil; <-tick.C {
		frame := make([]int16, frameLen)
		if rest = rest[copy(frame, rest):]; len(rest) == 0 {
			rest = question
		}
		send(frame)
	}
}

func geminiFrame(pcm []int16) []byte {
	b, _ := json.Marshal(map[string]any{"realtimeInput": map[string]any{"audio": map[string]any{
		"data": audio.AppendBytes(nil, pcm), "mimeType": "audio/pcm;rate=16000"}}})
	return b
}

// openaiFrame says each sample of 16 kHz twice or once, which is 24 kHz: its quality does not
// matter here.
func openaiFrame(pcm []int16) []byte {
	up := make([]int16, 0, len(pcm)*3/2)
	for i, v := range pcm {
		if up = append(up, v); i%2 == 0 {
			up = append(up, v)
		}
	}
	b, _ := json.Marshal(map[string]any{"type": "input_audio_buffer.append", "audio": audio.AppendBytes(nil, up)})
	return b
}

// rtviFrame is a message of Pipecat's frames.proto.
func rtviFrame(pcm []int16) []byte {
	le := audio.AppendBytes(nil, pcm)
	body := append([]byte{3<<3 | 2}, wire.AppendUvarint(nil, uint64(len(le)))...)
	body = append(append(body, le...), 4<<3, 0x80, 0x7d, 5<<3, 1) // 16,000 Hz, one channel
	return append(append([]byte{2<<3 | 2}, wire.AppendUvarint(nil, uint64(len(body)))...), body...)
}

// callWebRTC calls as a browser does, with a data channel, and G.711 up and down.
func callWebRTC(s *costly) {
	pc, track := newCaller(s.tb)
	connected := make(chan struct{})
	var once sync.Once
	pc.OnConnectionStateChange(func(state webrtc.PeerConnectionState) {
		if state == webrtc.PeerConnectionStateConnected {
			once.Do(func() { close(connected) })
		}
	})
	offer, err := pc.CreateOffer(nil)
	if err != nil {
		s.tb.Fatal(err)
	}
	gathered := webrtc.GatheringCompletePromise(pc)
	if err := pc.SetLocalDescription(offer); err != nil {
		s.tb.Fatal(err)
	}
	<-gathered
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	status, answer := request(s.tb, client, http.MethodPost, s.url+"v1/whip", pc.LocalDescription().SDP)
	if status != http.StatusCreated {
		s.tb.Fatalf("the call is refused: %d %s", status, answer)
	}
	if err := pc.SetRemoteDescription(webrtc.SessionDescription{Type: webrtc.SDPTypeAnswer, SDP: answer}); err != nil {
		s.tb.Fatal(err)
	}
	select {
	case <-connected:
	case <-time.After(patience):
		s.tb.Fatal("no way to the gateway is found")
	}
	ctx, cancel := context.WithCancel(context.Background())
	var talking sync.WaitGroup
	talking.Go(func() {
		talkInRealTime(ctx, 160, func(pcm []int16) {
			_ = track.WriteSample(media.Sample{Data: audio.AppendMuLaw(nil, pcm), Duration: audio.FrameDuration})
		})
	})
	s.tb.Cleanup(talking.Wait)
	s.tb.Cleanup(cancel)
}

// newCaller makes a WebRTC client with a microphone.
func newCaller(tb testing.TB) (*webrtc.PeerConnection, *webrtc.TrackLocalStaticSample) {
	tb.Helper()
	engine := webrtc.SettingEngine{}
	engine.SetIncludeLoopbackCandidate(true)
	engine.SetNetworkTypes([]webrtc.NetworkType{webrtc.NetworkTypeUDP4})
	codecs := &webrtc.MediaEngine{}
	pcmu := webrtc.RTPCodecCapability{MimeType: webrtc.MimeTypePCMU, ClockRate: 8000}
	if err := codecs.RegisterCodec(webrtc.RTPCodecParameters{RTPCodecCapability: pcmu},
		webrtc.RTPCodecTypeAudio); err != nil {
		tb.Fatal(err)
	}
	pc, err := webrtc.NewAPI(webrtc.WithMediaEngine(codecs), webrtc.WithSettingEngine(engine)).
		NewPeerConnection(webrtc.Configuration{})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = pc.Close() })
	track, err := webrtc.NewTrackLocalStaticSample(pcmu, "voice", "caller")
	if err != nil {
		tb.Fatal(err)
	}
	if _, err := pc.AddTrack(track); err != nil {
		tb.Fatal(err)
	}
	if _, err := pc.CreateDataChannel(rtc.ChannelLabel, nil); err != nil {
		tb.Fatal(err)
	}
	pc.OnTrack(func(t *webrtc.TrackRemote, _ *webrtc.RTPReceiver) {
		b := make([]byte, 1500)
		for {
			if _, _, err := t.Read(b); err != nil {
				return
			}
		}
	})
	return pc, track
}

// request makes a request, whose body is an offer unless it is empty, and returns status and body
// of the answer.
func request(tb testing.TB, client *http.Client, method, url, sdp string) (status int, body string) {
	tb.Helper()
	r, err := http.NewRequest(method, url, strings.NewReader(sdp))
	if err != nil {
		tb.Fatal(err)
	}
	if sdp != "" {
		r.Header.Set("Content-Type", "application/sdp")
	}
	resp, err := client.Do(r)
	if err != nil {
		tb.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		tb.Fatal(err)
	}
	return resp.StatusCode, string(b)
}

package gemini

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"

	"github.com/voicegw/voicegw/transport"
	"github.com/voicegw/voicegw/transport/wsdoor"
)

// greet gives a codec its setup.
func greet(t testing.TB, setup string) (*codec, transport.Hello, error) {
	t.Helper()
	c := newCodec(httptest.NewRequest(http.MethodGet, "/", nil))
	h := transport.Hello{Version: 1, InputRateHz: 16000, OutputRateHz: 24000}
	var out wsdoor.Outbox
	err := c.Greet(&h, func() (wsdoor.Inbound, error) { return wsdoor.Inbound{Data: []byte(setup)}, nil }, &out)
	if err == nil {
		c.Ready(transport.Ready{Call: "c-1"}, &out)
	}
	return c, h, err
}

// setup is a setup with these fields.
func setupWith(fields string) string { return `{"setup":{"model":"models/x"` + fields + `}}` }

func TestSetup(t *testing.T) {
	_, h, err := greet(t, setupWith(`,"generationConfig":{"responseModalities":["AUDIO"],
		"speechConfig":{"languageCode":"de-DE","voiceConfig":{"prebuiltVoiceConfig":{"voiceName":"Puck"}}}},
		"systemInstruction":{"role":"user","parts":[{"text":"be "},null,{"text":"brief"}]},
		"tools":[{"functionDeclarations": [{"name":"f"}]}],"unknownField":1,
		"realtimeInputConfig":{"automaticActivityDetection":{"disabled":true},"activityHandling":"NO_INTERRUPTION"}`))
	want := transport.Hello{Version: 1, InputRateHz: 16000, OutputRateHz: 24000, Language: "de-DE", HalfDuplex: true,
		Detection: transport.DetectionPush, Params: map[string]string{"model": "x", "voice": "Puck",
			"system_instruction": "be brief", "tools": `[{"functionDeclarations":[{"name":"f"}]}]`}}
	if err != nil || !reflect.DeepEqual(h, want) {
		t.Errorf("hello = %+v, %v, want %+v", h, err, want)
	}
}

func TestSetupWithManyTools(t *testing.T) {
	long := strings.Repeat("x", 20000)
	_, h, err := greet(t,
		setupWith(`,"tools":[{"functionDeclarations":[{"name":"f","description":"`+long+`"},{"name":"g"}]}]`))
	if err != nil || h.Params[wsdoor.ParamTools] != "f,g" {
		t.Errorf("tools %q, %v", h.Params[wsdoor.ParamTools], err)
	}
}

func TestSetupRefused(t *testing.T) {
	for name, tt := range map[string]struct {
		setup string
		code  int
		words string
	}{
		"no setup":  {`{"realtimeInput":{"text":"x"}}`, 1007, "first message must be a setup"},
		"no JSON":   {`{"setup":`, 1007, "not valid"},
		"text":      {setupWith(`,"generationConfig":{"responseModalities":["TEXT"]}`), 1007, "speaks AUDIO alone"},
		"a handle":  {setupWith(`,"sessionResumption":{"handle":"h1"}`), 1008, "handle"},
		"a picture": {setupWith(`,"systemInstruction":{"parts":[{"inlineData":{}}]}`), 1007, "more than text"},
		"an epic": {setupWith(`,"systemInstruction":{"parts":[{"text":"` + strings.Repeat("x", 20000) + `"}]}`), 1007,
			"20000"},
		"wrong type": {setupWith(`,"tools":1,"inputAudioTranscription":1`), 1007, "not valid"},
	} {
		_, _, err := greet(t, tt.setup)
		var e *transport.Ended
		if !errors.As(err, &e) {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if code, words := wsdoor.CloseCode(e); code != tt.code || !strings.Contains(words, tt.words) {
			t.Errorf("%s: %d %q, want %d %q", name, code, words, tt.code, tt.words)
		}
	}
}

// read lets a codec read messages, and returns the events as text.
func read(t testing.TB, c *codec, messages ...string) ([]string, error) {
	t.Helper()
	in := wsdoor.NewInbox(wsdoor.InputRateHz)
	var out wsdoor.Outbox
	var events []string
	for _, m := range messages {
		if err := c.Read(wsdoor.Inbound{Data: []byte(m)}, in, &out); err != nil {
			return events, err
		}
		var ev transport.Event
		for in.Next(&ev) {
			events = append(events, describe(&ev))
		}
	}
	return events, nil
}

func describe(ev *transport.Event) string {
	switch ev.Kind {
	case transport.EventAudio:
		return fmt.Sprintf("audio %d", len(ev.PCM))
	case transport.EventMute, transport.EventTalk:
		return fmt.Sprintf("%s %v", ev.Kind, ev.On)
	case transport.EventToolResult:
		return fmt.Sprintf("result %s %s %v", ev.ID, ev.Text, ev.Failed)
	}
	return ev.Kind.String() + " " + ev.Text
}

func TestRead(t *testing.T) {
	const sound = `{"realtimeInput":{"audio":{"data":"AQIDBA==","mimeType":"audio/pcm;rate=16000"}}}`
	manual := setupWith(`,"realtimeInputConfig":{"automaticActivityDetection":{"disabled":true}}`)
	for name, tt := range map[string]struct {
		setup    string
		messages []string
		want     []string
		code     int
	}{
		"sound": {"", []string{sound}, []string{"audio 2"}, 0},
		"other order": {"", []string{`{"realtimeInput":{"audio":{"mimeType":"audio/pcm","data":"AQIDBA=="}}}`},
			[]string{"audio 2"}, 0},
		"escaped": {"", []string{`{"realtimeInput":{"audio":{"mimeType":"audio\/pcm","data":"AQIDBA=="}}}`},
			[]string{"audio 2"}, 0},
		"old clients": {"", []string{`{"realtimeInput":{"mediaChunks":[{"mimeType":"audio/pcm","data":"AQI="}]}}`},
			[]string{"audio 1"}, 0},
		"odd":        {"", []string{`{"realtimeInput":{"audio":{"data":"AQ==","mimeType":"audio/pcm"}}}`}, nil, 1007},
		"not base64": {"", []string{`{"realtimeInput":{"audio":{"data":"A","mimeType":"audio/pcm"}}}`}, nil, 1007},
		"opus":       {"", []string{`{"realtimeInput":{"audio":{"data":"AQI=","mimeType":"audio/opus"}}}`}, nil, 1007},
		"a wrong rate": {"", []string{`{"realtimeInput":{"audio":{"data":"AQI=","mimeType":"audio/pcm;rate=1"}}}`}, nil,
			1007},
		"video": {"", []string{`{"realtimeInput":{"video":{"data":"AQI=","mimeType":"image/jpeg"}}}`}, nil, 1007},
		"video as chunks": {"", []string{`{"realtimeInput":{"mediaChunks":[{"mimeType":"image/jpeg","data":"AQI="}]}}`}, nil,
			1007},
		"the end of the microphone": {"", []string{`{"realtimeInput":{"audioStreamEnd":true}}`, sound},
			[]string{"mute true", "mute false", "audio 2"}, 0},
		"a button": {manual, []string{`{"realtimeInput":{"activityStart":{}}}`, sound,
			`{"realtimeInput":{"activityEnd":{}}}`},
			[]string{"talk true", "audio 2", "talk false"}, 0},
		"a button without asking": {"", []string{`{"realtimeInput":{"activityStart":{}}}`}, nil, 1007},
		"words":                   {"", []string{`{"realtimeInput":{"text":"hey"}}`}, []string{"text hey"}, 0},
		"a turn of words": {"", []string{`{"clientContent":{"turns":[{"role":"user","parts":[{"text":"a"}]},{"role":"model",
			"parts":[{"text":"x"}]}]}}`, `{"clientContent":{"turns":[{"parts":[{"text":"b"}]}],"turnComplete":true}}`},
			[]string{"text ab"}, 0},
		"too many words": {"", []string{`{"realtimeInput":{"text":"` + strings.Repeat("x", 4001) + `"}}`}, nil, 1007},
		"words for ever": {"", []string{`{"clientContent":{"turns":[{"parts":[{"text":"` + strings.Repeat("x", 16001) +
			`"}]}]}}`}, nil, 1007},
		"a picture": {"", []string{`{"clientContent":{"turns":[{"parts":[{"inlineData":{}}]}]}}`}, nil, 1007},
		"results": {"", []string{`{"toolResponse":{"functionResponses":[
			{"id":"a","name":"f","response":{"output":{"x":1}}},null,
			{"id":"b","response":{"error":"no"}},{"id":"c","response":{"y":2}}]}}`},
			[]string{`result a {"x":1} false`, "result b no true", `result c {"y":2} false`}, 0},
		"a result of nothing": {"", []string{`{"toolResponse":{"functionResponses":[{"response":{}}]}}`}, nil, 1007},
		"a second setup":      {"", []string{setupWith("")}, nil, 1007},
		"a changed context":   {"", []string{`{"contextUpdate":{}}`}, nil, 1007},
		"nothing we know":     {"", []string{`{"whatever":{}}`, `{}`}, nil, 0},
		"no object":           {"", []string{`[]`}, nil, 1007},
	} {
		t.Run(name, func(t *testing.T) {
			if tt.setup == "" {
				tt.setup = setupWith("")
			}
			c, _, err := greet(t, tt.setup)
			if err != nil {
				t.Fatal(err)
			}
			got, err := read(t, c, tt.messages...)
			code := 0
			var e *transport.Ended
			if errors.As(err, &e) {
				code, _ = wsdoor.CloseCode(e)
			}
			if code != tt.code || fmt.Sprint(got) != fmt.Sprint(tt.want) {
				t.Errorf("%v, %v; want %v, %d", got, err, tt.want, tt.code)
			}
		})
	}
}

// TestMessages holds what a client is told to the wire.
func TestMessages(t *testing.T) {
	c, _, err := greet(t,
		setupWith(`,"inputAudioTranscription":{},"outputAudioTranscription":{},"explicitVadSignal":true`))
	if err != nil {
		t.Fatal(err)
	}
	var got bytes.Buffer
	for _, m := range []transport.Message{
		{Kind: transport.MessageSpeech, State: transport.StateStart},
		{Kind: transport.MessageSpeech, State: transport.StateStop},
		{Kind: transport.MessageTranscript, Who: transport.WhoCaller, Text: "hello"},
		{Kind: transport.MessageTurn, State: transport.StateStart, Generation: 1},
		{Kind: transport.MessageTranscript, Who: transport.WhoModel, Text: "hi", Final: true},
		{Kind: transport.MessageTurn, State: transport.StatePause, Generation: 1},
		{Kind: transport.MessageClear, Generation: 1},
		{Kind: transport.MessageTurn, State: transport.StateResume, Generation: 1},
		{Kind: transport.MessageMark, ID: "1:end", Generation: 1},
		{Kind: transport.MessageTurn, State: transport.StateEnd, TurnEnd: transport.TurnComplete, Generation: 1},
		{Kind: transport.MessageTurn, State: transport.StateStart, Generation: 2},
		{Kind: transport.MessageClear, Generation: 2},
		{Kind: transport.MessageTurn, State: transport.StateEnd, TurnEnd: transport.TurnInterrupted, Generation: 2},
		{Kind: transport.MessageToolCall, ID: "t", Name: "weather", Text: `{"city":"Oslo"}`},
		{Kind: transport.MessageToolCancel, ID: "t"},
		{Kind: transport.MessageError, Code: "not_yet", Text: "x"},
	} {
		var out wsdoor.Outbox
		c.Message(&m, &out)
		for _, b := range out.Take() {
			got.Write(append(b, '\n'))
		}
	}
	const want = `{"voiceActivity":{"voiceActivityType":"ACTIVITY_START"}}
{"voiceActivity":{"voiceActivityType":"ACTIVITY_END"}}
{"serverContent":{"inputTranscription":{"text":"hello"}}}
{"serverContent":{"outputTranscription":{"finished":true,"text":"hi"}}}
{"serverContent":{"interrupted":true}}
{"serverContent":{"generationComplete":true}}
{"serverContent":{"turnComplete":true}}
{"serverContent":{"interrupted":true}}
{"serverContent":{"turnComplete":true}}
{"toolCall":{"functionCalls":[{"args":{"city":"Oslo"},"id":"t","name":"weather"}]}}
{"toolCallCancellation":{"ids":["t"]}}
`
	if got.String() != want {
		t.Errorf("told\n%s\nwant\n%s", &got, want)
	}
}

func TestAudioOnTheWire(t *testing.T) {
	c, _, _ := greet(t, setupWith(""))
	var m struct {
		ServerContent struct {
			ModelTurn struct {
				Parts []struct {
					InlineData struct {
						MIMEType string `json:"mimeType"`
						Data     []byte
					}
				}
			}
		}
	}
	if err := json.Unmarshal(c.Audio(nil, 1, []int16{1, -2}), &m); err != nil {
		t.Fatal(err)
	}
	if p := m.ServerContent.ModelTurn.Parts; len(p) != 1 || p[0].InlineData.MIMEType != "audio/pcm;rate=24000" ||
		!bytes.Equal(p[0].InlineData.Data, []byte{1, 0, 0xfe, 0xff}) {
		t.Errorf("%+v", p)
	}
}

func TestBye(t *testing.T) {
	for reason, want := range map[transport.Reason]string{
		transport.ReasonCallerHungUp: "1000 0", transport.ReasonGoingAway: "1001 1", transport.ReasonModelLost: "1011 0",
		transport.ReasonMaxDuration: "1000 0", transport.ReasonBusy: "1013 0", transport.ReasonIdleTimeout: "1008 0",
	} {
		c, _, _ := greet(t, setupWith(""))
		var out wsdoor.Outbox
		code, words := c.Bye(wsdoor.End(reason, strings.Repeat("é", 100), nil), &out)
		if got := fmt.Sprint(code, len(out.Take())); got != want || len(words) > 123 {
			t.Errorf("%s: code and messages %s, want %s; %d bytes of reason", reason, got, want, len(words))
		}
	}
}

func TestToken(t *testing.T) {
	for want, set := range map[string]func(r *http.Request){
		"a": func(r *http.Request) { r.Header.Set("x-goog-api-key", "a") },
		"b": func(r *http.Request) { r.Header.Set("Authorization", "Token b") },
		"c": func(r *http.Request) { r.Header.Set("Authorization", "Bearer c") },
		"d": func(r *http.Request) { r.URL.RawQuery = "key=d" },
		"e": func(r *http.Request) { r.URL.RawQuery = "access_token=e" },
		"":  func(r *http.Request) { r.Header.Set("Authorization", "Basic x") },
	} {
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		set(r)
		if got := token(r); got != want {
			t.Errorf("token = %q, want %q", got, want)
		}
	}
}

func TestServes(t *testing.T) {
	const v1 = "ws/google.ai.generativelanguage.v1beta.GenerativeService.BidiGenerateContent"
	for path, want := range map[string]bool{
		"/" + v1: true, "//" + v1: true, "/some/prefix/" + v1: true, "/" + v1 + "Constrained": true,
		"/ws/google.ai.generativelanguage.v1alpha.GenerativeService.BidiGenerateContent": true,
		"/ws/google.cloud.aiplatform.v1beta1.LlmBidiService/BidiGenerateContent":         true,
		"/":             false,
		"/" + v1 + "/x": false,
		"/" + v1 + "x":  false,
		"/x" + v1:       false,
		"/ws/google.ai.generativelanguage.v1beta.GenerativeService.BidiGenerateMusic": false,
	} {
		if got := Serves(path); got != want {
			t.Errorf("Serves(%q) = %v", path, got)
		}
	}
}

func TestFramesAllocateNothing(t *testing.T) {
	c, _, _ := greet(t, setupWith(""))
	in, out := wsdoor.NewInbox(wsdoor.InputRateHz), &wsdoor.Outbox{}
	m := wsdoor.Inbound{Data: []byte(`{"realtimeInput":{"audio":{"data":"` + base64.StdEncoding.EncodeToString(
		make([]byte, 640)) + `","mimeType":"audio/pcm;rate=16000"}}}`)}
	pcm, dst := make([]int16, 480), make([]byte, 0, 4096)
	var ev transport.Event
	for name, do := range map[string]func(){
		"up":   func() { _ = c.Read(m, in, out); in.Next(&ev); in.Next(&ev) },
		"down": func() { dst = c.Audio(dst[:0], 1, pcm) },
	} {
		do()
		if n := testing.AllocsPerRun(500, do); n != 0 {
			t.Errorf("%s: %v allocations, want 0", name, n)
		}
	}
}

func BenchmarkFrameUp(b *testing.B) {
	c, _, _ := greet(b, setupWith(""))
	in, out := wsdoor.NewInbox(wsdoor.InputRateHz), &wsdoor.Outbox{}
	m := wsdoor.Inbound{Data: []byte(`{"realtimeInput":{"audio":{"data":"` + base64.StdEncoding.EncodeToString(
		make([]byte, 640)) + `","mimeType":"audio/pcm;rate=16000"}}}`)}
	var ev transport.Event
	b.ReportAllocs()
	for b.Loop() {
		_ = c.Read(m, in, out)
		in.Next(&ev)
		in.Next(&ev)
	}
}

// FuzzRead reads whatever may come, before and after a setup: it is an event, an end of the call, or nothing. The fast
// path for sound says what the other one does.
func FuzzRead(f *testing.F) {
	f.Add([]byte(`{"realtimeInput":{"audio":{"data":"AQIDBA==","mimeType":"audio/pcm;rate=16000"}}}`))
	f.Add([]byte(`{"realtimeInput":{"audio":{"data":"AQIDBA==","mimeType":"audio/pcm; rate=\"8000\""}}}`))
	f.Add([]byte(`{"clientContent":{"turns":[{"parts":[{"text":"b"}]}],"turnComplete":true}}`))
	f.Add([]byte(`{"toolResponse":{"functionResponses":[{"id":"a","response":{"output":{}}}]}}`))
	f.Add([]byte(setupWith(`,"tools":[{}],"systemInstruction":{"parts":[null]}`)))
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, setup := range []string{setupWith(""), string(b)} {
			c, h, err := greet(t, setup)
			if ended(t, err) {
				continue
			}
			if err := h.Check(transport.Offer{}); err != nil && h.Language == "" {
				t.Fatalf("a hello that cannot be taken: %v", err)
			}
			_, err = read(t, c, string(b))
			ended(t, err)
		}
		data, mime, ok := scanAudio(b)
		if !ok {
			return
		}
		var msg clientMessage
		if json.Unmarshal(b, &msg) != nil {
			return // the fast path leaves the rest to base64
		}
		pcm, err := io.ReadAll(base64.NewDecoder(base64.StdEncoding, bytes.NewReader(data)))
		if a := msg.RealtimeInput.Audio; err != nil || !bytes.Equal(pcm, a.Data) ||
			strings.ToValidUTF8(string(mime), "\uFFFD") != a.MIMEType {
			t.Fatalf("fast %q of type %q, %v, slow %q of type %q", pcm, mime, err, a.Data, a.MIMEType)
		}
	})
}

// ended tells an end of the call, which is the only error there may be.
func ended(t *testing.T, err error) bool {
	t.Helper()
	var e *transport.Ended
	if err != nil && !errors.As(err, &e) {
		t.Fatalf("an error that says nothing of the call: %v", err)
	}
	return err != nil
}

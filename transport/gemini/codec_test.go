package gemini

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"

	"go.uber.org/zap"

	"github.com/voicegw/voicegw/transport"
	"github.com/voicegw/voicegw/transport/wsconn"
	"github.com/voicegw/voicegw/transport/wsendpoint"
)

// greet gives a codec its setup.
func greet(t testing.TB, setup string) (*codec, transport.Hello, error) {
	t.Helper()
	c := newCodec(httptest.NewRequest(http.MethodGet, "/", nil), zap.NewNop())
	h := transport.Hello{Version: 1, InputRateHz: 16000, OutputRateHz: 24000}
	var out wsendpoint.Outbox
	err := c.Greet(&h, func() (wsconn.Message, error) { return wsconn.Message{Data: []byte(setup)}, nil }, &out)
	if err == nil {
		c.Ready(transport.Ready{Call: "c-1", Schedules: true}, &out)
	}
	return c, h, err
}

// setup is a setup with these fields.
func setupWith(fields string) string { return `{"setup":{"model":"models/x"` + fields + `}}` }

func TestSetup(t *testing.T) {
	_, h, err := greet(t, setupWith(`,"generationConfig":{"responseModalities":["AUDIO"],"temperature":0,
		"speechConfig":{"languageCode":"de-DE","voiceConfig":{"prebuiltVoiceConfig":{"voiceName":"Puck"}}}},
		"systemInstruction":{"role":"user","parts":[{"text":"be "},null,{"text":"brief"}]},
		"tools":[{"functionDeclarations": [{"name":"f","behavior":"NON_BLOCKING","parameters":{"type":"OBJECT",
			"properties":{"type":{"type":"STRING","nullable":true}}}}]},{"functionDeclarations":[
			{"name":"g","parametersJsonSchema":{"type":"object"}}]}],"unknownField":1,
		"realtimeInputConfig":{"automaticActivityDetection":{"disabled":true},"activityHandling":"NO_INTERRUPTION"}`))
	want := transport.Hello{Version: 1, InputRateHz: 16000, OutputRateHz: 24000, Language: "de-DE", HalfDuplex: true,
		Detection: transport.DetectionPush, Session: transport.Session{Model: "x", Voice: "Puck",
			SystemInstruction: "be brief", Temperature: new(float32), Tools: []transport.Tool{{Name: "f", NonBlocking: true,
				Parameters: json.RawMessage(`{"properties":{"type":{"type":["string","null"]}},"type":"object"}`)},
				{Name: "g", Parameters: json.RawMessage(`{"type":"object"}`)}}}}
	if err != nil || !reflect.DeepEqual(h, want) {
		t.Errorf("hello = %+v, %v, want %+v", h, err, want)
	}
}

func TestSetupRefused(t *testing.T) {
	for name, tt := range map[string]struct {
		setup string
		code  int
		words string
	}{
		"no setup":    {`{"realtimeInput":{"text":"x"}}`, 1007, "first message must be a setup"},
		"no JSON":     {`{"setup":`, 1007, "not valid"},
		"text":        {setupWith(`,"generationConfig":{"responseModalities":["TEXT"]}`), 1007, "speaks AUDIO alone"},
		"two of them": {`{"setup":{"model":"models/x"},"setup":{}}`, 1007, `"setup" came twice`},
		"two spellings": {setupWith(`,"sessionResumption":{},"session_resumption":{}`), 1007,
			`"setup.sessionResumption" came twice`},
		"another message with it": {`{"setup":{"model":"models/x"},"realtimeInput":{"text":"x"}}`, 1007, "more than one of"},
		"wrong type":              {setupWith(`,"tools":1,"inputAudioTranscription":1`), 1007, "not valid"},
	} {
		_, _, err := greet(t, tt.setup)
		var e *transport.Ended
		if !errors.As(err, &e) {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if code, words := wsendpoint.CloseCode(e); code != tt.code || !strings.Contains(words, tt.words) {
			t.Errorf("%s: %d %q, want %d %q", name, code, words, tt.code, tt.words)
		}
	}
}

// read lets a codec read messages. It returns the events as text, and what the client was told of.
func read(t testing.TB, c *codec, messages ...string) ([]string, error) {
	t.Helper()
	in := wsendpoint.NewInbox(wsendpoint.InputRateHz)
	var out wsendpoint.Outbox
	var events []string
	for _, m := range messages {
		if err := c.Read(wsconn.Message{Data: []byte(m)}, in, &out); err != nil {
			return events, err
		}
		var ev transport.Event
		for in.Next(&ev) {
			events = append(events, describe(&ev))
		}
		events = append(events, told(t, &out)...)
	}
	return events, nil
}

// told returns the fields that warnings name.
func told(t testing.TB, out *wsendpoint.Outbox) (fields []string) {
	t.Helper()
	for _, b := range out.Take() {
		var m struct {
			ServerContent, SetupComplete *struct{} // a message needs a field that clients know
			Warnings                     []string
		}
		err := json.Unmarshal(b, &m)
		if err != nil || len(m.Warnings) > 0 && m.ServerContent == nil && m.SetupComplete == nil {
			t.Errorf("told %s, %v", b, err)
		}
		for _, w := range m.Warnings {
			field, why, _ := strings.Cut(w, ": ")
			if !strings.HasSuffix(why, ".") {
				t.Errorf("told %q", w)
			}
			fields = append(fields, "told "+field)
		}
	}
	return fields
}

func describe(ev *transport.Event) string {
	switch ev.Kind {
	case transport.EventAudio:
		return fmt.Sprintf("audio %d", len(ev.PCM))
	case transport.EventMute, transport.EventTalk:
		return fmt.Sprintf("%s %v", ev.Kind, ev.On)
	case transport.EventToolResult:
		return strings.TrimSpace(fmt.Sprintf("result %s %s %v %s", ev.ID, ev.Text, ev.Failed, ev.Scheduling))
	}
	if ev.Kind == transport.EventContext {
		return fmt.Sprintf("context %s %s", ev.Role, ev.Text)
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
		"video": {"", []string{`{"realtimeInput":{"video":{"data":"AQI=","mimeType":"image/jpeg"}}}`, sound,
			`{"realtimeInput":{"video":{"data":"AQI=","mimeType":"image/jpeg"}}}`},
			[]string{"told realtimeInput.video", "audio 2"}, 0},
		"video as chunks": {"", []string{`{"realtimeInput":{"mediaChunks":[{"mimeType":"image/jpeg","data":"AQI="}]}}`,
			sound},
			[]string{"told realtimeInput.mediaChunks", "audio 2"}, 0},
		"sound and video": {"", []string{`{"realtimeInput":{"mediaChunks":[{"mimeType":"image/jpeg","data":"AQI="},` +
			`{"mimeType":"audio/pcm","data":"AQI="}]}}`}, []string{"audio 1", "told realtimeInput.mediaChunks"}, 0},
		"snake case": {"", []string{`{"realtime_input":{"audio":{"data":"-_8=","mime_type":"audio/pcm"}}}`,
			`{"realtime_input":{"media_chunks":[{"mime_type":"audio/pcm","data":"-_8="}]}}`,
			`{"realtime_input":{"audio_stream_end":true}}`}, []string{"audio 1", "audio 1", "mute true"}, 0},
		"mixed spellings": {"", []string{`{"realtimeInput":{"audio":{"data":"-_8=","mime_type":"audio/pcm"},"text":null}}`,
			`{"client_content":{"turns":[{"parts":[{"text":"hey"}]}],"turnComplete":true},"toolResponse":null}`},
			[]string{"audio 1", "text hey"}, 0},
		"no padding": {"", []string{`{"realtimeInput":{"audio":{"data":"-_8","mimeType":"audio/pcm"}}}`,
			`{"realtimeInput":{"audio":{"mimeType":"audio\/pcm","data":"+/8"}}}`}, []string{"audio 1", "audio 1"}, 0},
		"two alphabets": {"", []string{`{"realtimeInput":{"audio":{"data":"-/8=","mimeType":"audio/pcm"}}}`}, nil, 1007},
		"slowly":        {"", []string{`{"realtimeInput":{"audio":{"mimeType":"audio\/pcm","data":"A"}}}`}, nil, 1007},
		"a field twice": {"", []string{`{"realtimeInput":{"text":"a","text":"b"}}`}, nil, 1007},
		"two at once":   {"", []string{`{"realtimeInput":{"text":"a"},"clientContent":{}}`}, nil, 1007},
		"the end of the microphone": {"", []string{`{"realtimeInput":{"audioStreamEnd":true}}`, sound},
			[]string{"mute true", "mute false", "audio 2"}, 0},
		"a button": {manual, []string{`{"realtimeInput":{"activityStart":{}}}`, sound,
			`{"realtimeInput":{"activityEnd":{}}}`},
			[]string{"talk true", "audio 2", "talk false"}, 0},
		"a button without asking": {"", []string{`{"realtimeInput":{"activityStart":{}}}`}, nil, 1007},
		"words":                   {"", []string{`{"realtimeInput":{"text":"hey"}}`}, []string{"text hey"}, 0},
		"a turn of words": {"", []string{`{"clientContent":{"turns":[{"role":"user","parts":[{"text":"a"}]},{"role":"model",
			"parts":[{"text":"x"}]}]}}`, `{"clientContent":{"turns":[{"parts":[{"text":"b"}]}],"turnComplete":true}}`},
			[]string{"context user a", "context assistant x", "text b"}, 0},
		"words in pieces": {"", []string{`{"clientContent":{"turns":[{"role":"user","parts":[{"text":"a"}]}]}}`,
			`{"clientContent":{"turnComplete":true}}`, `{"clientContent":{"turnComplete":true}}`},
			[]string{"context user a", "text " + answerNow}, 0},
		"words of others": {"", []string{`{"clientContent":{"turns":[{"role":"system","parts":[{"text":"a"}]},
			{"role":"assistant","parts":[{"text":"b"}]},{"role":"user","parts":[{"text":" "}]}],"turnComplete":true}}`},
			[]string{"context system a", "told clientContent.turns.role"}, 0},
		"too many words": {"", []string{`{"realtimeInput":{"text":"` + strings.Repeat("x", 4001) + `"}}`,
			`{"realtimeInput":{"text":"hey"}}`}, []string{"told realtimeInput.text", "text hey"}, 0},
		"words for ever": {"", []string{`{"clientContent":{"turns":[{"parts":[{"text":"` + strings.Repeat("x", 16001) +
			`"}]},{"parts":[{"text":"hey"}]}],"turnComplete":true}}`}, []string{"text hey", "told clientContent.turns"}, 0},
		"a picture": {"", []string{`{"clientContent":{"turns":[{"parts":[{"inlineData":{}},{"text":"look"}]}],
			"turnComplete":true}}`}, []string{"text look", "told clientContent.turns.parts.inlineData"}, 0},
		"results": {"", []string{`{"toolResponse":{"functionResponses":[
			{"id":"a","name":"f","response":{"output":{"x":1}}},null,
			{"id":"b","response":{"error":"no"}},{"id":"c","response":{"y":2}}]}}`},
			[]string{`result a {"x":1} false`, "result b no true", `result c {"y":2} false`}, 0},
		"a result of nothing": {"", []string{`{"toolResponse":{"functionResponses":[{"response":{}},{"id":"a"}]}}`},
			[]string{"result a {} false", "told toolResponse.functionResponses.id"}, 0},
		"a result for later": {"", []string{`{"tool_response":{"function_responses":[{"id":"a","response":{"will_continue":1},
			"scheduling":"SILENT","will_continue":true}]}}`}, []string{`result a {"will_continue":1} false`,
			"told toolResponse.functionResponses.willContinue", "told toolResponse.functionResponses.scheduling"}, 0},
		"a scheduled result": {`{"setup":{"model":"x","tools":[{"functionDeclarations":[{"name":"f",
			"behavior":"NON_BLOCKING"}]}]}}`, []string{`{"toolResponse":{"functionResponses":[
			{"id":"a","name":"f","scheduling":"INTERRUPT","response":{}},
			{"id":"b","name":"f","scheduling":"WHEN_IDLE","response":{}},
			{"id":"c","name":"f","scheduling":"SCHEDULING_UNSPECIFIED","response":{}},
			{"id":"d","name":"g","scheduling":"SILENT","response":{}}]}}`}, []string{"result a {} false INTERRUPT",
			"result b {} false WHEN_IDLE", "result c {} false", "result d {} false",
			"told toolResponse.functionResponses.scheduling"}, 0},
		"a second setup":    {"", []string{setupWith("")}, nil, 1007},
		"a changed context": {"", []string{`{"contextUpdate":{}}`}, []string{"told contextUpdate"}, 0},
		"nothing we know": {"", []string{`{"whatever":{}}`, `{}`, `{"4111":{}}`, `{"realtimeInput":{"x":{"y":1}}}`,
			`{"what\u0065ver":{}}`}, []string{"told whatever", "told (a name of 4 bytes)", "told realtimeInput.x"}, 0},
		"no object": {"", []string{`[]`}, nil, 1007},
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
				code, _ = wsendpoint.CloseCode(e)
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
		{Kind: transport.MessageTurn, State: transport.StateEnd, TurnEnd: transport.TurnInterrupted, Generation: 2,
			Usage: transport.Usage{Prompt: 3, Response: 4, Total: 7}},
		{Kind: transport.MessageTurn, State: transport.StateStart, Generation: 3},
		{Kind: transport.MessageTurn, State: transport.StateEnd, TurnEnd: transport.TurnComplete, Generation: 3,
			Usage: transport.Usage{Prompt: 3, Response: 4, Thoughts: 2, Total: 9, Cached: 1, PromptText: 1, PromptAudio: 2,
				ResponseAudio: 4}},
		{Kind: transport.MessageToolCall, ID: "t", Name: "weather", Text: `{"city":"Oslo"}`},
		{Kind: transport.MessageToolCancel, ID: "t"},
		{Kind: transport.MessageError, Code: "text_lost", Text: "x"},
	} {
		var out wsendpoint.Outbox
		c.Message(&m, &out)
		for _, b := range out.Take() {
			got.Write(append(b, '\n'))
		}
	}
	const want = `{"voiceActivity":{"type":"ACTIVITY_START","voiceActivityType":"ACTIVITY_START"}}
{"voiceActivity":{"type":"ACTIVITY_END","voiceActivityType":"ACTIVITY_END"}}
{"serverContent":{"inputTranscription":{"text":"hello"}}}
{"serverContent":{"outputTranscription":{"finished":true,"text":"hi"}}}
{"serverContent":{"interrupted":true}}
{"serverContent":{"generationComplete":true}}
{"serverContent":{"turnComplete":true}}
{"serverContent":{"interrupted":true}}
{"serverContent":{"turnComplete":true},"usageMetadata":{"promptTokenCount":3,"responseTokenCount":4,` +
		`"totalTokenCount":7}}
{"serverContent":{"generationComplete":true}}
{"serverContent":{"turnComplete":true},"usageMetadata":{"cachedContentTokenCount":1,"promptTokenCount":3,` +
		`"promptTokensDetails":[{"modality":"TEXT","tokenCount":1},{"modality":"AUDIO","tokenCount":2}],` +
		`"responseTokenCount":4,"responseTokensDetails":[{"modality":"AUDIO","tokenCount":4}],` +
		`"thoughtsTokenCount":2,"totalTokenCount":9}}
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
		var out wsendpoint.Outbox
		code, words := c.Bye(transport.End(reason, strings.Repeat("é", 100), nil), &out)
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
		"//ws/google.ai.generativelanguage.v1.GenerativeService.BidiGenerateContent":     true, // JavaScript 3
		"/ws/google.ai.generativelanguage.v1beta1.GenerativeService.BidiGenerateContent": true, // Python 1.16
		"/ws/google.ai.generativelanguage.v2beta3.GenerativeService.BidiGenerateContent": true,
		"/ws/google.cloud.aiplatform.v1.LlmBidiService/BidiGenerateContent":              true,
		"/ws/google.cloud.aiplatform.v1beta1.LlmBidiService/BidiGenerateContent":         true,
		"/":             false,
		"/" + v1 + "/x": false,
		"/" + v1 + "x":  false,
		"/x" + v1:       false,
		"/ws/google.ai.generativelanguage.v1beta.GenerativeService.BidiGenerateMusic":  false,
		"/ws/google.ai.generativelanguage.vbeta.GenerativeService.BidiGenerateContent": false,
		"/ws/google.ai.generativelanguage.GenerativeService.BidiGenerateContent":       false,
	} {
		if got := Serves(path); got != want {
			t.Errorf("Serves(%q) = %v", path, got)
		}
	}
}

func TestFramesAllocateNothing(t *testing.T) {
	c, _, _ := greet(t, setupWith(""))
	in, out := wsendpoint.NewInbox(wsendpoint.InputRateHz), &wsendpoint.Outbox{}
	m := wsconn.Message{Data: []byte(`{"realtimeInput":{"audio":{"data":"` + base64.StdEncoding.EncodeToString(
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
	in, out := wsendpoint.NewInbox(wsendpoint.InputRateHz), &wsendpoint.Outbox{}
	m := wsconn.Message{Data: []byte(`{"realtimeInput":{"audio":{"data":"` + base64.StdEncoding.EncodeToString(
		make([]byte, 640)) + `","mimeType":"audio/pcm;rate=16000"}}}`)}
	var ev transport.Event
	b.ReportAllocs()
	for b.Loop() {
		_ = c.Read(m, in, out)
		in.Next(&ev)
		in.Next(&ev)
	}
}

// FuzzRead reads whatever may come, before and after a setup: it is an event, an end of the call,
// or nothing. The fast path for sound says what the other one does.
func FuzzRead(f *testing.F) {
	f.Add([]byte(`{"realtimeInput":{"audio":{"data":"AQIDBA==","mimeType":"audio/pcm;rate=16000"}}}`))
	f.Add([]byte(`{"realtimeInput":{"audio":{"data":"AQIDBA==","mimeType":"audio/pcm; rate=\"8000\""}}}`))
	f.Add([]byte(`{"realtime_input":{"media_chunks":[{"data":"-_8","mime_type":"audio/pcm"}]}}`))
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
		c := newCodec(httptest.NewRequest(http.MethodGet, "/", nil), zap.NewNop())
		msg, err := c.decode(b)
		pcm, fastErr := decodeBase64(nil, data)
		if err != nil {
			if fastErr == nil {
				t.Fatalf("fast %q of type %q, slow %v", pcm, mime, err)
			}
			return
		}
		a := msg.RealtimeInput.Audio
		if a == nil {
			a = msg.RealtimeInput.MediaChunks[0]
		}
		if fastErr != nil || !bytes.Equal(pcm, a.Data) || strings.ToValidUTF8(string(mime), "\uFFFD") != a.MIMEType {
			t.Fatalf("fast %q of type %q, %v, slow %q of type %q", pcm, mime, fastErr, a.Data, a.MIMEType)
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

// TestActivity reads how a client wants its speech detected, and says what of it is not followed.
func TestActivity(t *testing.T) {
	const setup = `,"realtimeInputConfig":{"automaticActivityDetection":{"startOfSpeechSensitivity":` +
		`"START_SENSITIVITY_LOW","end_of_speech_sensitivity":"END_SENSITIVITY_HIGH","prefixPaddingMs":20,` +
		`"silenceDurationMs":100}}`
	_, h, err := greet(t, setupWith(setup))
	a := h.Session.Activity
	if err != nil || a.Start != transport.SensitivityLow || a.End != transport.SensitivityHigh || *a.PrefixMS != 20 ||
		*a.SilenceMS != 100 {
		t.Errorf("%+v, %v", a, err)
	}
	_, h, err = greet(t, setupWith(strings.ReplaceAll(strings.ReplaceAll(setup, "SENSITIVITY_LOW",
		"SENSITIVITY_UNSPECIFIED"), "END_SENSITIVITY_HIGH", "loud")))
	if a := h.Session.Activity; err != nil || a.Start != "" || a.End != "loud" {
		t.Errorf("%+v, %v", a, err)
	}
	c, _, _ := greet(t, setupWith(setup))
	var out wsendpoint.Outbox
	c.Ready(transport.Ready{Refused: []*transport.FieldError{transport.SessionError("start_sensitivity", "low", "x"),
		transport.SessionError("end_sensitivity", "low", "x"), transport.SessionError("prefix_padding", "1", "x"),
		transport.SessionError("silence_duration", "1", "x")}}, &out)
	b := string(out.Take()[0])
	for _, field := range []string{"startOfSpeechSensitivity", "endOfSpeechSensitivity", "prefixPaddingMs",
		"silenceDurationMs"} {
		if !strings.Contains(b, automaticDetection+field+": the call does not follow") {
			t.Errorf("%s lacks %s", b, field)
		}
	}
}

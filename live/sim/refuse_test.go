package sim_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/coder/websocket"

	"github.com/voicegw/voicegw/live/sim"
)

const apiPath = "/ws/google.ai.generativelanguage.v1beta.GenerativeService.BidiGenerateContent"

// startServer listens on loopback until the test ends.
func startServer(t testing.TB, cfg sim.Config) *sim.Server {
	t.Helper()
	server, err := sim.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Start("127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Close() })
	return server
}

// rawCall sends the messages and returns how the server closed, with the messages it sent before.
func rawCall(t *testing.T, url string, header http.Header, messages ...string) (
	received []string, code int, reason string) {
	t.Helper()
	ctx := context.Background()
	ws, _, err := websocket.Dial(ctx, url, &websocket.DialOptions{HTTPHeader: header})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = ws.CloseNow() }()
	for _, m := range messages {
		_ = ws.Write(ctx, websocket.MessageText, []byte(m)) // the server may have closed already
	}
	for {
		_, data, err := ws.Read(ctx)
		if err != nil {
			var ce websocket.CloseError
			if !errors.As(err, &ce) {
				t.Fatalf("no close frame: %v", err)
			}
			return received, int(ce.Code), ce.Reason
		}
		received = append(received, string(data))
	}
}

// setups of raw clients.
const (
	plainSetup = `{"setup":{"model":"models/parrot",` +
		`"realtimeInputConfig":{"automaticActivityDetection":{"disabled":true}}}}`
	automaticSetup = `{"setup":{"model":"models/parrot"}}`
)

// TestRefusals sends what the real service refuses.
func TestRefusals(t *testing.T) {
	server := startServer(t, sim.Config{})
	tests := []struct {
		name     string
		messages []string
		code     int
		reason   string
	}{
		{"no JSON", []string{`{"setup":`}, 1007, `Invalid JSON payload received.`},
		{"trailing data", []string{automaticSetup + `{}`}, 1007, `Invalid JSON payload received.`},
		{"null", []string{`null`}, 1007, "invalid argument"},
		{"an array", []string{`[]`}, 1007, "TYPE_MESSAGE"},
		{"empty", []string{`{}`}, 1007, "exactly one"},
		{"two messages in one", []string{`{"setup":{},"clientContent":{}}`}, 1007, "exactly one"},
		{"unknown top-level name", []string{`{"x":1}`}, 1007,
			`Invalid JSON payload received. Unknown name "x": Cannot find field.`},
		{"unknown name", []string{`{"setup":{"model":"models/parrot","x":1}}`}, 1007,
			`Invalid JSON payload received. Unknown name "x" at 'setup'`},
		{"unknown name, deep", []string{`{"setup":{"generationConfig":{"speechConfig":{"rate":1}}}}`}, 1007,
			`Unknown name "rate" at 'setup.generation_config.speech_config'`},
		{"unknown name in a list", []string{`{"setup":{"tools":[{"googleSearch":{}},{"y":1}]}}`}, 1007,
			`Unknown name "y" at 'setup.tools[1]'`},
		{"wrong type", []string{`{"setup":{"model":1}}`}, 1007, `Invalid value at 'setup.model' (TYPE_STRING), 1`},
		{"wrong bool", []string{`{"setup":{"explicitVadSignal":"yes"}}`}, 1007, `(TYPE_BOOL), "yes"`},
		{"wrong number", []string{`{"setup":{"generationConfig":{"topP":"high"}}}`}, 1007, `(TYPE_INT64), "high"`},
		{"wrong list", []string{`{"setup":{"tools":{}}}`}, 1007, `'setup.tools'`},
		{"text wanted", []string{`{"setup":{"model":"models/parrot","generationConfig":{"responseModalities":["TEXT"]}}}`},
			1007, "invalid argument"},
		{"unknown model", []string{`{"setup":{"model":"models/nobody"}}`}, 1008,
			"models/nobody is not found for API version v1beta"},
		{"no model", []string{`{"setup":{}}`}, 1008, "is not found"},
		{"model without models/", []string{`{"setup":{"model":"parrot"}}`}, 1008, "is not found"},
		{"unknown handle", []string{`{"setup":{"model":"models/parrot","sessionResumption":{"handle":"h"}}}`}, 1008,
			"Requested entity was not found."},
		{"audio before setup", []string{`{"realtimeInput":{"audio":{"data":"AAA=","mimeType":"audio/pcm;rate=16000"}}}`},
			1007, "first message must be setup"},
		{"second setup", []string{plainSetup, plainSetup}, 1007, "only once"},
		{"mediaChunks", []string{plainSetup, `{"realtimeInput":{"mediaChunks":[]}}`}, 1007, "deprecated"},
		{"media_chunks", []string{plainSetup, `{"realtime_input":{"media_chunks":[]}}`}, 1007, "deprecated"},
		{"two inputs in one", []string{plainSetup, `{"realtimeInput":{"text":"x","activityStart":{}}}`}, 1007,
			"invalid argument"},
		{"activity start, automatic", []string{automaticSetup, `{"realtimeInput":{"activityStart":{}}}`}, 1007,
			"Explicit activity control"},
		{"activity end, automatic", []string{automaticSetup, `{"realtimeInput":{"activityEnd":{}}}`}, 1007,
			"Explicit activity control"},
		{"stream end, manual", []string{plainSetup, `{"realtimeInput":{"audioStreamEnd":true}}`}, 1007, "invalid argument"},
		{"half a sample", []string{plainSetup,
			`{"realtimeInput":{"audio":{"data":"AA==","mimeType":"audio/pcm;rate=16000"}}}`}, 1007, "invalid argument"},
		{"broken base64", []string{plainSetup, `{"realtimeInput":{"audio":{"data":"%","mimeType":"audio/pcm;rate=16000"}}}`},
			1007, "TYPE_BYTES"},
		{"other audio", []string{plainSetup, `{"realtimeInput":{"audio":{"data":"AAA=","mimeType":"audio/opus"}}}`}, 1007,
			"MIME"},
		{"other rate", []string{plainSetup, `{"realtimeInput":{"audio":{"data":"AAA=","mimeType":"audio/pcm;rate=1"}}}`},
			1007, "invalid argument"},
		{"unknown call", []string{plainSetup, `{"toolResponse":{"functionResponses":[{"id":"f1","response":{}}]}}`}, 1008,
			"Requested entity was not found"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, code, reason := rawCall(t, server.URL()+apiPath, nil, test.messages...)
			if code != test.code || !strings.Contains(reason, test.reason) {
				t.Errorf("closed with %d %q; want %d %q", code, reason, test.code, test.reason)
			}
		})
	}
}

// TestAccepted sends every message a client may, in both spellings, and then something refused, to
// see the end.
func TestAccepted(t *testing.T) {
	const full = `{"setup":{"model":"models/M",
 "generationConfig":{"responseModalities":["AUDIO"],"speechConfig":{"languageCode":"de-DE","voiceConfig":
   {"prebuiltVoiceConfig":{"voiceName":"Puck"}}},"temperature":0.5,"topP":0.9,"topK":20,"maxOutputTokens":100,"seed":3,
   "mediaResolution":"MEDIA_RESOLUTION_LOW","thinkingConfig":{"thinkingBudget":0},"enableAffectiveDialog":true,
   "translationConfig":{}},
 "systemInstruction":{"role":"user","parts":[{"text":"be brief"}]},
 "tools":[{"functionDeclarations":[{"name":"f","description":"d","behavior":"NON_BLOCKING","parameters":
   {"type":"OBJECT"}}]},{"googleSearch":{}}],
 "realtimeInputConfig":{"automaticActivityDetection":{"disabled":true,"startOfSpeechSensitivity":
   "START_SENSITIVITY_HIGH","endOfSpeechSensitivity":"END_SENSITIVITY_LOW","prefixPaddingMs":20,
   "silenceDurationMs":100},"activityHandling":"START_OF_ACTIVITY_INTERRUPTS","turnCoverage":
   "TURN_INCLUDES_ONLY_ACTIVITY","interimTranscriptTimestampEnabled":true},
 "sessionResumption":{},
 "contextWindowCompression":{"triggerTokens":"25600","slidingWindow":{"targetTokens":"12800"}},
 "inputAudioTranscription":{"languageCodes":["de"],"customVocabulary":["x"],"diarization":true,"wordTimestamp":true,
   "mode":"VERBATIM"},
 "outputAudioTranscription":{},"proactivity":{"proactiveAudio":false},
 "historyConfig":{"initialHistoryInClientContent":true},
 "safetySettings":[{"category":"HARM_CATEGORY_HARASSMENT","threshold":"BLOCK_NONE"}],"labels":{"k":"v"},
 "avatarConfig":{"avatarName":"a","audioBitrateBps":1,"videoBitrateBps":1},"explicitVadSignal":true}}`
	messages := []string{full,
		`{"realtimeInput":{"audio":{"data":"AQIDBA==","mimeType":"audio/pcm;rate=16000"}}}`,
		`{"realtimeInput":{"audio":{"mimeType":"audio/pcm","data":"AQIDBA"}}}`,
		`{"realtime_input":{"audio":{"mime_type":"audio/pcm;rate=48000","data":"-_8="}}}`,
		`{"realtimeInput":{"video":{"data":"AQ==","mimeType":"image/jpeg"}}}`,
		`{"realtimeInput":{"activityStart":{}}}`,
		`{"realtimeInput":{"activityEnd":{}}}`,
		`{"realtimeInput":{"text":"hey"}}`,
		`{"clientContent":{"turns":[{"role":"user","parts":[{"text":"hi"}]}],"turnComplete":true}}`,
		`{"clientContent":{}}`,
		`{"contextUpdate":{"systemInstruction":{"role":"user","parts":[{"text":"new"}]},"tools":{"tools":[]}}}`,
		`{"end":1}`,
	}
	server := startServer(t, sim.Config{Models: []string{"M"}, FixedReply: make([]int16, 240)})
	received, code, reason := rawCall(t, server.URL()+apiPath, nil, messages...)
	if code != 1007 || !strings.Contains(reason, `"end"`) {
		t.Errorf("closed with %d %q; want only the last message to be refused", code, reason)
	}
	if len(received) == 0 || !strings.Contains(received[0], `"setupComplete"`) {
		t.Errorf("received %q; want setupComplete first", received)
	}
	if c := server.Connections()[0]; c.AudioMessages != 3 || c.Samples != 5 || string(c.Setup) != full {
		t.Errorf("the server remembers %+v", c)
	}
}

// TestPaths dials each place where the real service listens, and some where it does not.
func TestPaths(t *testing.T) {
	server := startServer(t, sim.Config{Models: []string{"M"}})
	for _, test := range []struct{ path, model string }{
		{apiPath, "models/M"},
		{"/prefix" + apiPath, "models/M"},
		{"/" + strings.Replace(apiPath, "v1beta", "v1", 1), "models/M"}, // @google/genai 3
		{"/ws/google.ai.generativelanguage.v1alpha.GenerativeService.BidiGenerateContentConstrained", "models/M"},
		{"/ws/google.cloud.aiplatform.v1beta1.LlmBidiService/BidiGenerateContent",
			"projects/p/locations/l/publishers/google/models/M"},
		{"", "publishers/google/models/M"},
	} {
		received, _, _ := rawCall(t, server.URL()+test.path, nil, `{"setup":{"model":"`+test.model+`"}}`, `{"x":1}`)
		if len(received) != 1 {
			t.Errorf("%s: received %q; want setupComplete", test.path, received)
		}
	}
	for _, path := range []string{"/ws", "/v1/voice", apiPath + "x", strings.Replace(apiPath, "v1beta", "v9", 1)} {
		_, resp, err := websocket.Dial(t.Context(), server.URL()+path, nil)
		if err == nil || resp.StatusCode != http.StatusNotFound {
			t.Errorf("%s: %v; want 404", path, err)
		}
	}
}

// TestKeys shows keys in all the places clients put them.
func TestKeys(t *testing.T) {
	server := startServer(t, sim.Config{APIKey: "right"})
	const invalid, missing = "API key not valid. Please pass a valid API key.", "Method doesn't allow unregistered callers"
	const constrained = "/ws/google.ai.generativelanguage.v1alpha.GenerativeService.BidiGenerateContentConstrained"
	const vertex = "/ws/google.cloud.aiplatform.v1beta1.LlmBidiService/BidiGenerateContent"
	for _, test := range []struct {
		address, header, value string
		code                   int
		reason                 string
	}{
		{apiPath, "X-Goog-Api-Key", "right", 1007, `"x"`},
		{apiPath + "?key=right", "", "", 1007, `"x"`},
		{constrained + "?access_token=right", "", "", 1007, `"x"`},
		{constrained, "Authorization", "Token right", 1007, `"x"`},
		{constrained, "Authorization", "Bearer right", 1008, missing},
		{constrained, "Authorization", "Token wrong", 1007, invalid},
		{vertex, "Authorization", "Bearer right", 1007, `"x"`},
		{vertex, "Authorization", "Bearer wrong", 1007, invalid},
		{vertex, "Authorization", "Token right", 1008, missing},
		{vertex, "X-Goog-Api-Key", "right", 1008, missing},
		{apiPath, "X-Goog-Api-Key", "wrong", 1007, invalid},
		{apiPath + "?key=wrong", "", "", 1007, invalid},
		{apiPath, "Authorization", "Bearer right", 1008, missing},
		{apiPath, "", "", 1008, missing},
	} {
		header := http.Header{}
		if test.header != "" {
			header.Set(test.header, test.value)
		}
		_, code, reason := rawCall(t, server.URL()+test.address, header, setupFor(test.address), `{"x":1}`)
		if code != test.code || !strings.Contains(reason, test.reason) {
			t.Errorf("%s %s %s: closed with %d %q; want %d %q", test.address, test.header, test.value, code, reason,
				test.code, test.reason)
		}
	}
	for _, c := range server.Connections() {
		if strings.Contains(c.Path, "?") {
			t.Errorf("the server remembers the path %s with a key", c.Path)
		}
	}
}

// setupFor is a setup with the name of a model as the address wants it.
func setupFor(address string) string {
	if strings.Contains(address, "aiplatform") {
		return strings.Replace(automaticSetup, "models/", "projects/p/locations/l/publishers/google/models/", 1)
	}
	return automaticSetup
}

// TestForeignPages are refused: a page of another origin must not talk through a browser to a
// server on loopback.
func TestForeignPages(t *testing.T) {
	server := startServer(t, sim.Config{})
	header := http.Header{"Origin": {"https://example.com"}}
	_, resp, err := websocket.Dial(t.Context(), server.URL()+apiPath, &websocket.DialOptions{HTTPHeader: header})
	if err == nil || resp.StatusCode != http.StatusForbidden {
		t.Errorf("%v; want 403", err)
	}
}

// TestLoopbackOnly refuses to listen for others.
func TestLoopbackOnly(t *testing.T) {
	server, err := sim.New(sim.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = server.Close() }()
	for _, addr := range []string{":0", "0.0.0.0:0", "[::]:0", "192.0.2.1:0", "example.com:0", "127.0.0.1"} {
		if err := server.Start(addr); err == nil {
			t.Errorf("listens on %q", addr)
		}
	}
	if server.URL() != "" {
		t.Errorf("URL %q of a server that does not listen", server.URL())
	}
}

// TestTooManyConnections refuses one more than allowed, politely.
func TestTooManyConnections(t *testing.T) {
	server := startServer(t, sim.Config{ConnectionsMax: 1})
	ws, _, err := websocket.Dial(t.Context(), server.URL()+apiPath, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = ws.CloseNow() }()
	_, resp, err := websocket.Dial(t.Context(), server.URL()+apiPath, nil)
	if err == nil || resp.StatusCode != http.StatusServiceUnavailable || resp.Header.Get("Retry-After") == "" {
		t.Errorf("%v; want 503", err)
	}
}

// TestConfig refuses what cannot be honoured, and names it.
func TestConfig(t *testing.T) {
	for want, cfg := range map[string]sim.Config{
		"Speed":      {Speed: -1},
		"Latency":    {Latency: -1},
		"ChunkMin":   {ChunkMin: 1},
		"ChunkMax":   {ChunkMin: 100e6, ChunkMax: 50e6},
		"EchoMax":    {EchoMax: 61e9},
		"FixedReply": {FixedReply: make([]int16, 121*24000)},
		"Greeting":   {Greeting: make([]int16, 121*24000)},
		"CloseAt":    {Faults: sim.Faults{CloseAt: &sim.CloseAt{Code: 42}}},
		"Refuse":     {Faults: sim.Faults{RefuseUpgrade: 200}},
		"Connectio":  {ConnectionsMax: -1},
	} {
		if _, err := sim.New(cfg); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v", want, err)
		}
	}
}

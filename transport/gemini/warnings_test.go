package gemini

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/voicegw/voicegw/transport"
	"github.com/voicegw/voicegw/transport/wsconn"
	"github.com/voicegw/voicegw/transport/wsendpoint"
)

// TestWarnings: what has no effect is told with setupComplete, and in the call with an empty
// serverContent, and logged; each field once.
func TestWarnings(t *testing.T) {
	core, logged := observer.New(zap.InfoLevel)
	c := newCodec(httptest.NewRequest(http.MethodGet, "/", nil), zap.New(core))
	var out wsendpoint.Outbox
	h := transport.Hello{InputRateHz: 16000, OutputRateHz: 24000}
	err := c.Greet(&h, func() (wsconn.Message, error) {
		return wsconn.Message{Data: []byte(setupWith(`,"session_resumption":{},"generationConfig":{"top_k":1,` +
			`"responseModalities":["TEXT","AUDIO"],"speechConfig":{"language_code":"en_US"}},` +
			`"realtimeInputConfig":{"turnCoverage":"TURN_INCLUDES_ALL_INPUT",` +
			`"activityHandling":"X","automaticActivityDetection":{"silence_duration_ms":500}}`))}, nil
	}, &out)
	if err != nil {
		t.Fatal(err)
	}
	c.Ready(transport.Ready{Call: "c-1", Refused: []*transport.FieldError{
		transport.SessionError("model", "secret", "absent: this server decides it"),
		transport.SessionError("max_output_tokens", "4111", "absent")}}, &out)
	in := wsendpoint.NewInbox(wsendpoint.InputRateHz)
	for range 2 {
		if err := c.Read(wsconn.Message{Data: []byte(`{"realtimeInput":{"video":{}}}`)}, in, &out); err != nil {
			t.Fatal(err)
		}
	}
	want := []string{`{"setupComplete":{"sessionId":"c-1"},"warnings":[` +
		`"setup.generationConfig.topK: the field has no effect: the gateway's settings decide.",` +
		`"setup.generationConfig.responseModalities: this gateway speaks AUDIO alone; ` +
		`outputAudioTranscription gives the text.",` +
		`"setup.generationConfig.speechConfig.languageCode: it must be a BCP 47 tag such as \"en-US\".",` +
		`"setup.realtimeInputConfig.activityHandling: the gateway does not know the value; it has no effect.",` +
		`"setup.realtimeInputConfig.turnCoverage: the field has no effect: the model gets the caller's speech, ` +
		`as with TURN_INCLUDES_ONLY_ACTIVITY.",` +
		`"setup.model: the call does not follow the field; it must be absent: this server decides it.",` +
		`"setup.generationConfig.maxOutputTokens: the call does not follow the field; it must be absent."]}`,
		`{"sessionResumptionUpdate":{"resumable":false}}`,
		`{"serverContent":{},"warnings":["realtimeInput.video: the field has no effect: this gateway takes no pictures, ` +
			`and the call goes on without them."]}`}
	got := out.Take()
	for i := range max(len(got), len(want)) {
		if i >= len(got) || i >= len(want) || string(got[i]) != want[i] {
			t.Errorf("sent %s\nwant %s", got, want)
			break
		}
	}
	for i, lines := range []int{5, 1} {
		if e := logged.All(); len(e) != 2 || e[i].ContextMap()["call"] != "c-1" ||
			len(e[i].ContextMap()["warnings"].([]any)) != lines {
			t.Errorf("logged %v", fmt.Sprint(e))
		}
	}
}

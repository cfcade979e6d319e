package gemini_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/voicegw/voicegw/audio"
	"github.com/voicegw/voicegw/internal/endpointtest"
	"github.com/voicegw/voicegw/transport"
	"github.com/voicegw/voicegw/transport/gemini"
)

// talk is a client that plays what comes at once, and drops it when it is interrupted.
func talk() endpointtest.Talk {
	return endpointtest.Talk{
		Greet: func(c *websocket.Conn) {
			_ = c.Write(context.Background(), websocket.MessageText, []byte(`{"setup":{"model":"models/x"}}`))
			_, _, _ = c.Read(context.Background())
		},
		Frame: func(pcm []int16) []byte {
			b, _ := json.Marshal(map[string]any{"realtimeInput": map[string]any{"audio": map[string]any{
				"data": audio.AppendBytes(nil, pcm), "mimeType": "audio/pcm;rate=16000"}}})
			return b
		},
		Hear: func(at time.Duration, b []byte, e *endpointtest.Recorder, _ func([]byte)) {
			var m struct {
				ServerContent struct {
					Interrupted bool
					ModelTurn   struct {
						Parts []struct{ InlineData struct{ Data string } }
					}
				}
			}
			_ = json.Unmarshal(b, &m)
			if m.ServerContent.Interrupted {
				e.Clear(at)
			}
			for _, p := range m.ServerContent.ModelTurn.Parts {
				pcm, _ := base64.StdEncoding.DecodeString(p.InlineData.Data)
				e.Hear(at, pcm)
			}
		},
	}
}

func endpoint() endpointtest.Plan {
	return endpointtest.Plan{Endpoint: func(l transport.Lines) (endpointtest.Endpoint,
		error) {
		return gemini.New(gemini.Config{Lines: l})
	}}
}

func TestCough(t *testing.T) {
	endpointtest.InBubble(t, endpoint(), func(w *endpointtest.World) { talk().Cough(t, w) })
}

func TestBargeIn(t *testing.T) {
	endpointtest.InBubble(t, endpoint(), func(w *endpointtest.World) { talk().BargeIn(t, w) })
}

// python is talk as google-genai for Python has it: see testdata/python-genai-2.19.0.jsonl.
func python(t *testing.T) endpointtest.Talk {
	k := talk()
	k.Greet = func(c *websocket.Conn) {
		_ = c.Write(context.Background(), websocket.MessageText, []byte(`{"setup": {"model": "models/x", `+
			`"generationConfig": {"topP": 0.5, "speechConfig": {"language_code": "en-US"}}, `+
			`"realtimeInputConfig": {"automatic_activity_detection": {"prefix_padding_ms": 20}}, "sessionResumption": {}}}`))
		for _, want := range []string{"warnings", "sessionResumptionUpdate"} {
			if _, b, err := c.Read(context.Background()); err != nil || !bytes.Contains(b, []byte(want)) {
				t.Errorf("%s, %v, want %s", b, err, want)
			}
		}
	}
	k.Frame = func(pcm []int16) []byte {
		return fmt.Appendf(nil, `{"realtime_input": {"audio": {"data": "%s", "mimeType": "audio/pcm;rate=16000"}}}`,
			base64.URLEncoding.EncodeToString(audio.AppendBytes(nil, pcm)))
	}
	return k
}

// TestPythonTalks speaks, is answered, and coughs over the reply. TestBargeIn covers speech over a
// reply, which takes longer to judge and is the same for every client.
func TestPythonTalks(t *testing.T) {
	endpointtest.InBubble(t, endpoint(), func(w *endpointtest.World) { python(t).Cough(t, w) })
}

// TestBadInput: each mistake ends the call with a close that names it, or costs what was wrong
// alone, and the call goes on.
func TestBadInput(t *testing.T) {
	const setup = `{"setup":{"model":"models/x"}}`
	endpointtest.Judge(t, endpoint, []endpointtest.Mistake{
		{"audio before the setup", []string{`{"realtime_input":{"audio":{"data":"AAA=","mimeType":"audio/pcm"}}}`, setup},
			1007, "first message must be a setup"},
		{"an end first", []string{`{"realtimeInput":{"audioStreamEnd":true}}`}, 1007, "first message must be a setup"},
		{"no setup", nil, 1008, "No hello came in time"},
		{"a setup twice", []string{setup, setup}, 1007, "setup came twice"},
		{"a setup twice, spelled otherwise", []string{setup, `{"setup":{"generation_config":{}}}`}, 1007, "setup came twice"},
		{"a setup that goes on, late", []string{setup, `{"setup":{"sessionResumption":{"handle":"x.1"}}}`}, 1007,
			"setup came twice"},
		{"a setup of two spellings", []string{`{"setup":{"generationConfig":{},"generation_config":{}}}`}, 1007,
			"setup.generationConfig"},
		{"a huge setup", []string{`{"setup":{"model":"` + strings.Repeat("x", 1<<20) + `"}}`}, 1009, "longer than"},
		{"a deep setup", []string{`{"setup":{"tools":` + strings.Repeat("[", 20000) + strings.Repeat("]", 20000) + `}}`},
			1007, "not valid"},
		{"a huge message", []string{setup, `{"realtimeInput":{"text":"` + strings.Repeat("x", 1<<20) + `"}}`}, 1009,
			"longer than"},
		{"no JSON", []string{setup, `{"realtimeInput":`}, 1007, "not valid"},
		{"no object", []string{setup, `"setup"`}, 1007, "not valid"},
		{"a button without a setup of one", []string{setup, `{"realtime_input":{"activity_start":{}}}`}, 1007,
			"Explicit activity control"},
		{"a long text", []string{setup, `{"realtimeInput":{"text":"` + strings.Repeat("x", 5000) + `"}}`}, 0,
			"5000 characters"},
		{"video", []string{setup, `{"realtimeInput":{"video":{"data":"AAAA","mimeType":"image/jpeg"}}}`}, 0,
			"realtimeInput.video: "},
		{"another context", []string{setup, `{"contextUpdate":{"tools":{}}}`}, 0, "contextUpdate: "},
		{"a late result", []string{setup, `{"toolResponse":{"functionResponses":[{"id":"late","response":{}}]}}`,
			`{"toolResponse":{"functionResponses":[{"response":{}}]}}`}, 0, "toolResponse.functionResponses.id: "},
		{"another field", []string{setup, `{"realtimeInput":{"vibes":1}}`}, 0,
			"realtimeInput.vibes: this gateway does not know"},
		{"a handle of a stranger", []string{`{"setup":{"session_resumption":{"handle":"x.1"}}}`}, 1008,
			"setup.sessionResumption.handle: there is no call"},
	})
}

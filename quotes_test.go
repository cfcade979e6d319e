package voicegw_test

import (
	"strings"
	"testing"

	"go.uber.org/zap"

	"github.com/voicegw/voicegw/internal/endpointtest"
	"github.com/voicegw/voicegw/internal/foreign/foreigntest"
	"github.com/voicegw/voicegw/transport"
	"github.com/voicegw/voicegw/transport/asterisk"
	"github.com/voicegw/voicegw/transport/gemini"
	"github.com/voicegw/voicegw/transport/mediastream"
	"github.com/voicegw/voicegw/transport/openai"
	"github.com/voicegw/voicegw/transport/rtvi"
	"github.com/voicegw/voicegw/transport/ws"
)

// TestNothingIsQuoted sends a card number through every endpoint over WebSockets, as digits, text
// and whatever else: it is in no line of the log.
func TestNothingIsQuoted(t *testing.T) {
	t.Parallel()
	for name, q := range quotes() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for i, m := range q.Messages {
				q.Messages[i] = strings.ReplaceAll(m, "CARD", foreigntest.Card)
			}
			q.Test(t)
		})
	}
}

func quotes() map[string]endpointtest.Quotes {
	return map[string]endpointtest.Quotes{
		"ws": {
			Endpoint: func(l transport.Lines, log *zap.Logger) (endpointtest.Endpoint, error) {
				return ws.New(ws.Config{Lines: l, Log: log})
			},
			Subprotocols: []string{ws.Subprotocol},
			Greeting:     []string{`{"type":"hello","version":1,"input_rate":16000,"output_rate":24000}`},
			Messages: []string{`{"type":"dtmf","digits":CARD}`, `{"type":"dtmf","digits":"CARD-"}`,
				`{"type":"dtmf","digits":"CARD"}`, `{"type":"text","text":CARD}`, `{"type":"text","text":"CARD"}`,
				`{"type":"CARD"}`, `{"type":"tool_result","id":CARD}`, `{"type":"bye","reason":CARD}`, `CARD`,
				`{"type":"hello","version":1,"input_rate":16000,"output_rate":24000,"language":"CARD!"}`,
				`{"type":"hello","version":1,"input_rate":16000,"output_rate":24000,"instructions":"CARD"}`,
				`{"type":"hello","version":1,"input_rate":16000,"output_rate":24000,"params":{"CARD":1}}`},
		},
		"gemini": {
			Endpoint: func(l transport.Lines, log *zap.Logger) (endpointtest.Endpoint, error) {
				return gemini.New(gemini.Config{Lines: l, Log: log})
			},
			Greeting: []string{`{"setup":{"model":"models/x"}}`},
			Messages: []string{`{"realtimeInput":{"text":CARD}}`, `{"realtimeInput":{"text":"CARD"}}`, `"CARD"`,
				`{"realtimeInput":{"audio":{"mimeType":"CARD","data":""}}}`, `{"setup":{"model":CARD}}`,
				`{"setup":{"generationConfig":{"responseModalities":["CARD"]}}}`},
		},
		"openai": {
			Endpoint: func(l transport.Lines, log *zap.Logger) (endpointtest.Endpoint, error) {
				return openai.New(openai.Config{Lines: l, Log: log})
			},
			Greeting: []string{`{"type":"session.update","session":{"type":"realtime"}}`},
			Messages: []string{`{"type":CARD}`, `{"type":"CARD"}`, `{"type":"conversation.item.create","item":CARD}`,
				`{"type":"session.update","session":{"type":"CARD"}}`, `{"type":"session.update","session":CARD}`},
		},
		"rtvi": {
			Endpoint: func(l transport.Lines, log *zap.Logger) (endpointtest.Endpoint, error) {
				return rtvi.New(rtvi.Config{Lines: l, Log: log})
			},
			Greeting: []string{`{"label":"rtvi-ai","type":"client-ready","id":"1","data":{"version":"2"}}`},
			Messages: []string{`{"label":"rtvi-ai","type":"dtmf","data":{"buttons":CARD}}`,
				`{"label":"rtvi-ai","type":"dtmf","data":{"buttons":["CARD"]}}`,
				`{"label":"rtvi-ai","type":"send-text","data":{"content":CARD}}`, `{"label":"rtvi-ai","type":"CARD"}`},
		},
		"twilio": {
			Endpoint: func(l transport.Lines, log *zap.Logger) (endpointtest.Endpoint, error) {
				return mediastream.New(mediastream.Config{Lines: l, Log: log})
			},
			Greeting: []string{`{"event":"start","start":{"streamSid":"MZ1","callSid":"CA1","mediaFormat":` +
				`{"encoding":"audio/x-mulaw","sampleRate":8000,"channels":1}},"streamSid":"MZ1"}`},
			Messages: []string{`{"event":"dtmf","streamSid":"MZ1","dtmf":{"digit":"CARD"}}`,
				`{"event":"error","streamSid":"MZ1","error":"CARD"}`, `{"event":"start","start":"CARD"}`,
				`{"event":"start","start":{"streamSid":"MZ1","callSid":"CA1","mediaFormat":{"encoding":"CARD"}}}`},
		},
		"asterisk": {
			Endpoint: func(l transport.Lines, log *zap.Logger) (endpointtest.Endpoint, error) {
				return asterisk.New(asterisk.Config{Lines: l, Log: log})
			},
			Subprotocols: []string{asterisk.Subprotocol},
			Greeting:     []string{`MEDIA_START channel_id:1 format:ulaw optimal_frame_size:160`},
			Messages: []string{`DTMF_END digit:CARD`, `ERROR error_text:CARD`, `{"event":"DTMF_END","digit":CARD}`,
				`MEDIA_START format:CARD`, `MEDIA_START format:ulaw optimal_frame_size:CARD`, `CARD`},
		},
	}
}

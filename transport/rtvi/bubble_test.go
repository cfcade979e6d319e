package rtvi_test

import (
	"context"
	"encoding/binary"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/voicegw/voicegw/audio"
	"github.com/voicegw/voicegw/internal/endpointtest"
	"github.com/voicegw/voicegw/transport"
	"github.com/voicegw/voicegw/transport/rtvi"
)

// talk is a client that plays on what it has got, as Pipecat's does.
func talk() endpointtest.Talk {
	return endpointtest.Talk{
		Binary: true,
		Greet: func(c *websocket.Conn) {
			_ = c.Write(context.Background(), websocket.MessageText,
				[]byte(`{"label":"rtvi-ai","type":"client-ready","id":"1"}`))
			_, _, _ = c.Read(context.Background())
		},
		Frame: func(pcm []int16) []byte {
			le := audio.AppendBytes(nil, pcm)
			body := append([]byte{3<<3 | 2}, binary.AppendUvarint(nil, uint64(len(le)))...)
			body = append(append(body, le...), 4<<3, 0x80, 0x7d, 5<<3, 1) // 16,000 Hz, one channel
			return append(append([]byte{2<<3 | 2}, binary.AppendUvarint(nil, uint64(len(body)))...), body...)
		},
		Hear: func(at time.Duration, b []byte, e *endpointtest.Recorder, _ func([]byte)) {
			if b[0] == 2<<3|2 {
				_, n := binary.Uvarint(b[1:])
				body := b[1+n:]
				size, n := binary.Uvarint(body[1:])
				e.Hear(at, body[1+n:1+n+int(size)])
			}
		},
	}
}

func endpoint() endpointtest.Plan {
	return endpointtest.Plan{Endpoint: func(l transport.Lines) (endpointtest.Endpoint, error) {
		return rtvi.New(rtvi.Config{Lines: l})
	}}
}

func TestCough(t *testing.T) {
	endpointtest.InBubble(t, endpoint(), func(w *endpointtest.World) { talk().Cough(t, w) })
}

func TestBargeIn(t *testing.T) {
	endpointtest.InBubble(t, endpoint(), func(w *endpointtest.World) { talk().BargeIn(t, w) })
}

// TestBadInput: each mistake is named. It ends the call where the client has lost its way, and costs
// what was wrong alone everywhere else.
func TestBadInput(t *testing.T) {
	message := func(kind, data string) string {
		return `{"label":"rtvi-ai","id":"1","type":"` + kind + `","data":` + data + `}`
	}
	ready := message("client-ready", `{"version":"2.1.0","about":{"library":"tests"}}`)
	endpointtest.Judge(t, endpoint, []endpointtest.Mistake{
		{"nothing", nil, 1008, "No hello came in time"},
		{"no JSON", []string{`{"label":`}, 1007, "not valid"},
		{"another message first", []string{message("send-text", `{"content":"x"}`), ready}, 1007, "must be a client-ready"},
		{"ready twice", []string{ready, ready}, 0, "came twice"},
		{"a huge message", []string{ready, message("send-text", `{"content":"`+strings.Repeat("x", 1<<20)+`"}`)}, 1009,
			"longer than"},
		{"a deep message", []string{strings.Repeat("[", 20000) + strings.Repeat("]", 20000)}, 1007, "not valid"},
		{"a long text", []string{ready, message("send-text", `{"content":"`+strings.Repeat("x", 5000)+`"}`)}, 0, "error"},
		{"a content of another kind", []string{ready, message("append-to-context", `{"content":{"x":1}}`)}, 0, "error"},
		{"no keys", []string{ready, message("dtmf", `{"buttons":["x"]}`)}, 0, "error"},
		{"another message", []string{ready, message("vibe-check", `{}`)}, 0, "error-response"},
		{"a late result", []string{ready, message("llm-function-call-result",
			`{"function_name":"f","tool_call_id":"late","arguments":{},"result":1}`)}, 0, "error"},
	})
}

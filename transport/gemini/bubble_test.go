package gemini_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/voicegw/voicegw/audio"
	"github.com/voicegw/voicegw/internal/doortest"
	"github.com/voicegw/voicegw/transport"
	"github.com/voicegw/voicegw/transport/gemini"
)

// talk is a client that plays what comes at once, and drops it when it is interrupted.
func talk() doortest.Talk {
	return doortest.Talk{
		Greet: func(c *websocket.Conn) {
			_ = c.Write(context.Background(), websocket.MessageText, []byte(`{"setup":{"model":"models/x"}}`))
			_, _, _ = c.Read(context.Background())
		},
		Frame: func(pcm []int16) []byte {
			b, _ := json.Marshal(map[string]any{"realtimeInput": map[string]any{"audio": map[string]any{
				"data": audio.AppendBytes(nil, pcm), "mimeType": "audio/pcm;rate=16000"}}})
			return b
		},
		Hear: func(at time.Duration, b []byte, e *doortest.Ear, _ func([]byte)) {
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

func door() doortest.Plan {
	return doortest.Plan{Door: func(l transport.Lines) (doortest.Door,
		error) {
		return gemini.New(gemini.Config{Lines: l})
	}}
}

func TestCough(t *testing.T) {
	doortest.InBubble(t, door(), func(w *doortest.World) { talk().Cough(t, w) })
}

func TestBargeIn(t *testing.T) {
	doortest.InBubble(t, door(), func(w *doortest.World) { talk().BargeIn(t, w) })
}

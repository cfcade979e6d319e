package rtvi_test

import (
	"context"
	"encoding/binary"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/voicegw/voicegw/audio"
	"github.com/voicegw/voicegw/internal/doortest"
	"github.com/voicegw/voicegw/transport"
	"github.com/voicegw/voicegw/transport/rtvi"
)

// talk is a client that plays on what it has got, as Pipecat's does.
func talk() doortest.Talk {
	return doortest.Talk{
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
		Hear: func(at time.Duration, b []byte, e *doortest.Ear, _ func([]byte)) {
			if b[0] == 2<<3|2 {
				_, n := binary.Uvarint(b[1:])
				body := b[1+n:]
				size, n := binary.Uvarint(body[1:])
				e.Hear(at, body[1+n:1+n+int(size)])
			}
		},
	}
}

func door() doortest.Plan {
	return doortest.Plan{Door: func(l transport.Lines) (doortest.Door, error) { return rtvi.New(rtvi.Config{Lines: l}) }}
}

func TestCough(t *testing.T) {
	doortest.InBubble(t, door(), func(w *doortest.World) { talk().Cough(t, w) })
}

func TestBargeIn(t *testing.T) {
	doortest.InBubble(t, door(), func(w *doortest.World) { talk().BargeIn(t, w) })
}

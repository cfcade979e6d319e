package relay

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/coder/websocket"
)

const (
	modelPath = "/ws/google.ai.generativelanguage.v1beta.GenerativeService.BidiGenerateContent"
	setup     = `{"setup":{"model":"models/parrot","generationConfig":{"responseModalities":["AUDIO"]}}}`
	readLimit = 4 << 20
)

// model is a connection to the model. One goroutine may send, another receive.
type model struct {
	conn *websocket.Conn
	out  []byte
}

// dialModel connects and waits until the setup is accepted.
func dialModel(ctx context.Context, url string) (*model, error) {
	conn, _, err := websocket.Dial(ctx, strings.Replace(url, "http", "ws", 1)+modelPath,
		&websocket.DialOptions{CompressionMode: websocket.CompressionDisabled})
	if err != nil {
		return nil, fmt.Errorf("relay: dial the model: %w", err)
	}
	conn.SetReadLimit(readLimit)
	m := &model{conn: conn}
	if err := conn.Write(ctx, websocket.MessageText, []byte(setup)); err != nil {
		m.close()
		return nil, fmt.Errorf("relay: set up the model: %w", err)
	}
	if _, _, err := conn.Read(ctx); err != nil {
		m.close()
		return nil, fmt.Errorf("relay: set up the model: %w", err)
	}
	return m, nil
}

func (m *model) close() { _ = m.conn.CloseNow() }

// send sends PCM at 16 kHz.
func (m *model) send(ctx context.Context, le []byte) error {
	m.out = append(m.out[:0], `{"realtimeInput":{"audio":{"mimeType":"audio/pcm;rate=16000","data":"`...)
	m.out = base64.StdEncoding.AppendEncode(m.out, le)
	m.out = append(m.out, `"}}}`...)
	return m.conn.Write(ctx, websocket.MessageText, m.out)
}

// receive returns what matters of the next message.
func (m *model) receive(ctx context.Context) (said, error) {
	_, b, err := m.conn.Read(ctx)
	if err != nil {
		return said{}, err
	}
	return read(b)
}

// said is what matters of a message of the model.
type said struct {
	pcm         []byte // at 24 kHz; nil: none
	interrupted bool
}

func read(b []byte) (said, error) {
	var message struct {
		ServerContent struct {
			ModelTurn struct {
				Parts []struct {
					InlineData struct{ Data []byte }
				}
			}
			Interrupted bool
		}
	}
	if err := json.Unmarshal(b, &message); err != nil {
		return said{}, fmt.Errorf("relay: a message of the model: %w", err)
	}
	s := said{interrupted: message.ServerContent.Interrupted}
	if parts := message.ServerContent.ModelTurn.Parts; len(parts) > 0 {
		s.pcm = parts[0].InlineData.Data
	}
	return s, nil
}

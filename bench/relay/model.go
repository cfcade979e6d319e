package relay

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"slices"
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
	conn    *websocket.Conn
	out     []byte
	in, pcm []byte // of the goroutine that receives
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
func (m *model) send(le []byte) error {
	m.out = append(m.out[:0], `{"realtimeInput":{"audio":{"mimeType":"audio/pcm;rate=16000","data":"`...)
	m.out = base64.StdEncoding.AppendEncode(m.out, le)
	m.out = append(m.out, `"}}}`...)
	return m.conn.Write(context.Background(), websocket.MessageText, m.out)
}

// receive returns what matters of the next message. It is valid until the next one.
func (m *model) receive() (s said, err error) {
	if _, m.in, err = receive(m.conn, m.in); err != nil {
		return said{}, err
	}
	s, err = read(m.in, m.pcm[:0])
	m.pcm = s.pcm
	return s, err
}

// receive reads the next message into buf. Closing the connection ends it; a context that can be
// done would cost time for each message.
func receive(conn *websocket.Conn, buf []byte) (websocket.MessageType, []byte, error) {
	kind, r, err := conn.Reader(context.Background())
	buf = buf[:0]
	for err == nil {
		if len(buf) == cap(buf) {
			buf = slices.Grow(buf, max(minBuffer, len(buf)))
		}
		var n int
		n, err = r.Read(buf[len(buf):cap(buf)])
		buf = buf[:len(buf)+n]
	}
	if err == io.EOF {
		err = nil
	}
	return kind, buf, err
}

const minBuffer = 2048

// said is what matters of a message of the model.
type said struct {
	pcm         []byte // at 24 kHz; empty: none
	interrupted bool
}

// read finds it, and appends the audio to pcm. It knows the messages of the embedded model, and
// does not look at the rest of them.
func read(b, pcm []byte) (said, error) {
	s := said{pcm: pcm, interrupted: bytes.HasPrefix(member(b, `"interrupted":`), []byte("true"))}
	data, ok := bytes.CutPrefix(member(b, `"data":`), []byte(`"`))
	if !ok {
		return s, nil
	}
	data, _, ok = bytes.Cut(data, []byte(`"`))
	if !ok {
		return said{}, errors.New("relay: a message of the model is cut short")
	}
	var err error
	if s.pcm, err = base64.StdEncoding.AppendDecode(pcm, data); err != nil {
		return said{}, fmt.Errorf("relay: a message of the model: %w", err)
	}
	return s, nil
}

// member returns what follows a name, nil if it is not there.
func member(b []byte, name string) []byte {
	_, value, _ := bytes.Cut(b, []byte(name))
	return bytes.TrimLeft(value, " ")
}

package bench

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/coder/websocket"

	"github.com/voicegw/voicegw/audio"
)

const (
	twilioFrame = 160     // bytes of 20 ms
	messageMax  = 1 << 20 // bytes of a message to a caller
)

// twilioLine is a Media Stream of Twilio. Marks return when they were played, and those that a clear
// drops at once.
type twilioLine struct {
	conn  *websocket.Conn
	id    string
	voice *[2][toneCount + 1]string // in base64; the last one is silence

	mu     sync.Mutex // of what is sent
	out    []byte
	chunks int
}

// twilioVoice is the voice as a telephone sends it.
var twilioVoice = sync.OnceValue(func() *[2][toneCount + 1]string {
	v, coded := newVoice(8000), &[2][toneCount + 1]string{}
	code := func(pcm []int16) string { return base64.StdEncoding.EncodeToString(audio.AppendMuLaw(nil, pcm)) }
	for quiet := range coded {
		for tone := range toneCount {
			coded[quiet][tone] = code(v.frames[quiet][tone])
		}
		coded[quiet][toneCount] = code(v.quiet)
	}
	return coded
})

// dialTwilio calls as Twilio does.
func dialTwilio(ctx context.Context, url string, call int) (line, error) {
	conn, _, err := websocket.Dial(ctx, url, &websocket.DialOptions{CompressionMode: websocket.CompressionDisabled})
	if err != nil {
		return nil, fmt.Errorf("bench: dial %s: %w", url, err)
	}
	conn.SetReadLimit(messageMax)
	l := &twilioLine{conn: conn, id: fmt.Sprintf("MZ%d", call), voice: twilioVoice()}
	for _, opening := range []string{`{"event":"connected","protocol":"Call","version":"1.0.0"}`,
		fmt.Sprintf(`{"event":"start","sequenceNumber":"1","streamSid":%q,"start":{"accountSid":"AC1","streamSid":%[1]q,`+
			`"callSid":"CA%d","tracks":["inbound"],"customParameters":{},"mediaFormat":{"encoding":"audio/x-mulaw",`+
			`"sampleRate":8000,"channels":1}}}`, l.id, call)} {
		if err := l.write(opening); err != nil {
			l.close()
			return nil, fmt.Errorf("bench: start a stream: %w", err)
		}
	}
	return l, nil
}

func (l *twilioLine) write(message string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.out = append(l.out[:0], message...)
	return l.conn.Write(context.Background(), websocket.MessageText, l.out)
}

func (l *twilioLine) send(n, number int) error {
	if number == silence {
		number = toneCount
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.chunks++
	b := append(l.out[:0], `{"event":"media","sequenceNumber":"`...)
	b = strconv.AppendInt(b, int64(l.chunks+2), 10)
	b = append(b, `","media":{"track":"inbound","chunk":"`...)
	b = strconv.AppendInt(b, int64(l.chunks), 10)
	b = append(b, `","timestamp":"`...)
	b = strconv.AppendInt(b, int64(l.chunks-1)*20, 10)
	b = append(b, `","payload":"`...)
	b = append(b, l.voice[quietFrame(n)][number]...)
	b = append(b, `"},"streamSid":"`...)
	b = append(b, l.id...)
	l.out = append(b, `"}`...)
	return l.conn.Write(context.Background(), websocket.MessageText, l.out)
}

// ack returns a mark. Twilio says nothing else of what it played.
func (l *twilioLine) ack(_ uint64, _ int64, mark string, _ bool) error {
	if mark == "" {
		return nil
	}
	return l.write(fmt.Sprintf(`{"event":"mark","streamSid":%q,"mark":{"name":%q}}`, l.id, mark))
}

func (l *twilioLine) run(c *caller) error {
	for {
		_, b, err := l.conn.Read(context.Background())
		if err != nil {
			return err
		}
		m, err := readTwilio(b)
		if err != nil {
			return err
		}
		now := time.Now()
		switch m.Event {
		case "media":
			for range len(m.Media.Payload) / twilioFrame {
				c.audio(now, 0)
			}
		case "mark":
			c.mark(now, 0, m.Mark.Name)
		case "clear":
			if err := c.clear(now, 0); err != nil {
				return err
			}
		}
	}
}

func (l *twilioLine) close() { _ = l.conn.Close(websocket.StatusNormalClosure, "") }

// twilioMessage is a message to Twilio.
type twilioMessage struct {
	Event string
	Media struct{ Payload []byte }
	Mark  struct{ Name string }
}

func readTwilio(b []byte) (m twilioMessage, err error) {
	if err := json.Unmarshal(b, &m); err != nil {
		return twilioMessage{}, fmt.Errorf("bench: %.80q is no message to Twilio: %w", b, err)
	}
	return m, nil
}

package bench

import (
	"context"
	"time"

	"github.com/voicegw/voicegw/transport"
	"github.com/voicegw/voicegw/transport/ws"
)

const (
	wsInHz  = 16000
	wsOutHz = 24000
)

// wsLine speaks docs/protocol.md.
type wsLine struct {
	client *ws.Client
	voice  *voice
}

// dialWS calls by WebSocket.
func dialWS(ctx context.Context, url, token string) (line, error) {
	hello := transport.Hello{InputRateHz: wsInHz, OutputRateHz: wsOutHz, Client: "voicegw bench", Token: token}
	c, err := ws.Dial(ctx, url, hello, ws.DialConfig{})
	if err != nil {
		return nil, err
	}
	return &wsLine{client: c, voice: heard16()}, nil
}

func (l *wsLine) send(n, number int) error {
	return l.client.SendAudio(context.Background(), l.voice.frame(n, number))
}

func (l *wsLine) ack(id uint64, playedMS int64, mark string, cleared bool) error {
	return l.client.SendEvent(context.Background(), &transport.Event{Kind: transport.EventAck, Generation: id,
		PlayedMS: playedMS, Mark: mark, Cleared: cleared})
}

func (l *wsLine) run(c *caller) error {
	var m transport.Message
	for {
		if err := l.client.Recv(context.Background(), &m); err != nil {
			return err
		}
		now := time.Now()
		switch m.Kind {
		case transport.MessageAudio:
			c.audio(now, m.Generation)
		case transport.MessageMark:
			c.mark(now, m.Generation, m.ID)
		case transport.MessageClear:
			if err := c.clear(now, m.Generation); err != nil {
				return err
			}
		}
	}
}

func (l *wsLine) close() { _ = l.client.Close() }

package endpointtest

import (
	"context"
	"strings"
	"testing"

	"github.com/coder/websocket"
)

// Mistake is a client that does something wrong.
type Mistake = struct {
	Name  string
	Send  []string             // text messages
	Code  websocket.StatusCode // of the close; 0: the call goes on
	Words string               // of the close, or of what the client is told
}

// Judge makes the mistakes, each in a bubble of its own.
func Judge(t *testing.T, plan func() Plan, mistakes []Mistake) {
	t.Helper()
	for _, m := range mistakes {
		t.Run(m.Name, func(t *testing.T) { InBubble(t, plan(), func(w *World) { judge(t, w, m) }) })
	}
}

func judge(t *testing.T, w *World, m Mistake) {
	t.Helper()
	c := w.Dial()
	for _, message := range m.Send {
		_ = c.Write(context.Background(), websocket.MessageText, []byte(message))
	}
	told, err := Await(c, m.Words)
	switch {
	case m.Code == 0 && !told:
		t.Errorf("%v, want to be told of %q", err, m.Words)
	case m.Code == 0:
		w.Eventually("the call goes on", func() bool { return w.Gateway.Calls() == 1 })
	case told: // the close follows
		if _, err := Await(c, "\x00"); websocket.CloseStatus(err) != m.Code {
			t.Errorf("%v, want a close with %d", err, m.Code)
		}
	case websocket.CloseStatus(err) != m.Code || !strings.Contains(err.Error(), m.Words):
		t.Errorf("%v, want %d %q", err, m.Code, m.Words)
	}
	_ = c.CloseNow()
	w.Eventually("the call has ended", func() bool { return w.Gateway.Calls() == 0 })
}

// Await reads until a message holds the words, or until the end.
func Await(c *websocket.Conn, words string) (told bool, err error) {
	for {
		_, b, err := c.Read(context.Background())
		if err != nil || strings.Contains(string(b), words) {
			return err == nil, err
		}
	}
}

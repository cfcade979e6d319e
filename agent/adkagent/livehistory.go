package adkagent

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"

	"google.golang.org/adk/v2/session"

	"github.com/voicegw/voicegw/live"
)

// historyBytesMax is how much of the session a call begins with: its end.
const historyBytesMax = 32 << 10

// historyOf returns the texts and transcripts of a session, oldest first.
func historyOf(s session.Session) []live.Turn {
	var turns []live.Turn
	add := func(role, text string) {
		if text = strings.ToValidUTF8(text, ""); strings.TrimSpace(text) == "" {
			return
		}
		if role != "model" {
			role = "user"
		}
		if n := len(turns); n > 0 && turns[n-1].Role == role {
			turns[n-1].Text += "\n" + text
			return
		}
		turns = append(turns, live.Turn{Role: role, Text: text})
	}
	for ev := range s.Events().All() {
		if ev.Partial {
			continue
		}
		if t := ev.InputTranscription; t != nil {
			add("user", t.Text)
		}
		if t := ev.OutputTranscription; t != nil {
			add("model", t.Text)
		}
		if ev.Content != nil {
			add(ev.Content.Role, textOf(ev.Content))
		}
	}
	return latestTurns(turns)
}

// latestTurns returns the last turns that have at most historyBytesMax.
func latestTurns(turns []live.Turn) []live.Turn {
	left := historyBytesMax
	for i := len(turns) - 1; i >= 0; i-- {
		if n := len(turns[i].Text); n > left {
			turns[i].Text = strings.ToValidUTF8(turns[i].Text[n-left:], "")
			if turns[i].Text == "" {
				i++
			}
			return turns[i:]
		}
		left -= len(turns[i].Text)
	}
	return turns
}

// recallingDialer opens the connections of one call. The first one continues the session: with a handle
// of the model, or with the history. A later one gets the history only in front of what the gateway
// itself tells again; a resumed one never does. One dial runs at a time.
type recallingDialer struct {
	live.Dialer
	handle  string
	history []live.Turn
	up      atomic.Bool // a dial has succeeded
}

// Dial opens a connection.
func (d *recallingDialer) Dial(ctx context.Context, s live.Setup) (live.Conn, error) {
	first := !d.up.Load()
	if first && d.handle != "" && s.Handle == "" && len(s.History) == 0 {
		resumed := s
		resumed.Handle = d.handle
		conn, err := d.Dialer.Dial(ctx, resumed)
		var ce *live.CloseError
		if err == nil || !errors.As(err, &ce) || ce.Class != live.ClassHandle {
			d.up.Store(err == nil)
			return conn, err
		}
		d.handle = "" // the model does not know it any more
	}
	if s.Handle == "" && (first || len(s.History) > 0) {
		s.History = append(append([]live.Turn(nil), d.history...), s.History...)
	}
	conn, err := d.Dialer.Dial(ctx, s)
	if err == nil {
		d.up.Store(true)
	}
	return conn, err
}

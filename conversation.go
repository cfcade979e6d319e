package voicegw

import (
	"strings"
	"sync"

	"github.com/voicegw/voicegw/live"
	"github.com/voicegw/voicegw/voicenets"
)

// Limits of what is kept of a conversation.
const (
	talkBytesMax = 8 << 10
	talkTurnsMax = 40
)

// conversation is the transcript of a call so far. A new connection to the model gets it as
// history. It is never logged. The zero value is ready to use.
type conversation struct {
	mu    sync.Mutex
	lines []live.Turn // oldest first
	bytes int

	asked, answered string // in the newest turn, at most talkBytesMax each
}

// turn begins a turn of the caller; typed is its text, if the caller typed it.
func (t *conversation) turn(typed string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.asked, t.answered = typed, ""
}

// forget drops everything.
func (t *conversation) forget() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.lines, t.bytes, t.asked, t.answered = nil, 0, "", ""
}

// newest returns the transcripts of the newest turn: what the caller asked, and what the model
// answered so far.
func (t *conversation) newest() (asked, answered string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.TrimSpace(t.asked), strings.TrimSpace(t.answered)
}

// add appends a fragment of a transcript.
func (t *conversation) add(who voicenets.Speaker, text string) {
	if text == "" {
		return
	}
	role := "user"
	if who == voicenets.Model {
		role = "model"
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if who == voicenets.Model {
		t.answered = last(t.answered+text, talkBytesMax)
	} else {
		t.asked = last(t.asked+text, talkBytesMax)
	}
	t.bytes += len(text)
	if n := len(t.lines); n > 0 && t.lines[n-1].Role == role {
		t.lines[n-1].Text += text
	} else {
		t.lines = append(t.lines, live.Turn{Role: role, Text: text})
	}
	t.trim()
}

// trim drops the oldest of a conversation that is too long; mu is held.
func (t *conversation) trim() {
	for len(t.lines) > 1 && (t.bytes > talkBytesMax || len(t.lines) > talkTurnsMax) {
		t.bytes -= len(t.lines[0].Text)
		t.lines = t.lines[1:]
	}
	if t.bytes > talkBytesMax { // one long line
		t.lines[0].Text = last(t.lines[0].Text, talkBytesMax)
		t.bytes = len(t.lines[0].Text)
	}
}

// note appends a note that the model was sent.
func (t *conversation) note(n *voicenets.Typed) {
	t.mu.Lock()
	defer t.mu.Unlock()
	turn := turnOf(n)
	t.lines, t.bytes = append(t.lines, turn), t.bytes+len(turn.Text)
	t.trim()
}

// last returns the end of a text, at most so many bytes.
func last(text string, bytes int) string {
	if len(text) <= bytes {
		return text
	}
	return strings.ToValidUTF8(text[len(text)-bytes:], "")
}

// turns returns the conversation, oldest turn first.
func (t *conversation) turns() []live.Turn {
	t.mu.Lock()
	defer t.mu.Unlock()
	return append([]live.Turn(nil), t.lines...)
}

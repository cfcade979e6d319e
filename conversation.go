package voicegw

import (
	"strings"
	"sync"

	"github.com/voicegw/voicegw/live"
	"github.com/voicegw/voicegw/voicenets"
)

// What is kept of a conversation, for a model that has to begin it anew.
const (
	talkBytesMax = 8 << 10
	talkTurnsMax = 40
)

// conversation is what was said, as far as it was written down. It is never logged.
type conversation struct {
	mu    sync.Mutex
	lines []live.Turn // oldest first
	bytes int

	asked, answered string // in the turn that is the newest, at most talkBytesMax each
}

// turn begins a turn of the caller's, with what was typed.
func (t *conversation) turn(typed string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.asked, t.answered = typed, ""
}

// forget drops all that was said.
func (t *conversation) forget() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.lines, t.bytes, t.asked, t.answered = nil, 0, "", ""
}

// newest is what the caller said in the newest turn, and what was said to that,
// as far as either was written down.
func (t *conversation) newest() (asked, answered string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.TrimSpace(t.asked), strings.TrimSpace(t.answered)
}

// add notes a fragment of a transcript.
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
	for len(t.lines) > 1 && (t.bytes > talkBytesMax || len(t.lines) > talkTurnsMax) {
		t.bytes -= len(t.lines[0].Text)
		t.lines = t.lines[1:]
	}
	if over := t.bytes - talkBytesMax; over > 0 { // one long line
		t.lines[0].Text = last(t.lines[0].Text, talkBytesMax)
		t.bytes = talkBytesMax
	}
}

// last is the end of a text, so many bytes of it.
func last(text string, bytes int) string {
	if len(text) <= bytes {
		return text
	}
	return strings.ToValidUTF8(text[len(text)-bytes:], "")
}

// turns is what was said, the oldest first.
func (t *conversation) turns() []live.Turn {
	t.mu.Lock()
	defer t.mu.Unlock()
	return append([]live.Turn(nil), t.lines...)
}

package voicegw

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/voicegw/voicegw/live"
	"github.com/voicegw/voicegw/transport"
	"github.com/voicegw/voicegw/voicenets"
)

// Limits of the notes that wait for the model.
const (
	notesMax      = 64
	notesBytesMax = 32 << 10
)

// notes are texts for the model to know, not to answer. They leave in one of three
// ways: as content when the model is idle (voicenets.GiveNotes), which some models refuse; as text in
// the caller's open turn; or in front of the next text that the model answers. mu of the modelWriter
// guards them.
type notes struct {
	waiting []*voicenets.Typed // taken from the queue, oldest first
	unsaved []*voicenets.Typed // sent since the last handle to resume with: at most notesMax, the newest
	count   int                // reserved: waiting, in the queue or in the net
	bytes   int
	drops   int  // how often all were dropped
	inTurn  bool // the connection is in a turn of the caller's
}

// reserve makes room for a note that is about to enter the net. It reports false if there is none.
func (w *modelWriter) reserve(text string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	n := &w.notes
	if n.count >= notesMax || n.bytes+len(text) > notesBytesMax {
		return false
	}
	n.count, n.bytes = n.count+1, n.bytes+len(text)
	return true
}

// unreserve gives the room of a note back that the net lost.
func (w *modelWriter) unreserve(note *voicenets.Typed) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.notes.leave(note)
}

func (n *notes) leave(note *voicenets.Typed) {
	n.count, n.bytes = n.count-1, n.bytes-len(note.Text)
}

// drop forgets all notes, also those that are just being sent; they give their room back when the
// write returns.
func (n *notes) drop(queue []modelItem) {
	for i := range queue {
		if note := queue[i].note; note != nil {
			n.leave(note)
		}
	}
	for _, note := range n.waiting {
		n.leave(note)
	}
	n.waiting, n.unsaved, n.drops = nil, nil, n.drops+1
}

// moved prepares for a new connection. One that resumes the conversation may not know the notes sent
// since its handle; one that begins it anew gets them as history. Nothing was said to it yet, so
// that notes may be given at once.
func (n *notes) moved(resumed bool) (give bool) {
	if resumed {
		for _, note := range n.unsaved {
			n.count, n.bytes = n.count+1, n.bytes+len(note.Text)
		}
		n.waiting = append(n.unsaved, n.waiting...)
	}
	n.unsaved, n.inTurn = nil, false
	return len(n.waiting) > 0
}

// saved notes that the model has given a handle: what was sent up to now is in its memory.
func (w *modelWriter) saved() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.notes.unsaved = nil
}

// carry lets an item that leaves the queue take the notes that wait, if it can, and follows the
// caller's turns. It reports false for a note that waits on. mu is held.
func (w *modelWriter) carry(it *modelItem) bool {
	n := &w.notes
	it.drops = n.drops
	switch {
	case it.note != nil && !n.inTurn:
		n.waiting = append(n.waiting, it.note)
		return false
	case it.note != nil:
		it.notes = []*voicenets.Typed{it.note}
	case it.text != nil, it.recap != "", it.give, it.isCommand(voicenets.ActivityStart),
		it.isCommand(voicenets.Greet) && !w.held:
		it.notes, n.waiting = n.waiting, nil
	}
	if it.isCommand(voicenets.ActivityStart) || it.isCommand(voicenets.ActivityEnd) {
		n.inTurn = it.cmd == voicenets.ActivityStart
	}
	return true
}

// carried notes that the notes of an item were sent over l, or that the model refused them for good.
// If the net has chosen another connection meanwhile, they wait again: that one may not know them.
func (w *modelWriter) carried(l *link, it *modelItem, sent bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	n := &w.notes
	if sent && w.link != l {
		w.waitAgain(it)
		return
	}
	for _, note := range it.notes {
		n.leave(note)
		if sent && it.drops == n.drops { // not forgotten meanwhile
			w.talk.note(note)
			n.unsaved = append(n.unsaved, note)
		}
	}
	n.unsaved = n.unsaved[max(0, len(n.unsaved)-notesMax):]
	it.notes = nil
}

// keep lets the notes of an item that was not sent wait again, unless they were forgotten meanwhile.
func (w *modelWriter) keep(it *modelItem) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.waitAgain(it)
}

// waitAgain is keep; mu is held.
func (w *modelWriter) waitAgain(it *modelItem) {
	if it.drops == w.notes.drops {
		w.notes.waiting = append(slices.Clone(it.notes), w.notes.waiting...)
	} else {
		for _, note := range it.notes {
			w.notes.leave(note)
		}
	}
	it.notes = nil
}

// give sends notes as content, which the model does not answer.
func (w *modelWriter) give(ctx context.Context, conn live.Conn, it *modelItem) error {
	if len(it.notes) == 0 {
		return nil
	}
	turns := make([]live.Turn, 0, len(it.notes))
	for _, note := range it.notes {
		turns = append(turns, turnOf(note))
	}
	err := conn.Send(ctx, live.ClientMessage{Kind: live.ClientContent, Turns: turns})
	if errors.Is(err, live.ErrNoContent) {
		w.keep(it) // until the next turn
		return nil
	}
	return err
}

// turnOf returns a note as a turn of the conversation, which has no instructions of its own.
func turnOf(note *voicenets.Typed) live.Turn {
	switch transport.Role(note.Role) {
	case transport.RoleUser:
		return live.Turn{Role: "user", Text: note.Text}
	case transport.RoleAssistant:
		return live.Turn{Role: "model", Text: note.Text}
	}
	return live.Turn{Role: "user", Text: framed(note)}
}

// framed returns a note as text within a turn of the caller.
func framed(note *voicenets.Typed) string {
	switch transport.Role(note.Role) {
	case transport.RoleUser:
		return fmt.Sprintf("(Context, which needs no answer: %s)", note.Text)
	case transport.RoleAssistant:
		return fmt.Sprintf("(You said before: %s)", note.Text)
	}
	return fmt.Sprintf("(Instructions, which the caller did not say and which need no answer: %s)", note.Text)
}

// prefaced returns a text with notes in front of it.
func prefaced(list []*voicenets.Typed, text string) string {
	if len(list) == 0 {
		return text
	}
	var b strings.Builder
	for _, note := range list {
		b.WriteString(framed(note) + "\n")
	}
	return strings.TrimSuffix(b.String()+text, "\n")
}

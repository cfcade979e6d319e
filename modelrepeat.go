package voicegw

import (
	"fmt"
	"slices"

	"github.com/voicegw/voicegw/voicenets"
)

// repeat queues, for a new connection, a turn that the old one may not have received or has not
// answered completely. A turn that was answered in part is summarized in words, unless there is no
// transcript of the caller. With the model's own VAD, frames come without an activity.
func (w *modelWriter) repeat(t *voicenets.CallerTurn) {
	summary := ""
	if t.Cut {
		asked, answered := w.talk.newest()
		if t.Greet {
			asked = w.greeting
		}
		if summary = recap(asked, answered); asked != "" || len(t.Frames) == 0 {
			w.put(modelItem{recap: summary})
			return
		}
	}
	if t.Before != nil {
		w.repeatTurn(t.Before, "")
	}
	w.repeatTurn(t, summary)
}

// repeatTurn queues a turn, and behind what the caller said in it a summary, if there is one.
func (w *modelWriter) repeatTurn(t *voicenets.CallerTurn, summary string) {
	switch {
	case t.Greet:
		w.put(modelItem{cmd: voicenets.Greet})
	case t.Typed != nil:
		w.repeatText(t.Typed)
	default:
		if !w.modelVAD {
			w.put(modelItem{cmd: voicenets.ActivityStart})
		}
		texts := t.Texts
		for i, f := range t.Frames {
			for ; len(texts) > 0 && texts[0].After <= i; texts = texts[1:] {
				w.repeatText(texts[0].Typed)
			}
			w.put(modelItem{frame: f})
		}
		for i := range texts {
			w.repeatText(texts[i].Typed)
		}
		if summary != "" {
			w.put(modelItem{recap: summary})
		}
		if !w.modelVAD && !t.Open {
			w.put(modelItem{cmd: voicenets.ActivityEnd})
		}
	}
}

// repeatText queues a text of a turn that is repeated. One that still waits in the queue moves
// behind what was put since; one that waited for this connection, and has left, is not repeated.
func (w *modelWriter) repeatText(text *voicenets.Typed) {
	same := func(it modelItem) bool { return it.text == text }
	w.mu.Lock()
	before := len(w.queue)
	w.queue = slices.DeleteFunc(w.queue, same)
	sent := len(w.queue) == before && slices.ContainsFunc(w.kept, same)
	w.mu.Unlock()
	if !sent {
		w.put(modelItem{text: text})
	}
}

// recap is the text that says where the model's answer was cut off.
func recap(asked, answered string) string {
	text := "(The connection was lost in the middle of your answer."
	if asked != "" {
		text += fmt.Sprintf(" You were asked: %q.", asked)
	}
	if answered != "" {
		text += fmt.Sprintf(" This much of your answer was heard: %q.", answered)
	} else {
		text += " Only its beginning was heard."
	}
	return text + " Go on from there, and do not say again what was heard.)"
}

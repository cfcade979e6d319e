package voicegw

import (
	"strings"
	"sync"
	"time"

	"github.com/voicegw/voicegw/live"
	"github.com/voicegw/voicegw/transport"
	"github.com/voicegw/voicegw/voicenets"
)

// Turn is what one side said in one turn. Hooks.Turn gets it.
type Turn struct {
	Who transport.Who
	// Generation numbers the reply, as in messages to the peer. A turn of the caller has that of the
	// reply that follows it.
	Generation uint64
	// Text is what was said: the model's transcript, or the text that the caller typed. It is "" if
	// the model makes no transcript, and has at most 8 KiB, the newest. A prompt has no text.
	Text string

	// The fields from here on are those of a turn of the model.

	// End is why the turn ended: transport.TurnInterrupted if the caller spoke over it.
	End transport.TurnEnd
	// HeardMS is how much of the turn the peer acknowledged as played.
	HeardMS int64
	// Latency is the time from the end of the caller's turn to the first audio handed to the peer; 0
	// if the caller said nothing before.
	Latency time.Duration
	// Usage is the zero value if the model did not report the tokens by the end of the turn.
	Usage transport.Usage
}

// Interrupted reports whether the caller interrupted the turn.
func (t *Turn) Interrupted() bool { return t.End == transport.TurnInterrupted }

// turnLog collects what Hooks.Turn gets, and the tokens of the turn. The net's loop calls its
// methods, and the goroutine that reads the model report. The zero value is ready to use.
type turnLog struct {
	now func() time.Duration // since the call began

	mu    sync.Mutex
	usage transport.Usage // as the model reported it last

	caller, model string        // what was said since the last turn ended
	asked         time.Duration // when the caller's turn was over, 0: the caller said nothing
	latency       time.Duration
	began         bool // audio of the reply was handed over
}

// report notes the tokens of the turn. It is safe for concurrent use.
func (t *turnLog) report(u live.Usage) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.usage = transport.Usage(u)
}

// tokens returns the tokens of the turn that were reported so far.
func (t *turnLog) tokens() transport.Usage {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.usage
}

// take returns the tokens of the turn that ends.
func (t *turnLog) take() transport.Usage {
	t.mu.Lock()
	defer t.mu.Unlock()
	u := t.usage
	t.usage = transport.Usage{}
	return u
}

// said notes a fragment of a transcript, or typed text.
func (t *turnLog) said(who voicenets.Speaker, text string) {
	of := &t.caller
	if who == voicenets.Model {
		of = &t.model
	}
	*of = last(*of+text, talkBytesMax)
}

// over notes that the caller's turn is over.
func (t *turnLog) over() { t.asked = max(t.now(), 1) }

// playing notes that a frame of the reply was handed over.
func (t *turnLog) playing() {
	if t.began {
		return
	}
	t.began = true
	if t.asked > 0 {
		t.latency = max(t.now()-t.asked, 1)
	}
	t.asked = 0
}

// forget drops what the caller said.
func (t *turnLog) forget() { t.caller, t.asked = "", 0 }

// unanswered returns the caller's turn that the model does not answer.
func (t *turnLog) unanswered(generation uint64) []Turn {
	text := strings.TrimSpace(t.caller)
	t.caller, t.asked = "", 0
	if text == "" {
		return nil
	}
	return []Turn{{Who: transport.WhoCaller, Generation: generation, Text: text}}
}

// end returns the turns that ended with a reply, the caller's first if the caller said something.
func (t *turnLog) end(generation uint64, why transport.TurnEnd, heardMS int64, u transport.Usage) []Turn {
	list := t.unanswered(generation)
	list = append(list, Turn{Who: transport.WhoModel, Generation: generation, Text: strings.TrimSpace(t.model), End: why,
		HeardMS: heardMS, Latency: t.latency, Usage: u})
	t.model, t.latency, t.began = "", 0, false
	return list
}

package voicegw

import (
	"cmp"
	"slices"
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

	// The fields from here on are those of a turn of the model, or of one of the caller's that got no
	// reply.

	// End is why the turn ended: transport.TurnInterrupted if the caller spoke over it, and
	// TurnUnanswered if it is the caller's and the model had no reply.
	End transport.TurnEnd
	// Prompt says that a recording of the gateway was played, not a reply.
	Prompt bool
	// HeardMS is how much of the turn the peer acknowledged as played.
	HeardMS int64
	// Latency is the time from the end of the caller's turn to the first audio handed to the peer; 0
	// if the caller said nothing before.
	Latency time.Duration
	// Usage is the zero value if the model did not report the tokens by the end of the turn.
	Usage transport.Usage
	// Ended is when the turn ended, since the call began.
	Ended time.Duration
	// Stages are the moments of the exchange, from the caller's speech to the end of the reply, in
	// their order. There are at most 65.
	Stages []Stage
	// Tools are the tool calls that ended since the turn before, at most 64.
	Tools []ToolCall
}

// TurnUnanswered is the end of a turn of the caller's for which the model had no reply.
const TurnUnanswered transport.TurnEnd = "unanswered"

// Interrupted reports whether the caller interrupted the turn.
func (t *Turn) Interrupted() bool { return t.End == transport.TurnInterrupted }

// Began returns when the exchange began, since the call did.
func (t *Turn) Began() time.Duration {
	began := t.Ended
	for _, s := range t.Stages {
		began = min(began, s.At)
	}
	for i := range t.Tools {
		began = min(began, t.Tools[i].Began)
	}
	return began
}

// Stage is a moment of a turn.
type Stage struct {
	Name StageName
	At   time.Duration // since the call began
}

// StageName says what happened.
type StageName string

// The stages of a turn.
const (
	SpeechBegan StageName = "speech_began" // of the caller, as detected
	SpeechEnded StageName = "speech_ended"
	TurnEnded   StageName = "turn_ended"   // the model was told that it is its turn
	ModelFirst  StageName = "model_first"  // the first audio of the reply came from the model
	SentFirst   StageName = "sent_first"   // and went to the peer
	PlayedFirst StageName = "played_first" // and the peer acknowledged it as played
	Paused      StageName = "paused"       // the caller may be speaking over the reply, or the call is on hold
	Resumed     StageName = "resumed"
	Cleared     StageName = "cleared" // the peer was told to drop what it has not played
	Silent      StageName = "silent"  // and has
)

// ToolCall is a call of a tool that ended.
type ToolCall struct {
	Name string
	// Result is answered, failed, timed_out, too_many or cancelled, as in the metrics.
	Result string
	// Began and Ended are since the call began.
	Began, Ended time.Duration
	// Args and Answer are content: what the model asked, and what it was sent. Each has at most 4 KiB
	// and is cut there.
	Args, Answer string
}

// Limits of what is kept of a turn.
const (
	stagesMax      = 64
	turnToolsMax   = 64
	toolContentMax = 4 << 10
)

// turnLog collects what Hooks.Turn gets, and the tokens of the turn. The net's loop calls its methods;
// those that other goroutines call too say so. The zero value is ready to use.
type turnLog struct {
	now func() time.Duration // since the call began

	mu     sync.Mutex
	usage  transport.Usage // as the model reported it last
	first  time.Duration   // when the first audio of a reply came from the model; 0: none
	reply  uint64          // the generation that is played; 0: none
	played bool            // the peer has played something of it
	stages []Stage         // of the exchange that goes on
	next   []Stage         // of the one that may follow: the caller speaks over the reply
	calls  []ToolCall      // that ended in it

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

// stage notes a stage of the reply that is played. It is safe for concurrent use.
func (t *turnLog) stage(name StageName) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.reply != 0 {
		t.stages = add(t.stages, name, t.now())
	}
}

// add adds a stage, unless there are too many.
func add(list []Stage, name StageName, at time.Duration) []Stage {
	if len(list) == stagesMax {
		return list
	}
	return append(list, Stage{Name: name, At: at})
}

// turned notes a stage of the caller's turn. While a reply is played, it is one of the next exchange.
func (t *turnLog) turned(name StageName) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.reply != 0 {
		t.next = add(t.next, name, t.now())
	} else {
		t.stages = add(t.stages, name, t.now())
	}
}

// audio notes that audio came from the model. It is safe for concurrent use.
func (t *turnLog) audio() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.first == 0 {
		t.first = max(t.now(), 1)
	}
}

// heard notes that the peer played frames of a generation. It is safe for concurrent use.
func (t *turnLog) heard(generation uint64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if generation == t.reply && !t.played {
		t.played = true
		t.stages = add(t.stages, PlayedFirst, t.now())
	}
}

// tool notes a tool call that ended. It is safe for concurrent use.
func (t *turnLog) tool(c ToolCall) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.calls) < turnToolsMax {
		c.Ended = t.now()
		t.calls = append(t.calls, c)
	}
}

// said notes a fragment of a transcript, or typed text.
func (t *turnLog) said(who voicenets.Speaker, text string) {
	of := &t.caller
	if who == voicenets.Model {
		of = &t.model
	}
	*of = last(*of+text, talkBytesMax)
}

// spoke notes that the caller's speech ended.
func (t *turnLog) spoke() {
	t.asked = max(t.now(), 1)
	t.turned(SpeechEnded)
}

// over notes that the caller's turn is over. Audio that the model sent before belongs to no reply to
// it.
func (t *turnLog) over() {
	t.asked = max(t.now(), 1)
	t.turned(TurnEnded)
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.reply == 0 {
		t.first = 0
	}
}

// started notes that a reply or a prompt begins.
func (t *turnLog) started(generation uint64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.reply, t.played = generation, false
}

// resumed notes that the reply goes on: what the caller said over it was no turn.
func (t *turnLog) resumed() {
	t.stage(Resumed)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.next = nil
}

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
	t.stage(SentFirst)
}

// forget drops what was said and what tools were asked.
func (t *turnLog) forget() {
	t.caller, t.asked = "", 0
	t.mu.Lock()
	defer t.mu.Unlock()
	for i := range t.calls {
		t.calls[i].Args, t.calls[i].Answer = "", ""
	}
}

// unanswered returns the caller's turn that gets no reply, and why.
func (t *turnLog) unanswered(generation uint64, why transport.TurnEnd) []Turn {
	turn := Turn{Who: transport.WhoCaller, Generation: generation, Text: strings.TrimSpace(t.caller), End: why}
	t.caller, t.asked = "", 0
	t.finish(&turn)
	return []Turn{turn}
}

// open reports whether a turn of the caller's waits for its reply.
func (t *turnLog) open() bool { return t.asked > 0 }

// end returns the turns that ended with a reply, the caller's first if the caller said something.
func (t *turnLog) end(generation uint64, why transport.TurnEnd, heardMS int64, u transport.Usage, prompt bool) []Turn {
	var list []Turn
	if text := strings.TrimSpace(t.caller); text != "" {
		list = append(list, Turn{Who: transport.WhoCaller, Generation: generation, Text: text})
	}
	turn := Turn{Who: transport.WhoModel, Generation: generation, Text: strings.TrimSpace(t.model), End: why,
		HeardMS: heardMS, Latency: t.latency, Usage: u, Prompt: prompt}
	t.caller, t.model, t.latency, t.asked, t.began = "", "", 0, 0, false
	t.finish(&turn)
	return append(list, turn)
}

// finish gives a turn its stages and tool calls, and begins the next exchange.
func (t *turnLog) finish(turn *Turn) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.first > 0 && t.reply != 0 && !turn.Prompt {
		turn.Stages = add(turn.Stages, ModelFirst, t.first) // in front, because it is sent at the same time
		t.first = 0
	}
	turn.Ended, turn.Stages, turn.Tools = t.now(), append(turn.Stages, t.stages...), t.calls
	slices.SortStableFunc(turn.Stages, func(a, b Stage) int { return cmp.Compare(a.At, b.At) })
	t.stages, t.next, t.calls = t.next, nil, nil
	t.reply, t.played = 0, false
}

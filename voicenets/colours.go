package voicenets

import "github.com/voicegw/voicegw/petri"

// Edge is an edge of the caller's speech, as a detector saw it.
type Edge uint8

// The edges of speech. A detector gives Start, then More every 100 ms and
// perhaps one Confirm, then Stop.
const (
	SpeechStart   Edge = iota
	SpeechMore         // speech goes on
	SpeechConfirm      // it was enough speech to be no cough
	SpeechStop
)

// Key returns e as a key.
func (e Edge) Key() petri.Key { return petri.Key(e) }

// KeyNames names the edges.
func (Edge) KeyNames() []string { return []string{"start", "more", "confirm", "stop"} }

// String is the edge in a word.
func (e Edge) String() string { return e.KeyNames()[e] }

// CallerFrame is 20 ms of what the caller said, 16 kHz mono.
type CallerFrame struct{ PCM []int16 }

// Size is the number of samples.
func (f *CallerFrame) Size() int {
	if f == nil {
		return 0
	}
	return len(f.PCM)
}

// ReplyFrame is 20 ms of the model's reply. The net stamps Gen when it accepts
// the frame; whoever injects it leaves Gen zero and must not touch it after.
type ReplyFrame struct {
	Gen petri.Gen
	PCM []int16
}

// Generation is the turn the frame belongs to.
func (f *ReplyFrame) Generation() petri.Gen {
	if f == nil {
		return 0
	}
	return f.Gen
}

// Size is the number of samples.
func (f *ReplyFrame) Size() int {
	if f == nil {
		return 0
	}
	return len(f.PCM)
}

// Ack says that the peer has played one frame of a generation.
type Ack struct{ Gen petri.Gen }

// Generation is the turn of the frame that was played.
func (a Ack) Generation() petri.Gen { return a.Gen }

// Signal is what the model says of its turn.
type Signal uint8

// The signals of a model.
const (
	Interrupted Signal = iota
	GenerationComplete
	TurnComplete
)

// Key returns s as a key.
func (s Signal) Key() petri.Key { return petri.Key(s) }

// KeyNames names the signals.
func (Signal) KeyNames() []string {
	return []string{"interrupted", "generation_complete", "turn_complete"}
}

// String is the signal in a word.
func (s Signal) String() string { return s.KeyNames()[s] }

// Command is what the net asks of the model.
type Command uint8

// The commands to a model.
const (
	ActivityStart Command = iota
	ActivityEnd
	Greet // ask for the configured greeting
)

// Key returns c as a key.
func (c Command) Key() petri.Key { return petri.Key(c) }

// KeyNames names the commands.
func (Command) KeyNames() []string { return []string{"activity_start", "activity_end", "greet"} }

// String is the command in a word.
func (c Command) String() string { return c.KeyNames()[c] }

// Speaker tells the two sides of a call apart.
type Speaker uint8

// The two sides.
const (
	Caller Speaker = iota
	Model
)

// Key returns s as a key.
func (s Speaker) Key() petri.Key { return petri.Key(s) }

// Words are a fragment of a transcript.
type Words struct {
	Who   Speaker
	Text  string
	Final bool
	Gen   petri.Gen // the turn it was shown in; stamped by the net
}

// Key returns who spoke.
func (w *Words) Key() petri.Key { return petri.Key(w.Who) }

// KeyNames names the two sides.
func (*Words) KeyNames() []string { return []string{"caller", "model"} }

// Size is the length of the text in bytes.
func (w *Words) Size() int {
	if w == nil {
		return 0
	}
	return len(w.Text)
}

// Switch is on or off.
type Switch uint8

// The positions of a switch.
const (
	Off Switch = iota
	On
)

// Key returns s as a key.
func (s Switch) Key() petri.Key { return petri.Key(s) }

// KeyNames names the positions.
func (Switch) KeyNames() []string { return []string{"off", "on"} }

// String is the position in a word.
func (s Switch) String() string { return s.KeyNames()[s] }

// End is why a call is over.
type End uint8

// The ends of a call.
const (
	HungUp      End = iota // the caller hung up
	PeerLost               // the connection to the caller broke
	PeerStalled            // the caller's side stopped reading
	ModelLost              // the connection to the model broke
	GoingAway              // the gateway shuts down
	MaxDuration            // the call reached its longest duration
)

// Key returns e as a key.
func (e End) Key() petri.Key { return petri.Key(e) }

// KeyNames names the ends.
func (End) KeyNames() []string {
	return []string{"hung_up", "peer_lost", "peer_stalled", "model_lost", "going_away", "max_duration"}
}

// String is the end in a word.
func (e End) String() string { return e.KeyNames()[e] }

// NoticeKind says what the peer is told.
type NoticeKind uint8

// The kinds of notice.
const (
	SpeechHeard   NoticeKind = iota // the caller's speech began
	SpeechOver                      // it ended
	ReplyStarted                    // the model's reply begins
	ReplyPaused                     // held back: the caller may be speaking
	ReplyResumed                    // it was no interruption
	ReplyCut                        // the caller interrupted
	ReplyComplete                   // the reply was heard to its end
	ClearPlayout                    // drop what was not played
	MarkEnd                         // tell when the last frame was played
)

// Key returns k as a key.
func (k NoticeKind) Key() petri.Key { return petri.Key(k) }

// Notice is one thing the peer is told.
type Notice struct {
	Kind NoticeKind
	Gen  petri.Gen // the turn it is about
}

// Key returns the kind as a key.
func (n Notice) Key() petri.Key { return petri.Key(n.Kind) }

// KeyNames names the kinds.
func (Notice) KeyNames() []string {
	return []string{"speech_heard", "speech_over", "reply_started", "reply_paused", "reply_resumed", "reply_cut",
		"reply_complete", "clear_playout", "mark_end"}
}

// String names the kind.
func (n Notice) String() string { return n.KeyNames()[n.Kind] }

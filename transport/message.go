package transport

import "time"

// MessageKind says what a Message is.
type MessageKind uint8

// The kinds of message a gateway sends after ready.
const (
	MessageNone       MessageKind = iota
	MessageSpeech                 // State start or stop
	MessageTurn                   // State start, pause, resume or end; Generation; with end a TurnEnd and HeardMS
	MessageTranscript             // Who, Text, Final, Generation
	MessageClear                  // Generation
	MessageMark                   // ID, Generation
	MessageNet                    // At, Fired, Marking
	MessageNetGraph               // Text: the SVG
	MessageToolCall               // ID, Name, Text: the arguments as JSON
	MessageError                  // Code, Text: the message, Fatal
	MessageBye                    // Reason, Code: its name, Text: the message
	MessageToolCancel             // ID: the result is not wanted any more
	MessageHold                   // State start or stop: the call is on hold
	MessageConsent                // State start: consent is asked for; stop: it was given
	MessageProtected              // State start or stop: nothing the caller says or presses goes to the model
	MessageModel                  // State lost or back: the connection to the model; the call goes on
	MessageTransfer               // Text: who takes the call over; a bye follows
	MessageAudio                  // PCM; only received: a gateway sends audio by SendAudio
)

// String is the `type` of the message on the wire, "audio" for binary frames.
func (k MessageKind) String() string {
	switch k {
	case MessageSpeech:
		return "speech"
	case MessageTurn:
		return "turn"
	case MessageTranscript:
		return "transcript"
	case MessageClear:
		return "clear"
	case MessageMark:
		return "mark"
	case MessageNet:
		return "net"
	case MessageNetGraph:
		return "net_graph"
	case MessageToolCall:
		return "tool_call"
	case MessageError:
		return "error"
	case MessageBye:
		return "bye"
	case MessageToolCancel:
		return "tool_cancel"
	case MessageHold:
		return "hold"
	case MessageConsent:
		return "consent"
	case MessageProtected:
		return "protected"
	case MessageModel:
		return "model"
	case MessageTransfer:
		return "transfer"
	case MessageAudio:
		return "audio"
	}
	return "none"
}

// State is where speech, a turn or a mode of the call stands.
type State string

// The states of speech and of modes (start, stop), of a turn (start, pause, resume, end) and of the model (lost, back).
const (
	StateStart  State = "start"
	StateStop   State = "stop"
	StatePause  State = "pause"
	StateResume State = "resume"
	StateEnd    State = "end"
	StateLost   State = "lost"
	StateBack   State = "back"
)

// TurnEnd is why a turn of the model ended.
type TurnEnd string

// The ends of a turn.
const (
	TurnComplete    TurnEnd = "complete"
	TurnInterrupted TurnEnd = "interrupted"
	TurnModelLost   TurnEnd = "model_lost"
	TurnCallOver    TurnEnd = "call_over"
)

// Who speaks in a transcript.
type Who string

// The two who speak.
const (
	WhoCaller Who = "caller"
	WhoModel  Who = "model"
)

// CodeNotYet is the code of the error that answers a reserved event.
const CodeNotYet = "not_yet"

// PlaceCount is a place of the net and how many tokens it holds.
type PlaceCount struct {
	Place string
	Count int
}

// Message is one thing for the far end. Which fields mean something depends on Kind; the others are ignored.
// Whoever sends it keeps its memory: Send does not hold on to it.
type Message struct {
	Kind       MessageKind
	State      State
	TurnEnd    TurnEnd
	Who        Who
	Final      bool // the transcript's last fragment
	Fatal      bool // a bye follows
	Reason     Reason
	Generation uint64
	HeardMS    int64 // how much of the turn was acknowledged as played when it ended
	ID         string
	Name       string
	Code       string
	Text       string
	At         time.Duration // since the start of the call
	Fired      []string
	Marking    []PlaceCount // non-empty places, each once
	PCM        []int16      // mono, at the output rate; reused by the next Recv
}

// Reset clears m and keeps the memory of its slices for the next message.
func (m *Message) Reset() { *m = Message{PCM: m.PCM[:0], Fired: m.Fired[:0], Marking: m.Marking[:0]} }

// NotYet is the answer to a reserved event of this kind.
func NotYet(kind EventKind) *Message {
	return &Message{Kind: MessageError, Code: CodeNotYet,
		Text: "This server does not take " + kind.String() + " events yet."}
}

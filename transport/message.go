package transport

import "time"

// MessageKind says what a Message is.
type MessageKind uint8

// The kinds of message a gateway sends after ready.
const (
	MessageNone       MessageKind = iota
	MessageSpeech                 // State start or stop
	MessageTurn                   // State start, pause, resume or end; Generation; with end a TurnEnd, HeardMS and Usage
	MessageTranscript             // Who, Text, Final, Generation
	MessageClear                  // Generation
	MessageMark                   // ID, Generation, Usage
	MessageNet                    // At, Fired, Marking
	MessageNetGraph               // Text: the SVG
	MessageToolCall               // ID, Name, Text: the arguments as JSON
	MessageError                  // Code, Text: the message, Fatal
	MessageBye                    // Reason, Code: its name, Text: the message
	MessageToolCancel             // ID: the gateway no longer wants the result
	MessageHold                   // State start or stop: the call is on hold
	MessageConsent                // State start: the gateway asks for consent; stop: the caller gave it
	MessageProtected              // State start or stop: no speech and no key of the caller goes to the model
	MessageModel                  // State lost or back: the connection to the model; the call goes on
	MessageTransfer               // Text: the target of the transfer; a bye follows
	MessageMessage                // Name, Text: data as JSON, from the application; see CheckMessage
	MessageAudio                  // PCM; only received: a gateway sends audio with SendAudio
)

// String returns the `type` of the message on the wire, "audio" for binary frames.
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
	case MessageMessage:
		return "message"
	case MessageAudio:
		return "audio"
	}
	return "none"
}

// State is the state of speech, of a turn or of a mode of the call.
type State string

// The states of speech and of modes (start, stop), of a turn (start, pause, resume, end) and of the
// model (lost, back).
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

// Who is the speaker in a transcript.
type Who string

// The two speakers.
const (
	WhoCaller Who = "caller"
	WhoModel  Who = "model"
)

// PlaceCount is a place of the net and how many tokens it holds.
type PlaceCount struct {
	Place string
	Count int
}

// Message is one message for the far end. Kind decides which fields have a meaning; the others are
// ignored. The sender keeps the memory: Send does not hold on to it.
type Message struct {
	Kind       MessageKind
	State      State
	TurnEnd    TurnEnd
	Who        Who
	Final      bool // the transcript's last fragment
	Fatal      bool // a bye follows
	Reason     Reason
	Generation uint64
	HeardMS    int64 // how much of the turn the far end had acknowledged as played when the turn ended
	Usage      Usage // of the turn; zero if the model has not reported it yet
	ID         string
	Name       string
	Code       string
	Text       string
	At         time.Duration // since the start of the call
	Fired      []string
	Marking    []PlaceCount // non-empty places, each once
	PCM        []int16      // mono, at the output rate; reused by the next Recv
}

// Usage holds the tokens of one turn as the model counts them, thoughts among them. Prompt is what it
// read, which includes the conversation before. A modality that the model does not report is 0.
type Usage struct {
	Prompt, Response, Thoughts, Total int32

	Cached                      int32 // of Prompt: read from the model's cache
	PromptText, PromptAudio     int32 // of Prompt
	ResponseText, ResponseAudio int32 // of Response
}

// Reset clears m and keeps the memory of its slices for the next message.
func (m *Message) Reset() { *m = Message{PCM: m.PCM[:0], Fired: m.Fired[:0], Marking: m.Marking[:0]} }

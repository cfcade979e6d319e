package transport

// Limits of events.
const (
	TextCharsMax      = 4000
	DigitsMax         = 32
	MarkLenMax        = 64
	ByeReasonLenMax   = 128
	IDLenMax          = 128
	AudioMSMax        = 1000     // of one audio message
	PlayedMSMax       = 86400000 // one day
	GenerationMax     = 1<<53 - 1
	MessageNameLenMax = 64       // of a message between the application and its page
	MessageDataLenMax = 64 << 10 // of its data
)

// EventKind says what an Event is.
type EventKind uint8

// The kinds of event a far end sends after its hello.
const (
	EventNone       EventKind = iota
	EventAudio                // PCM
	EventAck                  // Generation, PlayedMS, Mark, Cleared
	EventMute                 // On: muted
	EventText                 // Text
	EventDTMF                 // Text: the digits
	EventToolResult           // ID and Text: the output as JSON, or Failed and Text: the error
	EventBye                  // Text: its reason, may be empty
	EventTalk                 // On: the caller presses or releases the talk button (push to talk only)
	EventHold                 // On: the far end puts the call on hold or resumes it
	EventConsent              // On: the caller gives or withdraws consent to the processing of audio
	EventMessage              // Name and Text: data as JSON, for the application; see CheckMessage
	EventAway                 // the connection is lost; the far end may come back. Not on the wire
	EventBack                 // it is back: Generation, PlayedMS: what it has played. Not on the wire
	EventContext              // Role, Text: for the model to know, not to answer
	EventPrompt               // Text: a request to the model to speak, when nothing else is said
)

// String returns the `type` of the event on the wire, "audio" for binary frames.
func (k EventKind) String() string {
	switch k {
	case EventAudio:
		return "audio"
	case EventAck:
		return "ack"
	case EventMute:
		return "mute"
	case EventText:
		return "text"
	case EventDTMF:
		return "dtmf"
	case EventToolResult:
		return "tool_result"
	case EventBye:
		return "bye"
	case EventTalk:
		return "talk"
	case EventHold:
		return "hold"
	case EventConsent:
		return "consent"
	case EventMessage:
		return "message"
	case EventAway:
		return "away"
	case EventBack:
		return "back"
	case EventContext:
		return "context"
	case EventPrompt:
		return "prompt"
	}
	return "none"
}

// Role names the speaker of the text of an EventContext.
type Role string

// The roles.
const (
	RoleUser      Role = "user"      // the caller
	RoleSystem    Role = "system"    // the application
	RoleAssistant Role = "assistant" // the model
)

// Valid reports whether r is one of the roles.
func (r Role) Valid() bool { return r == RoleUser || r == RoleSystem || r == RoleAssistant }

// Event is one thing that came from the far end. Kind decides which fields have a meaning; the
// others are zero.
type Event struct {
	Kind       EventKind
	PCM        []int16 // mono, at the input rate; reused by the next Recv
	Generation uint64
	PlayedMS   int64  // played of Generation in all
	Mark       string // the mark that was reached, "" for none
	Cleared    bool   // answers a clear
	On         bool   // muted, talking, on hold, consent given
	ID         string // of the tool call
	Name       string // of the message
	Text       string
	Role       Role
	Failed     bool // the tool failed
	// Scheduling is when the model speaks about the result of a non-blocking tool, as the Gemini API
	// names it: INTERRUPT, WHEN_IDLE or SILENT; "" leaves it to the tool's declaration.
	Scheduling string
}

// Reset clears ev and keeps the memory of its PCM for the next audio message.
func (ev *Event) Reset() { *ev = Event{PCM: ev.PCM[:0]} }

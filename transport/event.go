package transport

// Limits of events.
const (
	TextCharsMax    = 4000
	DigitsMax       = 32
	MarkLenMax      = 64
	ByeReasonLenMax = 128
	IDLenMax        = 128
	AudioMSMax      = 1000     // of one audio message
	PlayedMSMax     = 86400000 // one day
	GenerationMax   = 1<<53 - 1
)

// EventKind says what an Event is.
type EventKind uint8

// The kinds of event a far end sends after its hello.
const (
	EventNone       EventKind = iota
	EventAudio                // PCM
	EventAck                  // Generation, PlayedMS, Mark, Cleared
	EventMute                 // On
	EventText                 // Text
	EventDTMF                 // Text: the digits
	EventToolResult           // ID and Text: the output as JSON, or Failed and Text: the error
	EventBye                  // Text: its reason, may be empty
	EventTalk                 // On: the caller presses, or lets go of, the button to talk (push to talk alone)
	EventHold                 // On: the far end puts the call on hold, or resumes it
	EventConsent              // On: the caller agrees to be listened to, or no longer does
)

// String is the `type` of the event on the wire, "audio" for binary frames.
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
	}
	return "none"
}

// Event is one thing that came from the far end. Which fields mean something depends on Kind; the others are zero.
type Event struct {
	Kind       EventKind
	PCM        []int16 // mono, at the input rate; reused by the next Recv
	Generation uint64
	PlayedMS   int64  // heard of Generation in all
	Mark       string // the mark that was reached, "" for none
	Cleared    bool   // answers clear
	On         bool   // muted, talking, on hold, agreed
	ID         string // of the tool call
	Text       string
	Failed     bool // the tool failed
}

// Reset clears ev and keeps the memory of its PCM for the next audio.
func (ev *Event) Reset() { *ev = Event{PCM: ev.PCM[:0]} }

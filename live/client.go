package live

import (
	"encoding/json"
	"errors"
	"fmt"
	"unicode/utf8"
)

// ClientKind says what a ClientMessage is.
type ClientKind uint8

// The kinds of ClientMessage.
const (
	ClientAudio         ClientKind = iota + 1 // PCM: what the caller says, 16 kHz mono
	ClientText                                // Text: words of the caller, answered at once (realtimeInput.text)
	ClientContent                             // Turns, TurnComplete: history, in order; interrupts the model
	ClientActivityStart                       // the caller begins to speak; manual activity only
	ClientActivityEnd                         // the caller has ended; manual activity only
	ClientStreamEnd                           // no more audio for now; automatic detection only
	ClientToolReply                           // Replies: the answers to tool calls
)

var clientKinds = [...]string{"", "audio", "text", "content", "activity_start", "activity_end", "stream_end",
	"tool_reply"}

// String names the kind, as in "activity_start".
func (k ClientKind) String() string {
	if int(k) < len(clientKinds) && k > 0 {
		return clientKinds[k]
	}
	return fmt.Sprintf("ClientKind(%d)", uint8(k))
}

// Limits of what is sent.
const (
	// InputRateHz is the rate of caller audio.
	InputRateHz = 16000

	audioSamplesMax = InputRateHz // samples in one message
	textBytesMax    = 64 << 10    // bytes of a text, of all turns together, of a tool's output
	repliesMax      = 128         // in one message
)

// ClientMessage is one message to the model. Kind says which fields count; the others are ignored. It keeps no memory
// of the caller after Send has returned.
type ClientMessage struct {
	Kind         ClientKind
	PCM          []int16     // ClientAudio; 16 kHz mono
	Text         string      // ClientText; 1 byte to 64 KiB of UTF-8
	Turns        []Turn      // ClientContent; may be empty
	TurnComplete bool        // ClientContent: the model shall answer now
	Replies      []ToolReply // ClientToolReply; 1 to 128
}

// Turn is a piece of history.
type Turn struct {
	Role string // "user" or "model"
	Text string
}

// ToolReply answers one tool call. Exactly one of Output and Error is set.
type ToolReply struct {
	ID     string          // of the call
	Name   string          // of the function
	Output json.RawMessage // any JSON value
	Error  string          // what went wrong, in words for the model
	// Scheduling is for the replies of non-blocking tools, and for models that know it: see Abilities.
	Scheduling Scheduling
}

// Scheduling says when the model shall speak about the reply of a non-blocking tool.
type Scheduling uint8

// The kinds of Scheduling.
const (
	ScheduleUnset     Scheduling = iota // the model's own choice, when idle
	ScheduleInterrupt                   // at once, cutting short what it says
	ScheduleWhenIdle                    // when it has nothing else to say
	ScheduleSilent                      // not at all: it only shall know
)

var schedulings = [...]string{"", "INTERRUPT", "WHEN_IDLE", "SILENT"}

// String is the name on the wire, as in "WHEN_IDLE", and empty for ScheduleUnset.
func (s Scheduling) String() string {
	if int(s) < len(schedulings) {
		return schedulings[s]
	}
	return fmt.Sprintf("Scheduling(%d)", uint8(s))
}

// terms are what was agreed with the model, and so what may be sent to it.
type terms struct {
	automatic bool
	abilities Abilities
	tools     map[string]bool // whether one is non-blocking
}

func (s *Setup) terms() terms {
	t := terms{automatic: s.Automatic, abilities: AbilitiesOf(s.Model), tools: map[string]bool{}}
	for _, tool := range s.Tools {
		t.tools[tool.Name] = tool.NonBlocking
	}
	return t
}

var (
	errNoKind     = errors.New("live: send: the message has no kind")
	errActivity   = errors.New("live: send: activity start and end need manual activity; the setup chose automatic")
	errStreamEnd  = errors.New("live: send: stream end needs automatic detection; the setup chose manual activity")
	errEmptyText  = errors.New("live: send text: it is empty")
	errTextIsLong = fmt.Errorf("live: send: text over %d bytes", textBytesMax)
	errNotUTF8    = errors.New("live: send: text is not UTF-8")
	errContent    = errors.New("live: send content: this model takes history in the setup alone")
	errReplies    = fmt.Errorf("live: send tool reply: want 1 to %d replies", repliesMax)
)

// check refuses what would end the conversation.
func (m *ClientMessage) check(t *terms) error {
	switch m.Kind {
	case ClientAudio:
		return nil
	case ClientText:
		if m.Text == "" {
			return errEmptyText
		}
		return checkText(m.Text)
	case ClientContent:
		if !t.abilities.Content {
			return errContent
		}
		return checkTurns(m.Turns)
	case ClientActivityStart, ClientActivityEnd:
		if t.automatic {
			return errActivity
		}
		return nil
	case ClientStreamEnd:
		if !t.automatic {
			return errStreamEnd
		}
		return nil
	case ClientToolReply:
		return t.checkReplies(m.Replies)
	}
	return errNoKind
}

func (t *terms) checkReplies(replies []ToolReply) error {
	if len(replies) == 0 || len(replies) > repliesMax {
		return errReplies
	}
	for i := range replies {
		r := &replies[i]
		if err := r.check(); err != nil {
			return err
		}
		if r.Scheduling != ScheduleUnset && !(t.abilities.Scheduling && t.tools[r.Name]) {
			return fmt.Errorf("live: send tool reply %s: scheduling %v needs a tool declared non-blocking, and a model "+
				"that knows it", r.ID, r.Scheduling)
		}
	}
	return nil
}

func checkText(s string) error {
	if len(s) > textBytesMax {
		return errTextIsLong
	}
	if !utf8.ValidString(s) {
		return errNotUTF8
	}
	return nil
}

func checkTurns(turns []Turn) error {
	size := 0
	for i, t := range turns {
		if t.Role != "user" && t.Role != "model" {
			return fmt.Errorf("live: send content: turn %d: role %q; want user or model", i, t.Role)
		}
		if err := checkText(t.Text); err != nil {
			return err
		}
		size += len(t.Text)
	}
	if size > textBytesMax {
		return errTextIsLong
	}
	return nil
}

func (r *ToolReply) check() error {
	switch {
	case r.ID == "":
		return errors.New("live: send tool reply: no ID")
	case r.Scheduling > ScheduleSilent:
		return fmt.Errorf("live: send tool reply %s: %v is not known", r.ID, r.Scheduling)
	case (r.Output == nil) == (r.Error == ""):
		return fmt.Errorf("live: send tool reply %s: want exactly one of Output and Error", r.ID)
	case len(r.Output) > textBytesMax:
		return fmt.Errorf("live: send tool reply %s: output over %d bytes", r.ID, textBytesMax)
	case r.Output != nil && !json.Valid(r.Output):
		return fmt.Errorf("live: send tool reply %s: output is not JSON", r.ID)
	}
	return checkText(r.Error)
}

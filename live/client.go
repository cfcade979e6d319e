package live

import (
	"encoding/json"
	"errors"
	"fmt"
	"unicode/utf8"
)

// ClientKind is the kind of a ClientMessage.
type ClientKind uint8

// The kinds of ClientMessage.
const (
	ClientAudio         ClientKind = iota + 1 // PCM: audio of the caller
	ClientText                                // Text: text of the caller; the model replies at once (realtimeInput.text)
	ClientContent                             // Turns, TurnComplete: history, in order; interrupts the model
	ClientActivityStart                       // the caller starts to speak; only if Setup.Automatic is false
	ClientActivityEnd                         // the caller has stopped; only if Setup.Automatic is false
	ClientStreamEnd                           // no more audio for now; only if Setup.Automatic is true
	ClientToolReply                           // Replies: the results of tool calls
)

var clientKinds = [...]string{"", "audio", "text", "content", "activity_start", "activity_end", "stream_end",
	"tool_reply"}

// String returns the name of the kind, such as "activity_start".
func (k ClientKind) String() string {
	if int(k) < len(clientKinds) && k > 0 {
		return clientKinds[k]
	}
	return fmt.Sprintf("ClientKind(%d)", uint8(k))
}

const (
	inputRateHz     = 16000       // of the caller's audio
	audioSamplesMax = inputRateHz // samples in one message
	textBytesMax    = 64 << 10    // bytes of a text, of all turns together, or of the output of a tool
	repliesMax      = 128         // replies in one message
)

// ClientMessage is one message to the model. Kind says which fields are used; Send ignores the
// others. Send does not keep the message.
type ClientMessage struct {
	Kind         ClientKind
	PCM          []int16     // ClientAudio: mono samples at 16 kHz
	Text         string      // ClientText: 1 byte to 64 KiB of UTF-8
	Turns        []Turn      // ClientContent: 64 KiB in all; may be empty
	TurnComplete bool        // ClientContent: the model must reply now
	Replies      []ToolReply // ClientToolReply: 1 to 128
}

// Turn is what one side said.
type Turn struct {
	Role string // "user" or "model"
	Text string
}

// ToolReply is the result of one tool call. Exactly one of Output and Error must be set.
type ToolReply struct {
	ID     string          // of the call
	Name   string          // of the function
	Output json.RawMessage // any JSON value, at most 64 KiB
	Error  string          // what went wrong, for the model
	// Scheduling must be unset, unless the tool is non-blocking and the model supports scheduling
	// (docs/model.md).
	Scheduling Scheduling
}

// Scheduling says when the model speaks about the reply of a non-blocking tool.
type Scheduling uint8

// The kinds of Scheduling.
const (
	ScheduleUnset     Scheduling = iota // the default of the model, which is WhenIdle
	ScheduleInterrupt                   // at once; the model interrupts itself
	ScheduleWhenIdle                    // when the model is silent
	ScheduleSilent                      // never: the model only learns the result
)

var schedulings = [...]string{"", "INTERRUPT", "WHEN_IDLE", "SILENT"}

// String returns the name on the wire, such as "WHEN_IDLE". It is empty for ScheduleUnset.
func (s Scheduling) String() string {
	if int(s) < len(schedulings) {
		return schedulings[s]
	}
	return fmt.Sprintf("Scheduling(%d)", uint8(s))
}

// ParseScheduling returns the kind with a name on the wire. It reports false for another name.
func ParseScheduling(name string) (Scheduling, bool) {
	for s := ScheduleInterrupt; s <= ScheduleSilent; s++ {
		if s.String() == name {
			return s, true
		}
	}
	return ScheduleUnset, false
}

// terms decide which messages may be sent, from the setup and the model.
type terms struct {
	automatic bool
	abilities abilities
	tools     map[string]bool // by name: whether the tool is non-blocking
}

func (s *Setup) terms() terms {
	t := terms{automatic: s.Automatic, abilities: abilitiesOf(s.Model), tools: map[string]bool{}}
	for _, tool := range s.Tools {
		t.tools[tool.Name] = tool.NonBlocking
	}
	return t
}

// ErrNoContent is the error of Send for ClientContent with a model that accepts history only in the
// setup.
var ErrNoContent = errors.New("live: send content: this model accepts history only in the setup")

var (
	errNoKind     = errors.New("live: send: the message has no Kind")
	errActivity   = errors.New("live: send: activity start and end need a setup with Automatic false")
	errStreamEnd  = errors.New("live: send: stream end needs a setup with Automatic true")
	errEmptyText  = errors.New("live: send: the text is empty")
	errTextIsLong = fmt.Errorf("live: send: the text has more than %d bytes", textBytesMax)
	errNotUTF8    = errors.New("live: send: the text is not UTF-8")
	errReplies    = fmt.Errorf("live: send tool reply: want 1 to %d replies", repliesMax)
)

// check returns an error for a message for which the model would close the connection.
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
		if !t.abilities.content {
			return ErrNoContent
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
		if r.Scheduling != ScheduleUnset && !(t.abilities.scheduling && t.tools[r.Name]) {
			return fmt.Errorf("live: send tool reply %s: scheduling %v needs a non-blocking tool, and a model that "+
				"supports scheduling", r.ID, r.Scheduling)
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
			return fmt.Errorf("live: send content: turn %d: role is %q; want user or model", i, t.Role)
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
		return fmt.Errorf("live: send tool reply %s: unknown %v", r.ID, r.Scheduling)
	case (r.Output == nil) == (r.Error == ""):
		return fmt.Errorf("live: send tool reply %s: want exactly one of Output and Error", r.ID)
	case len(r.Output) > textBytesMax:
		return fmt.Errorf("live: send tool reply %s: the output has more than %d bytes", r.ID, textBytesMax)
	case r.Output != nil && !json.Valid(r.Output):
		return fmt.Errorf("live: send tool reply %s: the output is not JSON", r.ID)
	}
	return checkText(r.Error)
}

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
	ClientToolReply                           // Reply: the answer to a tool call
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
)

// ClientMessage is one message to the model. Kind says which fields count; the others are ignored. It keeps no memory
// of the caller after Send has returned.
type ClientMessage struct {
	Kind         ClientKind
	PCM          []int16   // ClientAudio; 16 kHz mono
	Text         string    // ClientText; 1 byte to 64 KiB of UTF-8
	Turns        []Turn    // ClientContent; may be empty
	TurnComplete bool      // ClientContent: the model shall answer now
	Reply        ToolReply // ClientToolReply
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
}

var (
	errNoKind     = errors.New("live: send: the message has no kind")
	errActivity   = errors.New("live: send: activity start and end need manual activity; the setup chose automatic")
	errStreamEnd  = errors.New("live: send: stream end needs automatic detection; the setup chose manual activity")
	errEmptyText  = errors.New("live: send text: it is empty")
	errTextIsLong = fmt.Errorf("live: send: text over %d bytes", textBytesMax)
	errNotUTF8    = errors.New("live: send: text is not UTF-8")
)

// check refuses what would end the conversation.
func (m *ClientMessage) check(automatic bool) error {
	switch m.Kind {
	case ClientAudio:
		return nil
	case ClientText:
		if m.Text == "" {
			return errEmptyText
		}
		return checkText(m.Text)
	case ClientContent:
		return checkTurns(m.Turns)
	case ClientActivityStart, ClientActivityEnd:
		if automatic {
			return errActivity
		}
		return nil
	case ClientStreamEnd:
		if !automatic {
			return errStreamEnd
		}
		return nil
	case ClientToolReply:
		return m.Reply.check()
	}
	return errNoKind
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
	case (r.Output == nil) == (r.Error == ""):
		return fmt.Errorf("live: send tool reply %s: want exactly one of Output and Error", r.ID)
	case len(r.Output) > textBytesMax:
		return fmt.Errorf("live: send tool reply %s: output over %d bytes", r.ID, textBytesMax)
	case r.Output != nil && !json.Valid(r.Output):
		return fmt.Errorf("live: send tool reply %s: output is not JSON", r.ID)
	}
	return checkText(r.Error)
}

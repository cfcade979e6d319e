package transport

import (
	"encoding/json"
	"fmt"
	"unicode/utf8"
)

// Limits of a Session, in bytes and entries.
const (
	SystemInstructionLenMax = 512 << 10
	ToolsMax                = 128
	ToolNameLenMax          = 64
	ToolBytesMax            = 64 << 10 // description and parameters of one tool
	NameLenMax              = 128      // of a model or a voice
)

// Session is what a client asks of the model, in protocols whose clients configure the model
// themselves: the setup of Gemini Live, the session of OpenAI Realtime. The gateway's rules decide
// which fields a call follows; Ready.Refused names the others. The zero value asks for nothing.
type Session struct {
	Model             string // "" leaves it to the gateway
	Voice             string // "" leaves it to the gateway
	SystemInstruction string // UTF-8; "" leaves it to the gateway
	Tools             []Tool // functions that the client answers
	Temperature       *float32
	MaxOutputTokens   *int32 // of one reply
	Activity          Activity
}

// Activity is how a client wants the gateway's detector to find the caller's speech. Zero fields
// leave it to the gateway.
type Activity struct {
	Start, End Sensitivity
	PrefixMS   *int32 // how much speech there must be before it counts
	SilenceMS  *int32 // how much silence ends it
}

// Sensitivity says how readily speech begins or ends.
type Sensitivity string

// The sensitivities.
const (
	SensitivityHigh Sensitivity = "high" // as the gateway is set
	SensitivityLow  Sensitivity = "low"  // less readily
)

// Tool is a function that a client offers to the model.
type Tool struct {
	Name        string
	Description string
	Parameters  json.RawMessage // JSON schema of the arguments, an object; nil means no arguments
	NonBlocking bool            // the model may speak while the function runs
}

// Check returns a [*FieldError] for the first field that is out of its limits.
func (s *Session) Check() error {
	switch {
	case len(s.Model) > NameLenMax:
		return SessionError("model", size(s.Model), "a name of at most 128 bytes")
	case len(s.Voice) > NameLenMax:
		return SessionError("voice", size(s.Voice), "a name of at most 128 bytes")
	case len(s.SystemInstruction) > SystemInstructionLenMax || !utf8.ValidString(s.SystemInstruction):
		return SessionError("system_instruction", size(s.SystemInstruction), "at most 524288 bytes of UTF-8")
	case len(s.Tools) > ToolsMax:
		return SessionError("tools", fmt.Sprintf("%d functions", len(s.Tools)), "at most 128 functions")
	}
	for i, t := range s.Tools {
		if n := len(t.Name); n == 0 || n > ToolNameLenMax {
			return SessionError(fmt.Sprintf("tools[%d].name", i), size(t.Name), "a name of 1 to 64 bytes")
		}
		if n := len(t.Description) + len(t.Parameters); n > ToolBytesMax {
			return SessionError(fmt.Sprintf("tools[%d]", i), fmt.Sprintf("%d bytes long", n),
				"at most 65536 bytes of description and parameters")
		}
	}
	return nil
}

// SessionError returns the refusal of one field of a Session.
func SessionError(field, value, want string) *FieldError {
	return &FieldError{Event: "session", Field: field, Value: value, Want: want}
}

package live

import (
	"encoding/json"
	"fmt"
	"time"
)

// ServerKind is the kind of a ServerMessage.
type ServerKind uint8

// The kinds of ServerMessage. Recv delivers the parts of one wire message in this order: an
// interruption comes before audio of the same message, so that the audio can be dropped.
const (
	ServerInterrupted        ServerKind = iota + 1 // the reply was interrupted: drop what was not played
	ServerToolCancel                               // IDs: do not answer these calls any more
	ServerCallerTranscript                         // Text, Final: the next fragment of the caller's transcript
	ServerModelTranscript                          // Text, Final: the next fragment of the model's transcript
	ServerAudio                                    // PCM, RateHz: audio of the reply
	ServerToolCall                                 // Call: a function to call
	ServerGenerationComplete                       // the whole reply was produced; not after an interruption
	ServerUsage                                    // Usage: tokens of the turn so far
	ServerTurnComplete                             // Reason: the model waits for the caller
	ServerResumption                               // Handle, Resumable: how to resume after a lost connection
	ServerGoAway                                   // TimeLeft: the model will close the connection
	ServerVoiceActivity                            // Text: "start" or "end" of speech, detected by the model, or ""
	ServerMalformed                                // Text: why a message is broken, or an error; the connection stays open
	ServerUnknown                                  // Text: the names of the fields, none of which are known
)

var serverKinds = [...]string{"", "interrupted", "tool_cancel", "caller_transcript", "model_transcript", "audio",
	"tool_call", "generation_complete", "usage", "turn_complete", "resumption", "go_away", "voice_activity",
	"malformed", "unknown"}

// String returns the name of the kind, such as "turn_complete".
func (k ServerKind) String() string {
	if int(k) < len(serverKinds) && k > 0 {
		return serverKinds[k]
	}
	return fmt.Sprintf("ServerKind(%d)", uint8(k))
}

// ServerMessage is one message of the model. Kind says which fields are set; the others are zero.
type ServerMessage struct {
	Kind      ServerKind
	PCM       []int16       // ServerAudio: mono samples at RateHz, valid until the next Recv
	RateHz    int           // ServerAudio: 8000 to 48000, usually 24000
	Text      string        // see the kinds
	Final     bool          // transcripts: marked as finished; many models never do, or do at once
	Reason    string        // ServerTurnComplete: the reason of the model, or ""
	Call      ToolCall      // ServerToolCall
	IDs       []string      // ServerToolCancel
	Usage     Usage         // ServerUsage
	Handle    string        // ServerResumption: "" if there is no new one; keep the last
	Resumable bool          // ServerResumption: whether resuming now loses nothing
	TimeLeft  time.Duration // ServerGoAway: 0 or more
}

// ToolCall is a request to call a function.
type ToolCall struct {
	ID   string
	Name string
	Args json.RawMessage // a JSON object, {} if the model gave none
}

// Usage holds token counts as the model reports them: what it read for a turn, which includes the
// conversation before, and what it made. Within a turn a later report replaces an earlier one. No
// count is negative. A modality that the model does not report is 0.
type Usage struct {
	Prompt, Response, Thoughts, Total int32

	Cached                      int32 // of Prompt: read from the model's cache
	PromptText, PromptAudio     int32 // of Prompt
	ResponseText, ResponseAudio int32 // of Response
}

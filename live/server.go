package live

import (
	"encoding/json"
	"fmt"
	"time"
)

// ServerKind says what a ServerMessage is.
type ServerKind uint8

// The kinds of ServerMessage, in the order in which the parts of one wire message are delivered: an interruption comes
// before audio of the same message, so that late audio can be dropped.
const (
	ServerInterrupted        ServerKind = iota + 1 // the model was cut short: what was not played is void
	ServerToolCancel                               // IDs: these calls shall not be answered any more
	ServerCallerTranscript                         // Text, Final: words of the caller, a fragment to append
	ServerModelTranscript                          // Text, Final: words of the model, a fragment to append
	ServerAudio                                    // PCM, RateHz: the model's voice
	ServerToolCall                                 // Call: one function to be called
	ServerGenerationComplete                       // the model has produced all of its reply; not after an interruption
	ServerTurnComplete                             // Reason: the model waits for the caller
	ServerUsage                                    // Usage: tokens so far
	ServerResumption                               // Handle, Resumable: how to go on after a lost connection
	ServerGoAway                                   // TimeLeft: the connection will be ended by the model
	ServerVoiceActivity                            // Text: start or end of speech as the model hears it, or empty
	ServerMalformed                                // Text: what is broken, or an error; the connection goes on
	ServerUnknown                                  // Text: a message without anything this package knows
)

var serverKinds = [...]string{"", "interrupted", "tool_cancel", "caller_transcript", "model_transcript", "audio",
	"tool_call", "generation_complete", "turn_complete", "usage", "resumption", "go_away", "voice_activity",
	"malformed", "unknown"}

// String names the kind, as in "turn_complete".
func (k ServerKind) String() string {
	if int(k) < len(serverKinds) && k > 0 {
		return serverKinds[k]
	}
	return fmt.Sprintf("ServerKind(%d)", uint8(k))
}

// ServerMessage is one thing the model said or did. Kind says which fields count; the others are zero.
type ServerMessage struct {
	Kind      ServerKind
	PCM       []int16       // ServerAudio: mono samples at RateHz; see Conn.Recv for who owns them
	RateHz    int           // ServerAudio: 8000 to 48000; 24000 unless the model says otherwise
	Text      string        // transcripts; what was wrong; names of unknown fields
	Final     bool          // transcripts: the model calls it finished, which it often does never or at once
	Reason    string        // ServerTurnComplete: empty, or why the turn ended, in the model's terms
	Call      ToolCall      // ServerToolCall
	IDs       []string      // ServerToolCancel
	Usage     Usage         // ServerUsage
	Handle    string        // ServerResumption; empty when there is no new one: keep the last good one
	Resumable bool          // ServerResumption: whether resuming now would lose nothing
	TimeLeft  time.Duration // ServerGoAway; 0 or more
}

// ToolCall is a request of the model to call a function.
type ToolCall struct {
	ID   string
	Name string
	Args json.RawMessage // a JSON object, {} if the model gave none
}

// Usage counts tokens of a conversation as the model reports them; less than none is none.
type Usage struct {
	Prompt, Response, Thoughts, Total int32
}

package managed

import (
	"encoding/json"
	"time"
)

// Type is what an Event is.
type Type string

// The events of the user.
const (
	UserMessage      Type = "user.message"
	UserInterrupt    Type = "user.interrupt"
	UserConfirmation Type = "user.tool_confirmation"
	UserCustomResult Type = "user.custom_tool_result"
)

// The events of the session.
const (
	AgentMessage       Type = "agent.message"
	AgentThinking      Type = "agent.thinking"
	AgentToolUse       Type = "agent.tool_use"
	AgentMCPToolUse    Type = "agent.mcp_tool_use"
	AgentCustomToolUse Type = "agent.custom_tool_use"
	AgentToolResult    Type = "agent.tool_result"
	AgentMCPToolResult Type = "agent.mcp_tool_result"
	StatusRunning      Type = "session.status_running"
	StatusIdle         Type = "session.status_idle"
	StatusRescheduled  Type = "session.status_rescheduled"
	StatusTerminated   Type = "session.status_terminated"
	SessionUsage       Type = "session.usage"
	SessionUpdated     Type = "session.updated"
	SessionError       Type = "session.error"
	SessionDeleted     Type = "session.deleted"
	SpanStart          Type = "span.model_request_start"
	SpanEnd            Type = "span.model_request_end"
)

// The events that only a live stream has. They have no number and are not stored.
const (
	EventStart Type = "event_start"
	EventDelta Type = "event_delta"
)

// Event is one event of a session. Its JSON is the format of the journal and of the API. Only the
// fields that its Type has are set.
type Event struct {
	// Seq is the number of the event in the stream of its session, from 1, without gaps. An event of
	// the user is in the stream twice: when it is accepted, and when the session has taken it up.
	Seq uint64 `json:"seq,omitempty"`
	// ID is the same for both.
	ID   string `json:"id,omitempty"`
	Type Type   `json:"type"`
	// ProcessedAt is nil as long as an event of the user waits.
	ProcessedAt *time.Time `json:"processed_at"`

	Content   []Block         `json:"content,omitempty"`
	Name      string          `json:"name,omitempty"`
	Input     json.RawMessage `json:"input,omitempty"`
	ToolUseID string          `json:"tool_use_id,omitempty"`
	CustomID  string          `json:"custom_tool_use_id,omitempty"`
	MCPUseID  string          `json:"mcp_tool_use_id,omitempty"`
	MCPServer string          `json:"mcp_server_name,omitempty"`
	CallID    string          `json:"call_id,omitempty"`    // the model's own id of a call
	Agent     string          `json:"agent_name,omitempty"` // whose message or call it is, if a program has several
	IsError   *bool           `json:"is_error,omitempty"`

	Result      string `json:"result,omitempty"` // of a confirmation: allow or deny
	DenyMessage string `json:"deny_message,omitempty"`
	Permission  string `json:"evaluated_permission,omitempty"` // allow, ask or deny

	StopReason *StopReason  `json:"stop_reason,omitempty"`
	Details    *StopDetails `json:"stop_details,omitempty"` // of a refusal
	Error      *Failure     `json:"error,omitempty"`
	Usage      *Usage       `json:"usage,omitempty"`
	Budget     *Budget      `json:"budget,omitempty"`

	SpanStartID string `json:"model_request_start_id,omitempty"`
	ModelUsage  *Usage `json:"model_usage,omitempty"`

	Event   *EventRef `json:"event,omitempty"`
	EventID string    `json:"event_id,omitempty"`
	Delta   *Delta    `json:"delta,omitempty"`
}

// Block is a part of a content: a text, an image or a document.
type Block struct {
	Type    string  `json:"type"` // text, image or document
	Text    string  `json:"text,omitempty"`
	Source  *Source `json:"source,omitempty"`
	Title   string  `json:"title,omitempty"`
	Context string  `json:"context,omitempty"`
}

// Source is where an image or a document comes from.
type Source struct {
	Type      string `json:"type"` // base64, url or text
	MediaType string `json:"media_type,omitempty"`
	Data      string `json:"data,omitempty"` // base64, or the text
	URL       string `json:"url,omitempty"`
}

// The reasons why a session is idle.
const (
	EndTurn          = "end_turn"
	RequiresAction   = "requires_action"   // EventIDs wait for the client
	RetriesExhausted = "retries_exhausted" // the turn failed; an error before it says why
	BudgetReached    = "budget_reached"
	Refusal          = "refusal" // the model or the filter of its provider refused: StopDetails says why
)

// StopReason is why a session is idle.
type StopReason struct {
	Type     string   `json:"type"`
	EventIDs []string `json:"event_ids,omitempty"`
	// Detail tells more than the Type: interrupted, max_tokens, reask_budget; outcome_unknown, if calls
	// that wait may have happened; of budget_reached, the limit.
	Detail string `json:"detail,omitempty"`
}

// StopDetails is why a model, or the filter of its provider, refused.
type StopDetails struct {
	Type        string `json:"type"`     // refusal
	Category    string `json:"category"` // the provider's reason in small letters, such as safety
	Explanation string `json:"explanation"`
}

// Failure is what went wrong.
type Failure struct {
	Type    string `json:"type"`
	Message string `json:"message"`
	Code    string `json:"code,omitempty"` // of the agent.Fault that ended the turn, if one did
	Server  string `json:"mcp_server_name,omitempty"`
	Retry   *Retry `json:"retry_status,omitempty"`
}

// Retry tells what follows a Failure: retrying, exhausted or terminal.
type Retry struct {
	Type string `json:"type"`
}

// Usage is a number of tokens, and in a session the time it worked.
type Usage struct {
	InputTokens  int64   `json:"input_tokens"`
	OutputTokens int64   `json:"output_tokens"`
	CacheRead    int64   `json:"cache_read_input_tokens"`
	CacheWrite   int64   `json:"cache_creation_input_tokens"`
	Thinking     int64   `json:"thinking_tokens,omitempty"`
	Active       float64 `json:"active_seconds,omitempty"`
	ListCost     *Money  `json:"list_cost,omitempty"` // of a session, if it asked models with a price; rounded
}

// EventRef names an event that is coming.
type EventRef struct {
	Type Type   `json:"type"`
	ID   string `json:"id"`
}

// Delta is a part of the text of an event that is coming.
type Delta struct {
	Type    string `json:"type"` // content_delta
	Index   int    `json:"index"`
	Content Block  `json:"content"`
}

// Text returns a message of the user.
func Text(text string) Event {
	return Event{Type: UserMessage, Content: []Block{{Type: "text", Text: text}}}
}

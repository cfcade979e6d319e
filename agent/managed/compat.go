package managed

import (
	"context"
	"encoding/json"
	"iter"
	"math"
)

// The types of a CompatEvent. Those of tools and messages are the ones of an Event.
const (
	CompatRunning Type = "status.running"
	CompatIdle    Type = "status.idle"
	CompatError   Type = "error"
)

// MaxTokens is the reason of a CompatEvent for an answer that was cut at the limit of its model.
const MaxTokens = "max_tokens"

// Where CompatEvents begins.
const (
	CompatAll  int64 = -1            // with the first event
	CompatTail int64 = math.MaxInt64 // with the first event that comes now
)

// CompatEvent is one event in the format of adk-managed. Only the fields that its Type has are set.
type CompatEvent struct {
	Type Type
	Seq  uint64 // from 0, without gaps

	Content   []Block         // of agent.message
	ToolUseID string          // the model's own id of a call
	CustomID  string          // likewise, of a call that the client runs
	Name      string          // of a tool
	Input     json.RawMessage // of a call

	Stop  *CompatStop  // of status.idle; nil after a turn that failed
	Usage *CompatUsage // of status.idle: what the turn cost

	Code    string // of an error
	Message string // of an error
}

// CompatStop is why a session is idle: end_turn, max_tokens, budget_reached or refusal.
type CompatStop struct {
	Reason string `json:"reason"`
}

// CompatUsage counts the tokens of a turn. Those of a cache are part of the input, those of thinking part
// of the output.
type CompatUsage struct {
	Input      int64 `json:"input_tokens"`
	Output     int64 `json:"output_tokens"`
	Total      int64 `json:"total_tokens"`
	Thinking   int64 `json:"thinking_tokens,omitempty"`
	CacheRead  int64 `json:"cache_read_tokens,omitempty"`
	CacheWrite int64 `json:"cache_write_tokens,omitempty"`
}

// MarshalJSON writes the fields that the type has. A status.idle always has its stop_reason.
func (e *CompatEvent) MarshalJSON() ([]byte, error) {
	type use struct {
		Type     Type            `json:"type"`
		ID       string          `json:"tool_use_id,omitempty"`
		CustomID string          `json:"custom_tool_use_id,omitempty"`
		Name     string          `json:"name"`
		Input    json.RawMessage `json:"input"`
		Seq      uint64          `json:"seq"`
	}
	switch e.Type {
	case AgentToolUse, AgentMCPToolUse, AgentCustomToolUse:
		return json.Marshal(use{e.Type, e.ToolUseID, e.CustomID, e.Name, e.Input, e.Seq})
	case CompatIdle:
		return json.Marshal(struct {
			Type  Type         `json:"type"`
			Seq   uint64       `json:"seq"`
			Stop  *CompatStop  `json:"stop_reason"`
			Usage *CompatUsage `json:"usage"`
		}{e.Type, e.Seq, e.Stop, e.Usage})
	}
	return json.Marshal(struct {
		Type    Type    `json:"type"`
		Content []Block `json:"content,omitempty"`
		Code    string  `json:"code,omitempty"`
		Message string  `json:"message,omitempty"`
		Seq     uint64  `json:"seq"`
	}{e.Type, e.Content, e.Code, e.Message, e.Seq})
}

// Compat views the events of one session in the format of adk-managed. That format has fewer events:
// a turn runs until its end, however often it waits for the client or is tried again. The zero value views
// a session from its first event. It is not safe for concurrent use.
type Compat struct {
	next  uint64
	runs  bool
	usage Usage // of the turn
}

// View returns what an event of the session is in the view: one event or none. It must be given all
// events of the session, in their order.
func (c *Compat) View(ev *Event) []*CompatEvent {
	e := c.view(ev)
	if e == nil {
		return nil
	}
	e.Seq = c.next
	c.next++
	return []*CompatEvent{e}
}

func (c *Compat) view(ev *Event) *CompatEvent {
	switch ev.Type {
	case StatusRunning:
		if c.runs { // it goes on after a wait
			return nil
		}
		c.runs, c.usage = true, Usage{}
		return &CompatEvent{Type: CompatRunning}
	case SpanEnd:
		c.usage.add(ev.ModelUsage)
	case AgentMessage:
		return &CompatEvent{Type: AgentMessage, Content: ev.Content}
	case AgentToolUse, AgentMCPToolUse:
		return &CompatEvent{Type: ev.Type, ToolUseID: ev.CallID, Name: ev.Name, Input: ev.Input}
	case AgentCustomToolUse:
		return &CompatEvent{Type: ev.Type, CustomID: ev.CallID, Name: ev.Name, Input: ev.Input}
	case SessionError:
		if ev.Error.Retry != nil && ev.Error.Retry.Type == "retrying" { // the turn goes on
			return nil
		}
		return &CompatEvent{Type: CompatError, Code: ev.Error.Type, Message: ev.Error.Message}
	case UserInterrupt:
		if ev.ProcessedAt != nil && !c.runs { // it had nothing to stop
			c.usage = Usage{}
			return c.idle(&StopReason{Type: EndTurn})
		}
	case StatusIdle:
		if ev.StopReason.Type != RequiresAction {
			return c.idle(ev.StopReason)
		}
	}
	return nil
}

// idle is the event of the end of a turn.
func (c *Compat) idle(reason *StopReason) *CompatEvent {
	c.runs = false
	u := &c.usage
	e := &CompatEvent{Type: CompatIdle, Usage: &CompatUsage{Input: u.InputTokens + u.CacheRead + u.CacheWrite,
		Output: u.OutputTokens, Thinking: u.Thinking, CacheRead: u.CacheRead, CacheWrite: u.CacheWrite}}
	e.Usage.Total = e.Usage.Input + e.Usage.Output
	switch {
	case reason.Type == EndTurn && reason.Detail == MaxTokens:
		e.Stop = &CompatStop{Reason: MaxTokens}
	case reason.Type == EndTurn, reason.Type == BudgetReached, reason.Type == Refusal:
		e.Stop = &CompatStop{Reason: reason.Type}
	}
	return e
}

// CompatEvents is Events in the format of adk-managed. It yields the events behind number after, which
// may be CompatAll or CompatTail. The tail begins where the session is when CompatEvents returns.
func (r *Runtime) CompatEvents(ctx context.Context, o Owner, id string, after int64, live bool,
) iter.Seq2[*CompatEvent, error] {
	var known uint64 // events that are there already
	if after == CompatTail {
		s, err := r.Session(ctx, o, id)
		if err != nil {
			return func(yield func(*CompatEvent, error) bool) { yield(nil, err) }
		}
		known, after = s.LastSeq, CompatAll
	}
	return func(yield func(*CompatEvent, error) bool) {
		var c Compat
		for ev, err := range r.Events(ctx, o, id, 1, live) {
			if err != nil {
				yield(nil, err)
				return
			}
			if ev.Type == SessionDeleted {
				return
			}
			for _, e := range c.View(ev) {
				if ev.Seq > known && int64(e.Seq) > after && !yield(e, nil) {
					return
				}
			}
		}
	}
}

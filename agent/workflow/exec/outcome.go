package exec

import (
	"cmp"
	"context"
	"encoding/json"
	"strings"
	"time"

	"github.com/voicegw/voicegw/agent/managed"
)

// Outcome is what became of a run, as the events of its session tell it. Its JSON is the result in HTTP routes. The
// zero value is that of a run that has not begun.
type Outcome struct {
	Content string `json:"content"` // the answer
	Author  string `json:"author"`  // the workflow, or the agent that spoke last
	Session string `json:"session_id"`
	Status  Status `json:"status"`
	// Waits are the calls that the client must answer; with Waiting.
	Waits []Wait `json:"waits_for,omitempty"`
	Usage Usage  `json:"usage"`

	// Failure is why a run has failed, in words.
	Failure string `json:"-"`
	// Code is the kind of Failure: an agent.Code, or the type of the session.error.
	Code string `json:"-"`

	calls map[string]*managed.Event // by id
	began time.Time
}

// Status is how far a run is.
type Status string

// What a run may be.
const (
	Working Status = "working"
	Done    Status = "done"
	Waiting Status = "requires_action" // for answers of the client; it goes on with them
	Failed  Status = "failed"
	Stopped Status = "interrupted"
)

// Wait is a call that waits for the client.
type Wait struct {
	ID    string `json:"id"` // of its event, for the answer
	Agent string `json:"agent,omitempty"`
	Tool  string `json:"tool"`
	Input any    `json:"input"`
	Asks  string `json:"asks"` // "result" of the call, or "confirmation" that it may begin
}

// Usage is what a run has cost so far.
type Usage struct {
	InputTokens  int64  `json:"input_tokens"`
	OutputTokens int64  `json:"output_tokens"`
	CachedTokens int64  `json:"cached_tokens"`
	TotalTokens  int64  `json:"total_tokens"`
	DurationMS   int64  `json:"duration_ms"`
	Steps        int    `json:"steps"` // messages of agents
	LLMCalls     int    `json:"llm_calls"`
	ToolCalls    int    `json:"tool_calls"` // that models have made
	Model        string `json:"model,omitempty"`
}

// MarshalJSON leaves the model out if it was not called.
func (u Usage) MarshalJSON() ([]byte, error) {
	type plain Usage
	if u.LLMCalls == 0 {
		u.Model = ""
	}
	return json.Marshal(plain(u))
}

// Add takes the next event of the session of a workflow. It reports whether the run has come to rest: it is done, has
// failed, or waits.
func (o *Outcome) Add(flow string, ev *managed.Event) (rests bool) {
	o.took(ev.ProcessedAt)
	switch ev.Type {
	case managed.UserMessage, managed.StatusRunning:
		if o.Status != Working {
			o.Status, o.Waits, o.Failure, o.Code = Working, nil, "", ""
		}
	case managed.AgentMessage:
		if o.Content, o.Author = textOf(ev.Content), ev.Agent; ev.Agent != flow {
			o.Usage.Steps++
		}
	case managed.SpanEnd:
		o.Usage.LLMCalls++
		if u := ev.ModelUsage; u != nil {
			o.Usage.InputTokens += u.InputTokens
			o.Usage.OutputTokens += u.OutputTokens
			o.Usage.CachedTokens += u.CacheRead
			o.Usage.TotalTokens += u.InputTokens + u.OutputTokens + u.CacheRead + u.CacheWrite
		}
	case managed.AgentToolUse, managed.AgentMCPToolUse, managed.AgentCustomToolUse:
		o.Usage.ToolCalls++
		if o.calls == nil {
			o.calls = map[string]*managed.Event{}
		}
		o.calls[ev.ID] = ev
	case managed.SessionError:
		if ev.Error != nil {
			o.Failure, o.Code = ev.Error.Message, cmp.Or(ev.Error.Code, ev.Error.Type)
		}
	case managed.StatusIdle:
		o.rest(ev.StopReason)
		return true
	case managed.StatusTerminated, managed.SessionDeleted:
		if o.Status = Failed; o.Failure == "" {
			o.Failure = "the session has ended"
		}
		return true
	}
	return false
}

// took counts the time of a run, from one event to another.
func (o *Outcome) took(at *time.Time) {
	if at == nil {
		return
	}
	if o.began.IsZero() {
		o.began = *at
	}
	o.Usage.DurationMS = max(o.Usage.DurationMS, at.Sub(o.began).Milliseconds())
}

// rest takes the reason why the session is idle.
func (o *Outcome) rest(why *managed.StopReason) {
	if why == nil {
		why = &managed.StopReason{}
	}
	switch why.Type {
	case managed.EndTurn:
		if o.Status = Done; why.Detail == "interrupted" {
			o.Status, o.Failure = Stopped, "the run was interrupted"
		}
	case managed.RequiresAction:
		o.Status = Waiting
		for _, id := range why.EventIDs {
			o.Waits = append(o.Waits, o.wait(id, why.Detail))
		}
	default:
		if o.Status = Failed; o.Failure == "" {
			o.Failure = strings.TrimSpace(why.Type + " " + why.Detail)
		}
	}
}

func (o *Outcome) wait(id, detail string) Wait {
	w := Wait{ID: id, Asks: "result"}
	ev := o.calls[id]
	if ev == nil {
		return w
	}
	w.Agent, w.Tool, w.Input = ev.Agent, ev.Name, ev.Input
	if ev.Type != managed.AgentCustomToolUse || detail == "outcome_unknown" {
		w.Asks = "confirmation"
	}
	return w
}

// textOf is the text of a content.
func textOf(list []managed.Block) string {
	var all []string
	for _, b := range list {
		if b.Text != "" {
			all = append(all, b.Text)
		}
	}
	return strings.Join(all, "\n")
}

// RunBegin is the number of the event with which the newest run of a session begins, so that an Outcome can take all of
// its events. It is 1 for a session that no message has reached.
func RunBegin(ctx context.Context, rt *managed.Runtime, o managed.Owner, session string) (uint64, error) {
	l := managed.Listing{Limit: 1, Newest: true, Keep: func(ev *managed.Event) bool {
		return ev.Type == managed.UserMessage
	}}
	for {
		list, next, err := rt.ListEvents(ctx, o, session, l)
		switch {
		case err != nil:
			return 0, err
		case len(list) > 0:
			return list[0].Seq, nil
		case next == 0:
			return 1, nil
		}
		l.After = next
	}
}

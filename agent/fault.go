package agent

import (
	"fmt"
	"maps"
	"slices"

	"google.golang.org/adk/v2/session"
)

// Code is the kind of a Fault.
type Code string

// The kinds of faults.
const (
	UnknownTool   Code = "unknown_tool"      // the model called a tool that the agent does not have
	ToolFailed    Code = "tool_failed"       // a tool returned an error or panicked; wrong arguments too
	ToolTimedOut  Code = "tool_timed_out"    // a tool took longer than Config.ToolTimeout
	ToolsBusy     Code = "tools_busy"        // no slot was free: tools that were stopped have not returned
	ArgsTooLong   Code = "args_too_long"     // the arguments of a call exceed Config.MaxArgs
	TooManyCalls  Code = "too_many_calls"    // a response has more calls than Config.MaxCalls
	DuplicateCall Code = "duplicate_call_id" // two calls of one response have the same id
	NotRun        Code = "not_run"           // a call beside a transfer
	UnknownAgent  Code = "unknown_agent"     // a transfer to a name that the agent may not hand over to
	EmptyResponse Code = "empty_response"    // a model answered neither text nor a call
	ModelFailed   Code = "model_failed"      // a model returned an error or panicked
	ModelTimedOut Code = "model_timed_out"   // a model took longer than Config.ModelTimeout
	PromptFailed  Code = "prompt_failed"     // the request could not be built
	GuestFailed   Code = "guest_failed"      // a guest returned an error or panicked
	GuestTimedOut Code = "guest_timed_out"   // a guest took longer than Config.GuestTimeout for one event
	WorkFailed    Code = "work_failed"       // a function or an expression of a workflow returned an error or panicked
	WorkTimedOut  Code = "work_timed_out"    // it took longer than its timeout
	HookFailed    Code = "hook_failed"       // a hook returned an error or panicked
	BudgetSpent   Code = "budget_spent"      // the model asked again more often than Config.Reasks
	NotStored     Code = "not_stored"        // an event could not be stored
	TurnStopped   Code = "turn_stopped"      // the caller stopped the turn
)

// Fault is something that went wrong in a turn. Events carry their faults: see Faults.
type Fault struct {
	Code  Code   `json:"code"`
	Agent string `json:"agent,omitempty"`
	Tool  string `json:"tool,omitempty"`   // name of the tool or of the agent that the model asked for
	Call  string `json:"callId,omitempty"` // id of the call
	Text  string `json:"text,omitempty"`   // what happened, and what would help
}

// Error returns the fault as text.
func (f *Fault) Error() string {
	s := "agent"
	if f.Agent != "" {
		s += " " + f.Agent
	}
	s += ": " + string(f.Code)
	if f.Tool != "" {
		s += fmt.Sprintf(" %q", f.Tool)
	}
	if f.Text != "" {
		s += ": " + f.Text
	}
	return s
}

// metadataKey is where an event carries its faults.
const metadataKey = "voicegw:faults"

// Faults returns what went wrong before an event. It returns nil if nothing did, or if the event was
// read from a store.
func Faults(ev *session.Event) []*Fault {
	list, _ := ev.CustomMetadata[metadataKey].([]*Fault)
	return list
}

// AddFaults adds faults to an event, which must not be in use yet.
func AddFaults(ev *session.Event, list ...*Fault) {
	if len(list) == 0 {
		return
	}
	with := map[string]any{} // the map may belong to the model's response
	maps.Copy(with, ev.CustomMetadata)
	with[metadataKey] = append(slices.Clone(Faults(ev)), list...)
	ev.CustomMetadata = with
}

package agent

import (
	"strings"

	"google.golang.org/adk/v2/model"
	"google.golang.org/adk/v2/session"
	"google.golang.org/genai"

	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/petri/patterns"
)

// Places that all agents of a net share.
const (
	UserIn        petri.Place[*Turn]  = "user_in"        // a message of the user enters
	EventOut      petri.Place[*Event] = "event_out"      // an event leaves
	SessionWrite  petri.Place[*Write] = "session_write"  // an event that the session is to store
	EndInvocation petri.Place[*End]   = "end_invocation" // the turn is to end now; nothing else happens
	TurnEnd       petri.Place[*End]   = "turn_end"       // a turn has ended

	turn       petri.Place[*Turn]      = "turn"        // the turn that runs
	Quiet      petri.Place[petri.Unit] = "quiet"       // no turn runs
	Budget     petri.Place[petri.Unit] = "budget"      // requests that the turn may still make
	TurnOver   petri.Place[*End]       = "turn_over"   // the turn is done
	Stored     petri.Place[petri.Unit] = "stored"      // the event that was written last is stored
	Lost       petri.Place[*Fault]     = "lost"        // the event that was written last is not stored
	Writing    petri.Place[*Write]     = "writing"     // an event is being stored
	WriterIdle petri.Place[petri.Unit] = "writer_idle" // no event is being stored
)

// storing is the task that stores an event.
func storing() petri.Task[*Write, petri.Unit] {
	return petri.Task[*Write, petri.Unit]{Start: "append_start", InFlight: "append_in_flight", Done: "append_done"}
}

// Ports are the places of one agent. The places that all agents share are constants.
type Ports struct {
	Agent string // name of the agent
	Guest bool   // it is a guest: see GuestStep

	Due           petri.Place[*Turn]      // the agent is to ask its model, if the budget allows it
	Prompt        petri.Place[*Turn]      // a request is to be built
	ModelRequest  petri.Place[*Request]   // a request that is built
	ModelResponse petri.Place[*Response]  // a whole response
	ToolCalls     petri.Place[*Calls]     // the calls of a response, after its event is stored
	ToolResults   petri.Place[*Results]   // their results
	Transfer      petri.Place[*Handover]  // a transfer that the model asked for, after its event is stored
	Failure       petri.Place[*Fault]     // why the agent cannot go on
	Active        petri.Place[petri.Unit] // the next turn begins with this agent
	Chunk         petri.Place[*Piece]     // a partial response enters

	Build  petri.Task[*Turn, *model.LLMRequest]
	Ask    petri.Task[*Request, *model.LLMResponse]
	Before petri.Task[*Request, *model.LLMResponse]  // hook; nil response: go on
	After  petri.Task[*Response, *model.LLMResponse] // hook
	Error  petri.Task[*Failing, *model.LLMResponse]  // hook; nil response: the fault stands
	Tools  []petri.Task[*Call, *Reply]               // one for each slot
	Next   petri.Task[*Turn, *session.Event]         // of a guest; nil event: it is done

	Branches []petri.Task[*Request, *model.LLMResponse] // of Agent.Strategy, in place of Ask
}

// PortsOf returns the places of an agent that runs up to slots tools at a time.
func PortsOf(name string, slots int) Ports {
	at := portName(name) + "_"
	return Ports{
		Agent: name,
		Due:   petri.Place[*Turn](at + "due"), Prompt: petri.Place[*Turn](at + "prompt"),
		ModelRequest:  petri.Place[*Request](at + "model_request"),
		ModelResponse: petri.Place[*Response](at + "model_response"),
		ToolCalls:     petri.Place[*Calls](at + "tool_calls"), ToolResults: petri.Place[*Results](at + "tool_results"),
		Transfer: petri.Place[*Handover](at + "transfer"), Failure: petri.Place[*Fault](at + "failure"),
		Active: petri.Place[petri.Unit](at + "active"), Chunk: petri.Place[*Piece](at + "chunk"),
		Build:  task[*Turn, *model.LLMRequest](at + "build"),
		Ask:    task[*Request, *model.LLMResponse](at + "ask"),
		Before: task[*Request, *model.LLMResponse](at + "before"),
		After:  task[*Response, *model.LLMResponse](at + "after"),
		Error:  task[*Failing, *model.LLMResponse](at + "error"),
		Tools:  patterns.Slots[*Call, *Reply](at+"tool", slots),
		Next:   task[*Turn, *session.Event](at + "next"),
	}
}

// portName is a name as part of the name of a place.
func portName(name string) string { return strings.ReplaceAll(name, "-", "_") }

func task[I, O any](name string) petri.Task[I, O] {
	return petri.Task[I, O]{
		Start: petri.Place[I](name + "_start"), InFlight: petri.Place[petri.Unit](name + "_in_flight"),
		Done: petri.Place[petri.Result[O]](name + "_done"),
	}
}

// transferTool is the name of the function with which a model hands over to another agent, as in ADK.
const transferTool = "transfer_to_agent"

// agentArg is its argument.
const agentArg = "agent_name"

// contents are the contents of the session as an agent sees them.
func (t *Turn) contents(agent string) []*genai.Content {
	if t.HistoryOf != nil {
		return t.HistoryOf(agent)
	}
	if t.History != nil {
		return t.History()
	}
	return []*genai.Content{t.Message}
}

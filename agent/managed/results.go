package managed

import (
	"encoding/json"
	"slices"
	"strings"

	"google.golang.org/genai"
)

// results makes a record begin with the answers of the calls that have waited.
func (s *state) results(r *record) {
	c := &genai.Content{Role: genai.RoleUser}
	for _, call := range s.calls {
		r.Closed = append(r.Closed, call.Event)
		if call.Answer == nil {
			continue // a record before has closed it
		}
		result := map[string]any{}
		switch ev := call.Answer; {
		case ev.Type == UserConfirmation && ev.Result == "allow":
			r.Turn.Resume = append(r.Turn.Resume, call.ID)
			if call.Key != "" {
				if r.Turn.Keys == nil {
					r.Turn.Keys = map[string]string{}
				}
				r.Turn.Keys[call.ID] = call.Key
			}
			continue
		case call.Key != "":
			result = failedResult(strings.TrimSpace(unknownOutcome + " " + ev.DenyMessage))
			r.Events = append(r.Events, s.resultEvent(call.ID, result, true))
		case ev.Type == UserConfirmation:
			text := ev.DenyMessage
			if text == "" {
				text = deniedDefault
			}
			result = failedResult(text)
			r.Events = append(r.Events, s.resultEvent(call.ID, result, true))
		case ev.IsError != nil && *ev.IsError:
			result = failedResult(textOf(ev.Content))
		default:
			result["result"] = textOf(ev.Content)
		}
		c.Parts = append(c.Parts, &genai.Part{FunctionResponse: &genai.FunctionResponse{ID: call.ID, Name: call.Name,
			Response: result}})
	}
	if len(c.Parts) > 0 {
		r.Content = []*genai.Content{c}
	}
}

// cancel gives every call that has no result one that says so, and lets none wait.
func (s *state) cancel(r *record) {
	c := &genai.Content{Role: genai.RoleUser}
	for _, call := range unanswered(s.contents) {
		result := failedResult(cancelledCall)
		for _, open := range s.calls {
			switch {
			case open.ID == call.ID && open.Key != "":
				result = failedResult(unknownOutcome)
			case open.ID == call.ID && open.Answer != nil && open.Answer.Type == UserCustomResult:
				result = map[string]any{"result": textOf(open.Answer.Content)}
			}
		}
		c.Parts = append(c.Parts, &genai.Part{FunctionResponse: &genai.FunctionResponse{ID: call.ID, Name: call.Name,
			Response: result}})
		if ev := s.resultEvent(call.ID, result, true); ev != nil {
			r.Events = append(r.Events, ev)
		}
	}
	if len(c.Parts) > 0 {
		r.Content = append(r.Content, c)
	}
	for _, open := range s.calls {
		r.Closed = append(r.Closed, open.Event)
	}
}

// unanswered are the calls behind the last message of a model that have no result.
func unanswered(contents []*genai.Content) []*genai.FunctionCall {
	var list []*genai.FunctionCall
	for _, c := range contents {
		if c.Role == genai.RoleModel {
			list = nil
		}
		for _, p := range c.Parts {
			switch {
			case p.FunctionCall != nil:
				list = append(list, p.FunctionCall)
			case p.FunctionResponse != nil:
				list = slices.DeleteFunc(list, func(f *genai.FunctionCall) bool { return f.ID == p.FunctionResponse.ID })
			}
		}
	}
	return list
}

// resultEvent is the event of the result of a call; nil for one that the client ran.
func (s *state) resultEvent(id string, result map[string]any, failed bool) *Event {
	use := s.uses[id]
	if use == nil {
		return nil
	}
	text, err := json.Marshal(result)
	if err != nil {
		text = []byte(err.Error())
	}
	ev := &Event{Type: AgentToolResult, ToolUseID: use.ID, IsError: &failed,
		Content: []Block{{Type: "text", Text: string(text)}}}
	switch use.Type {
	case AgentCustomToolUse:
		return nil
	case AgentMCPToolUse:
		ev.Type, ev.ToolUseID, ev.MCPUseID = AgentMCPToolResult, "", use.ID
	}
	return ev
}

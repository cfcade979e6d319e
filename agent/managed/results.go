package managed

import (
	"encoding/json"
	"slices"
	"strings"

	"google.golang.org/genai"

	"github.com/voicegw/voicegw/journal"
)

// answersMax is how many bytes of JSON the answers to calls may have in one record. The rest is for what else the
// record has.
const answersMax = journal.RecordMax * 3 / 4

const answerTooLarge = "the answer was too large: with the other answers it does not fit into a record of the session"

// add adds the result of a call to a content, and its event to a record. left is what other results leave of
// answersMax; one that has more becomes an error.
func (s *state) add(r *record, c *genai.Content, left *int, id, name string, result map[string]any) {
	ev := s.resultEvent(id, result, true)
	if n := sizeOf(result) + sizeOf(ev); n <= *left {
		*left -= n
	} else {
		result = failedResult(answerTooLarge)
		ev = s.resultEvent(id, result, true)
	}
	c.Parts = append(c.Parts, &genai.Part{FunctionResponse: &genai.FunctionResponse{ID: id, Name: name,
		Response: result}})
	if ev != nil {
		r.Events = append(r.Events, ev)
	}
}

// sizeOf is the size of something as JSON.
func sizeOf(v any) int {
	b, _ := json.Marshal(v) // what has no JSON fails when its record is encoded
	return len(b)
}

// results makes a record begin with the answers of the calls that have waited.
func (s *state) results(r *record) {
	c, left := &genai.Content{Role: genai.RoleUser}, answersMax
	for _, call := range s.calls {
		r.Closed = append(r.Closed, call.Event)
		if call.Answer == nil {
			continue // a record before has closed it
		}
		result, allowed := call.result()
		if allowed {
			r.Turn.Resume = append(r.Turn.Resume, call.ID)
			if call.Key != "" {
				if r.Turn.Keys == nil {
					r.Turn.Keys = map[string]string{}
				}
				r.Turn.Keys[call.ID] = call.Key
			}
			continue
		}
		s.add(r, c, &left, call.ID, call.Name, result)
	}
	if len(c.Parts) > 0 {
		r.Content = []*genai.Content{c}
	}
}

// result is what the answer of a call is as its result, unless the client allows the call.
func (c *openCall) result() (result map[string]any, allowed bool) {
	switch ev := c.Answer; {
	case ev.Type == UserConfirmation && ev.Result == "allow":
		return nil, true
	case c.Key != "":
		return failedResult(strings.TrimSpace(unknownOutcome + " " + ev.DenyMessage)), false
	case ev.Type == UserConfirmation:
		return failedResult(firstOf(ev.DenyMessage, deniedDefault)), false
	case ev.IsError != nil && *ev.IsError:
		return failedResult(textOf(ev.Content)), false
	default:
		return map[string]any{"result": textOf(ev.Content)}, false
	}
}

// cancel gives every call that has no result one that says so, and lets none wait.
func (s *state) cancel(r *record) {
	c, left := &genai.Content{Role: genai.RoleUser}, answersMax
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
		s.add(r, c, &left, call.ID, call.Name, result)
	}
	if len(c.Parts) > 0 {
		r.Content = append(r.Content, c)
	}
	for _, open := range s.calls {
		if open.Effect == "" {
			r.Closed = append(r.Closed, open.Event)
		}
	}
	s.abandon(r)
}

// abandon lets no call of a turn that resumes wait: the turn does not go on.
func (s *state) abandon(r *record) {
	for _, open := range s.calls {
		if open.Effect == "" {
			continue
		}
		r.Closed = append(r.Closed, open.Event)
		result := failedResult(cancelledCall)
		if open.Key != "" {
			result = failedResult(unknownOutcome)
		}
		if ev := s.resultEvent(open.ID, result, true); ev != nil {
			r.Events = append(r.Events, ev)
		}
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

package agent

import (
	"encoding/json"
	"fmt"
	"math"

	"google.golang.org/adk/v2/model"
	"google.golang.org/adk/v2/session"
	"google.golang.org/genai"
)

// shape is what a response consists of. It is the branch of the router.
type shape uint8

const (
	textShape     shape = iota // words, without a call
	callShape                  // calls of tools
	transferShape              // a transfer to another agent, and perhaps calls of tools
	noShape                    // nothing that the turn could go on with
)

// sorted is a response taken apart. Its content is a copy, in which every call has an id of its own.
type sorted struct {
	turn     *Turn
	response model.LLMResponse
	shape    shape
	calls    []*Call // that are to be run
	transfer *genai.FunctionCall
	note     []*genai.FunctionResponse // answers to calls that are not run
	faults   []*Fault
	fault    *Fault // of noShape
}

// sortResponse takes a response apart. seq makes the ids of calls that have none.
func sortResponse(r *Response, agent string, l Limits, seq uint64) *sorted {
	s := &sorted{turn: r.Turn, shape: noShape}
	if r.Response == nil || r.Response.Content == nil || r.Response.ErrorCode != "" {
		s.fault = emptiness(r.Response, agent)
		return s
	}
	s.response = *r.Response
	s.response.Partial = false
	content := &genai.Content{Role: genai.RoleModel}
	s.response.Content = content
	calls := s.copyParts(r.Response.Content.Parts, content)
	switch {
	case len(calls) > 0:
		s.shape = callShape
		s.identify(calls, agent, seq)
		s.admit(calls, agent, l)
	case s.shape == noShape:
		s.fault = emptiness(r.Response, agent)
	}
	return s
}

// copyParts copies the parts that say something and returns the calls among them.
func (s *sorted) copyParts(parts []*genai.Part, to *genai.Content) []*genai.FunctionCall {
	var calls []*genai.FunctionCall
	for _, p := range parts {
		if p == nil {
			continue
		}
		own := *p
		switch {
		case p.FunctionCall != nil:
			call := *p.FunctionCall
			own.FunctionCall = &call
			calls = append(calls, &call)
		case p.Text != "" && !p.Thought, p.InlineData != nil, p.FileData != nil, p.ExecutableCode != nil,
			p.CodeExecutionResult != nil:
			s.shape = textShape
		case p.Text == "" && len(p.ThoughtSignature) == 0:
			continue
		}
		to.Parts = append(to.Parts, &own)
	}
	return calls
}

// emptiness says why a response is of no use.
func emptiness(r *model.LLMResponse, agent string) *Fault {
	if r != nil && r.ErrorCode != "" {
		return &Fault{Code: ModelFailed, Agent: agent, Text: r.ErrorCode + ": " + r.ErrorMessage}
	}
	text := "the model answered neither text nor a call"
	if r != nil && r.FinishReason != "" {
		text += "; it finished because of " + string(r.FinishReason)
	}
	return &Fault{Code: EmptyResponse, Agent: agent, Text: text}
}

// identify gives every call an id of its own. A second call with the id of an earlier one is not run.
func (s *sorted) identify(calls []*genai.FunctionCall, agent string, seq uint64) {
	seen := map[string]bool{}
	for i, c := range calls {
		was := c.ID
		if was == "" || seen[was] {
			c.ID = fmt.Sprintf("adk-%s-%d-%d", s.turn.ID, seq, i)
		}
		seen[c.ID] = true
		if was != "" && was != c.ID {
			s.refuse(c, &Fault{Code: DuplicateCall, Agent: agent,
				Text: fmt.Sprintf("the id %q belongs to an earlier call of the response", was)})
		}
	}
}

// refuse answers a call without running it.
func (s *sorted) refuse(c *genai.FunctionCall, f *Fault) {
	f.Tool, f.Call = c.Name, c.ID
	s.faults = append(s.faults, f)
	s.note = append(s.note, &genai.FunctionResponse{ID: c.ID, Name: c.Name, Response: refusal(f)})
}

// admit decides which calls are run.
func (s *sorted) admit(calls []*genai.FunctionCall, agent string, l Limits) {
	for _, c := range calls {
		if c.Name == transferTool && s.transfer == nil && !s.refused(c) {
			s.transfer, s.shape = c, transferShape
		}
	}
	for _, c := range calls {
		switch long := argsSize(c, l.MaxArgs); {
		case c == s.transfer, s.refused(c):
		case long > l.MaxArgs:
			c.Args = nil
			s.refuse(c, &Fault{Code: ArgsTooLong, Agent: agent,
				Text: fmt.Sprintf("the arguments have %d bytes; at most %d are allowed", long, l.MaxArgs)})
		case s.transfer != nil:
			s.refuse(c, &Fault{Code: NotRun, Agent: agent, Text: "the response also transfers to another agent"})
		case len(s.calls) == l.MaxCalls:
			s.refuse(c, &Fault{Code: TooManyCalls, Agent: agent,
				Text: fmt.Sprintf("a response may have %d calls", l.MaxCalls)})
		default:
			s.calls = append(s.calls, &Call{Turn: s.turn, Call: c})
		}
	}
}

// refused reports whether a call is answered already.
func (s *sorted) refused(c *genai.FunctionCall) bool {
	for _, n := range s.note {
		if n.ID == c.ID {
			return true
		}
	}
	return false
}

// argsSize is the size of the arguments of a call as JSON, in bytes, or an estimate that is not smaller, if
// it is within the limit.
func argsSize(c *genai.FunctionCall, limit int) int {
	if len(c.Args) == 0 {
		return 0
	}
	if n, ok := roughSize(c.Args, 8); ok && n <= limit {
		return n
	}
	b, err := json.Marshal(c.Args)
	if err != nil {
		return math.MaxInt // what is no JSON cannot be sent anywhere
	}
	return len(b)
}

// roughSize is an upper bound for the size of a value as JSON. It fails for types that JSON does not
// decode to, and for values that are nested deeper than depth.
func roughSize(v any, depth int) (n int, ok bool) {
	if depth < 0 { // perhaps it contains itself
		return 0, false
	}
	switch v := v.(type) {
	case nil, bool, float64:
		return 32, true
	case string:
		return 6*len(v) + 2, true
	case map[string]any:
		n = 2
		for k, e := range v {
			m, ok := roughSize(e, depth-1)
			if !ok {
				return 0, false
			}
			n += 6*len(k) + 4 + m
		}
		return n, true
	case []any:
		n = 2
		for _, e := range v {
			m, ok := roughSize(e, depth-1)
			if !ok {
				return 0, false
			}
			n += m + 1
		}
		return n, true
	}
	return 0, false
}

// event is the event of the response.
func (s *sorted) event(agent string) *session.Event {
	ev := s.turn.event(agent, &s.response)
	AddFaults(ev, s.faults...)
	return ev
}

// targetOf is the agent that a transfer names.
func targetOf(c *genai.FunctionCall) string {
	name, _ := c.Args[agentArg].(string)
	return name
}

// event returns an event of the turn. The caller of Session.Run gives it an id and a time.
func (t *Turn) event(author string, r *model.LLMResponse) *session.Event {
	ev := &session.Event{InvocationID: t.ID, Author: author,
		Actions: session.EventActions{StateDelta: map[string]any{}, ArtifactDelta: map[string]int64{}}}
	if r != nil {
		ev.LLMResponse = *r
	}
	return ev
}

// resultsContent is the content of results of calls.
func resultsContent(list []*genai.FunctionResponse) *genai.Content {
	c := &genai.Content{Role: genai.RoleUser}
	for _, r := range list {
		c.Parts = append(c.Parts, &genai.Part{FunctionResponse: r})
	}
	return c
}

// NewEvent makes an event of the turn.
func (t *Turn) NewEvent(author string) *session.Event { return t.event(author, nil) }

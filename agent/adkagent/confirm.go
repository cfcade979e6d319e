package adkagent

import (
	"encoding/json"
	"fmt"
	"slices"

	"google.golang.org/adk/v2/platform"
	"google.golang.org/adk/v2/session"
	"google.golang.org/adk/v2/tool/toolconfirmation"
	"google.golang.org/genai"

	"github.com/voicegw/voicegw/agent"
)

// confirmation is the event that asks the user about calls whose tools require it, as ADK does: a call of
// adk_request_confirmation for each. results is the event of the results of the calls. nil means that no
// tool requires one.
func (r *run) confirmation(results *session.Event) *session.Event {
	wanted := results.Actions.RequestedToolConfirmations
	if len(wanted) == 0 || results.Partial || r.core.members[results.Author] == nil {
		return nil
	}
	calls := map[string]*genai.Part{}
	for _, e := range eventsOf(r.ic.Session()) {
		for _, p := range partsOf(e) {
			if p.FunctionCall != nil {
				calls[p.FunctionCall.ID] = p
			}
		}
	}
	ev := session.NewEvent(r.ic, results.InvocationID)
	ev.Author, ev.Branch, ev.IsolationScope = results.Author, results.Branch, results.IsolationScope
	ev.Content = &genai.Content{Role: genai.RoleModel}
	for _, p := range partsOf(results) {
		if p.FunctionResponse == nil {
			continue
		}
		c, ok := wanted[p.FunctionResponse.ID]
		call := calls[p.FunctionResponse.ID]
		if !ok || call == nil {
			continue
		}
		ask := &genai.FunctionCall{ID: ownIDs + platform.NewUUID(r.ic), Name: toolconfirmation.FunctionCallName,
			Args: map[string]any{"originalFunctionCall": call.FunctionCall, "toolConfirmation": c}}
		ev.Content.Parts = append(ev.Content.Parts, &genai.Part{FunctionCall: ask, ThoughtSignature: call.ThoughtSignature})
		ev.LongRunningToolIDs = append(ev.LongRunningToolIDs, ask.ID)
	}
	if len(ev.Content.Parts) == 0 {
		return nil
	}
	return ev
}

// partsOf are the parts of an event, without those that are nil.
func partsOf(e *session.Event) []*genai.Part {
	if e == nil || e.Content == nil {
		return nil
	}
	missing := func(p *genai.Part) bool { return p == nil }
	if slices.ContainsFunc(e.Content.Parts, missing) {
		return slices.DeleteFunc(slices.Clone(e.Content.Parts), missing)
	}
	return e.Content.Parts
}

// hasResults reports whether a content has results of calls.
func hasResults(c *genai.Content) bool {
	for _, p := range c.Parts {
		if p != nil && p.FunctionResponse != nil {
			return true
		}
	}
	return false
}

// answeredAuthor is the author of the call that a message answers, or "".
func answeredAuthor(events []*session.Event, message *genai.Content) string {
	if message == nil {
		return ""
	}
	for _, m := range message.Parts {
		if m == nil || m.FunctionResponse == nil {
			continue
		}
		for i := len(events) - 1; i >= 0; i-- {
			if events[i] == nil || events[i].Author == userAuthor {
				continue
			}
			for _, p := range partsOf(events[i]) {
				if p.FunctionCall != nil && p.FunctionCall.ID == m.FunctionResponse.ID {
					return events[i].Author
				}
			}
		}
	}
	return ""
}

// confirmedCalls are the calls about which the last message of the user decides and that have not been run
// since, in the order in which the user was asked, and what the user said about each.
func confirmedCalls(events []*session.Event) ([]*genai.FunctionCall, map[string]*toolconfirmation.ToolConfirmation,
	error) {
	answers, at, err := confirmations(events)
	if len(answers) == 0 || err != nil {
		return nil, nil, err
	}
	done := map[string]bool{}
	for _, e := range events[at+1:] {
		for _, p := range partsOf(e) {
			if p.FunctionResponse != nil {
				done[p.FunctionResponse.ID] = true
			}
		}
	}
	var calls []*genai.FunctionCall
	said := map[string]*toolconfirmation.ToolConfirmation{}
	for _, e := range events[:at] {
		if e.Author == userAuthor { // only an agent asks for confirmations
			continue
		}
		for _, p := range partsOf(e) {
			if p.FunctionCall == nil || p.FunctionCall.Name != toolconfirmation.FunctionCallName {
				continue
			}
			answer := answers[p.FunctionCall.ID]
			call, err := toolconfirmation.OriginalCallFrom(p.FunctionCall)
			if answer == nil || err != nil || done[call.ID] || said[call.ID] != nil {
				continue
			}
			own := *call
			calls, said[call.ID] = append(calls, &own), answer
		}
	}
	return calls, said, nil
}

// confirmations are the answers to requests for confirmations in the last message of the user, by the id
// of the request, and the index of that message.
func confirmations(events []*session.Event) (map[string]*toolconfirmation.ToolConfirmation, int, error) {
	for i := len(events) - 1; i >= 0; i-- {
		if events[i] == nil || events[i].Author != userAuthor {
			continue
		}
		answers := map[string]*toolconfirmation.ToolConfirmation{}
		for _, p := range partsOf(events[i]) {
			if p.FunctionResponse == nil || p.FunctionResponse.Name != toolconfirmation.FunctionCallName {
				continue
			}
			c, err := readConfirmation(p.FunctionResponse.Response)
			if err != nil {
				return nil, i, &agent.Fault{Code: BadConfirmation, Call: p.FunctionResponse.ID,
					Tool: toolconfirmation.FunctionCallName, Text: err.Error()}
			}
			answers[p.FunctionResponse.ID] = c
		}
		return answers, i, nil
	}
	return nil, 0, nil
}

// readConfirmation reads an answer: a confirmation, or, as ADK's web page sends it, its JSON text as the
// only member "response".
func readConfirmation(m map[string]any) (*toolconfirmation.ToolConfirmation, error) {
	c := &toolconfirmation.ToolConfirmation{}
	b, err := json.Marshal(m)
	if inner, ok := m["response"]; ok && len(m) == 1 {
		text, isText := inner.(string)
		if !isText {
			return nil, fmt.Errorf("the member \"response\" is %T; it must be the JSON text of a confirmation", inner)
		}
		b = []byte(text)
	}
	if err == nil {
		err = json.Unmarshal(b, c)
	}
	if err != nil {
		return nil, fmt.Errorf("the answer must be like {\"confirmed\": true}: %w", err)
	}
	return c, nil
}

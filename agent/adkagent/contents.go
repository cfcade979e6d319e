package adkagent

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"google.golang.org/adk/v2/session"
	"google.golang.org/adk/v2/tool/toolconfirmation"
	"google.golang.org/genai"
)

// userAuthor is the author of what the user says.
const userAuthor = "user"

// credentialCall is the name of ADK's request for credentials, which no model gets.
const credentialCall = "adk_request_credential"

// view is a session as one agent sees it. The rules are those of ADK's agents.
type view struct {
	own           func(author string) bool
	branch, scope string
}

// said is one entry of a history: what was said, by whom.
type said struct {
	content *genai.Content // never changed
	calls   bool           // it has calls
	results bool           // it has results of calls
	heard   heard
}

// heard tells transcriptions apart. Transcriptions of one kind that follow each other are one content.
type heard uint8

const (
	nothingHeard heard = iota
	userHeard
	modelHeard
)

// eventsOf are the events of a session.
func eventsOf(s session.Session) []*session.Event {
	if s == nil {
		return nil
	}
	all := s.Events()
	list := make([]*session.Event, 0, all.Len())
	for i := range all.Len() {
		if e := all.At(i); e != nil {
			list = append(list, e)
		}
	}
	return list
}

// thisTurn are the events from the last one on that is not of the agent.
func (v view) thisTurn(events []*session.Event) []*session.Event {
	for i, e := range slices.Backward(events) {
		if e.IsolationScope == v.scope && !v.own(e.Author) {
			return events[i:]
		}
	}
	return events
}

// contents are the contents of a request to a model.
func (v view) contents(events []*session.Event) ([]*genai.Content, error) {
	list, err := ordered(latest(v.visible(events)))
	if err != nil {
		return nil, err
	}
	contents := make([]*genai.Content, 0, len(list)+2)
	for _, s := range list {
		if c := forModel(s.content); c != nil {
			contents = append(contents, c)
		}
	}
	return contents, nil
}

// visible is what the agent may see, in the order of the session.
func (v view) visible(events []*session.Event) []said {
	list := make([]said, 0, len(events))
	for _, e := range events {
		if e == nil || e.IsolationScope != v.scope || !v.sees(e.Branch) {
			continue
		}
		c, kind := spoken(e)
		if n := len(list); kind != nothingHeard && n > 0 && list[n-1].heard == kind {
			list[n-1].content = genai.NewContentFromText(list[n-1].content.Parts[0].Text+c.Parts[0].Text, genai.Role(c.Role))
			continue
		}
		if c == nil || c.Role == "" || len(c.Parts) == 0 {
			continue
		}
		s := said{content: c, heard: kind}
		hidden := false
		for _, p := range c.Parts {
			switch {
			case p == nil:
			case p.FunctionCall != nil:
				s.calls = true
				hidden = hidden || internalCall(p.FunctionCall.Name)
			case p.FunctionResponse != nil:
				s.results = true
				hidden = hidden || internalCall(p.FunctionResponse.Name)
			}
		}
		if hidden {
			continue
		}
		if e.Author != userAuthor && !v.own(e.Author) && kind == nothingHeard {
			s = said{content: foreign(e.Author, c)}
		}
		list = append(list, s)
	}
	return list
}

// internalCall reports whether ADK makes a call to the user itself. Models do not know such calls.
func internalCall(name string) bool {
	return name == toolconfirmation.FunctionCallName || name == credentialCall
}

// sees reports whether an event of a branch belongs to the branch of the agent or to one above it.
func (v view) sees(branch string) bool {
	return v.branch == "" || branch == "" || branch == v.branch || strings.HasPrefix(v.branch, branch+".")
}

// spoken is the content of an event: its own, or a transcription.
func spoken(e *session.Event) (*genai.Content, heard) {
	switch {
	case e.Content != nil && len(e.Content.Parts) > 0:
		return e.Content, nothingHeard
	case e.InputTranscription != nil && e.InputTranscription.Text != "":
		return genai.NewContentFromText(e.InputTranscription.Text, genai.RoleUser), userHeard
	case e.OutputTranscription != nil && e.OutputTranscription.Text != "":
		return genai.NewContentFromText(e.OutputTranscription.Text, genai.RoleModel), modelHeard
	}
	return nil, nothingHeard
}

// foreign tells an agent what another one said or did.
func foreign(author string, c *genai.Content) *genai.Content {
	told := &genai.Content{Role: genai.RoleUser, Parts: []*genai.Part{{Text: "For context:"}}}
	for _, p := range c.Parts {
		switch {
		case p == nil:
		case p.Text != "":
			told.Parts = append(told.Parts, genai.NewPartFromText(fmt.Sprintf("[%s] said: %s", author, p.Text)))
		case p.FunctionCall != nil:
			told.Parts = append(told.Parts, genai.NewPartFromText(fmt.Sprintf("[%s] called tool `%s` with parameters: %s",
				author, p.FunctionCall.Name, jsonText(p.FunctionCall.Args))))
		case p.FunctionResponse != nil:
			told.Parts = append(told.Parts, genai.NewPartFromText(fmt.Sprintf("[%s] `%s` tool returned result: %s", author,
				p.FunctionResponse.Name, jsonText(p.FunctionResponse.Response))))
		default:
			told.Parts = append(told.Parts, p)
		}
	}
	return told
}

func jsonText(v any) string {
	b, _ := json.Marshal(v)
	return string(b)
}

// latest lets a late result end the history: if the last message answers a call that is not right before it,
// what was said between the two is left out, and other calls and results stay.
func latest(list []said) []said {
	n := len(list) - 1
	if n < 1 || !list[n].results || answers(list[n].content, list[n-1].content) {
		return list
	}
	for i := n - 2; i >= 0; i-- {
		if !list[i].calls || !answers(list[n].content, list[i].content) {
			continue
		}
		kept := slices.Clone(list[:i+1])
		for _, s := range list[i+1 : n] {
			if s.calls || s.results {
				kept = append(kept, s)
			}
		}
		return append(kept, list[n])
	}
	return list
}

// answers reports whether results answer one of the calls.
func answers(results, calls *genai.Content) bool {
	for _, r := range results.Parts {
		for _, c := range calls.Parts {
			if r != nil && c != nil && r.FunctionResponse != nil && c.FunctionCall != nil &&
				r.FunctionResponse.ID == c.FunctionCall.ID {
				return true
			}
		}
	}
	return false
}

// ordered puts the results of calls right behind the calls, the latest result of each call alone. Results
// whose call the agent does not see are left out; the last message must not be one.
func ordered(list []said) ([]said, error) {
	results := map[string]*genai.Part{} // by call
	for _, s := range list {
		if !s.results {
			continue
		}
		for _, p := range s.content.Parts {
			if p != nil && p.FunctionResponse != nil {
				results[p.FunctionResponse.ID] = p
			}
		}
	}
	if len(results) == 0 {
		return list, nil
	}
	out := make([]said, 0, len(list))
	called := map[string]bool{}
	for _, s := range list {
		if s.results {
			if rest := withoutResults(s.content); rest != nil {
				out = append(out, said{content: rest})
			}
			continue
		}
		out = append(out, s)
		if !s.calls {
			continue
		}
		after := &genai.Content{Role: genai.RoleUser}
		for _, p := range s.content.Parts {
			if p == nil || p.FunctionCall == nil {
				continue
			}
			called[p.FunctionCall.ID] = true
			if r := results[p.FunctionCall.ID]; r != nil {
				after.Parts = append(after.Parts, r)
			}
		}
		if len(after.Parts) > 0 {
			out = append(out, said{content: after, results: true})
		}
	}
	if last := list[len(list)-1]; last.results {
		for _, p := range last.content.Parts {
			if p != nil && p.FunctionResponse != nil && !called[p.FunctionResponse.ID] {
				return nil, fmt.Errorf("the message answers the call %q of %q, which the agent has not made",
					p.FunctionResponse.ID, p.FunctionResponse.Name)
			}
		}
	}
	return out, nil
}

// withoutResults is what a content says beside results of calls, or nil.
func withoutResults(c *genai.Content) *genai.Content {
	rest := &genai.Content{Role: c.Role}
	for _, p := range c.Parts {
		if p != nil && p.FunctionResponse == nil {
			rest.Parts = append(rest.Parts, p)
		}
	}
	if len(rest.Parts) == 0 {
		return nil
	}
	return rest
}

// ownIDs begin ids of calls that ADK or we have made; models do not get them.
const ownIDs = "adk-"

// forModel copies a content for a request, so that callbacks may change it. It returns nil if nothing is
// left.
func forModel(c *genai.Content) *genai.Content {
	parts := make([]genai.Part, 0, len(c.Parts))
	own := &genai.Content{Role: c.Role, Parts: make([]*genai.Part, 0, len(c.Parts))}
	for _, p := range c.Parts {
		if p == nil || blank(p) {
			continue
		}
		parts = append(parts, *p)
		copied := &parts[len(parts)-1]
		switch {
		case p.FunctionCall != nil:
			call := *p.FunctionCall
			if strings.HasPrefix(call.ID, ownIDs) {
				call.ID = ""
			}
			copied.FunctionCall = &call
		case p.FunctionResponse != nil:
			r := *p.FunctionResponse
			if strings.HasPrefix(r.ID, ownIDs) {
				r.ID = ""
			}
			copied.FunctionResponse = &r
		}
		own.Parts = append(own.Parts, copied)
	}
	if len(own.Parts) == 0 {
		return nil
	}
	return own
}

// blank reports whether a part says nothing.
func blank(p *genai.Part) bool {
	return p.Text == "" && p.FunctionCall == nil && p.FunctionResponse == nil && p.InlineData == nil &&
		p.FileData == nil && p.ExecutableCode == nil && p.CodeExecutionResult == nil && len(p.ThoughtSignature) == 0 &&
		p.VideoMetadata == nil && !p.Thought
}

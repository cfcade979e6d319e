package managed

import (
	"encoding/json"
	"fmt"

	"google.golang.org/genai"
)

// seenBy is the conversation as an agent sees it. What other agents said and did is told to it as text, as
// ADK does: its model cannot have made calls of tools that it may not have.
func seenBy(author string, list []said) []*genai.Content {
	contents := make([]*genai.Content, 0, len(list))
	foreign := map[string]string{} // calls of others by id, and whose
	for _, s := range list {
		c := s.content
		if s.author != "" && s.author != author {
			for _, call := range callsOf(c) {
				foreign[call.ID] = s.author
			}
			c = retold(c, func(string) string { return s.author })
		} else if s.author == "" && len(foreign) > 0 {
			c = retold(c, func(id string) string { return foreign[id] })
		} else {
			for _, call := range callsOf(c) {
				delete(foreign, call.ID) // the model has used the id again
			}
		}
		contents = append(contents, c)
	}
	return contents
}

// retold is a content with the parts of other agents as text. of says whose a call is; "" keeps the part. Texts
// have no call.
func retold(c *genai.Content, of func(call string) string) *genai.Content {
	next, changed := &genai.Content{Role: genai.RoleUser}, false
	for _, p := range c.Parts {
		text := ""
		switch {
		case p.FunctionCall != nil:
			if who := of(p.FunctionCall.ID); who != "" {
				text = fmt.Sprintf("[%s] called the tool %s with %s", who, p.FunctionCall.Name, compact(p.FunctionCall.Args))
			}
		case p.FunctionResponse != nil:
			if who := of(p.FunctionResponse.ID); who != "" {
				text = fmt.Sprintf("[%s] got from the tool %s: %s", who, p.FunctionResponse.Name,
					compact(p.FunctionResponse.Response))
			}
		case p.Text != "":
			if who := of(""); who != "" && !p.Thought {
				text = fmt.Sprintf("[%s] said: %s", who, p.Text)
			} else if who != "" {
				changed = true
				continue
			}
		}
		if text == "" {
			next.Parts = append(next.Parts, p)
			continue
		}
		changed = true
		next.Parts = append(next.Parts, &genai.Part{Text: text})
	}
	if !changed {
		return c
	}
	if len(next.Parts) == 0 {
		next.Parts = []*genai.Part{{Text: "[another agent thought]"}}
	}
	return next
}

func compact(m map[string]any) string {
	if m == nil {
		m = map[string]any{}
	}
	b, err := json.Marshal(m)
	if err != nil {
		return err.Error()
	}
	return string(b)
}

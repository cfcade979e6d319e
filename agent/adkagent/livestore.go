package adkagent

import (
	"google.golang.org/adk/v2/session"
	"google.golang.org/genai"
)

// inWords returns an event with the words of its transcript as content.
func inWords(ev *session.Event) *session.Event {
	if ev == nil || ev.Partial || ev.Content != nil || ev.InputTranscription == nil && ev.OutputTranscription == nil {
		return ev
	}
	words := *ev
	if t := ev.InputTranscription; t != nil {
		words.Content = genai.NewContentFromText(t.Text, genai.RoleUser)
	} else {
		words.Content = genai.NewContentFromText(ev.OutputTranscription.Text, genai.RoleModel)
	}
	words.InputTranscription, words.OutputTranscription = nil, nil
	return &words
}

// wasStored reports false if the event is known not to be stored: the session is one of Sessions, and its
// last attempt failed.
func wasStored(s session.Session, ev *session.Event) bool {
	h, ok := s.(*handle)
	if !ok {
		return true
	}
	h.mu.RLock()
	defer h.mu.RUnlock()
	return h.failed != ev.ID
}

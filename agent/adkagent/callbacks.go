package adkagent

import (
	"fmt"

	adk "google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/model"
	"google.golang.org/adk/v2/session"
	"google.golang.org/genai"
)

// enter asks plugins and callbacks before the first request of a member in a turn, whether they answer in its
// place. ADK itself does so for the agent that it runs.
func (s *step) enter() (*model.LLMResponse, error) {
	if s.self == nil || !s.run.enter(s.member) {
		return nil, nil
	}
	var list []func(adk.Context) (*genai.Content, error)
	if s.plugins != nil {
		list = append(list, s.plugins.RunBeforeAgentCallback)
	}
	for _, cb := range s.cfg.BeforeAgentCallbacks {
		list = append(list, cb)
	}
	c, err := first(list, s.callback())
	if c == nil || err != nil {
		return nil, err
	}
	return &model.LLMResponse{Content: &genai.Content{Role: genai.RoleModel, Parts: c.Parts}}, nil
}

// enter reports whether a member works for the first time in the turn.
func (r *run) enter(m *member) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.entered == nil {
		r.entered = map[*member]bool{}
	}
	was := r.entered[m]
	r.entered[m] = true
	return !was
}

// afterAgent asks plugins and callbacks, after the last event of a member in a turn, for one more event.
func (m *member) afterAgent(r *run) (*session.Event, error) {
	ic := r.as(r.ic, m)
	p := m.box.keys.plugins(ic)
	if m.self == nil || p == nil && len(m.cfg.AfterAgentCallbacks) == 0 {
		return nil, nil
	}
	r.mu.Lock()
	delete(r.entered, m)
	r.mu.Unlock()
	actions := &session.EventActions{StateDelta: map[string]any{}, ArtifactDelta: map[string]int64{}}
	var list []func(adk.Context) (*genai.Content, error)
	if p != nil {
		list = append(list, p.RunAfterAgentCallback)
	}
	for _, cb := range m.cfg.AfterAgentCallbacks {
		list = append(list, cb)
	}
	c, err := first(list, adk.NewCallbackContextWithArtifactTracking(ic, actions))
	if err != nil {
		return nil, fmt.Errorf("after agent %q: %w", m.cfg.Name, err)
	}
	if c == nil && len(actions.StateDelta) == 0 {
		return nil, nil
	}
	ev := session.NewEvent(r.ic, r.ic.InvocationID())
	ev.Author, ev.Branch, ev.IsolationScope, ev.Content, ev.Actions = m.cfg.Name, r.ic.Branch(), r.ic.IsolationScope(),
		c, *actions
	return ev, nil
}

// first calls callbacks in order until one returns something.
func first(list []func(adk.Context) (*genai.Content, error), in adk.Context) (*genai.Content, error) {
	for _, cb := range list {
		if c, err := cb(in); c != nil || err != nil {
			return c, err
		}
	}
	return nil, nil
}

package api

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/voicegw/voicegw/agent/managed"
)

// sessionView is a session in the format of the API.
type sessionView struct {
	ID          string            `json:"id"`
	Type        string            `json:"type"`
	Status      managed.Status    `json:"status"`
	Paused      bool              `json:"paused"`
	Agent       *agentView        `json:"agent"`
	Environment *string           `json:"environment_id"`
	Title       *string           `json:"title"`
	Metadata    map[string]string `json:"metadata"`
	Resources   []struct{}        `json:"resources"`
	VaultIDs    []string          `json:"vault_ids"`
	Outcomes    []struct{}        `json:"outcome_evaluations"`
	Usage       managed.Usage     `json:"usage"`
	Stats       map[string]any    `json:"stats"`
	Budget      *managed.Budget   `json:"budget"`
	LastSeq     uint64            `json:"last_seq"`
	CreatedAt   time.Time         `json:"created_at"`
	UpdatedAt   time.Time         `json:"updated_at"`
	ArchivedAt  *time.Time        `json:"archived_at"`
}

func viewSession(s *managed.Session) *sessionView {
	v := &sessionView{ID: s.ID, Type: "session", Status: s.Status, Paused: s.Paused, Agent: viewAgent(&s.Agent),
		Environment: orNull(s.Environment), Title: orNull(s.Title), Metadata: s.Metadata, Resources: []struct{}{},
		VaultIDs: []string{}, Outcomes: []struct{}{}, Usage: s.Usage, Budget: s.Budget,
		Stats:   map[string]any{"turns": s.Turns},
		LastSeq: s.LastSeq, CreatedAt: s.CreatedAt, UpdatedAt: s.UpdatedAt, ArchivedAt: s.ArchivedAt}
	if v.Metadata == nil {
		v.Metadata = map[string]string{}
	}
	return v
}

// sessionBody is a new session.
type sessionBody struct {
	Agent       agentRef          `json:"agent"`
	Environment string            `json:"environment_id"`
	Title       string            `json:"title"`
	Metadata    map[string]string `json:"metadata"`
	Initial     []managed.Event   `json:"initial_events"`
	Resources   []json.RawMessage `json:"resources"`
	VaultIDs    []string          `json:"vault_ids"`
	Budget      *managed.Budget   `json:"budget"`
}

// agentRef names an agent: by its id, or as an object.
type agentRef struct {
	ID       string
	Version  int
	Override *managed.Override
}

// UnmarshalJSON reads a text or an object.
func (a *agentRef) UnmarshalJSON(b []byte) error {
	if json.Unmarshal(b, &a.ID) == nil {
		return nil
	}
	var o struct {
		Type    string                `json:"type"`
		ID      string                `json:"id"`
		Version int                   `json:"version"`
		Model   *managed.ModelRef     `json:"model"`
		System  *string               `json:"system"`
		Tools   *[]managed.ToolConfig `json:"tools"`
	}
	if err := decode(b, &o); err != nil {
		return err
	}
	changes := o.Model != nil || o.System != nil || o.Tools != nil
	switch {
	case o.Type != "agent" && o.Type != "agent_with_overrides":
		return refusal("agent.type", "%q is neither agent nor agent_with_overrides", o.Type)
	case o.Type == "agent" && changes:
		return refusal("agent.type", "to replace parts of the agent, give the type agent_with_overrides")
	}
	a.ID, a.Version = o.ID, o.Version
	if changes {
		a.Override = &managed.Override{Model: o.Model, System: o.System, Tools: o.Tools}
	}
	return nil
}

func (s *Server) createSession(r *request) (any, error) {
	var b sessionBody
	if err := r.body(&b); err != nil {
		return nil, err
	}
	switch {
	case b.Agent.ID == "":
		return nil, refusal("agent", "it is missing; give the id of an agent")
	case len(b.Resources) > 0:
		return nil, refusal("resources", "this server has no files or repositories for sessions")
	case len(b.VaultIDs) > 0:
		return nil, refusal("vault_ids", "this server has no vaults")
	case len(b.Initial) > 50:
		return nil, refusal("initial_events", "there are %d; at most 50 are allowed", len(b.Initial))
	}
	for i, ev := range b.Initial {
		if ev.Type != managed.UserMessage {
			return nil, refusal(fmt.Sprintf("initial_events[%d].type", i), "%q: a session begins with %s alone", ev.Type,
				managed.UserMessage)
		}
	}
	if b.Environment != "" {
		e, err := s.cfg.Runtime.Environment(r.Context(), r.owner, b.Environment)
		if err != nil {
			return nil, err
		}
		if e.ArchivedAt != nil {
			return nil, refusal("environment_id", "environment %q is archived; name another", e.ID)
		}
	}
	made, err := s.cfg.Runtime.StartSession(r.Context(), r.owner, managed.SessionRequest{Agent: b.Agent.ID,
		Version: b.Agent.Version, Override: b.Agent.Override, Environment: b.Environment, Title: b.Title,
		Metadata: b.Metadata, Budget: b.Budget, Initial: b.Initial})
	if err != nil {
		return nil, err
	}
	return viewSession(made), nil
}

func (s *Server) getSession(r *request) (any, error) {
	one, err := s.cfg.Runtime.Session(r.Context(), r.owner, r.PathValue("id"))
	if err != nil {
		return nil, err
	}
	return viewSession(one), nil
}

func (s *Server) updateSession(r *request) (any, error) {
	var p managed.SessionPatch
	if err := r.body(&p); err != nil {
		return nil, err
	}
	one, err := s.cfg.Runtime.UpdateSession(r.Context(), r.owner, r.PathValue("id"), p)
	if err != nil {
		return nil, err
	}
	return viewSession(one), nil
}

func (s *Server) archiveSession(r *request) (any, error) {
	one, err := s.cfg.Runtime.ArchiveSession(r.Context(), r.owner, r.PathValue("id"))
	if err != nil {
		return nil, err
	}
	return viewSession(one), nil
}

func (s *Server) deleteSession(r *request) (any, error) {
	id := r.PathValue("id")
	if err := s.cfg.Runtime.DeleteSession(r.Context(), r.owner, id); err != nil {
		return nil, err
	}
	return map[string]string{"id": id, "type": "session_deleted"}, nil
}

func (s *Server) pauseSession(r *request) (any, error) {
	if err := s.cfg.Runtime.Pause(r.Context(), r.owner, r.PathValue("id")); err != nil {
		return nil, err
	}
	return s.getSession(r)
}

func (s *Server) resumeSession(r *request) (any, error) {
	if err := s.cfg.Runtime.Resume(r.Context(), r.owner, r.PathValue("id")); err != nil {
		return nil, err
	}
	return s.getSession(r)
}

func (s *Server) listSessions(r *request) (any, error) {
	q := r.query()
	f := managed.SessionFilter{Agent: q.one("agent_id"), Version: q.number("agent_version", 1_000_000),
		Archived: q.flag("include_archived"), CreatedAfter: q.time("created_at[gt]"), CreatedBefore: q.time("created_at[lt]")}
	if t := q.time("created_at[gte]"); !t.IsZero() {
		f.CreatedAfter = t.Add(-1)
	}
	if t := q.time("created_at[lte]"); !t.IsZero() {
		f.CreatedBefore = t.Add(1)
	}
	for _, status := range q.take("statuses[]") {
		f.Statuses = append(f.Statuses, managed.Status(status))
		if !slices.Contains([]managed.Status{managed.Idle, managed.Running, managed.Rescheduling, managed.Terminated},
			managed.Status(status)) {
			q.fail("statuses", "%q is none of idle, running, rescheduling, terminated", status)
		}
	}
	p, order := q.page(20, true)
	if err := q.done(); err != nil {
		return nil, err
	}
	list, next, err := s.cfg.Runtime.Sessions(r.Context(), r.owner, f, p)
	if err != nil {
		return nil, err
	}
	var views []*sessionView
	for _, one := range list {
		views = append(views, viewSession(one))
	}
	page := listed(views, next, order)
	page["prev_page"] = nil
	return page, nil
}

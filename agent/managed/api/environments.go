package api

import (
	"encoding/json"
	"slices"

	"github.com/voicegw/voicegw/agent/managed"
)

// environmentView is an environment in the format of the API.
type environmentView struct {
	Type string `json:"type"`
	*managed.Environment
	Metadata map[string]string `json:"metadata"`
}

func viewEnvironment(e *managed.Environment) *environmentView {
	v := &environmentView{Type: "environment", Environment: e, Metadata: e.Metadata}
	if v.Metadata == nil {
		v.Metadata = map[string]string{}
	}
	return v
}

// environmentBody is a new environment, or a change of one.
type environmentBody struct {
	Name        *string            `json:"name"`
	Description *string            `json:"description"`
	Config      json.RawMessage    `json:"config"`
	Metadata    map[string]*string `json:"metadata"`
}

// apply changes an environment.
func (b *environmentBody) apply(e *managed.Environment) error {
	if b.Name != nil {
		e.Name = *b.Name
	}
	if b.Description != nil {
		e.Description = *b.Description
	}
	e.Metadata = merged(e.Metadata, b.Metadata)
	if b.Config == nil {
		return nil
	}
	var c struct {
		Type       string `json:"type"`
		Networking *struct {
			Type string `json:"type"`
		} `json:"networking"`
	}
	if err := decode(b.Config, &c); err != nil {
		return err
	}
	if !slices.Contains([]string{"cloud", "self_hosted"}, c.Type) {
		return refusal("config.type", "%q is neither cloud nor self_hosted", c.Type)
	}
	if c.Networking != nil && c.Networking.Type != "unrestricted" {
		return refusal("config.networking.type", "%q: this server has no sandbox that could limit it", c.Networking.Type)
	}
	e.Config = b.Config
	return nil
}

func (s *Server) createEnvironment(r *request) (any, error) {
	var b environmentBody
	if err := r.body(&b); err != nil {
		return nil, err
	}
	e := managed.Environment{Config: json.RawMessage(`{"type":"cloud","networking":{"type":"unrestricted"}}`)}
	if err := b.apply(&e); err != nil {
		return nil, err
	}
	made, err := s.cfg.Runtime.CreateEnvironment(r.Context(), r.owner, e)
	if err != nil {
		return nil, err
	}
	return viewEnvironment(made), nil
}

func (s *Server) getEnvironment(r *request) (any, error) {
	e, err := s.cfg.Runtime.Environment(r.Context(), r.owner, r.PathValue("id"))
	if err != nil {
		return nil, err
	}
	return viewEnvironment(e), nil
}

func (s *Server) updateEnvironment(r *request) (any, error) {
	var b environmentBody
	if err := r.body(&b); err != nil {
		return nil, err
	}
	e, err := s.cfg.Runtime.UpdateEnvironment(r.Context(), r.owner, r.PathValue("id"), b.apply)
	if err != nil {
		return nil, err
	}
	return viewEnvironment(e), nil
}

func (s *Server) archiveEnvironment(r *request) (any, error) {
	e, err := s.cfg.Runtime.ArchiveEnvironment(r.Context(), r.owner, r.PathValue("id"))
	if err != nil {
		return nil, err
	}
	return viewEnvironment(e), nil
}

func (s *Server) deleteEnvironment(r *request) (any, error) {
	id := r.PathValue("id")
	if err := s.cfg.Runtime.DeleteEnvironment(r.Context(), r.owner, id); err != nil {
		return nil, err
	}
	return map[string]string{"id": id, "type": "environment_deleted"}, nil
}

func (s *Server) listEnvironments(r *request) (any, error) {
	q := r.query()
	archived := q.flag("include_archived")
	p, order := q.page(20, true)
	if err := q.done(); err != nil {
		return nil, err
	}
	list, next, err := s.cfg.Runtime.Environments(r.Context(), r.owner, archived, p)
	if err != nil {
		return nil, err
	}
	var views []*environmentView
	for _, e := range list {
		views = append(views, viewEnvironment(e))
	}
	return listed(views, next, order), nil
}

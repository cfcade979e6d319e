package api

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/voicegw/voicegw/agent/managed"
)

// agentView is an agent in the format of the API.
type agentView struct {
	Type string `json:"type"`
	*managed.Agent
	Model       map[string]any       `json:"model"`
	System      *string              `json:"system"`
	Description *string              `json:"description"`
	Tools       []managed.ToolConfig `json:"tools"`
	MCPServers  []managed.MCPServer  `json:"mcp_servers"`
	Skills      []managed.SkillRef   `json:"skills"`
	Metadata    map[string]string    `json:"metadata"`
	Multiagent  *struct{}            `json:"multiagent"`
}

func viewAgent(a *managed.Agent) *agentView {
	v := &agentView{Type: "agent", Agent: a, Model: map[string]any{"id": a.Model.ID, "speed": "standard"},
		System: orNull(a.System), Description: orNull(a.Description), Tools: a.Tools, MCPServers: a.MCPServers,
		Skills: a.Skills, Metadata: a.Metadata}
	if v.Tools == nil {
		v.Tools = []managed.ToolConfig{}
	}
	if v.MCPServers == nil {
		v.MCPServers = []managed.MCPServer{}
	}
	if v.Skills == nil {
		v.Skills = []managed.SkillRef{}
	}
	if v.Metadata == nil {
		v.Metadata = map[string]string{}
	}
	return v
}

func orNull(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

func viewAgents(list []*managed.Agent) []*agentView {
	var views []*agentView
	for _, a := range list {
		views = append(views, viewAgent(a))
	}
	return views
}

func (s *Server) createAgent(r *request) (any, error) {
	var d managed.Definition
	if err := r.body(&d); err != nil {
		return nil, err
	}
	a, err := s.cfg.Runtime.CreateAgent(r.Context(), r.owner, d)
	if err != nil {
		return nil, err
	}
	return viewAgent(a), nil
}

func (s *Server) getAgent(r *request) (any, error) {
	q := r.query()
	version := q.number("version", 1_000_000)
	if err := q.done(); err != nil {
		return nil, err
	}
	a, err := s.cfg.Runtime.Agent(r.Context(), r.owner, r.PathValue("id"), version)
	if err != nil {
		return nil, err
	}
	return viewAgent(a), nil
}

// updateAgent changes an agent: a field that is left out stays, null clears it, a list is replaced, and
// metadata changes pair by pair.
func (s *Server) updateAgent(r *request) (any, error) {
	var fields map[string]json.RawMessage
	if err := r.body(&fields); err != nil {
		return nil, err
	}
	version := 0
	if raw, ok := fields["version"]; ok && string(raw) != "null" {
		if err := decode(raw, &version); err != nil || version < 1 {
			return nil, refusal("version", "%s is no version", raw)
		}
	}
	delete(fields, "version")
	apply := func(d *managed.Definition) error { return change(d, fields) }
	a, err := s.cfg.Runtime.UpdateAgent(r.Context(), r.owner, r.PathValue("id"), version, apply)
	if err != nil {
		return nil, err
	}
	return viewAgent(a), nil
}

// change changes a definition.
func change(d *managed.Definition, fields map[string]json.RawMessage) error {
	to := map[string]any{"name": &d.Name, "model": &d.Model, "system": &d.System, "description": &d.Description,
		"tools": &d.Tools, "mcp_servers": &d.MCPServers, "skills": &d.Skills, "program": &d.Program,
		"budget": &d.Budget}
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		raw := fields[name]
		if name == "metadata" {
			var changes map[string]*string
			if err := decode(raw, &changes); err != nil {
				return refusal(name, "it must be an object of texts and nulls")
			}
			d.Metadata = merged(d.Metadata, changes)
			continue
		}
		field, ok := to[name]
		if !ok {
			return refusal(name, "this API does not have this field")
		}
		if string(raw) == "null" {
			clearField(field)
			continue
		}
		switch list := field.(type) { // decoding into a list would keep what its elements have
		case *[]managed.ToolConfig:
			*list = nil
		case *[]managed.MCPServer:
			*list = nil
		case *[]managed.SkillRef:
			*list = nil
		case **managed.Budget:
			*list = nil
		}
		if err := decode(raw, field); err != nil {
			return refusal(name, "%s", strings.TrimPrefix(err.Error(), ": "))
		}
	}
	return nil
}

func clearField(field any) {
	switch f := field.(type) {
	case *string:
		*f = ""
	case *managed.ModelRef:
		*f = managed.ModelRef{}
	case *[]managed.ToolConfig:
		*f = nil
	case *[]managed.MCPServer:
		*f = nil
	case *[]managed.SkillRef:
		*f = nil
	case **managed.Budget:
		*f = nil
	}
}

// merged is metadata with changes: nil removes a pair.
func merged(m map[string]string, changes map[string]*string) map[string]string {
	next := map[string]string{}
	maps.Copy(next, m)
	for k, v := range changes {
		if v == nil {
			delete(next, k)
			continue
		}
		next[k] = *v
	}
	if len(next) == 0 {
		return nil
	}
	return next
}

func (s *Server) archiveAgent(r *request) (any, error) {
	a, err := s.cfg.Runtime.ArchiveAgent(r.Context(), r.owner, r.PathValue("id"))
	if err != nil {
		return nil, err
	}
	return viewAgent(a), nil
}

// listAgents lists agents. A page may have fewer agents than its limit when times are asked for.
func (s *Server) listAgents(r *request) (any, error) {
	q := r.query()
	archived := q.flag("include_archived")
	within := q.created()
	p, order := q.page(20, true)
	if err := q.done(); err != nil {
		return nil, err
	}
	list, next, err := s.cfg.Runtime.Agents(r.Context(), r.owner, archived, p)
	if err != nil {
		return nil, err
	}
	list = slices.DeleteFunc(list, func(a *managed.Agent) bool { return !within(&a.CreatedAt) })
	return listed(viewAgents(list), next, order), nil
}

func (s *Server) listVersions(r *request) (any, error) {
	q := r.query()
	p, order := q.page(20, true)
	if err := q.done(); err != nil {
		return nil, err
	}
	list, next, err := s.cfg.Runtime.AgentVersions(r.Context(), r.owner, r.PathValue("id"), p)
	if err != nil {
		return nil, err
	}
	return listed(viewAgents(list), next, order), nil
}

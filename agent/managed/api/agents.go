package api

import (
	"maps"
	"slices"

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

// agentBody is a new agent.
type agentBody struct {
	managed.Definition
	Multiagent absent `json:"multiagent"`
	Identity   absent `json:"execution_identity"`
}

func (s *Server) createAgent(r *request) (any, error) {
	var b agentBody
	if err := r.body(&b); err != nil {
		return nil, err
	}
	a, err := s.cfg.Runtime.CreateAgentOnce(r.Context(), r.owner, r.once(), b.Definition)
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

// agentPatch is a change of an agent.
type agentPatch struct {
	Version     *int                        `json:"version"`
	Name        field[string]               `json:"name"`
	Model       field[managed.ModelRef]     `json:"model"`
	System      field[string]               `json:"system"`
	Description field[string]               `json:"description"`
	Tools       field[[]managed.ToolConfig] `json:"tools"`
	MCPServers  field[[]managed.MCPServer]  `json:"mcp_servers"`
	Skills      field[[]managed.SkillRef]   `json:"skills"`
	Program     field[string]               `json:"program"`
	Budget      field[*managed.Budget]      `json:"budget"`
	Metadata    field[map[string]*string]   `json:"metadata"`
	Multiagent  absent                      `json:"multiagent"`
	Identity    absent                      `json:"execution_identity"`
}

// apply changes a definition: a field that is left out stays, null clears it, a list is replaced, and
// metadata changes pair by pair.
func (p *agentPatch) apply(d *managed.Definition) error {
	p.Name.replace(&d.Name)
	p.Model.replace(&d.Model)
	p.System.replace(&d.System)
	p.Description.replace(&d.Description)
	p.Tools.replace(&d.Tools)
	p.MCPServers.replace(&d.MCPServers)
	p.Skills.replace(&d.Skills)
	p.Program.replace(&d.Program)
	p.Budget.replace(&d.Budget)
	if p.Metadata.given && p.Metadata.value == nil {
		d.Metadata = nil
	}
	d.Metadata = merged(d.Metadata, p.Metadata.value)
	return nil
}

func (s *Server) updateAgent(r *request) (any, error) {
	var p agentPatch
	if err := r.body(&p); err != nil {
		return nil, err
	}
	version := 0
	if p.Version != nil {
		if version = *p.Version; version < 1 {
			return nil, refusal("version", "%d is no version", version)
		}
	}
	a, err := s.cfg.Runtime.UpdateAgent(r.Context(), r.owner, r.PathValue("id"), version, p.apply)
	if err != nil {
		return nil, err
	}
	return viewAgent(a), nil
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
	if err := r.bare(); err != nil {
		return nil, err
	}
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

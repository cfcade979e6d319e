package api

import (
	"encoding/json"

	"github.com/voicegw/voicegw/agent/managed"
)

// environmentView is an environment in the format of the API.
type environmentView struct {
	Type string `json:"type"`
	*managed.Environment
	Description *string           `json:"description"`
	Metadata    map[string]string `json:"metadata"`
}

func viewEnvironment(e *managed.Environment) *environmentView {
	v := &environmentView{Type: "environment", Environment: e, Description: orNull(e.Description),
		Metadata: e.Metadata}
	if v.Metadata == nil {
		v.Metadata = map[string]string{}
	}
	return v
}

// environmentBody is a new environment, or a change of one.
type environmentBody struct {
	Name        *string            `json:"name"`
	Description field[string]      `json:"description"`
	Config      *environmentConfig `json:"config"`
	Metadata    map[string]*string `json:"metadata"`
	Scope       absent             `json:"scope"`
}

// environmentConfig is where a session would run, if this server had sandboxes.
type environmentConfig struct {
	Type       string `json:"type"`
	Networking *struct {
		Type string `json:"type"`
	} `json:"networking"`
	Packages *struct {
		Type  string `json:"type"`
		Apt   absent `json:"apt"`
		Cargo absent `json:"cargo"`
		Gem   absent `json:"gem"`
		Go    absent `json:"go"`
		NPM   absent `json:"npm"`
		Pip   absent `json:"pip"`
	} `json:"packages"`
}

// The configs of environments, as answers have them.
var configs = map[string]json.RawMessage{
	"cloud": json.RawMessage(`{"type":"cloud","networking":{"type":"unrestricted"},` +
		`"packages":{"type":"packages","apt":[],"cargo":[],"gem":[],"go":[],"npm":[],"pip":[]}}`),
	"self_hosted": json.RawMessage(`{"type":"self_hosted"}`),
}

// apply changes an environment.
func (b *environmentBody) apply(e *managed.Environment) error {
	if b.Name != nil {
		e.Name = *b.Name
	}
	b.Description.replace(&e.Description)
	e.Metadata = merged(e.Metadata, b.Metadata)
	c := b.Config
	switch {
	case c == nil:
		return nil
	case configs[c.Type] == nil:
		return refusal("config.type", "%q is neither cloud nor self_hosted", c.Type)
	case c.Type != "cloud" && c.Networking != nil:
		return refusal("config.networking", "%q does not have this field", c.Type)
	case c.Type != "cloud" && c.Packages != nil:
		return refusal("config.packages", "%q does not have this field", c.Type)
	case c.Networking != nil && c.Networking.Type != "unrestricted":
		return refusal("config.networking.type", "%q: this server has no sandbox that could limit it", c.Networking.Type)
	case c.Packages != nil && c.Packages.Type != "" && c.Packages.Type != "packages":
		return refusal("config.packages.type", "%q is not packages", c.Packages.Type)
	}
	e.Config = configs[c.Type]
	return nil
}

func (s *Server) createEnvironment(r *request) (any, error) {
	var b environmentBody
	if err := r.body(&b); err != nil {
		return nil, err
	}
	e := managed.Environment{Config: configs["cloud"]}
	if err := b.apply(&e); err != nil {
		return nil, err
	}
	made, err := s.cfg.Runtime.CreateEnvironmentOnce(r.Context(), r.owner, r.once(), e)
	if err != nil {
		return nil, err
	}
	return viewEnvironment(made), nil
}

func (s *Server) getEnvironment(r *request) (any, error) {
	if err := r.bare(); err != nil {
		return nil, err
	}
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
	if err := r.bare(); err != nil {
		return nil, err
	}
	e, err := s.cfg.Runtime.ArchiveEnvironment(r.Context(), r.owner, r.PathValue("id"))
	if err != nil {
		return nil, err
	}
	return viewEnvironment(e), nil
}

func (s *Server) deleteEnvironment(r *request) (any, error) {
	if err := r.bare(); err != nil {
		return nil, err
	}
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

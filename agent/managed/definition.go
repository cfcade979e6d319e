package managed

import (
	"encoding/json"
	"time"
)

// Definition describes an agent. API requests, the journal and YAML files have the same fields.
type Definition struct {
	Name        string            `json:"name"`                  // 1 to 256 characters
	Model       ModelRef          `json:"model"`                 // a model of a provider
	System      string            `json:"system,omitempty"`      // instructions, up to 100,000 characters
	Description string            `json:"description,omitempty"` // up to 2048 characters
	Tools       []ToolConfig      `json:"tools,omitempty"`       // up to 256
	MCPServers  []MCPServer       `json:"mcp_servers,omitempty"` // up to 20
	Skills      []SkillRef        `json:"skills,omitempty"`      // up to 20
	Program     string            `json:"program,omitempty"`     // one of Config.Programs; "" is one agent
	Budget      *Budget           `json:"budget,omitempty"`      // of each session that has none of its own
	Metadata    map[string]string `json:"metadata,omitempty"`    // up to 16, keys of 64, values of 512 characters
}

// ModelRef names a model as package provider reads it, such as "parrot" or "gemini/gemini-2.5-flash".
type ModelRef struct {
	ID string `json:"id"`
}

// UnmarshalJSON reads a text, or an object with the id. It refuses what no model here has.
func (m *ModelRef) UnmarshalJSON(b []byte) error {
	if json.Unmarshal(b, &m.ID) == nil {
		return nil
	}
	var o struct {
		ID    string `json:"id"`
		Speed string `json:"speed"`
	}
	if len(b) == 0 || b[0] != '{' {
		return invalid("", "it must be the name of a model, or an object with its id")
	}
	if err := Decode(b, &o); err != nil {
		return err
	}
	if o.Speed != "" && o.Speed != "standard" {
		return invalid("speed", "%q is not %q, the only one there is", o.Speed, "standard")
	}
	m.ID = o.ID
	return nil
}

// The types of tools.
const (
	CustomTool   = "custom"                 // the client runs it
	MCPToolset   = "mcp_toolset"            // the tools of an MCP server
	AgentToolset = "agent_toolset_20260401" // the built-in tools that Config.Tools has
)

// ToolConfig is a tool or a set of tools of a Definition.
type ToolConfig struct {
	Type string `json:"type"`
	// Of a custom tool.
	Name        string          `json:"name,omitempty"`
	Description string          `json:"description,omitempty"`
	InputSchema json.RawMessage `json:"input_schema,omitempty"`
	// Timeout limits how long a session waits for the result of a custom tool, or for the confirmation
	// of another; 0 waits for ever.
	Timeout Duration `json:"timeout,omitzero"`
	// Of an MCP toolset.
	Server string `json:"mcp_server_name,omitempty"`
	// Of a set of tools.
	Default *ToolPolicy  `json:"default_config,omitempty"`
	Configs []ToolPolicy `json:"configs,omitempty"`
}

// Duration is a time.Duration that is text in JSON, such as "5m".
type Duration time.Duration

// MarshalText writes the text.
func (d Duration) MarshalText() ([]byte, error) { return []byte(time.Duration(d).String()), nil }

// UnmarshalText reads the text.
func (d *Duration) UnmarshalText(b []byte) error {
	t, err := time.ParseDuration(string(b))
	*d = Duration(t)
	return err
}

// The permissions of a tool.
const (
	AlwaysAllow = "always_allow"
	AlwaysAsk   = "always_ask"
	AlwaysDeny  = "always_deny"
)

// ToolPolicy says whether a tool of a set is there, who must agree to a call, and what a crash in the
// middle of a call leads to.
type ToolPolicy struct {
	Name       string      `json:"name,omitempty"` // of the tool; the default has none
	Enabled    *bool       `json:"enabled,omitempty"`
	Permission *Permission `json:"permission_policy,omitempty"`
	// Unknown is what follows when nobody knows whether a call happened: "tell" the model (the default),
	// "retry" with the same idempotency key, or "ask" the client which of the two.
	Unknown string `json:"outcome_unknown,omitempty"`
}

// Permission is one of the permissions.
type Permission struct {
	Type string `json:"type"`
}

// MCPServer is a server of tools. It has a URL, or a Command where Config.Commands allows it.
type MCPServer struct {
	Type    string   `json:"type"` // url or stdio
	Name    string   `json:"name"`
	URL     string   `json:"url,omitempty"`
	Command string   `json:"command,omitempty"`
	Args    []string `json:"args,omitempty"`
	// Credential names one of Config.Credentials, for a server with a URL.
	Credential string `json:"credential,omitempty"`
	// Env is refused: a definition sets no variables of the environment. See Config.CommandEnv.
	Env map[string]string `json:"env,omitempty"`
}

// SkillRef names a skill: a folder of instructions in Config.Skills.
type SkillRef struct {
	Type    string `json:"type"` // custom
	ID      string `json:"skill_id"`
	Version string `json:"version,omitempty"`
}

// Owner is whom agents and sessions belong to. Nobody else learns that they exist.
type Owner struct {
	Tenant string
	User   string
}

// Agent is one version of an agent.
type Agent struct {
	ID         string     `json:"id"`
	Version    int        `json:"version"` // from 1
	Definition            // with all defaults filled in
	CreatedAt  time.Time  `json:"created_at"`
	UpdatedAt  time.Time  `json:"updated_at"`
	ArchivedAt *time.Time `json:"archived_at"`
}

// Environment is where an agent works. The API asks for one; it has no effect of its own.
type Environment struct {
	ID          string            `json:"id"`
	Name        string            `json:"name"`
	Description string            `json:"description"`
	Config      json.RawMessage   `json:"config"`
	Metadata    map[string]string `json:"metadata"`
	CreatedAt   time.Time         `json:"created_at"`
	UpdatedAt   time.Time         `json:"updated_at"`
	ArchivedAt  *time.Time        `json:"archived_at"`
}

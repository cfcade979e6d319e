package workflow

import (
	"strconv"
	"strings"
	"time"
)

// Workflow is what a file says, with defaults filled in. It must not change after Load.
type Workflow struct {
	File        string
	Hash        string // of the text: "sha256:..." in hex
	Version     string // the hash of what the text says, whatever its comments, its layout and the order of keys are
	Name        string
	Description string
	// Unverified is why the workflow may run although its proof does not hold; "" if it must hold.
	Unverified string
	Agents     []*Agent
	// Main is the orchestration. It has the name of the workflow.
	Main    *Agent
	A2A     *Card
	Runtime Runtime

	plugins []Ref
	source  []string // lines of the text
	byName  map[string]*Agent
}

// Agent is an agent of a file: a leaf that works, or a block of other agents.
type Agent struct {
	Name, Type, Description string
	At                      Pos // of the agent; its name

	// Of an llm agent.
	Model, Instruction        string
	Tools                     []Tool
	Confirm                   []Tool // those whose calls wait until the client allows them; of a tool agent, too
	AgentTools                []Ref
	MaxSteps                  int // requests to the model in one run of the agent
	WithoutContents           bool
	OutputSchema, InputSchema map[string]any
	Temperature, TopP         *float64
	MaxOutputTokens, TopK     *int
	Callbacks                 map[string]string
	Planner                   string // plan_react, builtin or "": of a react block, and so of its agent
	ThinkingBudget            *int

	Function, Expression, Tool string
	ToolConfig                 map[string]any
	OutputKey                  string
	Timeout                    time.Duration // of one attempt
	Attempts                   int           // 1 without retry
	Delay                      time.Duration // before each further attempt

	// Children are the agents of a block, in order; the router of an llm_routed block comes first, and the
	// agent of a react block is the only one. A dag has Nodes instead.
	Children      []Ref
	Nodes         []Node
	AnyEnd        bool // a dag ends with the first of its last nodes
	MaxIterations int  // of a loop
	MaxHops       int  // of an llm_routed block

	// Inputs are the state keys of input_keys.
	Inputs []Input

	reads []read
	odd   []read         // what looks like a template and is none
	pos   map[string]Pos // of its keys
}

// Input is a state key that an agent reads. One that is optional may be missing.
type Input struct {
	Key      string
	Optional bool
}

// Name is what the key is called in an expression: its name, with "_" in place of ":".
func (i Input) Name() string { return strings.ReplaceAll(i.Key, ":", "_") }

// Ref is the name of an agent where another one uses it.
type Ref struct {
	Name string
	At   Pos
}

// Node is a node of a dag.
type Node struct {
	Agent     Ref
	DependsOn []Ref
	// When is, for some of DependsOn, the output with which the node follows; "default" is every output
	// that no other node names.
	When map[string]string
	Any  bool // it starts after any one of DependsOn, not after all
}

// Tool is a tool of an llm agent: its name, or patterns of a toolset.
type Tool struct {
	Name     string
	Patterns []string // nil: it is a single tool, or the whole toolset
	At       Pos
}

// read is a use of a state key.
type read struct {
	key      string
	optional bool
	at       Pos
	form     readForm
	words    string // as the file writes it
}

// readForm is how the file writes a read.
type readForm uint8

const (
	inTemplate  readForm = iota // {key}
	inInputKeys                 // an item of input_keys
	inLoose                     // {{key}} or { key }, which is no template
	inDotted                    // {key.part}, which is no template
)

// maybe is the read of a key that may be missing, as the file would write it.
func (r read) maybe() string {
	if r.form == inInputKeys {
		return strconv.Quote(r.key + "?")
	}
	return "{" + r.key + "?}"
}

// Card is the a2a section.
type Card struct {
	Version string  `yaml:"version"`
	Skills  []Skill `yaml:"skills"`
}

// Skill is a skill of a Card.
type Skill struct {
	ID          string   `yaml:"id"`
	Name        string   `yaml:"name"`
	Description string   `yaml:"description"`
	Tags        []string `yaml:"tags"`
}

// Runtime is the runtime section.
type Runtime struct {
	MemoryService   string      `yaml:"memory_service"`
	ArtifactService string      `yaml:"artifact_service"`
	ArtifactDir     string      `yaml:"artifact_dir"`
	Plugins         []string    `yaml:"plugins"`
	MCPServers      []MCPServer `yaml:"mcp_servers"`
}

// MCPServer is a server of tools.
type MCPServer struct {
	Name       string   `yaml:"name"`
	Transport  string   `yaml:"transport"`
	URI        string   `yaml:"uri"`
	Credential string   `yaml:"credential"` // the name of one of managed.Config.Credentials
	Command    string   `yaml:"command"`
	Args       []string `yaml:"args"`
	Confirm    bool     `yaml:"require_confirmation"` // each call waits until the client allows it
}

// Registry is what a file may name. A nil list means that any name of its kind is accepted.
type Registry struct {
	Tools     []string // tools and toolsets, besides the built-in ones
	Functions []string // of code agents
	Callbacks []string
	Plugins   []string
	// Model checks the name of a model; nil accepts every name.
	Model func(name string) error
	// Gemini reports whether a model has the tools that Gemini runs itself; nil accepts every model.
	Gemini func(name string) bool
}

// Agent is the agent with a name; nil if there is none.
func (w *Workflow) Agent(name string) *Agent { return w.byName[name] }

// leaf reports whether the agent works itself.
func (a *Agent) leaf() bool {
	return a.Type == llmType || a.Type == codeType || a.Type == toolType || a.Type == exprType
}

// refs are the agents that the agent contains.
func (a *Agent) refs() []Ref {
	list := append([]Ref(nil), a.Children...)
	for _, n := range a.Nodes {
		list = append(list, n.Agent)
	}
	return append(list, a.AgentTools...)
}

// posOf is the position of a key of the agent, or of the agent.
func (a *Agent) posOf(key string) Pos {
	if p, ok := a.pos[key]; ok {
		return p
	}
	return a.At
}

// seeded are the state keys that every run begins with.
func seeded() []string { return []string{"current_date", "current_datetime", "timezone"} }

// exitLoop is the built-in tool that ends the nearest loop.
const exitLoop = "exit_loop"

// builtins are the tools that need no registration.
func builtins() []string {
	return []string{"http_request", "transform", "condition", "alert", "storage", exitLoop, "google_search",
		"google_maps_grounding", "enterprise_web_search", "url_context", "load_memory", "preload_memory", "load_artifacts",
		"get_user_choice"}
}

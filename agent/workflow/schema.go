package workflow

import (
	"slices"
	"time"
)

// kind is the type of a value.
type kind string

const (
	text       kind = "text"
	name       kind = "name"     // a name of an agent or of the workflow
	ref        kind = "ref"      // the name of an agent of the file
	refs       kind = "refs"     // several
	names      kind = "names"    // a list of texts
	stateKey   kind = "key"      // the name of a state key
	keys       kind = "keys"     // a list of state keys, "?" behind one that may be missing
	number     kind = "number"   // with a fraction
	whole      kind = "integer"  // without
	yesNo      kind = "boolean"  //
	duration   kind = "duration" // such as 30s
	anyMap     kind = "map"      // any mapping
	schema     kind = "schema"   // a JSON Schema
	toolList   kind = "tools"    // texts, and mappings of a toolset to patterns
	confirming kind = "tools or true"
	object     kind = "object"  // another object of the format
	objects    kind = "objects" // a list of them
	texts      kind = "texts"   // a mapping of names to texts
	retired    kind = "retired" // known elsewhere, without effect here
)

// field is one key of an object. The tables of fields are the only source of the format: the checks,
// the JSON Schema and the table in the documentation are made from them.
type field struct {
	key      string
	kind     kind
	of       string   // of an object: its name
	types    []string // where the object has a type: the types that have the key; nil: all
	required bool     // by these types
	enum     []string
	min, max float64 // of a number, or of the length of a list; max 0: no limit
	def      string
	doc      string // for retired: what to do instead
}

// Types of agents and orchestrations.
const (
	llmType        = "llm"
	codeType       = "code"
	toolType       = "tool"
	exprType       = "expr"
	sequentialType = "sequential"
	parallelType   = "parallel"
	loopType       = "loop"
	reactType      = "react"
	dagType        = "dag"
	routedType     = "llm_routed"
)

func leafTypes() []string { return []string{llmType, codeType, toolType, exprType} }

func blockTypes() []string {
	return []string{sequentialType, parallelType, loopType, reactType, dagType, routedType}
}

// Limits of a file, stated in docs/workflows-reference.md.
const (
	textsMax    = 2 << 20 // bytes of texts, aliases counted as often as they are used
	nodesMax    = 50_000  // YAML values, aliases counted as often as they are used
	depthMax    = 32      // nesting of YAML values
	agentsMax   = 250     // agents, and blocks of the net
	levelsMax   = 16      // nesting of agents
	roundsMax   = 1000    // iterations, hops, steps and retries
	findingsMax = 100     // findings reported at once
)

// FileMax is how many bytes a file has at most.
const FileMax = 1 << 20

const timeoutMax = 24 * time.Hour

// format is every object of the format, by name.
func format() map[string][]field {
	return map[string][]field{
		"workflow": {
			{key: "name", kind: name, required: true, doc: "the name of the workflow"},
			{key: "description", kind: text, doc: "what it is for"},
			{key: "agents", kind: objects, of: "agent", required: true, min: 1, max: agentsMax, doc: "the agents"},
			{key: "orchestration", kind: object, of: "orchestration", required: true, doc: "how they run"},
			{key: "unverified", kind: text,
				doc: "why the workflow may run although it is not proved; every listing shows the reason"},
			{key: "a2a", kind: object, of: "a2a", doc: "the card for other agents"},
			{key: "runtime", kind: object, of: "runtime", doc: "services"},
		},
		"agent":         append(agentFields(), composed("sub_agents")...),
		"orchestration": append(orchestrationFields(), composed("agents")...),
		"node": {
			{key: "agent", kind: ref, required: true, doc: "the agent of the node; each node has an agent of its own"},
			{key: "depends_on", kind: refs, def: "[]", doc: "nodes that must be done before; without any, it starts at once"},
			{key: "when", kind: texts, doc: "routes: from DEPENDENCY only if its output is TEXT; " +
				"`default` is any text that no other node names"},
			{key: "join", kind: text, enum: []string{"all", "any"}, def: "all",
				doc: "start after all dependencies, or after any one"},
		},
		"retry": {
			{key: "attempts", kind: whole, required: true, min: 2, max: 10, doc: "how often it is tried in all"},
			{key: "delay", kind: duration, def: "1s", doc: "how long it waits before each further attempt"},
		},
		"planner_config": {{key: "thinking_budget", kind: whole, min: 0, max: 1 << 20, doc: "tokens for thinking"}},
		"a2a": {
			{key: "version", kind: text, def: "1.0.0", doc: "of the card"},
			{key: "skills", kind: objects, of: "skill", max: 100, doc: "what the card offers"},
		},
		"skill": {
			{key: "id", kind: text, required: true, doc: "a unique id"},
			{key: "name", kind: text, required: true, doc: "a title"},
			{key: "description", kind: text, doc: "what it does"},
			{key: "tags", kind: names, doc: "words to find it by"},
		},
		"runtime":    runtimeFields(),
		"mcp_server": mcpFields(),
	}
}

// agentFields are the keys of an agent, besides those of agents that contain others.
func agentFields() []field {
	llm, keyed := []string{llmType}, []string{codeType, exprType}
	tooled := []string{llmType}
	return []field{
		{key: "name", kind: name, required: true, doc: "unique in the file"},
		{key: "type", kind: text, required: true, enum: append(leafTypes(), blockTypes()...), doc: "the type of the agent"},
		{key: "description", kind: text, doc: "what it is for; routers and agents that use it as a tool see it"},
		{key: "model", kind: text, types: llm, required: true, doc: "a model of a provider, such as gemini-2.5-flash"},
		{key: "instruction", kind: text, types: llm, required: true,
			doc: "what to do; {key} is replaced by state, {key?} by nothing if the key is missing"},
		{key: "tools", kind: toolList, types: tooled, doc: "what the model may call: NAME, or TOOLSET: [patterns]"},
		{key: "require_confirmation", kind: confirming, types: []string{llmType, toolType},
			doc: "tools whose calls wait until the client allows them, as in tools; true: all"},
		{key: "agent_tools", kind: refs, types: tooled, max: 16, doc: "agents that the model may call as tools"},
		{key: "max_steps", kind: whole, types: llm, min: 1, max: roundsMax, def: "8",
			doc: "requests to the model in one run of the agent; only with tools or agent_tools"},
		{key: "include_contents", kind: text, types: llm, enum: []string{"default", "none"}, def: "default",
			doc: "whether the model sees the conversation"},
		{key: "output_schema", kind: schema, types: llm, doc: "JSON Schema of the answer"},
		{key: "input_schema", kind: schema, types: llm, doc: "JSON Schema of the arguments when it is used as a tool"},
		{key: "temperature", kind: number, types: llm, min: 0, max: 2, doc: "of the model"},
		{key: "max_output_tokens", kind: whole, types: llm, min: 1, max: 1 << 20, doc: "of the model"},
		{key: "top_p", kind: number, types: llm, min: 0, max: 1, doc: "of the model"},
		{key: "top_k", kind: whole, types: llm, min: 1, max: 1000, doc: "of the model"},
		{key: "callbacks", kind: texts, types: llm, doc: "before_agent, after_model and so on: the name of a Go function"},
		{key: "function", kind: text, types: []string{codeType}, required: true, doc: "the name of a Go function"},
		{key: "expression", kind: text, types: []string{exprType}, required: true,
			doc: "computes the output from input_keys"},
		{key: "tool", kind: text, types: []string{toolType}, required: true, doc: "the tool to call"},
		{key: "tool_config", kind: anyMap, types: []string{toolType}, doc: "its arguments; {key} is replaced by state"},
		{key: "input_keys", kind: keys, types: keyed, doc: "state that it reads; KEY? may be missing"},
		{key: "output_key", kind: stateKey, types: leafTypes(),
			doc: "state that holds the output; required for code, expr and tool; user:, app: or temp: in front says " +
				"whose it is"},
		{key: "timeout", kind: duration, types: leafTypes(), def: "2m",
			doc: "of one attempt, or of one request of an llm agent"},
		{key: "retry", kind: object, of: "retry", types: leafTypes(), doc: "further attempts after a failure"},
	}
}

// composed are the keys that say how agents are put together. list is the key of the list of agents.
func composed(list string) []field {
	planner := []string{reactType}
	return []field{
		{key: list, kind: refs, types: []string{sequentialType, parallelType, loopType, routedType}, required: true,
			min: 1, max: agentsMax, doc: "the agents, in order"},
		{key: "max_iterations", kind: whole, types: []string{loopType}, required: true, min: 1, max: roundsMax,
			doc: "the most rounds; required, because a model may never call exit_loop"},
		{key: "agent", kind: ref, types: []string{reactType}, required: true, doc: "the llm agent that plans and acts"},
		{key: "planner", kind: text, types: planner, enum: []string{"plan_react", "builtin", "built_in"},
			doc: "how it plans"},
		{key: "planner_config", kind: object, of: "planner_config", types: planner, doc: "of the planner builtin"},
		{key: "nodes", kind: objects, of: "node", types: []string{dagType}, required: true, min: 1, max: agentsMax,
			doc: "agents and what they wait for"},
		{key: "join", kind: text, types: []string{dagType}, enum: []string{"all", "any"}, def: "all",
			doc: "whether all last nodes must be done at the end, or any one"},
		{key: "router", kind: ref, types: []string{routedType}, required: true, doc: "the llm agent that chooses"},
		{key: "max_hops", kind: whole, types: []string{routedType}, min: 1, max: roundsMax, def: "8",
			doc: "how often the router may hand over"},
	}
}

func orchestrationFields() []field {
	return []field{{key: "type", kind: text, required: true, enum: blockTypes(), doc: "how the agents run"}}
}

func runtimeFields() []field {
	later := "context caching and compaction are not supported: remove it"
	list := []field{
		{key: "session_service", kind: text, enum: []string{"in_memory", "sqlite", "database"}, def: "in_memory",
			doc: "only in_memory: the operator says where sessions are kept"},
		{key: "memory_service", kind: text, enum: []string{"none", "in_memory"}, def: "none", doc: "memory for load_memory"},
		{key: "artifact_service", kind: text, enum: []string{"none", "in_memory", "file"}, def: "none",
			doc: "files of the session: of the process, or in the folder of the tool storage"},
		{key: "artifact_dir", kind: text, def: "./artifacts", doc: "of artifact_service: file, within that folder"},
		{key: "credential_service", kind: text, enum: []string{"none", "in_memory"}, def: "none",
			doc: "only none: the settings name credentials"},
		{key: "plugins", kind: names, doc: "plugins, by name, in the order in which they are called"},
		{key: "resumable", kind: yesNo, doc: "only true: every run can be resumed"},
		{key: "mcp_servers", kind: objects, of: "mcp_server", max: 20, doc: "servers of tools"},
		{key: "session_db_path", kind: retired, doc: "sessions are in the journal: remove it"},
		{key: "session_db_url", kind: retired,
			doc: "sessions are in the journal, and a file must not hold an address with a password: remove it"},
	}
	for _, key := range []string{"context_cache_intervals", "context_cache_ttl", "context_cache_min_tokens",
		"compaction_interval", "compaction_overlap"} {
		list = append(list, field{key: key, kind: retired, doc: later})
	}
	return list
}

func mcpFields() []field {
	return []field{
		{key: "name", kind: text, required: true, doc: "the toolset's name in tools"},
		{key: "transport", kind: text, enum: []string{"sse", "stdio", "http"}, required: true,
			doc: "how to reach it; sse is refused: the protocol has replaced it"},
		{key: "uri", kind: text, doc: "for http"},
		{key: "credential", kind: name, doc: "for http: the name of a secret in the operator's file (`mcp.bearers`)"},
		{key: "headers", kind: retired, doc: "a secret belongs into the operator's file; name it with `credential`"},
		{key: "command", kind: text, doc: "for stdio, where the operator allows it"},
		{key: "args", kind: names, doc: "for stdio"},
		{key: "require_confirmation", kind: yesNo, doc: "whether each call waits until the client allows it"},
		{key: "env", kind: retired, doc: "a file must not set environment variables: let the operator set them"},
	}
}

// has reports whether an object of a type has the field.
func (f *field) has(typ string) bool { return f.types == nil || slices.Contains(f.types, typ) }

func (f *field) lists() bool {
	return f.kind == objects || f.kind == refs || f.kind == names || f.kind == keys || f.kind == toolList ||
		f.kind == confirming
}

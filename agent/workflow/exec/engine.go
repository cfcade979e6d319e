package exec

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"go.uber.org/zap"
	"google.golang.org/adk/v2/artifact"
	"google.golang.org/adk/v2/memory"

	"github.com/voicegw/voicegw/agent"
	"github.com/voicegw/voicegw/agent/managed"
	"github.com/voicegw/voicegw/agent/provider"
	"github.com/voicegw/voicegw/agent/workflow"
)

// Config says what workflows may use. The zero value has no tools and no functions.
type Config struct {
	// Tools are what files may name in tools and tool, besides the built-in ones of the session. The name is
	// that of the Declaration.
	Tools []managed.Tool
	// Toolsets are names of several of Tools, for tools: NAME, or {NAME: [patterns]}.
	Toolsets map[string][]string
	// Functions are those of code agents, by name.
	Functions map[string]Function
	// Callbacks are what callbacks of agents name.
	Callbacks map[string]Hooks
	// Plugins are what runtime.plugins names, besides the built-in ones.
	Plugins map[string]Hooks
	// Every are plugins of all workflows, in front of those that they name.
	Every []Hooks
	// Memory is searched by load_memory and preload_memory. A file asks for it with runtime.memory_service.
	// Default: ADK's in memory.
	Memory memory.Service
	// Artifacts keeps the files of sessions. A file asks for it with runtime.artifact_service. Default: ADK's in
	// memory.
	Artifacts artifact.Service
	// Files keeps the files of sessions for runtime.artifact_service: file. dir is runtime.artifact_dir. nil refuses
	// workflows that ask for it.
	Files func(dir string) (artifact.Service, error)
	// Store keeps state with the prefixes app: and user:. Default: one in memory, which ends with the process.
	Store Store
	// Expression compiles the expression of an expr agent. keys are its input_keys, without "?", and with "_" in
	// place of ":". A key that is optional and missing is nil. nil refuses workflows with expr agents.
	Expression func(text string, keys []string) (func(context.Context, map[string]any) (any, error), error)
	// Logger is for the plugins logging and debug_logging; nil logs nothing.
	Logger *zap.Logger
	// Model is the model in definitions of workflows that have no llm agent, since each has one. Default
	// "parrot", which is never asked.
	Model string
	// Now is the clock for current_date and current_datetime; nil is time.Now.
	Now func() time.Time
	// Zone is the time zone of the two, and its name is the state key timezone; nil is UTC.
	Zone *time.Location
}

// Function is what a code agent calls.
type Function struct {
	// Call gets the values of input_keys; an optional one that is missing is nil. The result becomes what its
	// JSON says. ctx ends when it takes too long or the run ends. An error fails the attempt. Call may run
	// concurrently.
	Call func(ctx context.Context, inputs map[string]any) (any, error)
	// Idempotent means that the function may be called again if a crash leaves its outcome unknown. Otherwise
	// the attempt fails then.
	Idempotent bool
}

// Engine has workflows. It is safe for concurrent use.
type Engine struct {
	cfg   Config
	tools map[string]*managed.Tool

	mu    sync.Mutex
	flows map[string]*flow
}

// flow is a workflow that an Engine has.
type flow struct {
	c         *workflow.Compiled
	w         *workflow.Workflow
	leafs     map[string]*leaf // by path
	hooks     []Hooks          // of its plugins, in their order
	users     bool             // it reads or writes state that other sessions share
	files     artifact.Service // nil: it has none
	remembers bool             // it has a memory
	saves     bool             // files of messages become artifacts
	chooses   bool             // an agent lets the user choose
	turns     int              // messages of the user that models see; 0: all
}

// New returns an Engine without workflows. Its error names what is wrong with the Config.
func New(c Config) (*Engine, error) {
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Zone == nil {
		c.Zone = time.UTC
	}
	if c.Store == nil {
		c.Store = NewMemoryStore()
	}
	if c.Memory == nil {
		c.Memory = memory.InMemoryService()
	}
	if c.Artifacts == nil {
		c.Artifacts = artifact.InMemoryService()
	}
	if c.Logger == nil {
		c.Logger = zap.NewNop()
	}
	c.Model = cmp.Or(c.Model, "parrot")
	e := &Engine{cfg: c, tools: map[string]*managed.Tool{}, flows: map[string]*flow{}}
	for i := range c.Tools {
		t := &c.Tools[i]
		if t.Declaration == nil || t.Declaration.Name == "" || t.Call == nil {
			return nil, fmt.Errorf("exec: tool %d needs a Declaration with a name, and a Call", i)
		}
		name := t.Declaration.Name
		switch {
		case e.tools[name] != nil:
			return nil, fmt.Errorf("exec: two tools are called %q; give each a name of its own", name)
		case strings.HasPrefix(name, ownPrefix) || name == exitTool || name == transferTool ||
			slices.Contains(sessionTools(), name):
			return nil, fmt.Errorf("exec: the name %q of a tool is taken; give it another one", name)
		}
		e.tools[name] = t
	}
	for name, list := range c.Toolsets {
		for _, one := range list {
			if e.tools[one] == nil {
				return nil, fmt.Errorf("exec: the toolset %q has the tool %q, which Tools does not have", name, one)
			}
		}
	}
	for name, f := range c.Functions {
		if f.Call == nil {
			return nil, fmt.Errorf("exec: the function %q has no Call", name)
		}
	}
	return e, nil
}

// Registry is what workflows may name, for workflow.Load.
func (e *Engine) Registry() workflow.Registry {
	r := workflow.Registry{Tools: slices.Sorted(maps.Keys(e.tools)), Functions: slices.Sorted(maps.Keys(e.cfg.Functions)),
		Callbacks: slices.Sorted(maps.Keys(e.cfg.Callbacks)), Plugins: slices.Sorted(maps.Keys(e.cfg.Plugins))}
	r.Tools = append(r.Tools, slices.Sorted(maps.Keys(e.cfg.Toolsets))...)
	for _, list := range []*[]string{&r.Tools, &r.Functions, &r.Callbacks, &r.Plugins} {
		if *list == nil {
			*list = []string{} // nil would accept every name
		}
	}
	r.Model, r.Gemini = Models()
	return r
}

// Models are Registry.Model and Registry.Gemini by the names that providers have.
func Models() (known func(name string) error, gemini func(name string) bool) {
	return func(name string) error { _, err := provider.ParseRef(name); return err }, func(name string) bool {
		ref, err := provider.ParseRef(name)
		return err == nil && ref.Provider == provider.Gemini
	}
}

// Add adds a workflow with its report. Its error says what the report does not accept, or what the file asks
// for that nothing here can do. A name that the Engine has already is refused.
func (e *Engine) Add(c *workflow.Compiled, r *workflow.Report) error {
	w := c.Workflow
	if r == nil || !r.Accepted() {
		return fmt.Errorf("exec: the workflow %q of %s is not accepted; `voicegw workflow validate` tells why", w.Name,
			w.File)
	}
	f, err := e.prepare(c)
	if err != nil {
		return fmt.Errorf("exec: the workflow %q of %s: %w", w.Name, w.File, err)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if old := e.flows[w.Name]; old != nil {
		return fmt.Errorf("exec: %s and %s both have the name %q; each workflow needs a name of its own", old.w.File,
			w.File, w.Name)
	}
	e.flows[w.Name] = f
	return nil
}

// flow is the workflow with a name.
func (e *Engine) flow(name string) (*flow, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if f := e.flows[name]; f != nil {
		return f, nil
	}
	return nil, fmt.Errorf("exec: there is no workflow %q; there are: %s", name,
		strings.Join(slices.Sorted(maps.Keys(e.flows)), ", "))
}

// Names are the names of the workflows, in order.
func (e *Engine) Names() []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Sorted(maps.Keys(e.flows))
}

// Workflow is the workflow with a name; nil if there is none.
func (e *Engine) Workflow(name string) *workflow.Workflow {
	f, err := e.flow(name)
	if err != nil {
		return nil
	}
	return f.w
}

// Programs are the workflows as programs, for managed.Config.Programs. Workflows that are added later are
// missing.
func (e *Engine) Programs() map[string]managed.ProgramFunc {
	e.mu.Lock()
	defer e.mu.Unlock()
	list := map[string]managed.ProgramFunc{}
	for name, f := range e.flows {
		list[name] = func(_ context.Context, w *managed.Work) (*agent.Program, error) { return e.program(f, w) }
	}
	return list
}

// UnverifiedKey is where the metadata of a Definition has the reason why its workflow may run although it is not
// proved.
const UnverifiedKey = "unverified"

// metadataMax is the longest value of metadata, in characters.
const metadataMax = 512

// Definition is the managed agent that runs a workflow.
func (e *Engine) Definition(name string) (managed.Definition, error) {
	f, err := e.flow(name)
	if err != nil {
		return managed.Definition{}, err
	}
	d := managed.Definition{Name: f.w.Name, Description: f.w.Description, Program: f.w.Name}
	d.Model.ID = e.cfg.Model
	for _, l := range f.c.Leaves() {
		if l.Agent.Model != "" {
			d.Model.ID = l.Agent.Model
			break
		}
	}
	if why := []rune(f.w.Unverified); len(why) > metadataMax {
		d.Metadata = map[string]string{UnverifiedKey: string(why[:metadataMax-3]) + "..."}
	} else if len(why) > 0 {
		d.Metadata = map[string]string{UnverifiedKey: string(why)}
	}
	f.serve(&d)
	return d, nil
}

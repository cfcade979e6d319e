package exec

import (
	"context"

	"google.golang.org/adk/v2/model"
	"google.golang.org/genai"

	"github.com/voicegw/voicegw/agent/managed"
	"github.com/voicegw/voicegw/agent/workflow"
)

// Scope says for which agent of which run a hook is called.
type Scope struct {
	Workflow string
	Agent    *workflow.Agent
	Path     string // of the agent in the workflow
	Session  string
	Owner    managed.Owner
	// Value returns the value of a state key as the agent sees it. Hooks cannot write state: the proof knows
	// of no such write.
	Value func(key string) (any, bool)

	failures func(tool string) int // counts an error of a tool
}

// Hooks are Go callbacks, for agents by name and for workflows as plugins. A nil function does nothing. They may
// run concurrently. They run again when a process goes on after a crash, so the same input must give the same
// result, and effects on the world may happen again. A panic or an error fails the attempt.
type Hooks struct {
	// BeforeAgent answers in place of the agent, unless it returns nil.
	BeforeAgent func(ctx context.Context, s *Scope) (any, error)
	// AfterAgent replaces the output, unless it returns nil.
	AfterAgent func(ctx context.Context, s *Scope, output any) (any, error)
	// BeforeModel may change the request. It answers in place of the model, unless it returns nil.
	BeforeModel func(ctx context.Context, s *Scope, r *model.LLMRequest) (*model.LLMResponse, error)
	// AfterModel replaces the response, unless it returns nil.
	AfterModel func(ctx context.Context, s *Scope, r *model.LLMResponse) (*model.LLMResponse, error)
	// BeforeTool gives a result in place of the tool, unless it returns nil.
	BeforeTool func(ctx context.Context, s *Scope, c *genai.FunctionCall) (map[string]any, error)
	// AfterTool replaces the result, unless it returns nil.
	AfterTool func(ctx context.Context, s *Scope, c *genai.FunctionCall, result map[string]any) (map[string]any, error)
	// OnToolError gives a result in place of an error of a tool, unless it returns nil.
	OnToolError func(ctx context.Context, s *Scope, c *genai.FunctionCall, failed string) (map[string]any, error)
}

// Idle returns a full set of hooks that do nothing. Use it as a stand-in for a callback when only its name is known.
func Idle() Hooks {
	return Hooks{
		BeforeAgent: func(context.Context, *Scope) (any, error) { return nil, nil },
		AfterAgent:  func(context.Context, *Scope, any) (any, error) { return nil, nil },
		BeforeModel: func(context.Context, *Scope, *model.LLMRequest) (*model.LLMResponse, error) { return nil, nil },
		AfterModel:  func(context.Context, *Scope, *model.LLMResponse) (*model.LLMResponse, error) { return nil, nil },
		BeforeTool: func(context.Context, *Scope, *genai.FunctionCall) (map[string]any, error) {
			return nil, nil
		},
		AfterTool: func(context.Context, *Scope, *genai.FunctionCall, map[string]any) (map[string]any, error) {
			return nil, nil
		},
	}
}

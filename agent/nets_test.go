package agent

import (
	"context"
	"testing"

	"google.golang.org/adk/v2/model"
	"google.golang.org/genai"

	"github.com/voicegw/voicegw/agent/provider"
)

// allHooks are hooks for every stage, which do nothing.
func allHooks() Hooks {
	return Hooks{
		Before: func(context.Context, *Request) (*model.LLMResponse, error) { return nil, nil },
		After:  func(context.Context, *Response) (*model.LLMResponse, error) { return nil, nil },
		Error:  func(context.Context, *Failing) (*model.LLMResponse, error) { return nil, nil },
	}
}

// tool returns a Tool without arguments.
func tool(name string, do func(ctx context.Context) (map[string]any, error)) Tool {
	return FuncTool[struct{}]{Declares: &genai.FunctionDeclaration{Name: name},
		Do: func(ctx context.Context, _ struct{}) (map[string]any, error) { return do(ctx) }}
}

func menu() Tool {
	return tool("menu", func(context.Context) (map[string]any, error) { return map[string]any{"dish": "soup"}, nil })
}

// one is a net of one agent.
func one(l Limits) Config {
	return Config{Agents: []Agent{{Name: "host", Model: provider.Parrot{}, Tools: []Tool{menu()}}}, Limits: l}
}

// two is a net of two agents that hand over to each other.
func two(l Limits) Config {
	return Config{Limits: l, Agents: []Agent{
		{Name: "host", Model: provider.Parrot{}, Tools: []Tool{menu()}, TransferTo: []string{"cook"}},
		{Name: "cook", Description: "cooks", Model: provider.Parrot{}, TransferTo: []string{"host"}},
	}}
}

func newProgram(t testing.TB, c Config) *Program {
	t.Helper()
	p, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

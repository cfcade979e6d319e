package agent

import (
	"context"
	"errors"
	"iter"
	"strings"
	"testing"

	"google.golang.org/adk/v2/model"
	"google.golang.org/genai"

	"github.com/voicegw/voicegw/agent/provider"
)

// slowModel answers when it is cancelled.
type slowModel struct{}

func (slowModel) Name() string { return "slow" }

func (slowModel) GenerateContent(ctx context.Context, _ *model.LLMRequest, _ bool) iter.Seq2[*model.LLMResponse,
	error] {
	return func(yield func(*model.LLMResponse, error) bool) {
		<-ctx.Done()
		yield(nil, ctx.Err())
	}
}

func words(s string) *model.LLMResponse {
	return &model.LLMResponse{Content: genai.NewContentFromText(s, genai.RoleModel)}
}

// TestHooks checks that each hook either continues or answers, and that one that fails fails the turn.
func TestHooks(t *testing.T) {
	down := provider.ScriptTurn{Error: "down"}
	for _, c := range []struct {
		name  string
		turn  provider.ScriptTurn
		hooks Hooks
		how   How
		want  string
	}{
		{"none interferes", text("model"), allHooks(), Answered, `host answer "model"`},
		{"error stands", provider.ScriptTurn{Error: "down"}, allHooks(), Failed, `host answer ! model_failed`},
		{"before answers", text("model"), Hooks{Before: func(context.Context, *Request) (*model.LLMResponse, error) {
			return words("cached"), nil
		}, After: func(context.Context, *Response) (*model.LLMResponse, error) { return words("never"), nil }},
			Answered, `host answer "cached"`},
		{"before fails", text("model"), Hooks{Before: func(context.Context, *Request) (*model.LLMResponse, error) {
			return nil, errors.New("no")
		}}, Failed, `host answer ! hook_failed`},
		{"after replaces", text("model"), Hooks{After: func(_ context.Context, r *Response) (*model.LLMResponse, error) {
			return words(strings.ToUpper(r.Response.Content.Parts[0].Text)), nil
		}}, Answered, `host answer "MODEL"`},
		{"after panics", text("model"), Hooks{After: func(context.Context, *Response) (*model.LLMResponse, error) {
			panic("no")
		}}, Failed, `host answer ! hook_failed`},
		{"error answers", down, Hooks{Error: func(_ context.Context, f *Failing) (*model.LLMResponse, error) {
			return words("instead of " + string(f.Fault.Code)), nil
		}}, Answered, `host answer "instead of model_failed"`},
		{"error fails", down, Hooks{Error: func(context.Context, *Failing) (*model.LLMResponse, error) {
			return nil, errors.New("no")
		}}, Failed, `host answer ! hook_failed`},
	} {
		t.Run(c.name, func(t *testing.T) {
			k := start(t, newProgram(t, Config{Agents: []Agent{{Name: "host", Hooks: c.hooks,
				Model: &provider.Script{Turns: []provider.ScriptTurn{c.turn}, Repeat: true}}}}))
			defer k.close()
			k.must("hello", c.how, c.want)
			k.must("hello", c.how, c.want)
		})
	}
}

package exec

import (
	"context"
	"fmt"
	"slices"

	"go.uber.org/zap"
	"google.golang.org/adk/v2/artifact"
	"google.golang.org/adk/v2/model"
	"google.golang.org/genai"

	"github.com/voicegw/voicegw/agent/managed"
)

// The built-in plugins.
const (
	reflectionsMax = 3 // of reflect_and_retry: errors of one tool in one run of an agent that it comments on
	contextTurns   = 5 // of context_filter: messages of the user that models see, with what followed
)

// plugin finds a plugin.
func (e *Engine) plugin(f *flow, name string) error {
	if h, ok := e.cfg.Plugins[name]; ok {
		f.hooks = append(f.hooks, h)
		return nil
	}
	switch name {
	case "logging":
		f.hooks = append(f.hooks, e.logging(false))
	case "debug_logging":
		f.hooks = append(f.hooks, e.logging(true))
	case "reflect_and_retry":
		f.hooks = append(f.hooks, Hooks{OnToolError: reflection})
	case "context_filter":
		f.turns = contextTurns
	case "save_files_as_artifacts":
		f.saves = true
	default:
		return fmt.Errorf("there is no plugin %q here; there are: %s", name, names(e.cfg.Plugins))
	}
	return nil
}

// logging tells the logger what agents do. Only debug_logging tells what is said.
func (e *Engine) logging(content bool) Hooks {
	log := e.cfg.Logger
	of := func(s *Scope, more ...zap.Field) []zap.Field {
		return append([]zap.Field{zap.String("session", s.Session), zap.String("agent", s.Path)}, more...)
	}
	what := func(v any) []zap.Field {
		if !content {
			return nil
		}
		return []zap.Field{zap.Any("content", v)}
	}
	tell := log.Info
	if content {
		tell = log.Debug
	}
	return Hooks{
		BeforeAgent: func(_ context.Context, s *Scope) (any, error) {
			tell("agent starts", of(s)...)
			return nil, nil
		},
		AfterAgent: func(_ context.Context, s *Scope, out any) (any, error) {
			tell("agent done", of(s, what(out)...)...)
			return nil, nil
		},
		AfterModel: func(_ context.Context, s *Scope, r *model.LLMResponse) (*model.LLMResponse, error) {
			tell("model answered", of(s, what(r)...)...)
			return nil, nil
		},
		AfterTool: func(_ context.Context, s *Scope, c *genai.FunctionCall, result map[string]any) (map[string]any, error) {
			tell("tool done", of(s, append(what(result), zap.String("tool", c.Name))...)...)
			return nil, nil
		},
	}
}

// reflection tells a model to think about an error of a tool before it goes on.
func reflection(_ context.Context, s *Scope, c *genai.FunctionCall, failed string) (map[string]any, error) {
	n := s.failures(c.Name)
	if s.Agent.Type != "llm" || n > reflectionsMax {
		return nil, nil
	}
	return map[string]any{"error": failed, "retry_count": n, "reflection_guidance": fmt.Sprintf("The call of %s failed. "+
		"Think about why: are the arguments right, and is it the right tool? Do not repeat the same call. Try %d of %d.",
		c.Name, n, reflectionsMax)}, nil
}

// save keeps the files of the message as artifacts.
func (r *run) save(ctx context.Context) error {
	for i, p := range r.turn.Message.Parts {
		if p == nil || p.InlineData == nil {
			continue
		}
		args := map[string]any{"service": r.p.f.files, "request": &artifact.SaveRequest{AppName: r.p.f.w.Name,
			UserID: userID(r.ctx.Owner), SessionID: r.ctx.Session, FileName: r.fileName(i), Part: p}}
		if _, err := effect(ctx, r.p.begin, r.turn, fmt.Sprint("file", i), filesTool, args); err != nil {
			return err
		}
	}
	return nil
}

// fileName is the name of a file of the message.
func (r *run) fileName(i int) string {
	if name := r.turn.Message.Parts[i].InlineData.DisplayName; name != "" {
		return name
	}
	return fmt.Sprintf("artifact_%d_%d", r.ctx.Number, i)
}

// files is the tool that save calls. Its arguments are of this process alone.
func (e *Engine) files(ctx context.Context, c managed.ToolCall) (map[string]any, error) {
	service, _ := c.Args["service"].(artifact.Service)
	request, _ := c.Args["request"].(*artifact.SaveRequest)
	saved, err := service.Save(ctx, request)
	if err != nil {
		return nil, fmt.Errorf("the file %q cannot be saved: %w", request.FileName, err)
	}
	return map[string]any{"version": saved.Version}, nil
}

// withoutFiles is the conversation with the names of files that are saved in place of their content.
func (r *run) withoutFiles(list []*genai.Content) []*genai.Content {
	list = slices.Clone(list)
	for i, c := range list {
		if c != r.turn.Message {
			continue
		}
		next := &genai.Content{Role: c.Role}
		for n, p := range c.Parts {
			if p != nil && p.InlineData != nil {
				p = &genai.Part{Text: fmt.Sprintf("[uploaded file: %q]", r.fileName(n))}
			}
			next.Parts = append(next.Parts, p)
		}
		list[i] = next
	}
	return list
}

package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"

	"google.golang.org/adk/v2/model"
	"google.golang.org/adk/v2/session"
	"google.golang.org/genai"

	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/petri/runner"
)

// Tool is what a model may call. It is safe for concurrent use.
type Tool interface {
	// Name is the name by which the model calls it.
	Name() string
	// Declaration tells the model what it is for. nil keeps it secret from the model.
	Declaration() *genai.FunctionDeclaration
	// Call runs one call. ctx ends when the call takes too long or the turn ends; Call must then
	// return soon. An error is a result, too: the model gets its text.
	Call(ctx context.Context, c *Call) (*Reply, error)
}

// Hooks see what goes to a model and comes from it. Each may block for up to Limits.HookTimeout. An
// error or a panic of a hook fails the turn.
type Hooks struct {
	// Before may change the request. A response that is not nil takes the place of the model's.
	Before func(ctx context.Context, r *Request) (*model.LLMResponse, error)
	// After may replace a response of the model; nil keeps it.
	After func(ctx context.Context, r *Response) (*model.LLMResponse, error)
	// Error may answer in place of a model that failed; nil lets the fault stand.
	Error func(ctx context.Context, f *Failing) (*model.LLMResponse, error)
}

func (h *Hooks) stages() Stages {
	return Stages{Before: h.Before != nil, After: h.After != nil, Error: h.Error != nil}
}

// Handler does the work of one task of a net, in a session that runs and in a proof. Handle makes it.
type Handler struct {
	handler runner.Handler
	worker  func(taken ...petri.AnyPlace) *petri.Net // workerAutomaton of the task, for proofs
	start   string
}

// Handle returns the Handler that does the work of task t with fn. fn runs in a goroutine that has nothing else to do
// meanwhile.
// ctx ends when the net cancels the task or the session closes; fn must then return soon.
func Handle[I, O any](t petri.Task[I, O], fn func(ctx context.Context, s *Session, in I) (O, error)) Handler {
	return Handler{handler: runner.HandleFor(t, fn), worker: automaton(t), start: string(t.Start)}
}

func automaton[I, O any](t petri.Task[I, O]) func(taken ...petri.AnyPlace) *petri.Net {
	return func(taken ...petri.AnyPlace) *petri.Net { return workerAutomaton(t, taken...) }
}

// storeHandler lets the goroutine of Session.Run store events.
func storeHandler() Handler {
	t := storing()
	return Handler{handler: runner.HandleAsync(t, (*Session).store), worker: automaton(t), start: string(t.Start)}
}

// Work replaces what New makes of an agent's Instruction, Model and Tools. A field that is nil replaces
// nothing. Each function runs in a goroutine of its own. ctx ends when the work takes too long or the turn
// ends; the function must then return soon.
type Work struct {
	// Request builds a request to the model from the session.
	Request func(ctx context.Context, t *Turn) (*model.LLMRequest, error)
	// Ask asks the model, as model.LLM does.
	Ask func(ctx context.Context, r *Request) iter.Seq2[*model.LLMResponse, error]
	// Call runs a call of any tool.
	Call func(ctx context.Context, c *Call) (*Reply, error)
	// Next makes the agent a guest: see GuestStep. It returns the next event of the turn, or nil after the
	// last one.
	Next func(ctx context.Context, t *Turn) (*session.Event, error)
}

// handlers are those of one agent.
func (a *Agent) handlers(p Ports, system *genai.Content) []Handler {
	if next := a.Work.Next; next != nil {
		return []Handler{Handle(p.Next, func(ctx context.Context, _ *Session, t *Turn) (*session.Event, error) {
			return next(ctx, t)
		})}
	}
	tools := map[string]Tool{}
	for _, t := range a.Tools {
		tools[t.Name()] = t
	}
	list := []Handler{
		Handle(p.Build, func(ctx context.Context, _ *Session, t *Turn) (*model.LLMRequest, error) {
			if build := a.Work.Request; build != nil {
				return build(ctx, t)
			}
			return a.request(t, system), nil
		}),
	}
	if a.Strategy == nil {
		list = append(list, Handle(p.Ask, func(ctx context.Context, s *Session, r *Request) (*model.LLMResponse, error) {
			return a.ask(ctx, s, p, r)
		}))
	} else {
		for i, b := range a.Strategy.branches() {
			list = append(list, Handle(p.Branches[i], func(ctx context.Context, _ *Session, r *Request) (*model.LLMResponse,
				error) {
				return b.answer(ctx, r)
			}))
		}
	}
	for _, t := range p.Tools {
		list = append(list, Handle(t, func(ctx context.Context, _ *Session, c *Call) (*Reply, error) {
			if call := a.Work.Call; call != nil {
				return call(ctx, c)
			}
			tool := tools[c.Call.Name]
			if tool == nil {
				names := slices.Sorted(maps.Keys(tools))
				return &Reply{Fault: &Fault{Code: UnknownTool, Text: fmt.Sprintf("there is no tool %q; the tools are: %s",
					c.Call.Name, strings.Join(names, ", "))}}, nil
			}
			return tool.Call(ctx, c)
		}))
	}
	h := a.Hooks
	if h.Before != nil {
		list = append(list, Handle(p.Before, func(ctx context.Context, _ *Session, r *Request) (*model.LLMResponse, error) {
			return h.Before(ctx, r)
		}))
	}
	if h.After != nil {
		list = append(list, Handle(p.After, func(ctx context.Context, _ *Session, r *Response) (*model.LLMResponse, error) {
			return h.After(ctx, r)
		}))
	}
	if h.Error != nil {
		list = append(list, Handle(p.Error, func(ctx context.Context, _ *Session, f *Failing) (*model.LLMResponse, error) {
			return h.Error(ctx, f)
		}))
	}
	return list
}

// request builds a request from the session.
func (a *Agent) request(t *Turn, system *genai.Content) *model.LLMRequest {
	r := &model.LLMRequest{Contents: t.contents(a.Name), Config: &genai.GenerateContentConfig{SystemInstruction: system}}
	if a.Model != nil {
		r.Model = a.Model.Name()
	}
	var list []*genai.FunctionDeclaration
	for _, tool := range a.Tools {
		if d := tool.Declaration(); d != nil {
			list = append(list, d)
		}
	}
	if len(a.TransferTo) > 0 {
		list = append(list, transferDeclaration(a.TransferTo))
	}
	if len(list) > 0 {
		r.Config.Tools = []*genai.Tool{{FunctionDeclarations: list}}
	}
	return r
}

// transferDeclaration declares the function that hands over to another agent.
func transferDeclaration(names []string) *genai.FunctionDeclaration {
	return &genai.FunctionDeclaration{
		Name:        transferTool,
		Description: "Hands the conversation over to another agent.",
		Parameters: &genai.Schema{Type: genai.TypeObject, Required: []string{agentArg}, Properties: map[string]*genai.Schema{
			agentArg: {Type: genai.TypeString, Enum: names, Description: "The name of the agent."},
		}},
	}
}

// describe is the system instruction of an agent: its own, and whom it may hand over to.
func (c *Config) describe(a *Agent) *genai.Content {
	text := a.Instruction
	for _, to := range a.TransferTo {
		for _, other := range c.Agents {
			if other.Name == to {
				text += fmt.Sprintf("\n\nThe agent %q: %s", other.Name, other.Description)
			}
		}
	}
	if text == "" {
		return nil
	}
	return genai.NewContentFromText(strings.TrimSpace(text), genai.RoleUser)
}

// errNoResponse means that a model ended without a whole response.
var errNoResponse = errors.New("the model ended without a whole response")

// ask sends a request and returns the whole response. It passes partial ones on.
func (a *Agent) ask(ctx context.Context, s *Session, p Ports, r *Request) (*model.LLMResponse, error) {
	answer := a.Work.Ask
	if answer == nil {
		answer = func(ctx context.Context, r *Request) iter.Seq2[*model.LLMResponse, error] {
			return a.Model.GenerateContent(ctx, r.Request, r.Turn.Stream)
		}
	}
	return whole(ctx, answer(ctx, r), func(resp *model.LLMResponse) error {
		return s.run.InjectAccepted(ctx, p.Chunk.Token(&Piece{Turn: r.Turn, Response: resp}))
	})
}

// responsesMax limits the whole responses of a model to one request.
const responsesMax = 64

// whole returns the whole response of a model. It gives partial ones to part. The parts of several whole
// responses become one.
func whole(ctx context.Context, responses iter.Seq2[*model.LLMResponse, error],
	part func(*model.LLMResponse) error) (*model.LLMResponse, error) {
	var last *model.LLMResponse
	n := 0
	for resp, err := range responses {
		switch {
		case err != nil:
			return nil, err
		case resp == nil:
		case !resp.Partial:
			if n++; n > responsesMax {
				return nil, fmt.Errorf("the model gave more than %d whole responses to one request", responsesMax)
			}
			last = Joined(last, resp)
		default:
			if err := part(resp); err != nil {
				return nil, err
			}
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
	}
	if last == nil {
		return nil, errNoResponse
	}
	return last, nil
}

// Joined returns a response with the parts of the one before it in front of its own: a model may answer one
// request with several whole responses. An error stays alone. Neither response changes.
func Joined(before, r *model.LLMResponse) *model.LLMResponse {
	if before == nil || before.Content == nil || r.ErrorCode != "" {
		return r
	}
	with := *r
	with.Content = &genai.Content{Role: before.Content.Role, Parts: slices.Clone(before.Content.Parts)}
	if r.Content != nil {
		with.Content.Parts = append(with.Content.Parts, r.Content.Parts...)
	}
	return &with
}

// FuncTool is a Tool made of a Go function.
type FuncTool[A any] struct {
	Declares *genai.FunctionDeclaration
	Do       func(ctx context.Context, args A) (map[string]any, error)
}

// Name returns the name that the declaration gives, or "" without one.
func (t FuncTool[A]) Name() string {
	if t.Declares == nil {
		return ""
	}
	return t.Declares.Name
}

// Declaration returns the declaration.
func (t FuncTool[A]) Declaration() *genai.FunctionDeclaration { return t.Declares }

// Call decodes the arguments and calls the function. Arguments that do not fit are an error.
func (t FuncTool[A]) Call(ctx context.Context, c *Call) (*Reply, error) {
	var args A
	b, err := json.Marshal(c.Call.Args)
	if err == nil {
		err = json.Unmarshal(b, &args)
	}
	if err != nil {
		return nil, fmt.Errorf("the arguments do not fit: %w", err)
	}
	m, err := t.Do(ctx, args)
	if err != nil {
		return nil, err
	}
	return &Reply{Response: m}, nil
}

// StoreHandler returns the Handler of SessionWriter, for a Program of one's own.
func StoreHandler() Handler { return storeHandler() }

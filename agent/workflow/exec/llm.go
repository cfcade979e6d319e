package exec

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"google.golang.org/adk/v2/model"
	"google.golang.org/genai"

	"github.com/voicegw/voicegw/agent"
	"github.com/voicegw/voicegw/agent/managed"
	"github.com/voicegw/voicegw/agent/workflow"
)

// The functions by which a model decides what follows.
const (
	exitTool     = "exit_loop"
	transferTool = "transfer_to_agent"
)

// answer asks the model once.
func (k *worker) answer(ctx context.Context, r *run, j *workflow.Job) (*workflow.Result, error) {
	req, err := k.request(ctx, r, j)
	if err != nil {
		return nil, err
	}
	s := r.scope(j)
	var resp *model.LLMResponse
	for _, h := range k.hooks {
		if h.BeforeModel != nil && resp == nil {
			if resp, err = h.BeforeModel(ctx, s, req); err != nil {
				return nil, err
			}
		}
	}
	if resp == nil {
		for one, err := range k.ask(ctx, &agent.Request{Turn: r.turn, Request: req}) {
			if err != nil {
				return nil, err
			}
			if !one.Partial {
				resp = one
			}
		}
	}
	for _, h := range k.hooks {
		if h.AfterModel == nil {
			continue
		}
		next, err := h.AfterModel(ctx, s, resp)
		if err != nil {
			return nil, err
		}
		if next != nil {
			resp = next
		}
	}
	if resp == nil || resp.Content == nil || refused(resp) {
		return nil, refusal(resp)
	}
	return k.take(r, j, resp)
}

// refused reports whether a response is no answer, although it may have words. One at the limit of tokens is an
// answer, as is one that ended for a reason that a provider has of its own.
func refused(r *model.LLMResponse) bool {
	switch r.FinishReason {
	case "", genai.FinishReasonUnspecified, genai.FinishReasonStop, genai.FinishReasonMaxTokens, genai.FinishReasonOther:
		return false
	}
	return true
}

// refusal is why a response has no content, or one that is no answer.
func refusal(r *model.LLMResponse) error {
	if r == nil || r.ErrorMessage == "" && r.FinishReason == "" {
		return errors.New("the model answered nothing")
	}
	return fmt.Errorf("the model did not answer: %s %s", strings.TrimSpace(r.ErrorCode+" "+string(r.FinishReason)),
		r.ErrorMessage)
}

// take reads a response: calls, a transfer, the exit of a loop, or an answer.
func (k *worker) take(r *run, j *workflow.Job, resp *model.LLMResponse) (*workflow.Result, error) {
	content := planned(j, resp.Content)
	res := &workflow.Result{Exit: k.exits && exited(j), Event: r.turn.NewEvent(j.Author)}
	var calls []*genai.FunctionCall
	said := &genai.Content{Role: genai.RoleModel}
	text := ""
	for _, p := range content.Parts {
		switch {
		case p == nil:
		case p.FunctionCall != nil:
			calls = append(calls, p.FunctionCall)
		default:
			said.Parts = append(said.Parts, p)
			if !p.Thought {
				text += p.Text
			}
		}
	}
	res.Event.LLMResponse = *resp
	for _, c := range calls {
		if c.Name == transferTool && len(j.Routes) > 0 {
			res.Route, _ = c.Args["agent_name"].(string)
			res.Event.Content = nil
			if text != "" {
				res.Event.Content = said
			}
			return res, nil
		}
	}
	other := func(c *genai.FunctionCall) bool { return c.Name != exitTool }
	if k.exits && len(calls) > 0 && !slices.ContainsFunc(calls, other) {
		res.Exit, calls = true, nil
		if old, ok := r.value(j, k.Agent.OutputKey); ok && text == "" {
			res.Output, res.Event.Content = old, nil // no words: the key keeps its value
			return res, nil
		}
		if res.Event.Content = said; text == "" {
			res.Event.Content = nil
		}
		out, err := k.parsed(text)
		res.Output = out
		return res, err
	}
	res.Event.Content = content
	if len(calls) > 0 {
		if len(k.Agent.Tools)+len(k.Agent.AgentTools) == 0 {
			return nil, fmt.Errorf("its model called %q, and it has no tools", calls[0].Name)
		}
		res.Calls = calls
		for _, c := range calls {
			if k.misfit(c) != nil {
				res.Refused = append(res.Refused, c)
			}
		}
		return res, nil
	}
	if text == "" {
		return nil, refusal(resp)
	}
	out, err := k.parsed(text)
	res.Output = out
	return res, err
}

// exited reports whether the agent has called exit_loop together with other tools.
func exited(j *workflow.Job) bool {
	return slices.ContainsFunc(j.Visit.Steps, func(s workflow.Step) bool {
		return slices.ContainsFunc(s.Calls, func(c *genai.FunctionCall) bool { return c.Name == exitTool })
	})
}

// parsed is the output of an answer: its text, or the value that output_schema describes.
func (k *worker) parsed(text string) (any, error) {
	if k.schema == nil || text == "" && k.Agent.OutputKey == "" {
		return text, nil
	}
	bare := strings.TrimSpace(text)
	if inner, ok := strings.CutPrefix(bare, "```json"); ok {
		bare = strings.TrimSuffix(inner, "```")
	}
	var v any
	if err := json.Unmarshal([]byte(bare), &v); err != nil {
		return nil, fmt.Errorf("its answer is not the JSON that output_schema asks for: %w", err)
	}
	if err := k.schema.Validate(v); err != nil {
		return nil, fmt.Errorf("its answer does not fit output_schema: %w", err)
	}
	return v, nil
}

// request is the request to the model.
func (k *worker) request(ctx context.Context, r *run, j *workflow.Job) (*model.LLMRequest, error) {
	text, err := r.instruct(ctx, j, k.Agent.Instruction)
	if err != nil {
		return nil, err
	}
	a, c := k.Agent, &genai.GenerateContentConfig{}
	if a.Temperature != nil {
		c.Temperature = genai.Ptr(float32(*a.Temperature))
	}
	if a.TopP != nil {
		c.TopP = genai.Ptr(float32(*a.TopP))
	}
	if a.TopK != nil {
		c.TopK = genai.Ptr(float32(*a.TopK))
	}
	if a.MaxOutputTokens != nil {
		c.MaxOutputTokens = int32(*a.MaxOutputTokens)
	}
	more, err := k.background(ctx, r)
	if err != nil {
		return nil, err
	}
	text += plan(j, c) + more
	declared := k.declarations(j)
	if len(declared) > 0 {
		c.Tools = append(c.Tools, &genai.Tool{FunctionDeclarations: declared})
	}
	c.Tools = append(c.Tools, k.native...)
	if len(j.Routes) > 0 {
		text += k.routes(j)
	}
	if a.OutputSchema != nil {
		if len(c.Tools) == 0 && len(k.servers) == 0 {
			c.ResponseMIMEType, c.ResponseJsonSchema = "application/json", a.OutputSchema
		} else { // models do not take a schema together with tools
			text += "\n\nAnswer with JSON alone, which fits this JSON Schema: " + workflow.TextOf(a.OutputSchema)
		}
	}
	c.SystemInstruction = genai.NewContentFromText(text, genai.RoleUser)
	return &model.LLMRequest{Contents: k.contents(ctx, r, j), Config: c}, nil
}

// background is what the instruction says of memories and files.
func (k *worker) background(ctx context.Context, r *run) (text string, err error) {
	if slices.Contains(k.session, preloadMemory) {
		if text, err = k.remembered(ctx, r); err != nil {
			return "", err
		}
	}
	if slices.Contains(k.session, loadArtifacts) {
		files, err := r.fileNames(ctx)
		return text + files, err
	}
	return text, nil
}

// declarations are the functions that the model may call, besides the tools of MCP servers.
func (k *worker) declarations(j *workflow.Job) []*genai.FunctionDeclaration {
	var list []*genai.FunctionDeclaration
	for _, name := range k.tools {
		list = append(list, k.p.e.tools[name].Declaration)
	}
	for _, name := range k.session {
		if d := sessionTool(name); d != nil {
			list = append(list, d)
		}
	}
	for _, ref := range k.Agent.AgentTools {
		a := k.p.f.w.Agent(ref.Name)
		d := &genai.FunctionDeclaration{Name: a.Name, Description: a.Description}
		if d.ParametersJsonSchema = any(a.InputSchema); a.InputSchema == nil {
			d.ParametersJsonSchema = map[string]any{"type": "object", "required": []any{"request"},
				"properties": map[string]any{"request": map[string]any{"type": "string"}}}
		}
		list = append(list, d)
	}
	if k.exits {
		list = append(list, exitDeclaration())
	}
	if len(j.Routes) > 0 {
		names := make([]any, len(j.Routes))
		for i, name := range j.Routes {
			names[i] = name
		}
		list = append(list, &genai.FunctionDeclaration{Name: transferTool,
			Description: "Hands the question over to another agent.",
			ParametersJsonSchema: map[string]any{"type": "object", "required": []any{"agent_name"},
				"properties": map[string]any{"agent_name": map[string]any{"type": "string", "enum": names}}}})
	}
	return list
}

func exitDeclaration() *genai.FunctionDeclaration {
	return &genai.FunctionDeclaration{Name: exitTool,
		Description: "Ends the loop. Call it only when you are instructed to."}
}

// routes tells a router of the agents that it may hand over to.
func (k *worker) routes(j *workflow.Job) string {
	var b strings.Builder
	b.WriteString("\n\nYou may hand over to one of these agents with the tool transfer_to_agent:\n")
	for _, name := range j.Routes {
		fmt.Fprintf(&b, "- %s: %s\n", name, k.p.f.w.Agent(name).Description)
	}
	b.WriteString("If none of them fits, or nothing is left to do, answer yourself.")
	return b.String()
}

// contents are the conversation as the agent sees it: what was said on its own path of the run, never on
// another one, so that it does not depend on which of two branches was faster.
func (k *worker) contents(ctx context.Context, r *run, j *workflow.Job) []*genai.Content {
	flow := j.Visit.Flow
	var list []*genai.Content
	switch {
	case flow.Args != nil:
		list = append(list, genai.NewContentFromText(argsText(flow.Args), genai.RoleUser))
	case !k.Agent.WithoutContents:
		list = r.ctx.Earlier(j.Author, managed.View{Without: []string{r.p.f.w.Name}, Turns: r.p.f.turns})
	}
	said := heard(j.Author, flow.Said)
	if k.Agent.WithoutContents && len(said) > 0 {
		said = said[len(said)-1:]
	}
	list = append(list, said...)
	if len(list) == 0 {
		list = append(list, r.turn.Message)
	}
	if n := len(list); list[n-1].Role == genai.RoleModel {
		list = append(list, genai.NewContentFromText("Go on as you are instructed.", genai.RoleUser))
	}
	for _, s := range j.Visit.Steps {
		list = append(append(list, stepContents(j, s)...), r.loaded(ctx, s)...)
	}
	if r.p.f.saves {
		list = r.withoutFiles(list)
	}
	return list
}

// argsText is what an agent was called with: the request, or the arguments as JSON.
func argsText(args map[string]any) string {
	if text, ok := args["request"].(string); ok && len(args) == 1 {
		return text
	}
	return workflow.TextOf(args)
}

// heard is what agents have said, as one of them sees it. Providers refuse contents without parts, so there are none.
func heard(author string, said []workflow.Said) []*genai.Content {
	var list []*genai.Content
	for _, s := range said {
		if c := retold(author, s); len(c.Parts) > 0 {
			list = append(list, c)
		}
	}
	return list
}

// retold is what an agent has said, as another one sees it.
func retold(author string, s workflow.Said) *genai.Content {
	if s.Author == author {
		return s.Content
	}
	c := &genai.Content{Role: genai.RoleUser}
	for _, p := range s.Content.Parts {
		if p != nil && p.Text != "" && !p.Thought {
			c.Parts = append(c.Parts, &genai.Part{Text: fmt.Sprintf("[%s] said: %s", s.Author, p.Text)})
		}
	}
	return c
}

// stepContents are an answer with calls, and their results.
func stepContents(j *workflow.Job, s workflow.Step) []*genai.Content {
	asked := s.Content
	if asked == nil {
		asked = &genai.Content{Role: genai.RoleModel}
		for _, c := range s.Calls {
			asked.Parts = append(asked.Parts, &genai.Part{FunctionCall: c})
		}
	}
	results := &genai.Content{Role: genai.RoleUser}
	for i, c := range s.Calls {
		result, ok := s.Results[i].(map[string]any)
		if !ok {
			result = map[string]any{"result": s.Results[i]}
		}
		results.Parts = append(results.Parts, &genai.Part{FunctionResponse: &genai.FunctionResponse{ID: c.ID, Name: c.Name,
			Response: result}})
	}
	return []*genai.Content{recalled(j, asked), results}
}

// runCalls runs the calls of tools of one answer, one after the other. What goes wrong is their result.
func (k *worker) runCalls(ctx context.Context, r *run, j *workflow.Job) (*workflow.Result, error) {
	res := &workflow.Result{}
	for _, c := range j.Calls {
		result, err := k.callTool(ctx, r, j, c)
		switch {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case errors.Is(err, errWaits):
			res.Deferred = true // the others run meanwhile
			result = nil
		case err != nil:
			result = map[string]any{"error": err.Error()}
		}
		res.Results = append(res.Results, result)
	}
	return res, nil
}

// callTool runs one call of a tool, with the hooks around it.
func (k *worker) callTool(ctx context.Context, r *run, j *workflow.Job, c *genai.FunctionCall) (map[string]any, error) {
	s := r.scope(j)
	var result map[string]any
	var err error
	for _, h := range k.hooks {
		if h.BeforeTool != nil && result == nil {
			if result, err = h.BeforeTool(ctx, s, c); err != nil {
				return nil, err
			}
		}
	}
	if result == nil {
		if result, err = k.plainTool(ctx, r, c); err != nil {
			return nil, err
		}
		if text, ok := failed(result); ok {
			result = k.onError(ctx, s, c, text, result)
		}
	}
	for _, h := range k.hooks {
		if h.AfterTool == nil {
			continue
		}
		next, err := h.AfterTool(ctx, s, c, result)
		if err != nil {
			return nil, err
		}
		if next != nil {
			result = next
		}
	}
	return result, nil
}

// onError is the result in place of one that is an error, which stands if no hook has another.
func (k *worker) onError(ctx context.Context, s *Scope, c *genai.FunctionCall, failed string,
	result map[string]any) map[string]any {
	for _, h := range k.hooks {
		if h.OnToolError == nil {
			continue
		}
		if next, err := h.OnToolError(ctx, s, c, failed); err == nil && next != nil {
			return next
		}
	}
	return result
}

// misfit is why the arguments of a call of an agent do not fit its input_schema.
func (k *worker) misfit(c *genai.FunctionCall) error {
	schema := k.inputs[c.Name]
	if schema == nil {
		return nil
	}
	args := c.Args
	if args == nil {
		args = map[string]any{}
	}
	if err := schema.Validate(args); err != nil {
		return fmt.Errorf("the arguments do not fit the input_schema of %s: %w", c.Name, err)
	}
	return nil
}

// plainTool runs one call.
func (k *worker) plainTool(ctx context.Context, r *run, c *genai.FunctionCall) (map[string]any, error) {
	if err := k.misfit(c); err != nil {
		return map[string]any{"error": err.Error()}, nil
	}
	switch {
	case c.Name == exitTool && k.exits:
		return map[string]any{"result": "the loop ends once you have answered"}, nil
	case slices.Contains(k.session, c.Name):
		return k.sessionCall(ctx, r, c)
	}
	return call(ctx, k.call, r.turn, c)
}

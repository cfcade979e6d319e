package provider

import (
	"context"
	"errors"
	"iter"
	"net/http"
	"slices"
	"strings"

	"google.golang.org/adk/v2/model"
	adkgemini "google.golang.org/adk/v2/model/gemini"
	"google.golang.org/genai"
)

// gemini is ADK's Gemini model, with the retries, errors and limits of the others.
type gemini struct {
	*link
	llm model.LLM
}

// geminiTraits: the API takes all that package genai can say.
func geminiTraits() traits { return traits{} }

func newGemini(l *link) (model.LLM, error) {
	base, version := l.base, ""
	for _, v := range []string{"/v1beta", "/v1alpha", "/v1"} {
		if b, ok := strings.CutSuffix(base, v); ok {
			base, version = b, v[1:]
			break
		}
	}
	llm, err := adkgemini.NewModel(context.Background(), l.model, &genai.ClientConfig{Backend: genai.BackendGeminiAPI,
		APIKey: l.key, HTTPClient: l.client, HTTPOptions: genai.HTTPOptions{BaseURL: base + "/", APIVersion: version}})
	if err != nil {
		return nil, err
	}
	return &gemini{link: l, llm: llm}, nil
}

// Client returns the client of ADK's model, which ADK's live flow asks for.
func (g *gemini) Client() *genai.Client {
	c, ok := g.llm.(interface{ Client() *genai.Client })
	if !ok {
		return nil
	}
	return c.Client()
}

// GenerateContent sends a request and yields the response: with stream first its words as they come.
func (g *gemini) GenerateContent(ctx context.Context, r *model.LLMRequest, stream bool,
) iter.Seq2[*model.LLMResponse, error] {
	return func(yield func(*model.LLMResponse, error) bool) {
		p, err := newPrompt(g.link, geminiTraits(), r)
		if err != nil {
			yield(nil, g.signed(err, 0))
			return
		}
		partial := yield
		if !stream {
			partial = nil
		}
		g.ask(ctx, p, partial, yield, func(ctx context.Context, a *answer) error {
			return g.each(ctx, p.gemini(), stream, func(resp *model.LLMResponse) bool {
				a.gemini(resp)
				return !a.gone
			})
		})
	}
}

// each calls f with every response of ADK's model until f has enough. Package genai panics on JSON of an
// unexpected shape, such as an object in place of a list; a panic of f itself goes on.
func (g *gemini) each(ctx context.Context, r *model.LLMRequest, stream bool,
	f func(*model.LLMResponse) bool) (err error) {
	inside := false
	defer func() {
		if inside {
			return
		}
		if v := recover(); v != nil {
			err = newError(Malformed, "package genai cannot read the response")
		}
	}()
	for resp, err := range g.llm.GenerateContent(ctx, r, stream) {
		if err != nil {
			return geminiError(ctx, err)
		}
		if resp == nil {
			continue
		}
		inside = true
		more := f(resp)
		inside = false
		if !more {
			return nil
		}
	}
	return nil
}

// gemini returns a request that ADK may change.
func (p *prompt) gemini() *model.LLMRequest {
	config := p.config
	config.HTTPOptions = &genai.HTTPOptions{Headers: http.Header{}}
	if p.schema != nil {
		config.ResponseSchema, config.ResponseJsonSchema, config.ResponseMIMEType = nil, p.schema, "application/json"
	}
	var list []*genai.FunctionDeclaration
	for _, t := range p.tools {
		list = append(list, &genai.FunctionDeclaration{Name: t.Name, Description: t.Description,
			ParametersJsonSchema: t.Schema})
	}
	config.Tools = nil
	for _, t := range p.config.Tools {
		if t == nil {
			continue
		}
		with := *t
		with.FunctionDeclarations, list = list, nil // all of them with the first
		config.Tools = append(config.Tools, &with)
	}
	if c := p.config.ToolConfig; c != nil && c.FunctionCallingConfig != nil {
		tools, call := *c, *c.FunctionCallingConfig
		call.AllowedFunctionNames = nil // those that are not allowed are not sent
		tools.FunctionCallingConfig = &call
		config.ToolConfig = &tools
	}
	return &model.LLMRequest{Model: p.model, Contents: slices.Clone(p.contents), Config: &config}
}

// gemini adds a response of ADK's model. A whole one has everything that partial ones had.
func (a *answer) gemini(r *model.LLMResponse) {
	a.model = firstOf(r.ModelVersion, a.model)
	if r.UsageMetadata != nil {
		usage := *r.UsageMetadata
		if usage.TotalTokenCount == 0 {
			usage.TotalTokenCount = usage.PromptTokenCount + usage.CandidatesTokenCount + usage.ThoughtsTokenCount
		}
		a.usage = &usage
	}
	if r.FinishReason != "" {
		a.end(r.FinishReason, r.ErrorMessage)
	} else if r.ErrorCode != "" { // the prompt was refused
		a.end(genai.FinishReasonSafety, firstOf(r.ErrorMessage, r.ErrorCode))
	}
	if r.Content == nil {
		return
	}
	for _, p := range r.Content.Parts {
		switch {
		case p == nil:
		case r.Partial:
			a.show(p.Text, p.Thought)
		default:
			a.parts = append(a.parts, p)
		}
	}
}

// geminiError maps an error of package genai, but those of the connection, which the attempt knows. Before
// a request left, it is about something that the API does not take.
func geminiError(ctx context.Context, err error) error {
	var e genai.APIError
	if t, _ := ctx.Value(trialKey{}).(*trial); t != nil && !t.sent {
		return unsupported("%v", err)
	}
	if !errors.As(err, &e) {
		return asError(err)
	}
	code := classify(e.Code, e.Status)
	return &Error{Code: code, Reason: e.Status, Message: e.Message, Retryable: code.again()}
}

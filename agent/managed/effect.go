package managed

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"

	"google.golang.org/adk/v2/model"
	"google.golang.org/genai"

	"github.com/voicegw/voicegw/agent"
	"github.com/voicegw/voicegw/agent/provider"
)

// effectKey is the key of the nth effect of a name in a turn: it is the same after a crash.
func (r *turnRun) effectKey(name string) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.counts[name]++
	return fmt.Sprintf("%s/%d", name, r.counts[name])
}

// count is how many effects of a name there were so far.
func (r *turnRun) count(name string) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.counts[name]
}

// askKey is the key of a request. A branch may not be asked each time, and gets jobs in any order: its requests
// are known by the one of its agent that they are for, and by what they ask.
func (r *turnRun) askKey(from *asker, req *model.LLMRequest) (string, error) {
	if from.branch == "" {
		return r.effectKey("model/" + from.agent), nil
	}
	b, err := json.Marshal(req.Contents)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(b)
	r.mu.Lock()
	n := r.counts["decision/"+from.agent]
	r.mu.Unlock()
	return r.effectKey(fmt.Sprintf("model/%s.%s/%d/%x", from.agent, from.branch, n, sum[:8])), nil
}

// begun reports whether the journal has an effect of a name beyond those so far, by n.
func (r *turnRun) begun(name string, n int) bool {
	_, known := r.o.effect(fmt.Sprintf("%s/%d", name, r.count(name)+n))
	return known != nil
}

// ask asks a model. A response that the journal has is not asked for again.
func (r *turnRun) ask(ctx context.Context, from *asker, req *agent.Request) iter.Seq2[*model.LLMResponse, error] {
	return func(yield func(*model.LLMResponse, error) bool) {
		key, err := r.askKey(from, req.Request)
		if err != nil {
			yield(nil, err)
			return
		}
		e, known := r.o.effect(key)
		if known != nil && known.done {
			noteKnown(ctx)
			r.answered(r.author(from.agent), known.info)
			yield(known.info.outcome())
			return
		}
		if known != nil && from.branch == "" && r.begun("model/"+from.agent, 1) {
			noteKnown(ctx)
			yield(nil, errors.New("the program has given up this request")) // it took too long, then it asked again
			return
		}
		e.Kind, e.Agent = modelEffect, r.author(from.agent)
		if known != nil {
			e.Span = known.info.Span
		} else if err := r.startModel(ctx, from.model, e); err != nil {
			yield(nil, err)
			return
		}
		r.streaming(e.Agent, from.branch, e.Span)
		whole, failed, more := r.generate(ctx, from, req, yield)
		if !more {
			return
		}
		if ctx.Err() != nil { // the turn is being stopped, or the process ends: the effect stays open
			yield(nil, ctx.Err())
			return
		}
		e.Response, e.Failure = r.identified(withoutRefused(whole), e.Agent, e.Span), failureOf(whole, failed)
		if p, ok := r.o.rt.price(from.model); ok {
			e.Cost = p.cost(usageOf(e.Response))
		}
		if err := r.finish(ctx, e, spanEnd(e, r.o.prefix())); err != nil {
			yield(nil, err)
			return
		}
		r.answered(e.Agent, e)
		yield(e.outcome())
	}
}

// generate asks the model of an asker. It passes partial responses on, and returns the whole one. more is false
// if nobody wants more.
func (r *turnRun) generate(ctx context.Context, from *asker, req *agent.Request,
	yield func(*model.LLMResponse, error) bool) (whole *model.LLMResponse, failed error, more bool) {
	own, stream := *req.Request, req.Turn.Stream && from.branch == ""
	if from.branch != "" || own.Model == "" {
		own.Model = from.llm.Name()
	}
	r.offer(from.agent, &own)
	for resp, err := range from.llm.GenerateContent(ctx, &own, stream) {
		if err != nil {
			return nil, err, true
		}
		if !resp.Partial {
			whole = agent.Joined(whole, resp)
		} else if stream && !yield(resp, nil) {
			return nil, nil, false
		}
	}
	return whole, nil, true
}

// author is the name of an agent in the journal: none if there is one agent alone.
func (r *turnRun) author(name string) string {
	if !r.o.agent.named {
		return ""
	}
	return name
}

// outcome is what the effect of a model came to.
func (e *effectInfo) outcome() (*model.LLMResponse, error) {
	if e.Failure != nil {
		return nil, errors.New(e.Failure.Text)
	}
	return e.Response, nil
}

// identified gives every call of a response an id of its own, which is then part of the record. Another agent
// of the turn may have used the model's.
func (r *turnRun) identified(resp *model.LLMResponse, author string, span uint64) *model.LLMResponse {
	if resp == nil || resp.Content == nil {
		return resp
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	seen := map[string]bool{"": true}
	for i, p := range resp.Content.Parts {
		if p == nil || p.FunctionCall == nil {
			continue
		}
		c := p.FunctionCall
		if owner, taken := r.ids[c.ID]; seen[c.ID] || taken && owner != author {
			c.ID = fmt.Sprintf("call_%d_%d", span, i)
		}
		seen[c.ID], r.ids[c.ID] = true, author
	}
	return resp
}

// failureOf is why a model gave nothing to go on with; nil if it did.
func failureOf(r *model.LLMResponse, err error) *effectFailure {
	var pe *provider.Error
	switch {
	case errors.As(err, &pe):
		return &effectFailure{Type: failureType(pe.Code), Text: pe.Error(), Retryable: pe.Retryable}
	case err != nil:
		return &effectFailure{Type: "model_request_failed_error", Text: err.Error()}
	case r == nil:
		return &effectFailure{Type: "model_request_failed_error", Text: "the model ended without a whole response",
			Retryable: true}
	case emptyAnswer(r):
		return &effectFailure{Type: "model_request_failed_error", Text: "the model answered neither text nor a call",
			Retryable: true}
	}
	return nil
}

// emptyAnswer reports whether a model has ended well and said nothing. Another attempt may help.
func emptyAnswer(r *model.LLMResponse) bool {
	if r.ErrorCode != "" || r.FinishReason != "" && r.FinishReason != genai.FinishReasonStop {
		return false
	}
	return r.Content == nil || !slices.ContainsFunc(r.Content.Parts, func(p *genai.Part) bool {
		return p != nil && (p.FunctionCall != nil || p.Text != "" && !p.Thought || p.InlineData != nil || p.FileData != nil ||
			p.ExecutableCode != nil || p.CodeExecutionResult != nil)
	})
}

// refusalOf says why a model, or the filter of its provider, refused; nil if it did not.
func refusalOf(r *model.LLMResponse) *StopDetails {
	if r == nil {
		return nil
	}
	reason := genai.FinishReason(firstOf(string(r.FinishReason), r.ErrorCode))
	why := "the filter of the provider stopped the answer"
	switch reason {
	case genai.FinishReasonSafety:
		why = "the model, or the filter of its provider, refused to answer"
	case genai.FinishReasonRecitation, genai.FinishReasonImageRecitation:
		why = "the answer was too close to a known work"
	case genai.FinishReasonBlocklist, genai.FinishReasonProhibitedContent, genai.FinishReasonSPII,
		genai.FinishReasonImageSafety, genai.FinishReasonImageProhibitedContent:
	default:
		return nil
	}
	if r.ErrorMessage != "" {
		why = r.ErrorMessage
	}
	return &StopDetails{Type: Refusal, Category: strings.ToLower(string(reason)), Explanation: why}
}

// withoutRefused is a response without its calls if the model refused: none of them is run.
func withoutRefused(r *model.LLMResponse) *model.LLMResponse {
	if refusalOf(r) == nil || r.Content == nil {
		return r
	}
	own := *r
	own.Content = &genai.Content{Role: r.Content.Role, Parts: slices.DeleteFunc(slices.Clone(r.Content.Parts),
		func(p *genai.Part) bool { return p == nil || p.FunctionCall != nil })}
	return &own
}

// failureType is the type of a session.error for the failure of a model.
func failureType(c provider.Code) string {
	switch c {
	case provider.Overloaded, provider.Failed:
		return "model_overloaded_error"
	case provider.RateLimited:
		return "model_rate_limited_error"
	case provider.OutOfQuota:
		return "billing_error"
	}
	return "model_request_failed_error"
}

// spanEnd is the event of the end of a request to a model.
func spanEnd(e *effectInfo, prefix string) *Event {
	failed := e.Failure != nil
	return &Event{Type: SpanEnd, SpanStartID: eventID(prefix, e.Span), IsError: &failed, ModelUsage: usageOf(e.Response)}
}

// usageOf is what a response cost.
func usageOf(r *model.LLMResponse) *Usage {
	u := &Usage{}
	if r == nil || r.UsageMetadata == nil {
		return u
	}
	m := r.UsageMetadata
	count := func(n int32) int64 { return max(0, int64(n)) }
	u.CacheRead = count(m.CachedContentTokenCount)
	if n, ok := r.CustomMetadata[provider.CacheWriteTokens].(int32); ok {
		u.CacheWrite = count(n)
	}
	u.InputTokens = max(0, count(m.PromptTokenCount)-u.CacheRead-u.CacheWrite)
	u.Thinking = count(m.ThoughtsTokenCount)
	u.OutputTokens = count(m.CandidatesTokenCount) + u.Thinking
	return u
}

func (u *Usage) add(v *Usage) {
	if v == nil {
		return
	}
	u.InputTokens += v.InputTokens
	u.OutputTokens += v.OutputTokens
	u.CacheRead += v.CacheRead
	u.CacheWrite += v.CacheWrite
	u.Thinking += v.Thinking
	u.Active += v.Active
}

// effect is what the log has of an effect of the turn; known is nil if nothing.
func (o *owned) effect(key string) (e *effectInfo, known *effect) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.st.turn != nil {
		known = o.st.turn.effects[key]
	}
	return &effectInfo{Key: key}, known
}

// startModel stores that a request to a model begins, unless the budget is reached.
func (r *turnRun) startModel(ctx context.Context, name string, e *effectInfo) error {
	noteBegan(ctx)
	return r.store(ctx, func(st *state) (*record, error) {
		limit := firstOf(st.reached(), st.turnReached())
		if _, ok := r.o.rt.price(name); !ok && st.info.Budget.money() { // the operator had one before
			limit = fmt.Sprintf("the model %q has no price", name)
		}
		if limit != "" {
			r.mu.Lock()
			r.limit = limit
			r.mu.Unlock()
			return nil, &budgetError{limit}
		}
		e.Span = st.head.Seq + 1
		begun := *e
		return &record{Kind: recordStart, Effect: &begun, Events: []*Event{{Type: SpanStart}}}, nil
	})
}

// startEffect stores that an effect begins.
func (r *turnRun) startEffect(ctx context.Context, e *effectInfo) error {
	noteBegan(ctx)
	begun := *e
	return r.store(ctx, just(&record{Kind: recordStart, Effect: &begun}))
}

// finish stores the end of an effect.
func (r *turnRun) finish(ctx context.Context, e *effectInfo, events ...*Event) error {
	ended := *e
	return r.store(ctx, just(&record{Kind: recordFinish, Effect: &ended, Events: events}))
}

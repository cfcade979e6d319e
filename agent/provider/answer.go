package provider

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"

	"google.golang.org/adk/v2/model"
	"google.golang.org/genai"
)

// CacheWriteTokens is the key of LLMResponse.CustomMetadata for the tokens that a provider wrote to its
// cache, an int32. They are part of the prompt's tokens.
const CacheWriteTokens = "voicegw:cache_write_tokens"

// answer collects one response of any provider. Decoders fill it in the order of the response.
type answer struct {
	names   *names
	partial func(*model.LLMResponse, error) bool // nil without stream
	begun   bool                                 // something was handed over
	gone    bool                                 // nobody takes the rest

	model      string
	parts      []*genai.Part
	calls      []*openCall
	finish     genai.FinishReason
	message    string // why it ended, in the provider's words
	usage      *genai.GenerateContentResponseUsageMetadata
	cacheWrite int32
}

// openCall is a call whose arguments may still arrive.
type openCall struct {
	key  string
	call *genai.FunctionCall
	args strings.Builder
}

// text adds words of the response.
func (a *answer) text(s string) { a.add(s, false) }

// thought adds words that the model thought.
func (a *answer) thought(s string) { a.add(s, true) }

func (a *answer) add(s string, thought bool) {
	if s == "" {
		return
	}
	if p := a.last(); p != nil && p.FunctionCall == nil && p.Thought == thought && len(p.ThoughtSignature) == 0 {
		p.Text += s
	} else {
		a.parts = append(a.parts, &genai.Part{Text: s, Thought: thought})
	}
	a.show(s, thought)
}

// show hands words over before the response is whole.
func (a *answer) show(s string, thought bool) {
	if a.partial == nil || a.gone || s == "" {
		return
	}
	a.begun = true
	a.gone = !a.partial(&model.LLMResponse{Partial: true, ModelVersion: a.model, Content: &genai.Content{
		Role: genai.RoleModel, Parts: []*genai.Part{{Text: s, Thought: thought}}}}, nil)
}

func (a *answer) last() *genai.Part {
	if len(a.parts) == 0 {
		return nil
	}
	return a.parts[len(a.parts)-1]
}

// sign gives the last thought its signature; a provider gets both back with the next request.
func (a *answer) sign(provider, signature string) {
	p := a.last()
	if p == nil || !p.Thought || len(p.ThoughtSignature) > 0 {
		p = &genai.Part{Thought: true}
		a.parts = append(a.parts, p)
	}
	p.ThoughtSignature = []byte(signatureTag + provider + ":" + signature)
}

// refuse adds the words of a refusal.
func (a *answer) refuse(s string) {
	a.text(s)
	a.end(genai.FinishReasonSafety, "")
}

// call begins a call, or returns the one of that key.
func (a *answer) call(key string) *openCall {
	for _, c := range a.calls {
		if c.key == key {
			return c
		}
	}
	c := &openCall{key: key, call: &genai.FunctionCall{}}
	a.calls = append(a.calls, c)
	a.parts = append(a.parts, &genai.Part{FunctionCall: c.call})
	return c
}

// named sets what is known of a call.
func (c *openCall) named(id, name string) *openCall {
	c.call.ID, c.call.Name = firstOf(id, c.call.ID), firstOf(name, c.call.Name)
	return c
}

// appendArgs adds a piece of the arguments of the call of that key. A piece of no call is ignored: it
// belongs to a block of another type.
func (a *answer) appendArgs(key, piece string) {
	for _, c := range a.calls {
		if c.key == key {
			c.args.WriteString(piece)
		}
	}
}

// whole sets all arguments of a call, as a JSON object.
func (c *openCall) whole(args string) {
	if args != "" {
		c.args.Reset()
		c.args.WriteString(args)
	}
}

// end says why the response ended. A refusal stays one.
func (a *answer) end(reason genai.FinishReason, message string) {
	if a.finish != genai.FinishReasonSafety {
		a.finish = reason
	}
	a.message = firstOf(message, a.message)
}

// count says what the response cost: thoughts and cached are parts of output and prompt.
func (a *answer) count(prompt, output, thoughts, cached, total int64) {
	if total <= 0 {
		total = max(0, prompt) + max(0, output)
	}
	a.usage = &genai.GenerateContentResponseUsageMetadata{
		PromptTokenCount: tokens(prompt), CandidatesTokenCount: tokens(output - max(0, thoughts)),
		ThoughtsTokenCount: tokens(thoughts), CachedContentTokenCount: tokens(cached), TotalTokenCount: tokens(total),
	}
}

func tokens(n int64) int32 { return int32(min(max(n, 0), math.MaxInt32)) }

// response returns the whole response.
func (a *answer) response() (*model.LLMResponse, error) {
	if a.finish == genai.FinishReasonMalformedFunctionCall {
		return nil, newError(MalformedCall, "the provider could not read a call of its model: %s", a.message)
	}
	if a.finish == "" || a.finish == genai.FinishReasonUnspecified {
		return nil, newError(Incomplete, "the response ended without saying why")
	}
	a.dropCut()
	for _, c := range a.calls {
		if err := c.close(); err != nil {
			return nil, err
		}
	}
	for _, p := range a.parts {
		if p.FunctionCall != nil {
			p.FunctionCall.Name = a.names.real(p.FunctionCall.Name)
		}
	}
	r := &model.LLMResponse{Content: &genai.Content{Role: genai.RoleModel, Parts: a.parts}, TurnComplete: true,
		FinishReason: a.finish, UsageMetadata: a.usage, ModelVersion: a.model}
	if len(a.parts) == 0 && a.finish != genai.FinishReasonStop {
		r.ErrorCode, r.ErrorMessage = string(a.finish), a.message
	}
	if a.cacheWrite > 0 {
		r.CustomMetadata = map[string]any{CacheWriteTokens: a.cacheWrite}
	}
	return r, nil
}

// dropCut drops the last part of a response that a limit cut off, if it is a call: nothing says that its
// arguments are whole. The finish reason tells of it.
func (a *answer) dropCut() {
	p := a.last()
	if a.finish != genai.FinishReasonMaxTokens || p == nil || p.FunctionCall == nil {
		return
	}
	a.parts = a.parts[:len(a.parts)-1]
	a.calls = slices.DeleteFunc(a.calls, func(c *openCall) bool { return c.call == p.FunctionCall })
}

// close reads the arguments of a call.
func (c *openCall) close() error {
	if c.call.Name == "" {
		return newError(MalformedCall, "a call has no name")
	}
	args, err := readArgs(c.args.String())
	c.call.Args = args
	return err
}

// readArgs reads arguments. None at all, and null, are an empty object.
func readArgs(text string) (map[string]any, error) {
	args := map[string]any{}
	if text = strings.TrimSpace(text); text == "" {
		return args, nil
	}
	if err := json.Unmarshal([]byte(text), &args); err != nil {
		e := newError(MalformedCall, "the arguments of a call are no JSON object")
		e.Err = err
		return nil, e
	}
	if args == nil {
		args = map[string]any{}
	}
	return args, nil
}

// signatureTag begins the signatures of thoughts, with the provider that they belong to. Those of Gemini
// have none.
const signatureTag = "voicegw:"

// signature returns the signature that a provider gave a thought.
func signature(p *genai.Part, provider string) (string, bool) {
	s, ok := bytes.CutPrefix(p.ThoughtSignature, []byte(signatureTag+provider+":"))
	return string(s), ok && p.Thought
}

// decode reads JSON of a provider. Its error does not quote it.
func decode(b []byte, into any) error {
	if err := json.Unmarshal(b, into); err != nil {
		e := newError(Malformed, "the response is broken JSON")
		e.Err = fmt.Errorf("provider: decode: %w", err)
		return e
	}
	return nil
}

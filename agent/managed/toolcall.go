package managed

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"google.golang.org/genai"

	"github.com/voicegw/voicegw/agent"
	"github.com/voicegw/voicegw/agent/managed/life"
)

// Tool is a tool that the process runs: one of the built-in set, or of an MCP server.
type Tool struct {
	Declaration *genai.FunctionDeclaration
	// Idempotent means that a call which is repeated with the same key has one effect.
	Idempotent bool
	// Repeats, if not nil, says the same of a call by its arguments, instead of Idempotent.
	Repeats func(args map[string]any) bool
	// Call runs a call. ctx ends when it takes too long or the turn ends. An error is a result, too: the model gets its
	// text, or the result beside it if that is not nil.
	Call func(ctx context.Context, c ToolCall) (map[string]any, error)
	// Server is the name of the MCP server that has the tool; "" for a built-in one.
	Server string
}

// repeats reports whether a call may be repeated.
func (t *Tool) repeats(args map[string]any) bool {
	if t.Repeats != nil {
		return t.Repeats(args)
	}
	return t.Idempotent
}

// ToolCall is one call of a Tool.
type ToolCall struct {
	Session string
	// Key is the idempotency key: the same when the call is repeated after a crash.
	Key  string
	ID   string // the model's
	Name string
	Args map[string]any
}

// The results of calls that did not happen, as models get them.
const (
	unknownOutcome = "outcome_unknown: the process stopped during this call. It may have happened or not, and was not " +
		"repeated."
	cancelledCall = "cancelled: the user interrupted before this call had a result"
	expiredCall   = "timed_out: no result came in time"
	crowdedCall   = "too_many_calls: as many calls as may wait for the client did so; call the tool again later"
	deniedDefault = "Tool execution denied by user"
	deniedByRule  = "denied: the agent may not call this tool"
)

// failedResult is a result that tells the model of an error.
func failedResult(text string) map[string]any { return map[string]any{"error": text} }

// wait leaves a call to the client, unless it came when too many waited.
func (r *turnRun) wait(has *hasTools, c *genai.FunctionCall) *agent.Reply {
	author, name := has.call(c.ID)
	_ = r.effectKey(name)
	if told := r.resultTold(author, c.ID, r.count(name)); told != nil {
		return &agent.Reply{Response: told}
	}
	r.o.mu.Lock()
	defer r.o.mu.Unlock()
	if r.o.st.openCall(c.ID) == nil {
		return &agent.Reply{Response: failedResult(crowdedCall)}
	}
	return &agent.Reply{Deferred: true}
}

// run runs a call of a tool once: a result that the journal has is not asked for again, and a call that
// may have happened is repeated only if the tool or the agent allows it.
func (r *turnRun) run(ctx context.Context, b *boundTool, has *hasTools, c *genai.FunctionCall) (*agent.Reply, error) {
	author, name := has.call(c.ID)
	e, known := r.o.effect(r.effectKey(name))
	if told := r.resultTold(author, c.ID, r.count(name)); told != nil { // perhaps that the call took too long,
		return &agent.Reply{Response: told}, nil // whatever became of it later
	}
	e.Agent = author
	if known != nil && known.done {
		return &agent.Reply{Response: known.info.Result}, nil
	}
	return r.perform(ctx, b, e, known, c)
}

// perform runs a call that has no result yet. known is what the journal has of it: it may have happened.
func (r *turnRun) perform(ctx context.Context, b *boundTool, e *effectInfo, known *effect, c *genai.FunctionCall) (
	*agent.Reply, error) {
	t, resumes := b.tool, r.o.agent.prog.Resumes
	if known != nil && !t.repeats(c.Args) && b.policy.unknown == askUnknown {
		if resumes {
			e.Unknown = true
			return r.await(ctx, e, c)
		}
		if asked, err := r.askUnknown(ctx, r.key(e, c), c); asked || err != nil {
			return &agent.Reply{Deferred: true}, err
		}
	}
	switch {
	case known != nil && !t.repeats(c.Args) && b.policy.unknown != retryUnknown:
		e.Kind, e.Result, e.Failed = toolEffect, failedResult(unknownOutcome), true
		if err := r.finishCall(ctx, e); err != nil {
			return nil, err
		}
		return &agent.Reply{Response: e.Result}, nil
	case known == nil:
		e.Kind = toolEffect
		if err := r.startEffect(ctx, e); err != nil {
			return nil, err
		}
	}
	result, err := call(ctx, t, ToolCall{Session: r.o.id, ID: c.ID, Name: c.Name, Args: c.Args,
		Key: r.key(e, c)})
	if ctx.Err() != nil && r.o.ending() {
		return nil, ctx.Err() // the process ends: nobody knows what became of the call
	}
	e.Kind, e.Result, e.Failed = toolEffect, result, err != nil
	if err != nil && result == nil {
		e.Result = failedResult(err.Error())
	}
	if err := fits(&e.Result); err != nil {
		e.Result, e.Failed = failedResult(err.Error()), true
	}
	e.Late = resumes && ctx.Err() != nil
	if err := r.finishCall(context.WithoutCancel(ctx), e); err != nil {
		return nil, err
	}
	if resumes && ctx.Err() != nil && !e.Late { // the program has given it up while it was stored
		e.Late, e.Use = true, ""
		return nil, errors.Join(ctx.Err(), r.finish(context.WithoutCancel(ctx), e))
	}
	return &agent.Reply{Response: e.Result}, nil
}

// finishCall stores the end of a call. The client who was asked gets to know it.
func (r *turnRun) finishCall(ctx context.Context, e *effectInfo) error {
	ended := *e
	return r.store(ctx, func(st *state) (*record, error) {
		rec := &record{Kind: recordFinish, Effect: &ended}
		if ended.Use == "" {
			return rec, nil
		}
		if ev := st.resultEvent(ended.Call, ended.Result, ended.Failed); ev != nil {
			ev.Agent = ended.Agent
			rec.Events = []*Event{ev}
		}
		return rec, nil
	})
}

// key is the idempotency key of a call.
func (r *turnRun) key(e *effectInfo, c *genai.FunctionCall) string {
	if key := r.t.info.Keys[c.ID]; key != "" { // of an earlier turn, in which it may have happened
		return key
	}
	return fmt.Sprintf("%s/%d/%s", r.o.id, r.t.info.Number, e.Key)
}

// askUnknown lets a call that may have happened wait for the client, who says whether it is repeated. It reports false
// if too many calls wait.
func (r *turnRun) askUnknown(ctx context.Context, key string, c *genai.FunctionCall) (asked bool, err error) {
	r.o.mu.Lock()
	waits := slices.ContainsFunc(r.o.st.calls, func(open *openCall) bool { return open.ID == c.ID && open.Key == key })
	full := len(r.o.st.calls) >= life.CallsMax
	r.o.mu.Unlock()
	if waits || full {
		return waits, nil
	}
	return true, r.store(ctx, func(st *state) (*record, error) {
		use := st.uses[c.ID]
		if use == nil {
			return nil, fmt.Errorf("managed: session %s: the call %q has no event", r.o.id, c.ID)
		}
		return &record{Kind: recordStep, Calls: []*openCall{{Event: use.ID, ID: c.ID, Name: c.Name, Args: c.Args,
			Kind: confirmCall, Key: key}}}, nil
	})
}

// resultTold returns the nth result that the journal has for a call of an agent, or nil.
func (r *turnRun) resultTold(author, id string, n int) map[string]any {
	for _, s := range r.told[author] {
		for _, p := range s.content.Parts {
			if p.FunctionResponse == nil || p.FunctionResponse.ID != id {
				continue
			}
			if n--; n == 0 {
				return p.FunctionResponse.Response
			}
		}
	}
	return nil
}

// call runs a tool. A panic is an error.
func call(ctx context.Context, t *Tool, c ToolCall) (result map[string]any, err error) {
	defer func() {
		if p := recover(); p != nil {
			result, err = nil, fmt.Errorf("the tool panicked: %v", p)
		}
	}()
	return t.Call(ctx, c)
}

// resultDepth is how deep a result of a tool may be nested. The decoder of the journal's records has a limit of its
// own, and a record that it refuses would make the log unreadable.
const resultDepth = 200

// depthOf is how deep JSON is nested.
func depthOf(b []byte) int {
	depth, most, quoted := 0, 0, false
	for i := 0; i < len(b); i++ {
		switch c := b[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '[' || c == '{':
			depth++
			most = max(most, depth)
		case c == ']' || c == '}':
			depth--
		}
	}
	return most
}

// resultMax is the largest result of a tool, in bytes of JSON.
const resultMax = 256 << 10

// fits makes a result what its JSON says, so that it is the same when it is read from the journal.
func fits(result *map[string]any) error {
	b, err := json.Marshal(*result)
	if err != nil {
		return fmt.Errorf("the result of the tool is no JSON: %w", err)
	}
	if len(b) > resultMax {
		return fmt.Errorf("the result of the tool has %d bytes; at most %d are allowed", len(b), resultMax)
	}
	if d := depthOf(b); d > resultDepth {
		return fmt.Errorf("the result of the tool is nested %d levels deep; at most %d are allowed", d, resultDepth)
	}
	*result = nil
	return json.Unmarshal(b, result)
}

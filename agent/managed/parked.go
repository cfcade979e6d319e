package managed

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"google.golang.org/genai"

	"github.com/voicegw/voicegw/agent"
	"github.com/voicegw/voicegw/agent/managed/life"
)

// A turn of a program that resumes (agent.Program.Resumes) may park in the middle: some of its agents wait for the
// client. The turn stays the same one when it goes on, with its number and its effects, and runs again from its
// beginning: what has been done is in the journal and is not done again. A call that waits is an effect, too, which
// the answer ends.

// stage is how far a call of such a turn is that the client has to do with.
type stage string

const (
	waitsStage   stage = "waits"   // for the client
	allowedStage stage = "allowed" // by the client; it has not begun
)

// resumable runs a call, or lets it wait for the client.
func (r *turnRun) resumable(ctx context.Context, b *boundTool, has *hasTools, c *genai.FunctionCall) (*agent.Reply,
	error) {
	e, known := r.o.effect(r.effectKey("tool/" + has.agent + "/" + c.ID))
	e.Agent = has.agent
	switch {
	case r.givenUp(known):
		noteKnown(ctx)
		return &agent.Reply{Response: failedResult(lateCall)}, nil
	case known != nil && known.done:
		noteKnown(ctx)
		return &agent.Reply{Response: known.info.Result}, nil
	case known != nil && known.info.Stage == waitsStage:
		return r.await(ctx, known.info, c)
	case known == nil && b.policy.permission == AlwaysDeny:
		return &agent.Reply{Response: failedResult(deniedByRule)}, nil
	case known == nil && r.passed(has.agent, c):
		return &agent.Reply{Response: failedResult(lateCall)}, nil
	case known == nil && (b.tool == nil || b.policy.permission == AlwaysAsk):
		return r.await(ctx, e, c)
	case known != nil:
		e.Use, e.Call = known.info.Use, known.info.Call
		if known.info.Stage == allowedStage {
			known = nil
		}
	}
	return r.perform(ctx, b, e, known, c)
}

const lateCall = "the call took too long; the program went on without its result"

// givenUp reports whether the program has gone on without the result of a call: an effect of the same agent began
// behind it that begins only once the call is over.
func (r *turnRun) givenUp(e *effect) bool {
	if e == nil || e.done && !e.info.Late {
		return false
	}
	r.o.mu.Lock()
	defer r.o.mu.Unlock()
	effects := r.t.effects
	if effects[nextKey(e.info.Key)] != nil {
		return true
	}
	for _, other := range effects {
		if other.info.Kind == modelEffect && other.info.Agent == e.info.Agent && other.first > e.first {
			return true
		}
	}
	return false
}

// passed reports whether the program has gone on without a call that never began: the agent has asked a model behind
// the request that the call is of.
func (r *turnRun) passed(of string, c *genai.FunctionCall) bool {
	r.o.mu.Lock()
	defer r.o.mu.Unlock()
	var made, last uint64 // the newest request that the call may be of, and the newest one
	for _, e := range r.t.effects {
		if e.info.Kind != modelEffect || e.info.Agent != of {
			continue
		}
		last = max(last, e.first)
		if resp := e.info.Response; resp != nil && resp.Content != nil && slices.ContainsFunc(callsOf(resp.Content),
			func(f *genai.FunctionCall) bool { return f.ID == c.ID }) {
			made = max(made, e.first)
		}
	}
	return made != 0 && made < last
}

// nextKey is the key of the next effect of the same name.
func nextKey(key string) string {
	i := strings.LastIndexByte(key, '/')
	n, _ := strconv.Atoi(key[i+1:])
	return fmt.Sprintf("%s/%d", key[:i], n+1)
}

// await makes a call wait for the client. One event tells the client of it. When too many calls wait already, the call
// is refused.
func (r *turnRun) await(ctx context.Context, e *effectInfo, c *genai.FunctionCall) (*agent.Reply, error) {
	r.o.mu.Lock()
	waits := r.o.st.opened(e.Key) != nil
	r.o.mu.Unlock()
	if waits {
		return &agent.Reply{Deferred: true}, nil
	}
	own, reply := *e, &agent.Reply{Deferred: true}
	own.Kind, own.Stage = toolEffect, waitsStage
	return reply, r.store(ctx, func(st *state) (*record, error) {
		if len(st.calls) >= life.CallsMax {
			own.Stage, own.Failed = "", true
			own.Result = failedResult(fmt.Sprintf("refused: %d calls wait for the client already, the most that may",
				life.CallsMax))
			reply.Deferred, reply.Response = false, own.Result
			return &record{Kind: recordFinish, Effect: &own}, nil
		}
		rec := &record{Kind: recordStart, Effect: &own}
		use, kind := r.o.use(own.Agent, c)
		open := &openCall{Event: own.Use, ID: c.ID, Name: c.Name, Args: c.Args, Kind: kind, Effect: own.Key}
		if kind == "" || own.Unknown { // it may have happened
			open.Kind, use.Permission, own.Unknown = confirmCall, "ask", true
			open.Key = r.key(e, c)
		}
		if open.Event == "" {
			if st.uses[c.ID] != nil { // of another agent, or an earlier one
				open.ID = fmt.Sprintf("%s_%d", c.ID, st.head.Seq+1)
			}
			use.ID, use.CallID, use.Agent = eventID(r.o.prefix(), st.head.Seq+1), open.ID, own.Agent
			open.Event, own.Use, own.Call = use.ID, use.ID, open.ID
			rec.Events = []*Event{use}
		} else {
			open.ID = own.Call
		}
		rec.Calls = []*openCall{open}
		return rec, nil
	})
}

// opened is the call of an effect that waits.
func (s *state) opened(key string) *openCall {
	for _, c := range s.calls {
		if c.Effect == key {
			return c
		}
	}
	return nil
}

// resumes reports whether the turn goes on where it parked, or stopped at the budget.
func (s *state) resumes() bool { return s.turn != nil && s.turn.end != nil && s.turn.end.Resumes }

// answered reports whether a turn that is parked has what it needs to go on: one answer if it resumes, else all.
func (s *state) answered() bool {
	n := len(s.calls) - len(s.waiting())
	return n > 0 && (s.resumes() || n == len(s.calls))
}

// resume makes a record let the turn go on. The calls that have answers wait no longer.
func (s *state) resume(r *record) {
	r.Turn = &turnInfo{Number: s.turn.info.Number, Again: true}
	left := answersMax
	for _, call := range s.calls {
		if call.Answer == nil {
			continue
		}
		r.Closed = append(r.Closed, call.Event)
		result, allowed := call.result()
		if allowed {
			e := s.ended(call, nil)
			e.Stage = allowedStage
			r.Effects = append(r.Effects, e)
			continue
		}
		n := sizeOf(result) + sizeOf(s.resultEvent(call.ID, result, true))
		if n > left {
			result, n = failedResult(answerTooLarge), 0
		}
		left -= n
		s.endCall(r, call, result)
	}
}

// endCall makes a record give a call of a turn that resumes its result.
func (s *state) endCall(r *record, call *openCall, result map[string]any) {
	e := s.ended(call, result)
	r.Effects = append(r.Effects, e)
	if ev := s.resultEvent(call.ID, result, true); ev != nil {
		ev.Agent = e.Agent
		r.Events = append(r.Events, ev)
	}
}

// ended is the effect of a call with its result. The turn may have lost what it had of the call.
func (s *state) ended(call *openCall, result map[string]any) *effectInfo {
	e := effectInfo{Key: call.Effect, Kind: toolEffect, Use: call.Event, Call: call.ID}
	if known := s.turn.effects[call.Effect]; known != nil {
		e = *known.info
	}
	_, failed := result["error"]
	e.Stage, e.Unknown, e.Result, e.Failed = "", false, result, failed
	return &e
}

// forget lets the failed requests of a turn be made again. A failure that the program has dealt with stays: what
// follows it depends on it.
func (t *turn) forget() {
	last := map[string]bool{}
	for key, e := range t.effects {
		last[key] = e.info.Failure != nil && t.effects[nextKey(key)] == nil
	}
	maps.DeleteFunc(t.effects, func(key string, _ *effect) bool { return last[key] })
}

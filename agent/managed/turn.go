package managed

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"google.golang.org/adk/v2/session"
	"google.golang.org/genai"

	"github.com/voicegw/voicegw/agent"
	"github.com/voicegw/voicegw/agent/managed/life"
	"github.com/voicegw/voicegw/journal"
)

// turnRun is one attempt to answer a turn. After a crash the attempt begins anew, with the effects that
// the journal has; what it adds to the conversation must then be what the journal has, too.
type turnRun struct {
	o      *owned
	t      *turn
	ctx    context.Context
	told   []*genai.Content // what the journal has of the turn
	before []*genai.Content // the conversation when the turn began
	// offered are the tools of MCP servers. They do not change while the net of the turn runs.
	offered []*genai.FunctionDeclaration

	mu       sync.Mutex
	counts   map[string]int // effects so far, by name
	added    []*genai.Content
	span     uint64 // of the request that is answered now
	shown    uint64 // the request whose answer was shown last
	failure  *effectFailure
	detail   string
	mismatch error
}

// runTurn is the task of the net: it answers a turn.
func (o *owned) runTurn(ctx context.Context, b life.Begin) (life.End, error) {
	if err := o.barrier(ctx); err != nil { // what was told before is in the log first
		return life.End{}, err
	}
	t, err := o.begin(ctx, b)
	if err != nil {
		return life.End{}, err
	}
	if t.end != nil { // it ended, and the process stopped before anybody was told
		return o.endOf(t)
	}
	ctx, cancel := context.WithTimeout(ctx, o.rt.cfg.Limits.TurnTimeout)
	defer cancel()
	r := o.attempt(ctx, t)
	end, err := r.answer(ctx)
	if o.ending() {
		return life.End{}, errors.New("the process lets go of the session")
	}
	if err := o.end(ctx, r, end, err); err != nil {
		o.letGo(err)
		return life.End{}, err
	}
	return o.endOf(t)
}

// barrier waits until the pump has done everything before.
func (o *owned) barrier(ctx context.Context) error {
	done := make(chan struct{})
	o.mu.Lock()
	o.then(0, func() { close(done) })
	o.mu.Unlock()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// begin stores that a turn begins, unless it goes on after a crash.
func (o *owned) begin(ctx context.Context, b life.Begin) (*turn, error) {
	if b != life.Recovered {
		err := o.store(ctx, func(st *state) (*record, error) {
			r := &record{Kind: recordBegin, Events: []*Event{{Type: StatusRunning}}}
			if err := st.beginWith(r, b, o.rt.now()); err != nil {
				return nil, fmt.Errorf("managed: session %s: %w", o.id, err)
			}
			return r, nil
		})
		if err != nil {
			return nil, err
		}
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.st.turn == nil {
		return nil, fmt.Errorf("managed: session %s: no turn is open", o.id)
	}
	return o.st.turn, nil
}

// beginWith makes a record begin a turn.
func (s *state) beginWith(r *record, b life.Begin, now time.Time) error {
	r.Turn = &turnInfo{Number: s.head.Turns + 1}
	switch {
	case b == life.Again && s.turn != nil:
		r.Turn = &turnInfo{Number: s.turn.info.Number, Again: true}
	case b == life.WithMessage && len(s.messages) > 0:
		taken := *s.messages[0]
		taken.ProcessedAt = &now
		r.Turn.Message = taken.ID
		r.Events = append(r.Events, &taken)
		r.Content = []*genai.Content{contentOf(taken.Content)}
	case b == life.WithResults:
		s.results(r)
	default:
		return fmt.Errorf("a turn is to begin %s, and the log has nothing to begin it with", b)
	}
	return nil
}

// results makes a record begin with the answers of the calls that have waited.
func (s *state) results(r *record) {
	c := &genai.Content{Role: genai.RoleUser}
	for _, call := range s.calls {
		r.Closed = append(r.Closed, call.Event)
		if call.Answer == nil {
			continue // a record before has closed it
		}
		result := map[string]any{}
		switch ev := call.Answer; {
		case ev.Type == UserConfirmation && ev.Result == "allow":
			r.Turn.Resume = append(r.Turn.Resume, call.ID)
			continue
		case ev.Type == UserConfirmation:
			text := ev.DenyMessage
			if text == "" {
				text = deniedDefault
			}
			result = failedResult(text)
			r.Events = append(r.Events, s.resultEvent(call.ID, result, true))
		case ev.IsError != nil && *ev.IsError:
			result = failedResult(textOf(ev.Content))
		default:
			result["result"] = textOf(ev.Content)
		}
		c.Parts = append(c.Parts, &genai.Part{FunctionResponse: &genai.FunctionResponse{ID: call.ID, Name: call.Name,
			Response: result}})
	}
	if len(c.Parts) > 0 {
		r.Content = []*genai.Content{c}
	}
}

// attempt prepares an attempt of a turn.
func (o *owned) attempt(ctx context.Context, t *turn) *turnRun {
	o.mu.Lock()
	defer o.mu.Unlock()
	return &turnRun{o: o, t: t, ctx: ctx, counts: map[string]int{}, told: slices.Clone(o.st.contents[t.base:]),
		before: slices.Clone(o.st.contents[:t.base])}
}

// answer runs the agent's net for the turn.
func (r *turnRun) answer(ctx context.Context) (*agent.End, error) {
	if err := r.gather(ctx); err != nil {
		return nil, err
	}
	s, err := agent.Start(r.o.agent.prog, agent.Options{Name: r.o.id, Logger: r.o.log})
	if err != nil {
		return nil, err
	}
	defer func() { _ = s.Close() }()
	t := &agent.Turn{ID: fmt.Sprintf("%s-%d", r.o.id, r.t.info.Number), Message: r.before[len(r.before)-1],
		History: r.history, Emit: r.emit, Stream: !r.o.rt.cfg.Whole, Host: r}
	for _, id := range r.t.info.Resume {
		if c := callIn(r.before, id); c != nil {
			t.Resume = append(t.Resume, c)
		}
	}
	return s.Run(ctx, t)
}

// callIn is the newest call with an id.
func callIn(contents []*genai.Content, id string) *genai.FunctionCall {
	for _, c := range slices.Backward(contents) {
		for _, p := range c.Parts {
			if p.FunctionCall != nil && p.FunctionCall.ID == id {
				return p.FunctionCall
			}
		}
	}
	return nil
}

// history is the conversation as the model sees it now.
func (r *turnRun) history() []*genai.Content {
	r.mu.Lock()
	defer r.mu.Unlock()
	return conversation(slices.Concat(r.before, r.added))
}

// answered notes what a request to a model came to.
func (r *turnRun) answered(e *effectInfo) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.span, r.failure = e.Span, e.Failure
	if e.Response != nil && e.Response.FinishReason == genai.FinishReasonMaxTokens {
		r.detail = MaxTokens
	}
}

// streaming notes that a request to a model is under way.
func (r *turnRun) streaming(span uint64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.span = span
}

// emit stores what the turn adds to the conversation, or finds it stored already. It shows parts of a
// response to those who listen.
func (r *turnRun) emit(ev *session.Event, kind agent.EventKind) error {
	if kind == agent.Partial {
		parts, first := r.partial(ev.Content)
		r.o.rt.show(r.o.id, parts, first)
		return nil
	}
	if !kind.Stored() || ev.Content == nil || len(ev.Content.Parts) == 0 {
		return nil
	}
	r.mu.Lock()
	n := len(r.added)
	r.mu.Unlock()
	if n < len(r.told) {
		if err := same(r.told[n], ev.Content); err != nil {
			r.mu.Lock()
			r.mismatch = &Error{Code: Mismatch, Message: fmt.Sprintf("turn %d cannot go on: step %d: %v",
				r.t.info.Number, n+1, err)}
			err = r.mismatch
			r.mu.Unlock()
			return err
		}
	} else if err := r.o.store(r.ctx, r.step(ev.Content)); err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.added = append(r.added, ev.Content)
	return nil
}

// same compares a step with the one in the journal.
func same(old, now *genai.Content) error {
	a, errA := json.Marshal(old)
	b, errB := json.Marshal(now)
	if err := errors.Join(errA, errB); err != nil {
		return err
	}
	if string(a) != string(b) {
		return fmt.Errorf("journal_mismatch: the journal has %s, and now it is %s", a, b)
	}
	return nil
}

// step makes the record of a content that the turn adds.
func (r *turnRun) step(c *genai.Content) maker {
	r.mu.Lock()
	span := r.span
	r.mu.Unlock()
	return func(st *state) (*record, error) {
		rec := &record{Kind: recordStep, Content: []*genai.Content{c}}
		for i, p := range c.Parts {
			switch {
			case p.FunctionResponse != nil:
				_, failed := p.FunctionResponse.Response["error"]
				if ev := st.resultEvent(p.FunctionResponse.ID, p.FunctionResponse.Response, failed); ev != nil {
					rec.Events = append(rec.Events, ev)
				}
			case p.FunctionCall != nil:
				ev, wait := r.o.use(p.FunctionCall)
				ev.ID = eventID(r.o.prefix(), st.head.Seq+uint64(len(rec.Events))+1)
				rec.Events = append(rec.Events, ev)
				if wait != "" {
					rec.Calls = append(rec.Calls, &openCall{Event: ev.ID, ID: p.FunctionCall.ID, Name: p.FunctionCall.Name,
						Args: p.FunctionCall.Args, Kind: wait})
				}
			case p.Thought:
				rec.Events = append(rec.Events, &Event{Type: AgentThinking})
			case p.Text != "":
				rec.Events = append(rec.Events, &Event{Type: AgentMessage, ID: partID(r.o.prefix(), span, i),
					Content: []Block{{Type: "text", Text: p.Text}}})
			}
		}
		return rec, nil
	}
}

// end stores how an attempt ended.
func (o *owned) end(ctx context.Context, r *turnRun, end *agent.End, err error) error {
	verdict := r.verdict(ctx, end, err)
	return o.store(context.WithoutCancel(ctx), func(st *state) (*record, error) {
		how := *verdict
		rec := &record{Kind: recordEnd, End: &how}
		switch {
		case how.How == turnEnded && len(st.calls) > 0:
			how.How = turnParked
		case how.How == turnStopped || how.How == turnFailed:
			st.cancel(rec)
		}
		return rec, nil
	})
}

// verdict says how an attempt ended.
func (r *turnRun) verdict(ctx context.Context, end *agent.End, err error) *turnEnd {
	r.mu.Lock()
	defer r.mu.Unlock()
	failed := func(h how, kind, text string) *turnEnd {
		return &turnEnd{How: h, Failure: &Failure{Type: kind, Message: text}}
	}
	switch {
	case r.mismatch != nil:
		return failed(turnBroken, "unknown_error", r.mismatch.Error())
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return failed(turnFailed, "unknown_error", fmt.Sprintf("the turn took longer than %v", r.o.rt.cfg.Limits.TurnTimeout))
	case ctx.Err() != nil:
		return &turnEnd{How: turnStopped, Detail: "interrupted"}
	case end != nil && end.How == agent.Answered:
		return &turnEnd{How: turnEnded, Detail: r.detail}
	case end != nil && end.How == agent.GaveUp:
		return &turnEnd{How: turnEnded, Detail: "reask_budget"}
	case r.failure != nil && r.failure.Retryable:
		return failed(turnRetry, r.failure.Type, r.failure.Text)
	case r.failure != nil:
		return failed(turnFailed, r.failure.Type, r.failure.Text)
	case CodeOf(err) == Storage || errors.Is(err, journal.ErrFenced):
		return failed(turnBroken, "unknown_error", "the session cannot be stored")
	}
	text := "the agent failed"
	switch {
	case err != nil:
		text = err.Error()
	case end != nil && end.Fault != nil:
		text = end.Fault.Text
	}
	return failed(turnFailed, "unknown_error", text)
}

// endOf is the result of a turn for the net; an error ends the session. Calls that have their answers
// already do not wait. The net gets a later answer as an input, once
// the park is told.
func (o *owned) endOf(t *turn) (life.End, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	switch t.end.How {
	case turnParked:
		o.st.reported = true
		return life.End{How: life.Waiting, Calls: len(o.st.waiting())}, nil
	case turnRetry:
		return life.End{How: life.Retry}, nil
	case turnEnded:
		return life.End{How: life.Ended}, nil
	case turnBroken:
		return life.End{}, fmt.Errorf("managed: session %s: %s", o.id, t.end.Failure.Message)
	}
	return life.End{How: life.Failed}, nil
}

// cancel gives every call that has no result one that says so, and lets none wait.
func (s *state) cancel(r *record) {
	c := &genai.Content{Role: genai.RoleUser}
	for _, call := range unanswered(s.contents) {
		result := failedResult(cancelledCall)
		for _, open := range s.calls {
			if open.ID == call.ID && open.Answer != nil && open.Answer.Type == UserCustomResult {
				result = map[string]any{"result": textOf(open.Answer.Content)}
			}
		}
		c.Parts = append(c.Parts, &genai.Part{FunctionResponse: &genai.FunctionResponse{ID: call.ID, Name: call.Name,
			Response: result}})
		if ev := s.resultEvent(call.ID, result, true); ev != nil {
			r.Events = append(r.Events, ev)
		}
	}
	if len(c.Parts) > 0 {
		r.Content = append(r.Content, c)
	}
	for _, open := range s.calls {
		r.Closed = append(r.Closed, open.Event)
	}
}

// unanswered are the calls behind the last message of a model that have no result.
func unanswered(contents []*genai.Content) []*genai.FunctionCall {
	var list []*genai.FunctionCall
	for _, c := range contents {
		if c.Role == genai.RoleModel {
			list = nil
		}
		for _, p := range c.Parts {
			switch {
			case p.FunctionCall != nil:
				list = append(list, p.FunctionCall)
			case p.FunctionResponse != nil:
				list = slices.DeleteFunc(list, func(f *genai.FunctionCall) bool { return f.ID == p.FunctionResponse.ID })
			}
		}
	}
	return list
}

// resultEvent is the event of the result of a call; nil for one that the client ran.
func (s *state) resultEvent(id string, result map[string]any, failed bool) *Event {
	use := s.uses[id]
	if use == nil {
		return nil
	}
	text, err := json.Marshal(result)
	if err != nil {
		text = []byte(err.Error())
	}
	ev := &Event{Type: AgentToolResult, ToolUseID: use.ID, IsError: &failed,
		Content: []Block{{Type: "text", Text: string(text)}}}
	switch use.Type {
	case AgentCustomToolUse:
		return nil
	case AgentMCPToolUse:
		ev.Type, ev.ToolUseID, ev.MCPUseID = AgentMCPToolResult, "", use.ID
	}
	return ev
}

// partial are the deltas of a part of a response, and whether the response begins with it.
func (r *turnRun) partial(c *genai.Content) (list []*Event, first bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if c == nil {
		return nil, false
	}
	for _, p := range c.Parts {
		if p.Text == "" || p.Thought {
			continue
		}
		list = append(list, &Event{Type: EventDelta, EventID: partID(r.o.prefix(), r.span, 0),
			Delta: &Delta{Type: "content_delta", Content: Block{Type: "text", Text: p.Text}}})
	}
	if len(list) > 0 {
		first, r.shown = r.shown != r.span, r.span
	}
	return list, first
}

// now is the time, without what JSON loses.
func (r *Runtime) now() time.Time { return time.Now().UTC().Truncate(time.Millisecond) }

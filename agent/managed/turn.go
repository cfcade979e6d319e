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
// the journal has; what each agent adds to the conversation must then be what the journal has, too. Agents
// that work side by side may add it in another order.
type turnRun struct {
	o      *owned
	t      *turn
	ctx    context.Context
	told   map[string][]said // what the journal has of the turn, by author
	before []said            // the conversation when the turn began
	// offered are the tools of MCP servers. They do not change while the net of the turn runs.
	offered []offer

	mu       sync.Mutex
	counts   map[string]int    // effects so far, by name
	ids      map[string]string // of calls, and whose they are
	steps    map[string]int    // how many there are so far, by author
	next     int               // the place of the next step that the journal does not have
	added    []said            // the steps so far, as the journal has them
	spans    map[string]uint64 // by author, of the request that is answered now
	shown    map[string]uint64 // by author, the request whose answer was shown last
	failure  *effectFailure
	detail   string
	limit    string // of the budget, that is reached
	refusal  *StopDetails
	mismatch error
	local    sync.Map
}

// said is a content, its author, and its place in the turn.
type said struct {
	content *genai.Content
	author  string
	place   int
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
	o.over()
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
			if err := st.beginWith(r, b, o.rt.now(), o.agent.prog.Version); err != nil {
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

// beginWith makes a record begin a turn, of a version of the program.
func (s *state) beginWith(r *record, b life.Begin, now time.Time, version string) error {
	r.Turn = &turnInfo{Number: s.head.Turns + 1, Version: version}
	if again := b == life.Again && s.turn != nil || s.resumes() && (b == life.WithResults || s.due); !again {
		s.abandon(r) // calls of the turn before, whose keys are those of this one
	}
	switch {
	case b == life.Again && s.turn != nil:
		r.Turn = &turnInfo{Number: s.turn.info.Number, Again: true}
	case b == life.WithResults && s.resumes() || b == life.WithMessage && s.due && s.resumes():
		s.resume(r)
	case b == life.WithMessage && s.due: // it goes on where its budget stopped it
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

// attempt prepares an attempt of a turn.
func (o *owned) attempt(ctx context.Context, t *turn) *turnRun {
	o.mu.Lock()
	defer o.mu.Unlock()
	r := &turnRun{o: o, t: t, ctx: ctx, told: map[string][]said{}, counts: map[string]int{}, ids: map[string]string{},
		steps: map[string]int{}, spans: map[string]uint64{}, shown: map[string]uint64{}}
	for i, c := range o.st.contents {
		s := said{content: c, author: o.st.authors[i], place: i - t.base}
		if i < t.base {
			r.before = append(r.before, s)
			continue
		}
		r.told[s.author] = append(r.told[s.author], s)
		r.next = s.place + 1
	}
	for _, e := range t.effects {
		if e.info.Response != nil && e.info.Response.Content != nil {
			for _, c := range callsOf(e.info.Response.Content) {
				r.ids[c.ID] = e.info.Agent
			}
		}
	}
	o.run = r
	return r
}

// over ends the attempt that is under way: nothing that it does from now on is stored.
func (o *owned) over() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.run = nil
}

// store stores what the attempt does. A tool or a model that ignores its context may return when the attempt is over:
// the turn has gone on without it, or has ended, and what it did is refused.
func (r *turnRun) store(ctx context.Context, m maker) error {
	return r.o.store(ctx, func(st *state) (*record, error) {
		if r.o.run != r || st.turn != r.t {
			return nil, fmt.Errorf("managed: session %s: this attempt of turn %d is over; what it does now is not stored",
				r.o.id, r.t.info.Number)
		}
		return m(st)
	})
}

// callsOf are the calls in a content.
func callsOf(c *genai.Content) (list []*genai.FunctionCall) {
	for _, p := range c.Parts {
		if p != nil && p.FunctionCall != nil {
			list = append(list, p.FunctionCall)
		}
	}
	return list
}

// answer runs the agent's net for the turn.
func (r *turnRun) answer(ctx context.Context) (*agent.End, error) {
	if err := r.gather(ctx); err != nil {
		return nil, err
	}
	prog, err := r.o.agent.beginning(r.t.agent)
	if err != nil {
		return nil, err
	}
	s, err := agent.Start(prog, agent.Options{Name: r.o.id, Logger: r.o.log})
	if err != nil {
		return nil, err
	}
	defer func() { _ = s.Close() }()
	t := &agent.Turn{ID: fmt.Sprintf("%s-%d", r.o.id, r.t.info.Number), Message: r.before[len(r.before)-1].content,
		HistoryOf: r.history, Emit: r.emit, Anywhere: true, Stream: !r.o.rt.cfg.Whole, Host: r}
	for _, id := range r.t.info.Resume {
		if c := callIn(r.before, id); c != nil {
			t.Resume = append(t.Resume, c)
		}
	}
	return s.Run(ctx, t)
}

// callIn is the newest call with an id.
func callIn(list []said, id string) *genai.FunctionCall {
	for _, s := range slices.Backward(list) {
		for _, c := range callsOf(s.content) {
			if c.ID == id {
				return c
			}
		}
	}
	return nil
}

// history is the conversation as the model of an agent sees it now.
func (r *turnRun) history(of string) []*genai.Content {
	r.mu.Lock()
	defer r.mu.Unlock()
	return conversation(seenBy(r.author(of), slices.Concat(r.before, r.added)))
}

// answered notes what a request to a model came to.
func (r *turnRun) answered(author string, e *effectInfo) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.failure = e.Failure
	if e.Kind == modelEffect && r.o.agent.quiet[author] { // a branch: its strategy has the last word
		if r.spans[author] == 0 {
			r.spans[author] = e.Span
		}
		return
	}
	r.spans[author] = e.Span
	r.refusal = refusalOf(e.Response)
	if e.Response != nil && e.Response.FinishReason == genai.FinishReasonMaxTokens {
		r.detail = MaxTokens
	}
}

// streaming notes that a request to a model is under way. The first branch of a strategy stands for all.
func (r *turnRun) streaming(author, branch string, span uint64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if branch == "" || r.spans[author] == 0 {
		r.spans[author] = span
	}
}

// emit stores what the turn adds to the conversation, or finds it stored already. It shows parts of a
// response to those who listen.
func (r *turnRun) emit(ev *session.Event, kind agent.EventKind) error {
	author := r.author(ev.Author)
	if kind == agent.Partial {
		if !r.o.agent.quiet[author] {
			parts, first := r.partial(author, ev.Content)
			r.o.rt.show(r.o.id, parts, first)
		}
		return nil
	}
	if !kind.Stored() || ev.Content == nil || len(ev.Content.Parts) == 0 {
		return nil
	}
	if ev.Author == "user" {
		return errors.New("the program stores the message of the user, which the session has stored; set " +
			"agent.Config.KeepsMessage")
	}
	r.mu.Lock()
	step, known := said{content: ev.Content, author: author, place: r.next}, r.told[author]
	n := r.steps[author]
	r.mu.Unlock()
	if n < len(known) {
		step.place = known[n].place
		if err := same(known[n].content, ev.Content); err != nil {
			r.mu.Lock()
			r.mismatch = &Error{Code: Mismatch, Message: fmt.Sprintf("turn %d cannot go on: step %d%s: %v",
				r.t.info.Number, n+1, by(author), err)}
			err = r.mismatch
			r.mu.Unlock()
			return err
		}
	} else if err := r.store(r.ctx, r.step(author, ev, kind)); err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.steps[author]++
	r.next = max(r.next, step.place+1)
	at, _ := slices.BinarySearchFunc(r.added, step.place, func(s said, place int) int { return s.place - place })
	r.added = slices.Insert(r.added, at, step)
	return nil
}

// by tells whose step it is.
func by(author string) string {
	if author == "" {
		return ""
	}
	return fmt.Sprintf(" of %q", author)
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

// step makes the record of an event that the turn adds.
func (r *turnRun) step(author string, from *session.Event, kind agent.EventKind) maker {
	r.mu.Lock()
	span := r.spans[author]
	r.mu.Unlock()
	c := from.Content
	return func(st *state) (*record, error) {
		rec := &record{Kind: recordStep, Content: []*genai.Content{c}, Author: author}
		if kind == agent.Answer && r.o.agent.named {
			rec.State = from.Actions.StateDelta
		}
		if to := from.Actions.TransferToAgent; author != "" && r.o.agent.takesOver(to) {
			rec.To = to
		}
		for i, p := range c.Parts {
			switch {
			case p.FunctionResponse != nil:
				_, failed := p.FunctionResponse.Response["error"]
				if ev := st.resultEvent(p.FunctionResponse.ID, p.FunctionResponse.Response, failed); ev != nil {
					rec.Events = append(rec.Events, ev)
				}
				if c := st.openCall(p.FunctionResponse.ID); c != nil { // the agent has refused it
					rec.Closed = append(rec.Closed, c.Event)
				}
			case p.FunctionCall != nil:
				ev, wait := r.o.use(author, p.FunctionCall)
				ev.ID = eventID(r.o.prefix(), st.head.Seq+uint64(len(rec.Events))+1)
				rec.Events = append(rec.Events, ev)
				// A call of a turn that resumes waits as an effect, which await has begun. One that has none is not made: a
				// model may call what it was not offered.
				if wait != "" && !r.o.agent.prog.Resumes && len(st.calls)+len(rec.Calls) < life.CallsMax {
					rec.Calls = append(rec.Calls, &openCall{Event: ev.ID, ID: p.FunctionCall.ID, Name: p.FunctionCall.Name,
						Args: p.FunctionCall.Args, Kind: wait})
				}
			case p.Thought:
				rec.Events = append(rec.Events, &Event{Type: AgentThinking})
			case p.Text != "":
				ev := &Event{Type: AgentMessage, Content: []Block{{Type: "text", Text: p.Text}}}
				if span != 0 { // else it is no answer of a model
					ev.ID = partID(r.o.prefix(), span, i)
				}
				rec.Events = append(rec.Events, ev)
			}
		}
		for _, ev := range rec.Events {
			ev.Agent = author
		}
		return rec, nil
	}
}

// end stores how an attempt ended.
func (o *owned) end(ctx context.Context, r *turnRun, end *agent.End, err error) error {
	verdict := r.verdict(ctx, end, err)
	return o.store(context.WithoutCancel(ctx), func(st *state) (*record, error) {
		how := *verdict
		how.Resumes = r.o.agent.prog.Resumes
		rec := &record{Kind: recordEnd, End: &how}
		switch {
		case how.How == turnEnded && len(st.calls) > 0 && !how.Resumes:
			how.How = turnParked
		case how.How == turnParked && len(st.calls) == 0:
			rec.End = &turnEnd{How: turnFailed, Failure: &Failure{Type: "unknown_error",
				Message: "the program waits for results, and no call waits for the client"}}
		case how.How == turnStopped || how.How == turnFailed || how.How == turnEnded && how.Resumes && !how.stalls():
			st.cancel(rec) // a turn that stops at the budget of the session goes on, and its calls wait for that
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
	case end != nil && end.How == agent.Parked:
		return &turnEnd{How: turnParked}
	case end != nil && r.refusal != nil:
		return &turnEnd{How: turnEnded, Stop: Refusal, Details: r.refusal}
	case end != nil && end.How == agent.Answered:
		return &turnEnd{How: turnEnded, Detail: r.detail}
	case end != nil && end.How == agent.GaveUp:
		return &turnEnd{How: turnEnded, Detail: "reask_budget"}
	case r.limit != "":
		return &turnEnd{How: turnEnded, Stop: BudgetReached, Detail: r.limit}
	case r.failure != nil && r.failure.Retryable:
		return failed(turnRetry, r.failure.Type, r.failure.Text)
	case r.failure != nil:
		return failed(turnFailed, r.failure.Type, r.failure.Text)
	case CodeOf(err) == Storage || errors.Is(err, journal.ErrFenced):
		return failed(turnBroken, "unknown_error", "the session cannot be stored")
	}
	return &turnEnd{How: turnFailed, Failure: faultOf(end, err)}
}

// faultOf is the failure of a turn that its program has ended.
func faultOf(end *agent.End, err error) *Failure {
	f := &Failure{Type: "unknown_error", Message: "the agent failed"}
	var fault *agent.Fault
	if end != nil && end.Fault != nil {
		fault, f.Message = end.Fault, end.Fault.Text
	}
	if err != nil {
		f.Message = err.Error()
		errors.As(err, &fault)
	}
	if fault != nil {
		f.Code = string(fault.Code)
	}
	return f
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
		if o.st.answered() { // it goes on at once
			return life.End{How: life.Waiting}, nil
		}
		return life.End{How: life.Waiting, Calls: min(len(o.st.waiting()), life.CallsMax)}, nil
	case turnRetry:
		return life.End{How: life.Retry}, nil
	case turnEnded:
		return life.End{How: life.Ended}, nil
	case turnBroken:
		return life.End{}, fmt.Errorf("managed: session %s: %s", o.id, t.end.Failure.Message)
	}
	return life.End{How: life.Failed}, nil
}

// partial are the deltas of a part of a response, and whether the response begins with it.
func (r *turnRun) partial(author string, c *genai.Content) (list []*Event, first bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if c == nil {
		return nil, false
	}
	for _, p := range c.Parts {
		if p.Text == "" || p.Thought {
			continue
		}
		list = append(list, &Event{Type: EventDelta, EventID: partID(r.o.prefix(), r.spans[author], 0),
			Delta: &Delta{Type: "content_delta", Content: Block{Type: "text", Text: p.Text}}})
	}
	if len(list) > 0 {
		first, r.shown[author] = r.shown[author] != r.spans[author], r.spans[author]
	}
	return list, first
}

// now is the time, without what JSON loses.
func (r *Runtime) now() time.Time { return time.Now().UTC().Truncate(time.Millisecond) }

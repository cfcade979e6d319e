package managed

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"google.golang.org/genai"

	"github.com/voicegw/voicegw/journal"
)

// keysMax is how many idempotency keys a session remembers.
const keysMax = 1000

// state is a session as the records of its log tell it. It changes by apply alone, so that a session
// which runs and one that is read from its journal are the same.
type state struct {
	info     sessionInfo
	head     head
	phase    phase
	began    time.Time
	changed  time.Time
	records  uint64 // the number of the last record that was applied
	retries  int    // attempts of the turn that failed for a while
	messages []*Event
	stops    []*Event // interrupts that are accepted and not done
	calls    []*openCall
	asked    []string          // the events that the client was told to answer last
	closed   map[string]string // by the event of a call that waits no longer: the event that answered it, or ""
	uses     map[string]*Event // by the model's id of a call: the event that told of it last
	contents []*genai.Content
	authors  []string       // whose contents they are; "" is the user, or the only agent
	active   string         // the agent that the next turn begins with; "" is the first one
	values   map[string]any // the state that answers have left; it is replaced, not changed
	turn     *turn
	spent    spent    // when the last message was taken up
	stalled  bool     // the last turn ended at the budget of the session
	due      bool     // and has to go on, with the budget that there is now
	reported bool     // the net knows how many calls of the turn wait
	untold   int      // answers that came since, before the park was told: the net gets them behind that
	failure  *Failure // of the last turn
	keys     map[string]*accepted
	keyOrder []string
	recent   []*accepted           // the last inputs, the newest last
	bound    map[string]*boundName // tools of MCP servers by their names towards the model

	// What follows is not part of a snapshot, as reported and untold are not.
	tip   []byte // the last record that was applied, as the log has it
	saved saved
}

// phase is what a session does, as its log tells it.
type phase uint8

const (
	phaseIdle phase = iota
	phaseRunning
	phaseParked
	phaseBackingOff
	phaseOver
)

// accepted is the answer to an input with an idempotency key.
type accepted struct {
	seq    uint64 // number of the record
	hash   string
	at     time.Time
	events []*Event
}

// recentMax is how many inputs a session remembers without a key.
const recentMax = 64

// turn is a turn that has begun and not ended.
type turn struct {
	info    turnInfo
	began   time.Time
	base    int            // contents of the conversation when it began
	agent   string         // that it began with; "" is the first one
	values  map[string]any // the state of the session then
	effects map[string]*effect
	end     *turnEnd // set when the turn is over and the session has not said so
	// unreachable are the MCP servers of which the session has told that they cannot be reached.
	unreachable map[string]bool
}

// effect is an effect of a turn.
type effect struct {
	info  *effectInfo // the newest record of it
	done  bool
	first uint64 // number of its first record
}

// effect notes a record of an effect.
func (t *turn) effect(seq uint64, e *effectInfo, done bool) {
	if old := t.effects[e.Key]; old != nil {
		seq = old.first
	}
	t.effects[e.Key] = &effect{info: e, done: done, first: seq}
}

func newState() *state {
	return &state{phase: phaseIdle, closed: map[string]string{}, uses: map[string]*Event{}, keys: map[string]*accepted{},
		bound: map[string]*boundName{}}
}

// takes says why a record must not be added to the state, which holds for records that are not in the log yet.
func (s *state) takes(r *record) error {
	if s.turn != nil || r.Kind != recordStart && r.Kind != recordFinish && r.Kind != recordEnd && len(r.Effects) == 0 {
		return nil
	}
	return fmt.Errorf("a record of the kind %q is of a turn, and no turn is open", r.Kind)
}

// apply adds a record. seq is its number in the log.
func (s *state) apply(seq uint64, r *record) error {
	if (r.Kind == recordSession) != (s.info.ID == "") {
		return fmt.Errorf("%w: record %d is a %q record, which must be the first and only the first", journal.ErrCorrupt,
			seq, r.Kind)
	}
	s.records, s.changed, s.head = seq, r.At, r.Head
	for _, c := range r.Content {
		s.contents, s.authors = append(s.contents, c), append(s.authors, r.Author)
	}
	switch r.Kind {
	case recordSession:
		s.info, s.began = *r.Session, r.At
	case recordInput:
		s.accept(seq, r)
	case recordBegin:
		s.begin(r)
	case recordStart, recordFinish:
		if r.Effect == nil {
			return fmt.Errorf("%w: record %d is of an effect and does not have it", journal.ErrCorrupt, seq)
		}
		// Earlier versions stored what a tool returned after its turn had ended. Nothing asks for it any more, and the
		// rest of the log is right.
		if s.turn != nil {
			s.turn.effect(seq, r.Effect, r.Kind == recordFinish)
			s.calls = append(s.calls, r.Calls...)
		}
	case recordStep:
		s.calls = append(s.calls, r.Calls...)
		if r.To != "" {
			s.active = r.To
		}
		if len(r.State) > 0 {
			s.values = maps.Clone(s.values)
			if s.values == nil {
				s.values = map[string]any{}
			}
			maps.Copy(s.values, r.State)
		}
	case recordEnd:
		if s.turn == nil {
			return fmt.Errorf("%w: record %d ends a turn that has not begun", journal.ErrCorrupt, seq)
		}
		s.turn.end, s.failure = r.End, r.End.Failure
		s.stalled = r.End.stalls()
	case recordTools:
		for _, b := range r.Bound {
			s.bound[b.Name] = b
		}
	case recordUpdate:
		s.update(r.Patch)
	case recordEvents, recordControl:
	default:
		return fmt.Errorf("%w: record %d is of the unknown kind %q; use a newer voicegw", journal.ErrCorrupt, seq, r.Kind)
	}
	for _, e := range r.Effects {
		if s.turn == nil {
			return fmt.Errorf("%w: record %d is an effect outside of a turn", journal.ErrCorrupt, seq)
		}
		s.turn.effect(seq, e, e.Stage == "")
	}
	s.close(r.Closed)
	for _, ev := range r.Events {
		s.told(ev)
	}
	s.phase = s.phase.after(r)
	return nil
}

// accept adds events of the user.
func (s *state) accept(seq uint64, r *record) {
	for _, ev := range r.Events {
		switch ev.Type {
		case UserMessage:
			s.messages = append(s.messages, ev)
		case UserInterrupt:
			s.stops = append(s.stops, ev)
		case UserConfirmation, UserCustomResult:
			if c := s.call(ev); c != nil {
				c.Answer = ev
				if s.phase == phaseRunning && s.reported {
					s.untold++
				}
			}
		}
	}
	one := &accepted{seq: seq, hash: r.Hash, at: r.At, events: r.Events}
	if len(s.recent) == recentMax {
		s.recent = slices.Delete(s.recent, 0, 1)
	}
	s.recent = append(s.recent, one)
	if r.Key == "" {
		return
	}
	if s.keys[r.Key] != nil { // no log of ours has a key twice
		s.keys[r.Key] = one
		return
	}
	if len(s.keyOrder) == keysMax {
		delete(s.keys, s.keyOrder[0])
		s.keyOrder = slices.Delete(s.keyOrder, 0, 1)
	}
	s.keys[r.Key] = one
	s.keyOrder = append(s.keyOrder, r.Key)
}

// begin begins a turn, or another attempt of it.
func (s *state) begin(r *record) {
	s.reported, s.untold, s.stalled, s.due = false, 0, false, false
	if r.Turn.Message != "" && !r.Turn.Again {
		s.spent = spent{Tokens: r.Head.Usage.tokens(), Cost: r.Head.Cost}
	}
	if r.Turn.Again {
		s.turn.end, s.turn.began = nil, r.At
		s.turn.forget()
		return
	}
	s.turn = &turn{info: *r.Turn, began: r.At, base: len(s.contents), agent: s.active, values: s.values,
		effects: map[string]*effect{}, unreachable: map[string]bool{}}
	s.messages = slices.DeleteFunc(s.messages, func(m *Event) bool { return m.ID == r.Turn.Message })
}

// after is the phase behind a record.
func (p phase) after(r *record) phase {
	if r.Kind == recordBegin {
		p = phaseRunning
	}
	for _, ev := range r.Events {
		switch ev.Type {
		case StatusIdle:
			p = phaseIdle
			if ev.StopReason.Type == RequiresAction {
				p = phaseParked
			}
		case StatusRescheduled:
			p = phaseBackingOff
		case StatusTerminated:
			p = phaseOver
		}
	}
	if r.Control == controlArchive {
		p = phaseOver
	}
	return p
}

// headAfter is the head of a record that is added to the state.
func (s *state) headAfter(r *record) head {
	h := s.head
	h.Status = s.phase.after(r).status()
	h.Seq, h.Bytes = h.Seq+uint64(len(r.Events)), s.bytes()
	switch r.Control {
	case controlPause:
		h.Paused = true
	case controlResume:
		h.Paused = false
	case controlArchive:
		h.Archived = &r.At
	}
	answered := s.phase.after(r) == phaseParked && s.answered()
	h.Waits = r.Kind == recordInput || r.Kind == recordUpdate && s.stalled || len(s.stops) > 0 ||
		(s.due || len(s.messages) > 0 || answered) && !h.Paused ||
		len(s.calls) > 0 && s.phase.after(r) != phaseIdle && s.info.Agent.expires()
	if r.Kind == recordFinish && r.Effect.Kind == modelEffect {
		h.Usage.add(usageOf(r.Effect.Response))
		h.Cost = h.Cost.plus(r.Effect.Cost)
	}
	if r.Kind == recordBegin && r.Turn.Message != "" && !r.Turn.Again {
		h.Begun++
	}
	if r.Kind == recordEnd {
		h.Turns++
		h.Usage.Active += r.At.Sub(s.turn.began).Seconds()
	}
	return h
}

// expires reports whether calls of the agent do not wait for ever.
func (a *Agent) expires() bool {
	return slices.ContainsFunc(a.Tools, func(c ToolConfig) bool { return c.Timeout > 0 })
}

// told notes what an event of the session means.
func (s *state) told(ev *Event) {
	switch ev.Type {
	case UserInterrupt:
		if ev.ProcessedAt != nil {
			s.stops = slices.DeleteFunc(s.stops, func(e *Event) bool { return e.ID == ev.ID })
			if s.stalled && !s.due {
				s.stalled, s.turn = false, nil
			}
		}
	case StatusIdle, StatusTerminated:
		s.retries, s.asked = 0, nil
		if !s.resumes() || ev.StopReason == nil ||
			ev.StopReason.Type != RequiresAction && ev.StopReason.Type != BudgetReached {
			s.turn = nil
		}
		if ev.StopReason != nil {
			s.asked = ev.StopReason.EventIDs
		}
	case StatusRescheduled:
		s.retries++
	case SessionError:
		if s.turn != nil && ev.Error.Server != "" {
			s.turn.unreachable[ev.Error.Server] = true
		}
	case AgentToolUse, AgentMCPToolUse, AgentCustomToolUse:
		s.uses[ev.CallID] = ev
	}
}

// close removes calls that wait no longer.
func (s *state) close(ids []string) {
	s.calls = slices.DeleteFunc(s.calls, func(c *openCall) bool {
		if !slices.Contains(ids, c.Event) {
			return false
		}
		s.closed[c.Event] = ""
		if c.Answer != nil {
			s.closed[c.Event] = c.Answer.ID
		}
		return true
	})
}

// call is the open call that a result or a confirmation is for.
func (s *state) call(ev *Event) *openCall {
	id := ev.ToolUseID
	if ev.Type == UserCustomResult {
		id = ev.CustomID
	}
	for _, c := range s.calls {
		if c.Event == id || c.ID == id {
			return c
		}
	}
	return nil
}

// openCall is the open call with the model's id; nil if there is none.
func (s *state) openCall(id string) *openCall {
	for _, c := range s.calls {
		if c.ID == id {
			return c
		}
	}
	return nil
}

// waiting are the calls that have no answer.
func (s *state) waiting() []*openCall {
	var list []*openCall
	for _, c := range s.calls {
		if c.Answer == nil {
			list = append(list, c)
		}
	}
	return list
}

func (s *state) update(p *SessionPatch) {
	if p.Title != nil {
		s.info.Title = *p.Title
	}
	s.info.Metadata = patched(s.info.Metadata, p.Metadata)
	if p.Budget.Set {
		s.info.Budget = p.Budget.To
		s.due = s.due || s.stalled && len(s.stops) == 0 && s.reached() == ""
	}
}

// usage is what the session has used, for clients.
func (s *state) usage() Usage {
	u := s.head.Usage
	if s.head.Cost > 0 || s.info.Budget != nil && s.info.Budget.MaxListCost != nil {
		u.ListCost = s.head.Cost.money()
	}
	return u
}

// patched is metadata with changes: nil removes a key.
func patched(m map[string]string, with map[string]*string) map[string]string {
	next := maps.Clone(m)
	for k, v := range with {
		if v == nil {
			delete(next, k)
			continue
		}
		if next == nil {
			next = map[string]string{}
		}
		next[k] = *v
	}
	return next
}

// status is what the phase is called outside.
func (p phase) status() Status {
	switch p {
	case phaseRunning:
		return Running
	case phaseBackingOff:
		return Rescheduling
	case phaseOver:
		return Terminated
	}
	return Idle
}

// session is the session for a client.
func (s *state) session() *Session {
	return &Session{ID: s.info.ID, Status: s.phase.status(), Paused: s.head.Paused, Agent: s.info.Agent,
		Environment: s.info.Environment, Title: s.info.Title, Metadata: maps.Clone(s.info.Metadata), Usage: s.usage(),
		Budget: s.info.Budget,
		Turns:  s.head.Turns, LastSeq: s.head.Seq, CreatedAt: s.began, UpdatedAt: s.changed, ArchivedAt: s.head.Archived}
}

// conversation is what a model sees. What follows results of calls on the side of the user joins them, so
// that every call has its results right behind it, and the two sides take turns.
func conversation(contents []*genai.Content) []*genai.Content {
	var list []*genai.Content
	for _, c := range contents {
		n := len(list)
		if n > 0 && c.Role == list[n-1].Role && results(list[n-1]) {
			list[n-1] = &genai.Content{Role: c.Role, Parts: slices.Concat(list[n-1].Parts, c.Parts)}
			continue
		}
		list = append(list, c)
	}
	return list
}

// results reports whether a content begins with results of calls.
func results(c *genai.Content) bool { return len(c.Parts) > 0 && c.Parts[0].FunctionResponse != nil }

package managed

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"google.golang.org/genai"

	"github.com/voicegw/voicegw/agent/managed/life"
	"github.com/voicegw/voicegw/journal"
)

// keysMax is how many idempotency keys a session remembers.
const keysMax = 1000

// state is a session as the records of its log tell it. It changes by apply alone, so that a session
// which runs and one that is read from its journal are the same.
type state struct {
	info     sessionInfo
	head     head
	phase    life.Phase
	began    time.Time
	changed  time.Time
	records  uint64 // the number of the last record that was applied
	retries  int    // attempts of the turn that failed for a while
	messages []*Event
	stops    []*Event // interrupts that are accepted and not done
	calls    []*openCall
	closed   map[string]bool // ids of the events of calls that wait no longer
	contents []*genai.Content
	turn     *turn
	failure  *Failure // of the last turn
	keys     map[string]*accepted
	keyOrder []string
}

// accepted is the answer to an input with an idempotency key.
type accepted struct {
	hash   string
	events []*Event
}

// turn is a turn that has begun and not ended.
type turn struct {
	info    turnInfo
	began   time.Time
	base    int // contents of the conversation when it began
	effects map[string]*effect
	end     *turnEnd // set when the turn is over and the session has not said so
}

// effect is an effect of a turn.
type effect struct {
	info *effectInfo // the newest record of it
	done bool
}

func newState() *state {
	return &state{phase: life.Queued, closed: map[string]bool{}, keys: map[string]*accepted{}}
}

// apply adds a record. seq is its number in the log.
func (s *state) apply(seq uint64, r *record) error {
	if (r.Kind == recordSession) != (s.info.ID == "") {
		return fmt.Errorf("%w: record %d is a %q record, which must be the first and only the first", journal.ErrCorrupt,
			seq, r.Kind)
	}
	s.records, s.changed, s.head = seq, r.At, r.Head
	s.contents = append(s.contents, r.Content...)
	switch r.Kind {
	case recordSession:
		s.info, s.began = *r.Session, r.At
	case recordInput:
		s.accept(r)
	case recordBegin:
		s.begin(r)
	case recordStart, recordFinish:
		if s.turn == nil || r.Effect == nil {
			return fmt.Errorf("%w: record %d is an effect outside of a turn", journal.ErrCorrupt, seq)
		}
		s.turn.effects[r.Effect.Key] = &effect{info: r.Effect, done: r.Kind == recordFinish}
	case recordStep:
		s.calls = append(s.calls, r.Calls...)
	case recordEnd:
		if s.turn == nil {
			return fmt.Errorf("%w: record %d ends a turn that has not begun", journal.ErrCorrupt, seq)
		}
		s.turn.end, s.failure = r.End, r.End.Failure
	case recordUpdate:
		s.update(r.Patch)
	case recordEvents, recordControl:
	default:
		return fmt.Errorf("%w: record %d is of the unknown kind %q; use a newer voicegw", journal.ErrCorrupt, seq, r.Kind)
	}
	s.close(r.Closed)
	for _, ev := range r.Events {
		s.told(ev)
	}
	if r.Control == controlArchive {
		s.phase = life.Archived
	}
	return nil
}

// accept adds events of the user.
func (s *state) accept(r *record) {
	for _, ev := range r.Events {
		switch ev.Type {
		case UserMessage:
			s.messages = append(s.messages, ev)
		case UserInterrupt:
			s.stops = append(s.stops, ev)
		case UserConfirmation, UserCustomResult:
			if c := s.call(ev); c != nil {
				c.Answer = ev
			}
		}
	}
	if r.Key == "" {
		return
	}
	if len(s.keyOrder) == keysMax {
		delete(s.keys, s.keyOrder[0])
		s.keyOrder = slices.Delete(s.keyOrder, 0, 1)
	}
	s.keys[r.Key] = &accepted{hash: r.Hash, events: r.Events}
	s.keyOrder = append(s.keyOrder, r.Key)
}

// begin begins a turn, or another attempt of it.
func (s *state) begin(r *record) {
	s.phase = life.Running
	if r.Turn.Again {
		s.turn.end = nil
		maps.DeleteFunc(s.turn.effects, func(_ string, e *effect) bool { return e.info.Failure != nil })
		return
	}
	s.retries = 0
	s.turn = &turn{info: *r.Turn, began: r.At, base: len(s.contents), effects: map[string]*effect{}}
	s.messages = slices.DeleteFunc(s.messages, func(m *Event) bool { return m.ID == r.Turn.Message })
}

// told notes what an event of the session means for its phase.
func (s *state) told(ev *Event) {
	switch ev.Type {
	case UserInterrupt:
		if ev.ProcessedAt != nil {
			s.stops = slices.DeleteFunc(s.stops, func(e *Event) bool { return e.ID == ev.ID })
		}
	case StatusIdle:
		s.phase = life.Idle
		if ev.StopReason != nil && ev.StopReason.Type == RequiresAction {
			s.phase = life.Parked
		}
		s.turn = nil
	case StatusRescheduled:
		s.phase = life.BackingOff
		s.retries++
	case StatusTerminated:
		s.phase = life.Terminated
		s.turn = nil
	}
}

// close removes calls that wait no longer.
func (s *state) close(ids []string) {
	for _, id := range ids {
		s.closed[id] = true
		s.calls = slices.DeleteFunc(s.calls, func(c *openCall) bool { return c.Event == id })
	}
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
func (s *state) status() Status {
	switch s.phase {
	case life.Running:
		return Running
	case life.BackingOff:
		return Rescheduling
	case life.Terminated, life.Archived:
		return Terminated
	}
	return Idle
}

// session is the session for a client.
func (s *state) session() *Session {
	return &Session{ID: s.info.ID, Status: s.status(), Paused: s.head.Paused, Agent: s.info.Agent,
		Environment: s.info.Environment, Title: s.info.Title, Metadata: maps.Clone(s.info.Metadata), Usage: s.head.Usage,
		Turns: s.head.Turns, LastSeq: s.head.Seq, CreatedAt: s.began, UpdatedAt: s.changed, ArchivedAt: s.head.Archived}
}

// conversation is what a model sees: the contents up to n, in which every call has its result right
// behind it.
func conversation(contents []*genai.Content) []*genai.Content {
	var list []*genai.Content
	for _, c := range contents {
		n := len(list)
		if n > 0 && results(c) && results(list[n-1]) {
			list[n-1] = &genai.Content{Role: c.Role, Parts: slices.Concat(list[n-1].Parts, c.Parts)}
			continue
		}
		list = append(list, c)
	}
	return list
}

// results reports whether a content consists of results of calls.
func results(c *genai.Content) bool {
	return len(c.Parts) > 0 && !slices.ContainsFunc(c.Parts, func(p *genai.Part) bool { return p.FunctionResponse == nil })
}

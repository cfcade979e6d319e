package managed

import (
	"context"
	"fmt"
	"slices"

	"google.golang.org/genai"

	"github.com/voicegw/voicegw/agent/managed/life"
	"github.com/voicegw/voicegw/petri"
)

// said receives what the net tells. It runs on the loop of the net and does not wait.
func (o *owned) said(t petri.Token) {
	s, ok := life.Said.From(t)
	if !ok {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.then(0, func() { o.tell(s) })
}

// tell stores what the net tells, as events.
func (o *owned) tell(s life.Say) {
	if o.ending() {
		return // the next owner's net tells it again
	}
	if s == life.Archived {
		return // the record that archives the session has told it
	}
	if _, err := o.append(context.Background(), func(st *state) (*record, error) { return st.telling(s) }); err != nil {
		o.letGo(err)
		return
	}
	if s == life.IdleWaiting {
		o.giveUntold()
	}
}

// giveUntold gives the net the answers that came after the turn had counted the calls that wait, and before
// the park was told. A result that the net got while the turn ran, it would drop. The next turn begins
// behind the pump, so none of them comes late.
func (o *owned) giveUntold() {
	o.mu.Lock()
	n, seq := o.st.untold, o.st.records
	o.st.untold = 0
	o.mu.Unlock()
	if n == 0 {
		return
	}
	if err := o.w.Await(context.Background(), seq); err != nil {
		o.letGo(err)
		return
	}
	o.give(slices.Repeat([]petri.Token{life.Result.Token(petri.Unit{})}, n)...)
}

// telling is the record of what the net tells.
func (s *state) telling(say life.Say) (*record, error) {
	r := &record{Kind: recordEvents}
	idle := func(reason StopReason) {
		usage := s.usage()
		r.Events = append(r.Events, &Event{Type: SessionUsage, Usage: &usage, Budget: s.info.Budget},
			&Event{Type: StatusIdle, StopReason: &reason})
	}
	failed := func(retry string) {
		failure := Failure{Type: "unknown_error", Message: "the agent failed"}
		if s.failure != nil {
			failure = *s.failure
		}
		failure.Retry = &Retry{Type: retry}
		r.Events = append(r.Events, &Event{Type: SessionError, Error: &failure})
	}
	switch say {
	case life.IdleEnded:
		reason := StopReason{Type: EndTurn}
		if s.turn != nil && s.turn.end != nil {
			reason.Detail = s.turn.end.Detail
			if s.turn.end.Stop != "" {
				reason.Type = s.turn.end.Stop
			}
		}
		idle(reason)
		if s.turn != nil && s.turn.end != nil {
			r.Events[len(r.Events)-1].Details = s.turn.end.Details
		}
	case life.IdleWaiting:
		reason := StopReason{Type: RequiresAction}
		for _, c := range s.waiting() {
			reason.EventIDs = append(reason.EventIDs, c.Event)
			if c.Key != "" {
				reason.Detail = "outcome_unknown"
			}
		}
		if len(reason.EventIDs) == 0 { // they have come meanwhile: the net goes on at once
			return r, nil
		}
		idle(reason)
	case life.IdleExhausted:
		if len(s.calls) > 0 { // the last attempt was to be tried again, and its calls waited for that
			s.cancel(r)
		}
		failed("exhausted")
		idle(StopReason{Type: RetriesExhausted})
	case life.IdleStopped:
		if s.turn == nil || s.turn.end == nil || len(s.calls) > 0 {
			s.cancel(r)
		}
		s.processed(r)
		idle(StopReason{Type: EndTurn, Detail: "interrupted"})
	case life.Undisturbed:
		s.giveUp(r)
		s.processed(r)
	case life.Rescheduled:
		failed("retrying")
		r.Events = append(r.Events, &Event{Type: StatusRescheduled})
	case life.Expired:
		s.expire(r)
	case life.Terminated:
		s.cancel(r)
		failed("terminal")
		r.Events = append(r.Events, &Event{Type: StatusTerminated})
	default:
		return nil, fmt.Errorf("managed: the net tells %s, which has no event", say)
	}
	return r, nil
}

// giveUp ends a turn that its budget has stopped, unless it is about to go on.
func (s *state) giveUp(r *record) {
	if s.stalled && !s.due {
		s.cancel(r)
	}
}

// processed tells that the interrupts that waited are done.
func (s *state) processed(r *record) {
	for _, stop := range s.stops {
		done := *stop
		at := s.changed
		done.ProcessedAt = &at
		r.Events = append(r.Events, &done)
	}
}

// expire gives the calls that wait a result that says so.
func (s *state) expire(r *record) {
	c := &genai.Content{Role: genai.RoleUser}
	for _, call := range s.waiting() {
		result := failedResult(expiredCall)
		if call.Key != "" {
			result = failedResult(unknownOutcome)
		}
		r.Closed = append(r.Closed, call.Event)
		if call.Effect != "" {
			s.endCall(r, call, result)
			continue
		}
		c.Parts = append(c.Parts, &genai.Part{FunctionResponse: &genai.FunctionResponse{ID: call.ID, Name: call.Name,
			Response: result}})
		if ev := s.resultEvent(call.ID, result, true); ev != nil {
			r.Events = append(r.Events, ev)
		}
	}
	if len(c.Parts) > 0 {
		r.Content = []*genai.Content{c}
	}
}

// answers finds the call that event i of a request answers: an open one, or one that has an answer, whose
// id it returns.
func (s *state) answers(i int, ev *Event) (call *openCall, earlier string, err error) {
	id, field, want := ev.ToolUseID, "tool_use_id", confirmCall
	if ev.Type == UserCustomResult {
		id, field, want = ev.CustomID, "custom_tool_use_id", customCall
	}
	param := fmt.Sprintf("events[%d].%s", i, field)
	call = s.call(ev)
	switch use := s.uses[id]; {
	case call != nil && call.Kind != want:
		return nil, "", invalid(param, "the call %q waits for a %s, not for a %s", id, call.Kind, want)
	case call != nil && call.Answer != nil:
		return nil, call.Answer.ID, nil
	case call != nil:
		return call, "", nil
	case use != nil:
		id = use.ID
	}
	answer, ok := s.closed[id]
	switch {
	case !ok:
		return nil, "", invalid(param, "there is no call %q that waits for a %s", id, want)
	case answer == "":
		return nil, "", invalid(param, "the call %q waits no longer: it was cancelled, or no answer came in time", id)
	}
	return nil, answer, nil
}

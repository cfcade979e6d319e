package managed

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/voicegw/voicegw/agent/managed/life"
	"github.com/voicegw/voicegw/petri"
)

// Send gives events of the user to a session: messages, results, confirmations, interrupts. All of them
// are accepted, or none. It returns them with their numbers and ids once they are stored. once makes it
// safe to repeat. The error has the code Invalid for an unknown call or a wrong kind of result, Conflict
// for a session that has ended, TooMany if the queue is full. An answer to a call that has one already is
// accepted without effect, and has no number. The error has the code Quota if the session or the tenant may store
// no more messages, and TooMany if the tenant sends too fast.
func (r *Runtime) Send(ctx context.Context, o Owner, id string, once Once, events ...Event) ([]Event, error) {
	e, _, err := r.entry(ctx, o, id)
	if err != nil {
		return nil, err
	}
	if len(events) == 0 {
		return nil, invalid("events", "there is none; give at least one")
	}
	if err := r.checkEvents("events", events); err != nil {
		return nil, err
	}
	if once.Key == "" { // a second attempt below must not send twice
		once.Key = r.newID(ownKey)
	}
	full, err := r.room(ctx, o, len(events), slices.ContainsFunc(events, isMessage))
	if err != nil {
		return nil, err
	}
	var accepted []Event
	err = r.growing(ctx, o, id, e, func(s *owned) (err error) {
		accepted, err = s.accept(ctx, once, events, full)
		return err
	})
	return accepted, err
}

// isMessage reports whether an event is refused at a quota of bytes.
func isMessage(ev Event) bool { return ev.Type == UserMessage }

// bytes is the size of all records of the session.
func (o *owned) bytes() int64 {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.st.bytes()
}

// earlier is the answer to an earlier Send of the same events; nil if there is none.
func (s *state) earlier(once Once, hash string, now time.Time) (*accepted, error) {
	if len(once.Key) > keyMax {
		return nil, invalid("Idempotency-Key", "it has %d bytes; at most %d are allowed", len(once.Key), keyMax)
	}
	if known := s.keys[once.Key]; once.Key != "" && known != nil {
		if known.hash != hash {
			return nil, invalid("Idempotency-Key", "the key %q was used for other events", once.Key)
		}
		return known, nil
	}
	if once.Repeated {
		for _, known := range slices.Backward(s.recent) {
			if known.hash == hash && now.Sub(known.at) <= repeatWithin {
				return known, nil
			}
		}
	}
	return nil, nil
}

// accept stores events of the user and then gives them to the net.
// full is why the tenant may send no messages, or nil.
func (o *owned) accept(ctx context.Context, once Once, events []Event, full error) ([]Event, error) {
	b, err := json.Marshal(events)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(b)
	hash := hex.EncodeToString(sum[:])
	var list []Event
	err = o.stored(ctx, func() (seq uint64, err error) {
		list, seq, err = o.tryAccept(once, hash, events, full)
		return seq, err
	})
	if err != nil {
		return nil, err
	}
	return list, nil
}

// tryAccept is accept without the waiting.
func (o *owned) tryAccept(once Once, hash string, events []Event, full error) ([]Event, uint64, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.fault != nil {
		return nil, 0, o.fault
	}
	known, err := o.st.earlier(once, hash, o.rt.now())
	if err != nil {
		return nil, 0, err
	}
	if known != nil {
		return values(known.events), known.seq, nil
	}
	if err := o.room(slices.ContainsFunc(events, isMessage), full); err != nil {
		return nil, 0, err
	}
	in, err := o.st.admit(o.rt.cfg.Limits.Queue, events, o.rt.now())
	if err != nil {
		return nil, 0, err
	}
	if len(in.fresh) == 0 {
		return values(in.all), o.st.records, nil
	}
	seq, err := o.put(&record{Kind: recordInput, Key: once.Key, Hash: hash, Events: in.fresh})
	if err != nil {
		return nil, 0, err
	}
	o.inject(seq, in.tokens...)
	return values(in.all), seq, nil
}

// input are events of the user that may enter.
type input struct {
	all    []*Event
	fresh  []*Event // those that have an effect
	tokens []petri.Token
}

// admit checks events of the user against the state.
func (s *state) admit(queue int, events []Event, now time.Time) (*input, error) {
	if s.phase == phaseOver {
		return nil, conflict("the session has ended; it takes no more events")
	}
	in := &input{all: pointers(events)}
	messages, stops, answered := len(s.messages), len(s.stops), map[string]bool{}
	for i, ev := range in.all {
		switch ev.Type {
		case UserMessage:
			if messages++; messages > queue {
				return nil, &Error{Code: TooMany, Message: "too many messages wait in the session; try again later"}
			}
			if err := s.refuses(messages); err != nil {
				return nil, err
			}
			in.tokens = append(in.tokens, life.Message.Token(petri.Unit{}))
		case UserInterrupt:
			if stops++; stops > queue {
				return nil, &Error{Code: TooMany, Message: "too many interrupts wait in the session; try again later"}
			}
			in.tokens = append(in.tokens, life.Interrupt.Token(petri.Unit{}))
		default:
			call, earlier, err := s.answers(i, ev)
			if err != nil {
				return nil, err
			}
			if earlier != "" {
				ev.ID, ev.ProcessedAt = earlier, &now
				continue
			}
			if answered[call.Event] {
				return nil, invalid(fmt.Sprintf("events[%d]", i), "the call %q has two answers in one request", call.Event)
			}
			answered[call.Event] = true
			ev.ProcessedAt = &now
			if s.phase == phaseParked {
				in.tokens = append(in.tokens, life.Result.Token(petri.Unit{}))
			}
		}
		in.fresh = append(in.fresh, ev)
	}
	return in, nil
}

// values returns copies of events.
func values(events []*Event) []Event {
	list := make([]Event, len(events))
	for i, ev := range events {
		list[i] = *ev
	}
	return list
}

// Interrupt stops what a session is doing. The session stays usable. It is Send of a user.interrupt.
func (r *Runtime) Interrupt(ctx context.Context, o Owner, id string) error {
	_, err := r.Send(ctx, o, id, Once{}, Event{Type: UserInterrupt})
	return err
}

// Pause holds a session: a turn that runs goes on to its end, and no other begins. Resume ends that. Both
// survive crashes, and both are idempotent.
func (r *Runtime) Pause(ctx context.Context, o Owner, id string) error {
	return r.control(ctx, o, id, controlPause, life.Pause)
}

// Resume lets a session that was paused go on.
func (r *Runtime) Resume(ctx context.Context, o Owner, id string) error {
	return r.control(ctx, o, id, controlResume, life.Resume)
}

// control stores a control and gives it to the net. It counts as an event of the user.
func (r *Runtime) control(ctx context.Context, o Owner, id string, c control, to petri.Place[petri.Unit]) error {
	e, _, err := r.entry(ctx, o, id)
	if err != nil {
		return err
	}
	if _, err := r.room(ctx, o, 1, false); err != nil {
		return err
	}
	return r.growing(ctx, o, id, e, func(s *owned) error { return s.control(ctx, c, to) })
}

func (o *owned) control(ctx context.Context, c control, to petri.Place[petri.Unit]) error {
	return o.stored(ctx, func() (uint64, error) { return o.tryControl(c, to) })
}

func (o *owned) tryControl(c control, to petri.Place[petri.Unit]) (uint64, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	r := &record{Kind: recordControl, Control: c}
	switch {
	case c == controlArchive && o.st.phase == phaseOver, c != controlArchive && o.st.head.Paused == (c == controlPause):
		return o.st.records, nil // it is so already
	case o.st.phase == phaseOver:
		return 0, conflict("the session has ended")
	case c == controlArchive:
		if err := o.rested(); err != nil {
			return 0, err
		}
		o.st.cancel(r)
		r.Events = append(r.Events, &Event{Type: StatusTerminated})
	}
	seq, err := o.put(r)
	if err == nil {
		o.inject(seq, to.Token(petri.Unit{}))
	}
	return seq, err
}

// rested is the error of a session that is at work, or about to be. The caller holds mu.
func (o *owned) rested() error {
	if o.st.busy() && o.agent != nil {
		return invalid("", "the session is at work; interrupt it first")
	}
	return nil
}

// busy reports whether the session is at work, or about to be.
func (s *state) busy() bool {
	return s.phase == phaseRunning || s.phase == phaseBackingOff ||
		!s.head.Paused && (s.phase == phaseIdle && (len(s.messages) > 0 || s.due) ||
			s.phase == phaseParked && (len(s.waiting()) == 0 || s.answered()))
}

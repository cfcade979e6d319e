package agent

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"go.uber.org/zap"
	"google.golang.org/adk/v2/session"

	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/petri/event"
	"github.com/voicegw/voicegw/petri/runner"
)

// Options configure a Session. The zero value is usable.
type Options struct {
	// Name is the name of the session in logs.
	Name string
	// Store receives the events of the net, for replay. nil keeps none.
	Store event.Store
	// Logger receives warnings and errors. nil logs nothing.
	Logger *zap.Logger
}

// partialsMax limits the partial responses that wait for Turn.Emit. More are dropped.
const partialsMax = 256

// ErrClosed means that the session is closed.
var ErrClosed = errors.New("agent: the session is closed")

// Session is a running net: one user's conversation with its agents. It is safe for concurrent use.
type Session struct {
	run      *runner.Runner
	prog     *petri.Program
	turn     chan struct{} // holds a token while no turn runs
	watchers *watchers

	mu      sync.Mutex
	current *turnRun // nil: no turn runs
	dropped int
}

// turnRun is what the goroutine of Run gets from the net.
type turnRun struct {
	turn  *Turn
	items []item        // for Run, the oldest first; Session.mu guards it
	open  int           // items that Run has not finished; Session.mu guards it
	some  chan struct{} // holds a token while there are items

	emitting   sync.Mutex // held while Emit works; it guards what follows
	failed     error      // why the turn ends early
	stopped    bool       // the net was asked to end the turn
	emitFailed bool
}

// item is an event to emit, or the end of the turn.
type item struct {
	event *session.Event
	kind  EventKind
	done  func(petri.Unit, error) // of an event that is to be stored
	end   *End
}

// Start starts a session of a program. Close ends it.
func Start(p *Program, o Options) (*Session, error) {
	if err := p.compile(); err != nil {
		return nil, err
	}
	s := &Session{prog: p.compiled, turn: make(chan struct{}, 1), watchers: &watchers{}}
	s.turn <- struct{}{}
	c := runner.Config{Name: o.Name, Store: s.watchers.beside(o.Store), Logger: o.Logger, Out: s.out, Owner: s,
		Tasks: p.shared.handlers(p), Spares: &p.shared.spares}
	run, err := runner.Start(p.compiled, c)
	if err != nil {
		return nil, fmt.Errorf("agent: %w", err)
	}
	s.run = run
	return s, nil
}

// Close ends the session, and the turn that runs. It waits for the goroutines of tasks, for up to five
// seconds.
func (s *Session) Close() error { return s.run.Close() }

// Dropped returns how many partial responses were dropped because Turn.Emit was slow.
func (s *Session) Dropped() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.dropped
}

// Run runs one turn and returns how it ended. If a turn runs already, it waits for its end. It calls
// Turn.Emit for every event, and returns when the turn has ended and nothing of it will follow. When
// ctx ends, the turn is stopped. The error is nil if the turn came to an answer, even a graceful one, or parked;
// else it is a *Fault, an error of Emit, or an error of ctx.
func (s *Session) Run(ctx context.Context, t *Turn) (*End, error) {
	if err := t.check(); err != nil {
		return nil, err
	}
	select {
	case <-s.turn:
		defer func() { s.turn <- struct{}{} }()
	case <-ctx.Done():
		return nil, fmt.Errorf("agent: turn %s: wait for the turn before: %w", t.ID, ctx.Err())
	case <-s.run.Done():
		return nil, ErrClosed
	}
	r := &turnRun{turn: t, some: make(chan struct{}, 1)}
	s.setCurrent(r)
	defer func() {
		s.setCurrent(nil)
		r.emitting.Lock() // Emit is not called when Run has returned
		defer r.emitting.Unlock()
	}()
	if err := s.run.Inject(UserIn.Token(t)); errors.Is(err, runner.ErrClosed) {
		return nil, ErrClosed
	} else if err != nil {
		return nil, fmt.Errorf("agent: turn %s: %w", t.ID, err)
	}
	return s.follow(ctx, r)
}

// check finds what a net could not run.
func (t *Turn) check() error {
	if t == nil {
		return errors.New("agent: the turn is nil; give one with a message")
	}
	seen := map[string]bool{}
	for i, c := range t.Resume {
		if c == nil || seen[c.ID] {
			return fmt.Errorf("agent: turn %s: call %d of Resume is nil, or has the id of an earlier one", t.ID, i)
		}
		seen[c.ID] = true
	}
	return nil
}

// follow emits the events of a turn until its end.
func (s *Session) follow(ctx context.Context, r *turnRun) (*End, error) {
	done := ctx.Done()
	for {
		select {
		case <-done:
			done = nil
			s.stop(r, ctx.Err())
		case <-s.run.Done():
			if err := s.run.Err(); err != nil {
				return nil, fmt.Errorf("agent: turn %s: %w", r.turn.ID, err)
			}
			return nil, ErrClosed
		case <-r.some:
			it := s.next(r)
			if it.end != nil {
				return it.end, r.result(it.end)
			}
			err := r.emit(it.event, it.kind)
			s.finished(r)
			if it.done != nil {
				it.done(petri.Unit{}, err) // an error makes the net end the turn
			} else if err != nil {
				s.stop(r, err)
			}
		}
	}
}

// next takes the oldest item.
func (s *Session) next(r *turnRun) item {
	s.mu.Lock()
	defer s.mu.Unlock()
	it := r.items[0]
	if r.items = slices.Delete(r.items, 0, 1); len(r.items) > 0 {
		r.some <- struct{}{}
	}
	return it
}

// finished counts an item that Run has finished.
func (s *Session) finished(r *turnRun) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r.open--
}

// stop asks the net to end the turn, once.
func (s *Session) stop(r *turnRun, cause error) {
	r.emitting.Lock()
	defer r.emitting.Unlock()
	if r.failed != nil && r.stopped {
		return
	}
	r.stopped = true
	if r.failed == nil {
		r.failed = cause
	}
	end := &End{How: Stopped, Fault: &Fault{Code: TurnStopped, Text: cause.Error()}}
	_ = s.run.Inject(EndInvocation.Token(end)) // refused if the turn is ending already
}

// emit hands an event to the turn. After an error of Emit the turn gets no more events.
func (r *turnRun) emit(e *session.Event, kind EventKind) error {
	r.emitting.Lock()
	defer r.emitting.Unlock()
	return r.emitAlone(e, kind)
}

// emitAlone is emit for a caller that holds emitting.
func (r *turnRun) emitAlone(e *session.Event, kind EventKind) error {
	switch {
	case r.emitFailed:
		return r.failed
	case r.stopped && kind != Notice:
		return r.failed
	case r.turn.Emit == nil:
		return nil
	}
	err := r.turn.Emit(e, kind)
	if err != nil {
		r.emitFailed = true
		if r.failed == nil {
			r.failed = err
		}
	}
	return err
}

// result is the error of a turn.
func (r *turnRun) result(end *End) error {
	r.emitting.Lock()
	defer r.emitting.Unlock()
	switch {
	case r.failed != nil && end.How >= Stopped:
		return fmt.Errorf("agent: turn %s: %w", r.turn.ID, r.failed)
	case end.Fault != nil:
		return end.Fault
	}
	return nil
}

func (s *Session) setCurrent(r *turnRun) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.current = r
}

// store stores an event. The loop of the runner calls it. The goroutine of Run stores the event and calls done,
// unless Turn.Anywhere is set and everything before has been emitted: then what store returns does it.
func (s *Session) store(w *Write, done func(petri.Unit, error)) func() (petri.Unit, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.current
	if r == nil {
		done(petri.Unit{}, errors.New("no turn runs"))
		return nil
	}
	if w.Turn.Anywhere && r.open == 0 && r.emitting.TryLock() {
		return func() (petri.Unit, error) {
			defer r.emitting.Unlock()
			return petri.Unit{}, r.emitAlone(w.Event, w.Kind)
		}
	}
	r.add(item{event: w.Event, kind: w.Kind, done: done})
	return nil
}

// add hands an item to the goroutine of Run. The caller holds Session.mu.
func (r *turnRun) add(it item) {
	r.open++
	if r.items = append(r.items, it); len(r.items) == 1 {
		r.some <- struct{}{}
	}
}

// out receives the outputs of the net. It runs on the loop of the runner and never blocks.
func (s *Session) out(t petri.Token) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.current
	if r == nil {
		return
	}
	if end, ok := TurnEnd.From(t); ok {
		r.add(item{end: end})
		return
	}
	e, ok := EventOut.From(t)
	if !ok || e.Kind.Stored() { // store has emitted it
		return
	}
	if e.Kind == Partial && len(r.items) >= partialsMax {
		s.dropped++
		return
	}
	r.add(item{event: e.Event, kind: e.Kind})
}

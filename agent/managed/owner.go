package managed

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"go.uber.org/zap"

	"github.com/voicegw/voicegw/agent/managed/life"
	"github.com/voicegw/voicegw/journal"
	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/petri/runner"
)

// owned is a session that this process owns and has in memory. All that it stores goes through append,
// so the log, the state and what the net is told have one order.
type owned struct {
	rt      *Runtime
	id      string
	entry   uint64 // revision of the document that says that this process holds the session
	w       journal.Writer
	log     *zap.Logger
	net     *runner.Runner // nil for a session that is made, archived or deleted: see Runtime.apart
	agent   *program       // likewise
	servers servers
	closed  atomic.Bool // the process lets go of the session

	mu    sync.Mutex
	st    *state
	run   *turnRun // the current attempt of a turn; no other attempt may store anything
	fault error    // why nothing is stored any more
	// dropped says that letGo was here.
	dropped bool
	steps   []step
	wake    chan struct{} // a signal, 1 deep
	done    chan struct{} // closed when the pump has ended

	saving bool // a snapshot is being taken; mu
	saver  sync.WaitGroup

	uses int       // who uses it; Runtime.mu
	used time.Time // when it was used last; Runtime.mu
}

// step is something to do once a record is stored.
type step struct {
	seq uint64 // 0: at once
	do  func()
}

// open makes this process the owner of a session and starts the session where its log ends.
func (r *Runtime) open(ctx context.Context, self holder, id string) (*owned, error) {
	return r.own(ctx, self, id, func(o *owned) error { return o.start(ctx) })
}

// ownApart makes this process the owner of a session for f, without the net.
func (r *Runtime) ownApart(ctx context.Context, self holder, id string, f func(*owned) error) error {
	o, err := r.own(ctx, self, id, func(o *owned) error {
		if o.st.busy() { // and goes on, unless its program is gone: then nothing could interrupt it
			if o.agent, _ = r.program(ctx, &o.st.info.Agent); o.agent != nil && o.st.fits(o.agent) != nil {
				o.agent = nil
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	err = f(o)
	if cerr := o.w.Close(ctx); err == nil && cerr == nil && o.resting() {
		return r.delist(ctx, id, o.entry)
	}
	r.miss(id)
	return err
}

// own makes this process the owner of a session and calls begin behind the end of its log.
func (r *Runtime) own(ctx context.Context, self holder, id string, begin func(*owned) error) (*owned, error) {
	entry, fresh, err := r.enlist(ctx, self, id)
	if err != nil {
		return nil, err
	}
	o, err := r.claimLog(ctx, id, entry, begin)
	switch {
	case err == nil:
	case fresh || CodeOf(err) == NotFound:
		_ = r.delist(ctx, id, entry)
	default: // there may be work left
		r.lose(id, err)
	}
	return o, err
}

// claimLog is own, behind the session's entry in the list of active ones.
func (r *Runtime) claimLog(ctx context.Context, id string, entry uint64, begin func(*owned) error) (*owned, error) {
	from, err := r.snapshotToOpen(ctx, id)
	if err != nil {
		return nil, err
	}
	if _, err := r.head(ctx, id); err != nil { // opening a log that does not exist would create it
		return nil, err
	}
	w, err := r.cfg.Journal.Open(ctx, logKey(id), r.cfg.Node)
	if err != nil {
		return nil, storage("open session "+id, err)
	}
	st, err := r.fold(ctx, id, from, w.Claimed())
	if err != nil { // a log with claims alone stays: a repetition of create may be writing it
		_ = w.Close(ctx)
		return nil, err
	}
	o := &owned{rt: r, id: id, entry: entry, w: w, st: st, log: r.cfg.Logger.With(zap.String("session", id)),
		wake: make(chan struct{}, 1), done: make(chan struct{})}
	if err := begin(o); err != nil {
		_ = w.Close(ctx)
		return nil, err
	}
	return o, nil
}

// storage is the error of a journal for clients, who learn nothing about it.
func storage(what string, err error) error {
	if errors.Is(err, journal.ErrNotFound) {
		return &Error{Code: NotFound, Message: "there is no such session", Err: err}
	}
	late := errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
	if late && !errors.Is(err, journal.ErrStore) { // the caller gives up, not the journal
		return err
	}
	return &Error{Code: Storage, Message: "the journal does not answer; try again later",
		Err: fmt.Errorf("managed: %s: %w", what, err)}
}

// start starts the net where the state tells, and gives it what waits.
func (o *owned) start(ctx context.Context) error {
	var err error
	if o.agent, err = o.rt.program(ctx, &o.st.info.Agent); err != nil {
		return err
	}
	if err := o.st.fits(o.agent); err != nil {
		return err
	}
	o.servers = o.rt.newServers(&o.st.info.Agent)
	prog, err := o.rt.life(lifeKind{o.agent.parkTimeout, o.agent.prog.Resumes})
	if err != nil {
		return err
	}
	o.net, err = runner.Start(prog, runner.Config{Name: o.id, Logger: o.log, Out: o.said, Grace: o.rt.cfg.Limits.Grace,
		Tasks: []runner.Handler{runner.Handle(life.Turn, o.runTurn)}})
	if err != nil {
		return fmt.Errorf("managed: %w", err)
	}
	go o.pump()
	o.mu.Lock()
	defer o.mu.Unlock()
	inject := []petri.Token{life.Wake.Token(o.st.lifeState(len(o.rt.cfg.Limits.Backoff)))}
	if o.st.head.Paused {
		inject = append(inject, life.Pause.Token(petri.Unit{}))
	}
	for range o.st.messages {
		inject = append(inject, life.Message.Token(petri.Unit{}))
	}
	if o.st.due {
		inject = append(inject, life.Message.Token(petri.Unit{}))
	}
	for range len(o.st.asked) - len(o.st.waiting()) { // answers that nobody was told of
		inject = append(inject, life.Result.Token(petri.Unit{}))
	}
	if len(o.st.stops) > 0 {
		inject = append(inject, life.Interrupt.Token(petri.Unit{}))
	}
	o.inject(0, inject...)
	return nil
}

// lifeState is where the net goes on. The process before may have allowed more retries than this one.
func (s *state) lifeState(retries int) life.State {
	tried := min(s.retries, retries)
	switch s.phase {
	case phaseRunning:
		return life.State{Phase: life.Running, Retries: tried}
	case phaseParked:
		return life.State{Phase: life.Parked, Awaited: min(len(s.asked), life.CallsMax)}
	case phaseBackingOff:
		return life.State{Phase: life.BackingOff, Retries: tried}
	}
	return life.State{Phase: life.Idle}
}

// maker makes a record. It sees the state that the record is added to, and must not change it.
type maker func(*state) (*record, error)

// just is the maker of a record that depends on nothing.
func just(r *record) maker { return func(*state) (*record, error) { return r, nil } }

// append adds a record to the log and to the state. It numbers the events and gives them ids. The caller
// does not hold mu. It waits while too much is to be stored, and then makes the record anew.
func (o *owned) append(ctx context.Context, m maker) (uint64, error) {
	return o.patient(ctx, func() (uint64, error) { return o.try(m) })
}

// patient calls try again while too much is to be stored.
func (o *owned) patient(ctx context.Context, try func() (uint64, error)) (uint64, error) {
	for {
		seq, err := try()
		if !errors.Is(err, journal.ErrWindowFull) {
			return seq, err
		}
		if err := o.w.Await(ctx, o.w.Acked()+1); err != nil {
			return 0, storage("write session "+o.id, err)
		}
	}
}

func (o *owned) try(m maker) (uint64, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	r, err := m(o.st)
	if err != nil {
		return 0, err
	}
	return o.put(r)
}

// put is append for a caller that holds mu. It does not wait. A record that does not fit to the state is refused.
func (o *owned) put(r *record) (uint64, error) {
	if o.fault != nil {
		return 0, o.fault
	}
	if err := o.st.takes(r); err != nil {
		return 0, fmt.Errorf("managed: session %s: %w", o.id, err)
	}
	b, err := o.number(r)
	if err != nil {
		return 0, err
	}
	seq, err := o.w.Append(b)
	if errors.Is(err, journal.ErrWindowFull) {
		return 0, err
	}
	if err == nil {
		err = o.st.apply(seq, r)
	}
	if err != nil {
		o.fault = storage("write session "+o.id, err)
		return 0, o.fault
	}
	o.st.tip = b
	o.snapshotSoon()
	return seq, nil
}

// number gives a record its time and its head, and numbers to its events. It returns what the log is to have.
func (o *owned) number(r *record) ([]byte, error) {
	r.At = o.rt.now()
	r.Head = o.st.headAfter(r)
	for i, ev := range r.Events {
		ev.Seq = o.st.head.Seq + uint64(i) + 1
		if ev.ID == "" {
			ev.ID = eventID(o.prefix(), ev.Seq)
		}
		if ev.ProcessedAt == nil && !waits(ev) {
			at := r.At
			ev.ProcessedAt = &at
		}
	}
	return r.encode()
}

// waits reports whether an event of the user is accepted without being taken up.
func waits(ev *Event) bool { return ev.Type == UserMessage || ev.Type == UserInterrupt }

// store appends a record and waits until it is stored.
func (o *owned) store(ctx context.Context, m maker) error {
	return o.stored(ctx, func() (uint64, error) { return o.try(m) })
}

// stored waits until what try appends is stored.
func (o *owned) stored(ctx context.Context, try func() (uint64, error)) error {
	seq, err := o.patient(ctx, try)
	if err != nil {
		return err
	}
	if err := o.w.Await(ctx, seq); err != nil {
		return storage("write session "+o.id, err)
	}
	return nil
}

// then lets the pump do something once a record is stored. The caller holds mu.
func (o *owned) then(seq uint64, do func()) {
	o.steps = append(o.steps, step{seq: seq, do: do})
	select {
	case o.wake <- struct{}{}:
	default:
	}
}

// inject gives tokens to the net, if it runs, once a record is stored. The caller holds mu.
func (o *owned) inject(seq uint64, tokens ...petri.Token) {
	if o.net != nil {
		o.then(seq, func() { o.give(tokens...) })
	}
}

// give gives tokens to the net. The pump alone calls it, once what they stand for is stored.
func (o *owned) give(tokens ...petri.Token) {
	for _, t := range tokens {
		if err := o.net.Inject(t); err != nil && !errors.Is(err, runner.ErrClosed) {
			o.letGo(fmt.Errorf("the net refuses %s: %w", t.Place(), err))
		}
	}
}

// pump does one step after the other, until the session is closed.
func (o *owned) pump() {
	defer close(o.done)
	for {
		o.mu.Lock()
		var next step
		if len(o.steps) > 0 {
			next = o.steps[0]
			o.steps = slices.Delete(o.steps, 0, 1)
		}
		o.mu.Unlock()
		switch {
		case next.do == nil && o.closed.Load():
			return
		case next.do == nil:
			select {
			case <-o.wake:
			case <-o.net.Done():
				if o.closed.Load() {
					return
				}
				<-o.wake
			}
			continue
		case next.seq > 0:
			if err := o.w.Await(context.Background(), next.seq); err != nil {
				o.letGo(err)
				continue
			}
		}
		next.do()
	}
}

// letGo lets go of a session that cannot be stored, or whose net has broken. Its log is right; the next
// request opens it anew.
func (o *owned) letGo(err error) {
	o.mu.Lock()
	first := !o.dropped
	o.dropped = true
	if o.fault == nil {
		o.fault = storage("session "+o.id, err)
	}
	o.mu.Unlock()
	if first && !o.closed.Load() {
		o.log.Warn("the session is let go", zap.Error(err))
		go func() {
			o.rt.drop(o)
			o.rt.lose(o.id, err)
		}()
	}
}

// ending reports whether the process lets go of the session: what is under way stays as it is.
func (o *owned) ending() bool { return o.closed.Load() }

// close lets go of a session. A turn that runs is stopped where it is and goes on after the next open. A
// session that rests is no active one any more.
func (o *owned) close(ctx context.Context) {
	if o.closed.Swap(true) {
		return
	}
	if err := o.net.Close(); err != nil {
		o.log.Warn("the session's net has broken", zap.Error(err))
	}
	select {
	case o.wake <- struct{}{}:
	default:
	}
	<-o.done
	o.servers.close()
	err := o.w.Close(ctx)
	if err != nil && !errors.Is(err, journal.ErrFenced) {
		o.log.Warn("the session's log was not closed properly", zap.Error(err))
	}
	o.snapshotLast(ctx)
	o.mu.Lock()
	fault := o.fault
	o.mu.Unlock()
	if err != nil || fault != nil || !o.resting() {
		return
	}
	if err := o.rt.delist(ctx, o.id, o.entry); err != nil {
		o.log.Warn("the session rests and stays in the list of active ones", zap.Error(err))
	}
}

// resting reports whether the session needs nobody: it may leave memory.
func (o *owned) resting() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.steps) > 0 || len(o.st.stops) > 0 {
		return false
	}
	switch o.st.phase {
	case phaseIdle:
		return len(o.st.messages) == 0 && !o.st.due || o.st.head.Paused
	case phaseParked:
		return o.agent != nil && o.agent.parkTimeout == 0 &&
			(len(o.st.waiting()) > 0 && !o.st.answered() || o.st.head.Paused)
	case phaseOver:
		return true
	}
	return false
}

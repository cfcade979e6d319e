package runner

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/petri/event"
)

// Runner is one run of a program: a machine and the goroutine that owns it. It is safe for
// concurrent use.
type Runner struct {
	prog *petri.Program
	cfg  Config
	in   *inbox
	acks sync.Pool // of chan answer, for InjectWait

	own     sync.Mutex // held by the loop while the machine works
	machine *petri.Machine
	rooms   rooms

	loop    loop
	workers workers
	async   func(petri.Token) // delivers the result of a task that something else did
	stat    stats

	done chan struct{}
	err  error // set before done is closed
}

// Start begins a run at net time 0 and starts its goroutine, which ends with the run. The run ends
// when its final place is marked, when Stop or Close is called, or when it faults. Start returns an
// error if the configuration is invalid, the program cannot run, or its start panics.
func Start(prog *petri.Program, cfg Config) (*Runner, error) {
	if prog == nil {
		return nil, fmt.Errorf("runner: start %s: the program is nil", cfg.Name)
	}
	cfg, err := cfg.filled(prog)
	if err != nil {
		return nil, err
	}
	r := &Runner{prog: prog, cfg: cfg, in: newInbox(cfg.Inbox), done: make(chan struct{})}
	r.acks.New = func() any { return make(chan answer, 1) }
	if err := r.build(); err != nil {
		return nil, err
	}
	r.workers.init(r)
	r.async = func(t petri.Token) {
		if r.in.deliver(t) {
			r.visit(nil)
		}
	}
	r.loop.timer, r.loop.armed = time.NewTimer(time.Hour), petri.Forever
	r.loop.timer.Stop()
	if n, ok := cfg.Store.(event.Notifier); ok {
		n.Notify(r.in.poke)
	}
	go r.run()
	return r, nil
}

// build starts the machine, on that of a run before if there is one, and turns a panic into an error.
func (r *Runner) build() (err error) {
	if err := r.prog.Runnable(); err != nil {
		return fmt.Errorf("runner: start %s: %w", r.cfg.Name, err)
	}
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("runner: start %s: %w", r.cfg.Name, newPanic(v))
		}
	}()
	if old := r.cfg.Spares.take(); old != nil && old.machine.Program() == r.prog {
		r.machine, r.loop.sinks = old.machine, old.sinks
		r.machine.Restart()
		return nil
	}
	if r.loop.sinks, err = newSinks(r.prog, &r.cfg); err != nil {
		return err
	}
	r.machine = r.prog.Start()
	return nil
}

// Inject queues a token for an environment place and returns. It does not block and does not
// allocate. Its errors are ErrInboxFull, ErrClosed, and a *petri.InjectError if the net has no such
// environment place. Stats and the events show whether the place had room.
func (r *Runner) Inject(t petri.Token) error {
	if err := r.checkPlace(t); err != nil {
		return err
	}
	return r.in.push(nil, t)
}

// InjectWait injects a token and waits until the token is in the marking, everything that it
// enables at once has fired, and the outputs that need not wait have been handed over. It returns
// the errors of Inject and of petri.Machine.Inject, such as petri.ErrFull. If ctx ends first,
// InjectWait returns its error; the token is queued and still enters. InjectWait must not be called
// from Out.
func (r *Runner) InjectWait(ctx context.Context, t petri.Token) error {
	if err := r.checkPlace(t); err != nil {
		return err
	}
	_, err := r.ask(ctx, t)
	return err
}

// ask injects a row and waits for the answer.
func (r *Runner) ask(ctx context.Context, row ...petri.Token) (entered int, err error) {
	ack := r.acks.Get().(chan answer)
	if err := r.in.push(ack, row...); err != nil {
		r.acks.Put(ack)
		return 0, err
	}
	select {
	case a := <-ack:
		r.acks.Put(ack)
		return a.entered, a.err
	case <-ctx.Done():
		return 0, fmt.Errorf("runner: inject at %q: %w", row[0].Place(), ctx.Err())
	}
}

func (r *Runner) checkPlace(t petri.Token) error {
	if i := r.prog.Place(t.Place()); i >= 0 && r.prog.Places()[i].Env {
		return nil
	}
	return &petri.InjectError{Place: t.Place(), Reason: petri.ErrPlace, Detail: "net " + r.prog.Name()}
}

// Stop asks the run to end. It returns at once, and may be called from Out and more than once. The
// run takes no more injections, processes those that are queued, cancels its tasks and ends. It
// does not wait for timers that are not yet due.
func (r *Runner) Stop() { r.in.stop() }

// Close stops the run, waits for its end and returns Err. It must not be called from Out or from a
// task; call Stop there.
func (r *Runner) Close() error {
	r.Stop()
	<-r.done
	return r.err
}

// Done returns a channel that is closed when the run is over: the loop has ended and the goroutines
// of tasks have returned, or Config.Grace has passed.
func (r *Runner) Done() <-chan struct{} { return r.done }

// Err returns the reason why the run broke. It wraps a *PanicError, ErrPending, ErrResult, ErrStore
// or ErrStuck. Err returns nil while the run goes on and after a proper end.
func (r *Runner) Err() error {
	select {
	case <-r.done:
		return r.err
	default:
		return nil
	}
}

// Marking returns the token count of every slot, in the order of petri.Program.SlotName, as it is
// between two steps of the loop. With Config.Spares no tokens are left when the run is over.
func (r *Runner) Marking() []int32 {
	r.own.Lock()
	defer r.own.Unlock()
	return r.marking()
}

// marking is the marking, for a caller that holds own.
func (r *Runner) marking() []int32 {
	if r.machine == nil { // it belongs to another run
		return make([]int32, r.prog.Slots())
	}
	return r.machine.Marking(nil)
}

// ErrStalled means that the loop has worked on one batch for too long: a Store or an Out blocks, or
// the net itself does not come to rest.
var ErrStalled = errors.New("runner: the run does not answer")

// MarkingWithin is Marking for a caller that must not wait for a run that hangs. The error wraps
// ErrStalled if the loop has worked on one batch for longer than limit. The marking may then be
// older than what was injected. MarkingWithin blocks for at most limit.
func (r *Runner) MarkingWithin(limit time.Duration) ([]int32, error) {
	for {
		free := r.own.TryLock()
		busy := r.in.busy()
		if free && busy <= limit {
			defer r.own.Unlock()
			return r.marking(), nil
		}
		if free {
			r.own.Unlock()
		}
		if busy > limit {
			return nil, fmt.Errorf("%w: one step has taken %v so far", ErrStalled, busy.Round(time.Millisecond))
		}
		time.Sleep(stallPoll) // the machine works
	}
}

// stallPoll is how often MarkingWithin looks whether the machine is free. A step takes microseconds.
const stallPoll = time.Millisecond

// Track returns a tracker that stands where the run does, between two steps of the loop. With Config.Spares
// it returns nil when the run is over.
func (r *Runner) Track() *petri.Tracker {
	r.own.Lock()
	defer r.own.Unlock()
	if r.machine == nil {
		return nil
	}
	return r.machine.Track()
}

// run is the goroutine of the run: first the loop, then the end.
func (r *Runner) run() {
	err := r.work()
	if err != nil {
		r.fault(err)
	}
	r.finish(err)
}

// protect calls fn and turns a panic into an error.
func (r *Runner) protect(fn func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = newPanic(v)
		}
	}()
	return fn()
}

// fault stores the events of a broken run. The store may be the part that broke.
func (r *Runner) fault(cause error) {
	ready := r.machineFault()
	if r.cfg.Store == nil {
		return
	}
	if err := r.protect(func() error { r.cfg.Store.Append(ready.Events); return nil }); err != nil {
		r.cfg.Logger.Error("store panicked", zap.String("run", r.cfg.Name), zap.Error(err), zap.NamedError("after", cause))
	}
}

func (r *Runner) machineFault() petri.Ready {
	r.own.Lock()
	defer r.own.Unlock()
	return r.machine.Fault()
}

// finish answers every waiting InjectWait and ends the goroutines of tasks.
func (r *Runner) finish(err error) {
	reason := error(ErrClosed)
	if err != nil {
		reason = fmt.Errorf("%w: %w", ErrClosed, petri.ErrFaulted)
		err = fmt.Errorf("runner: run %s: %w", r.cfg.Name, err)
		r.cfg.Logger.Error("run faulted", zap.String("run", r.cfg.Name), zap.String("net", r.prog.Name()), zap.Error(err))
	}
	for _, e := range append(r.loop.unanswered(), r.in.close()...) {
		r.loop.answer(&e, reason)
	}
	if stuck := r.endTasks(); err == nil {
		err = stuck
	}
	r.err = err
	r.leave()
	close(r.done)
}

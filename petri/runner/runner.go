package runner

import (
	"context"
	"fmt"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/petri/event"
)

// Runner is one run of a program: a machine and the goroutine that owns it. Its
// methods may be called by any goroutine.
type Runner struct {
	prog *petri.Program
	cfg  Config
	in   *inbox
	acks sync.Pool // of chan error, for InjectWait

	own     sync.Mutex // the loop holds it while the machine works
	machine *petri.Machine

	loop loop
	crew crew
	stat stats

	done chan struct{}
	err  error // set before done is closed
	end  func(*Runner)
}

// Start begins a run at net time 0. The error says what is wrong with the
// configuration or the program. The run goes on until its final place is
// marked, it is closed, or it faults; the goroutine of the loop ends with it.
func Start(prog *petri.Program, cfg Config) (*Runner, error) {
	return start(prog, cfg, nil)
}

func start(prog *petri.Program, cfg Config, end func(*Runner)) (*Runner, error) {
	if prog == nil {
		return nil, fmt.Errorf("runner: start %s: the program is nil", cfg.Name)
	}
	cfg, err := cfg.filled(prog)
	if err != nil {
		return nil, err
	}
	r := &Runner{prog: prog, cfg: cfg, in: newInbox(cfg.Inbox), done: make(chan struct{}), end: end}
	r.acks.New = func() any { return make(chan error, 1) }
	if r.loop.sinks, err = newSinks(prog, &r.cfg); err != nil {
		return nil, err
	}
	if r.machine, err = startMachine(prog, cfg.Name); err != nil {
		return nil, err
	}
	r.crew.init()
	if n, ok := cfg.Store.(event.Notifier); ok {
		n.Notify(r.in.poke)
	}
	go r.run()
	return r, nil
}

// startMachine lets the initial marking settle.
func startMachine(prog *petri.Program, name string) (m *petri.Machine, err error) {
	if err := prog.Runnable(); err != nil {
		return nil, fmt.Errorf("runner: start %s: %w", name, err)
	}
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("runner: start %s: %w", name, newPanic(v))
		}
	}()
	return prog.Start(), nil
}

// Inject queues a token for an environment place and returns. Whether the place
// had room shows in the events and in Stats. The errors are ErrInboxFull,
// ErrClosed, and a *petri.InjectError for a place that takes no tokens. It does
// not block and does not allocate.
func (r *Runner) Inject(t petri.Token) error {
	if err := r.checkPlace(t); err != nil {
		return err
	}
	return r.in.push(t, nil)
}

// InjectWait injects a token and waits until it is in the marking, everything
// it enabled at once has fired, and outputs that wait for nothing have been
// handed over. Besides the errors of Inject it returns those of
// petri.Machine.Inject, such as ErrFull, and ctx's: then the token is queued
// and will still enter. It must not be called from Out.
func (r *Runner) InjectWait(ctx context.Context, t petri.Token) error {
	if err := r.checkPlace(t); err != nil {
		return err
	}
	ack := r.acks.Get().(chan error)
	if err := r.in.push(t, ack); err != nil {
		r.acks.Put(ack)
		return err
	}
	select {
	case err := <-ack:
		r.acks.Put(ack)
		return err
	case <-ctx.Done():
		return fmt.Errorf("runner: inject at %q: %w", t.Place(), ctx.Err())
	}
}

func (r *Runner) checkPlace(t petri.Token) error {
	if i := r.prog.Place(t.Place()); i >= 0 && r.prog.Places()[i].Env {
		return nil
	}
	return &petri.InjectError{Place: t.Place(), Reason: petri.ErrPlace, Detail: "net " + r.prog.Name()}
}

// Stop asks the run to end: it takes no more injections, works off what is
// queued, and ends. It returns at once and may be called from Out, and more
// than once. Timers that are not yet due and tasks in flight do not hold it up;
// tasks are cancelled.
func (r *Runner) Stop() { r.in.stop() }

// Close stops the run, waits for its end and returns Err. It must not be called
// from Out or a task: see Stop.
func (r *Runner) Close() error {
	r.Stop()
	<-r.done
	return r.err
}

// Drain takes no more injections and lets the run go on until nothing can
// happen any more: no timer runs, no task is in flight, nothing waits to be
// stored. Then, or when ctx is done, the run is closed. It returns Err, or
// ctx's error when that came first. It must not be called from Out or a task.
func (r *Runner) Drain(ctx context.Context) error {
	r.in.drain()
	select {
	case <-r.done:
		return r.err
	case <-ctx.Done():
	}
	if err := r.Close(); err != nil {
		return err
	}
	return fmt.Errorf("runner: drain %s: %w", r.cfg.Name, ctx.Err())
}

// Done is closed when the run is over: the loop has ended and the goroutines of
// tasks have returned.
func (r *Runner) Done() <-chan struct{} { return r.done }

// Err is why the run broke: a *PanicError, ErrPending, ErrResult, ErrStore or
// ErrStuck, wrapped. It is nil while the run goes on and after a proper end.
func (r *Runner) Err() error {
	select {
	case <-r.done:
		return r.err
	default:
		return nil
	}
}

// Name returns the name of the run.
func (r *Runner) Name() string { return r.cfg.Name }

// Program returns the program that runs.
func (r *Runner) Program() *petri.Program { return r.prog }

// Started is the wall clock of net time 0, for people.
func (r *Runner) Started() time.Time { return r.in.start }

// Now is the net time.
func (r *Runner) Now() time.Duration { return r.in.elapsed() }

// Marking returns the token count of every slot, in the order of
// petri.Program.SlotName, as it stands between two steps of the loop.
func (r *Runner) Marking() []int32 {
	r.own.Lock()
	defer r.own.Unlock()
	return r.machine.Marking(nil)
}

// run is the goroutine: the loop, then the end.
func (r *Runner) run() {
	err := r.protect(r.work)
	if err != nil {
		r.fault(err)
	}
	r.finish(err)
}

// protect turns a panic of fn into an error.
func (r *Runner) protect(fn func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = newPanic(v)
		}
	}()
	return fn()
}

// fault records the end of a broken run. The store may be what broke.
func (r *Runner) fault(cause error) {
	ready := r.machineFault()
	if r.cfg.Store == nil {
		return
	}
	if err := r.protect(func() error { r.cfg.Store.Append(ready.Events); return nil }); err != nil {
		r.cfg.Logger.Error("store broke", zap.String("run", r.cfg.Name), zap.Error(err), zap.NamedError("after", cause))
	}
}

func (r *Runner) machineFault() petri.Ready {
	r.own.Lock()
	defer r.own.Unlock()
	return r.machine.Fault()
}

// finish answers everybody who waits and ends the goroutines of tasks.
func (r *Runner) finish(err error) {
	reason := error(ErrClosed)
	if err != nil {
		reason = fmt.Errorf("%w: %w", ErrClosed, petri.ErrFaulted)
		err = fmt.Errorf("runner: run %s: %w", r.cfg.Name, err)
		r.cfg.Logger.Error("run faulted", zap.String("run", r.cfg.Name), zap.String("net", r.prog.Name()), zap.Error(err))
	}
	for _, e := range append(r.loop.unanswered(), r.in.close()...) {
		if e.ack != nil {
			e.ack <- reason
		}
	}
	if stuck := r.endTasks(); err == nil {
		err = stuck
	}
	r.err = err
	close(r.done)
	if r.end != nil {
		r.end(r)
	}
}

package runner

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/voicegw/voicegw/petri"
)

// ErrStuck says that, at the end of a run, something did not end within
// Config.Grace.
var ErrStuck = errors.New("the run did not end in time")

// Handler does the work of a task: see Handle.
type Handler struct {
	start   string
	in, out string // colours of the start and done places
	work    func(ctx context.Context, start petri.Token, done string, deliver func(petri.Token))
}

// Handle makes fn the work of a task. fn gets the value put at t.Start and runs
// in a goroutine of its own; ctx is cancelled when the net cancels the task or
// the run ends, and fn must return soon then. What it returns is injected at
// t.Done, exactly once: an error or a panic as Failed with its text, whatever
// it returned after a cancellation as Cancelled. The handler serves the task of
// exactly this start place or, if there is none, every instance of it in a
// subnet (prefix/start).
func Handle[I, O any](t petri.Task[I, O], fn func(ctx context.Context, in I) (O, error)) Handler {
	return Handler{
		start: string(t.Start), in: colourName[I](), out: colourName[petri.Result[O]](),
		work: func(ctx context.Context, start petri.Token, done string, deliver func(petri.Token)) {
			in, _ := petri.Place[I](start.Place()).From(start)
			call(ctx, in, fn, func(res petri.Result[O]) {
				deliver(petri.Place[petri.Result[O]](done).Token(res))
			})
		},
	}
}

// colourName is the name of a colour as petri.PlaceInfo gives it.
func colourName[T any]() string {
	if reflect.TypeFor[T]() == reflect.TypeFor[petri.Unit]() {
		return "unit"
	}
	return reflect.TypeFor[T]().String()
}

// call turns whatever fn does into one result, also a panic and runtime.Goexit.
func call[I, O any](ctx context.Context, in I, fn func(context.Context, I) (O, error), deliver func(petri.Result[O])) {
	res := petri.Result[O]{Outcome: petri.Failed, Reason: "its goroutine exited"}
	defer func() {
		if v := recover(); v != nil {
			res.Reason = fmt.Sprintf("panic: %v", v)
		}
		if ctx.Err() != nil {
			res = petri.Result[O]{Outcome: petri.Cancelled, Reason: res.Reason}
		}
		deliver(res)
	}()
	v, err := fn(ctx, in)
	if err != nil {
		res.Reason = err.Error()
		return
	}
	res = petri.Result[O]{Outcome: petri.Succeeded, Value: v}
}

// task is one task of the net. Only the loop touches it.
type task struct {
	name    string
	done    string
	handler Handler
	cancel  context.CancelFunc // of the latest start
}

func newTask(prog *petri.Program, info petri.TaskInfo, cfg *Config, used []bool) (*task, error) {
	start, done := &prog.Places()[info.Start], &prog.Places()[info.Done]
	i := findHandler(start.Name, cfg.Tasks)
	if i < 0 {
		return nil, fmt.Errorf("runner: start %s: task %q of net %q has no handler; add runner.Handle to Config.Tasks",
			cfg.Name, start.Name, prog.Name())
	}
	used[i] = true
	h := cfg.Tasks[i]
	if h.in != start.Type || h.out != done.Type {
		return nil, fmt.Errorf("runner: start %s: the handler of task %q turns %s into %s; the net declares %s and %s",
			cfg.Name, start.Name, h.in, h.out, start.Type, done.Type)
	}
	return &task{name: start.Name, done: done.Name, handler: h}, nil
}

// findHandler prefers a handler of this very place to one of its kind.
func findHandler(place string, handlers []Handler) int {
	found := -1
	for i, h := range handlers {
		if h.start == place {
			return i
		}
		if found < 0 && strings.HasSuffix(place, "/"+h.start) {
			found = i
		}
	}
	return found
}

// crew are the goroutines that work on tasks.
type crew struct {
	all    sync.WaitGroup
	ctx    func() (context.Context, context.CancelFunc) // a child of the run's context
	cancel context.CancelFunc
	begun  bool
}

func (c *crew) init() {
	ctx, cancel := context.WithCancel(context.Background())
	c.cancel = cancel
	c.ctx = func() (context.Context, context.CancelFunc) { return context.WithCancel(ctx) }
}

// startTask starts a goroutine; endTasks waits for it.
func (r *Runner) startTask(t *task, start petri.Token) {
	ctx, cancel := r.crew.ctx()
	t.cancel = cancel
	r.loop.running++
	r.crew.begun = true
	r.crew.all.Go(func() {
		defer cancel()
		t.handler.work(ctx, start, t.done, r.in.deliver)
	})
}

// stop cancels the task's latest start; its goroutine still delivers a result.
func (t *task) stop() {
	if t.cancel != nil {
		t.cancel()
	}
}

// endTasks cancels every task and waits for the goroutines, but not for ever.
func (r *Runner) endTasks() error {
	r.crew.cancel()
	if !r.crew.begun {
		return nil
	}
	returned := make(chan struct{})
	go func() { // ends with the last of the goroutines it waits for
		defer close(returned)
		r.crew.all.Wait()
	}()
	grace := time.NewTimer(r.cfg.Grace)
	defer grace.Stop()
	select {
	case <-returned:
		return nil
	case <-grace.C:
		r.cfg.Logger.Error("task goroutine does not return", zap.String("run", r.cfg.Name))
		return fmt.Errorf("runner: run %s: %w: a task did not return within %v of its cancellation",
			r.cfg.Name, ErrStuck, r.cfg.Grace)
	}
}

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

// ErrStuck means that a task did not return, or an output was not stored, within Config.Grace of
// the end of the run.
var ErrStuck = errors.New("the run did not end in time")

// Handler does the work of a task. Handle makes it.
type Handler struct {
	start   string
	in, out string // colours of the start and done places
	work    func(ctx context.Context, owner any, start petri.Token, done string, deliver func(petri.Token))
	begin   func(owner any, start petri.Token, done string, deliver func(petri.Token)) // in place of work
}

// Handle returns a Handler that calls fn for each start of the task t. fn receives the value put at
// t.Start and runs in a goroutine of its own. ctx is cancelled when the net cancels the task or the
// run ends; fn must then return soon.
//
// The result of fn is injected at t.Done exactly once. An error or a panic becomes a Failed result
// with its text, and anything that fn returns after a cancellation becomes a Cancelled one. The
// handler serves the task with exactly this start place. If the net has no such task, it serves
// every instance of the task in a subnet (prefix/start).
func Handle[I, O any](t petri.Task[I, O], fn func(ctx context.Context, in I) (O, error)) Handler {
	return HandleFor(t, func(ctx context.Context, _ any, in I) (O, error) { return fn(ctx, in) })
}

// HandleFor is Handle for a function that many runs share: fn also receives Config.Owner of its run.
func HandleFor[S, I, O any](t petri.Task[I, O], fn func(ctx context.Context, owner S, in I) (O, error)) Handler {
	h := handlerOf(t)
	h.work = func(ctx context.Context, owner any, start petri.Token, done string, deliver func(petri.Token)) {
		in, _ := petri.Place[I](start.Place()).From(start)
		s, _ := owner.(S)
		call(ctx, s, in, fn, func(res petri.Result[O]) {
			deliver(petri.Place[petri.Result[O]](done).Token(res))
		})
	}
	return h
}

// HandleAsync returns a Handler for work that something else does: the loop calls fn for each start of the task. fn
// must not block or panic, and must see to it that done is called exactly once, from any goroutine, with the value or
// an error. When the net cancels the task, fn does not learn it.
func HandleAsync[S, I, O any](t petri.Task[I, O], fn func(owner S, in I, done func(O, error))) Handler {
	h := handlerOf(t)
	h.begin = func(owner any, start petri.Token, done string, deliver func(petri.Token)) {
		in, _ := petri.Place[I](start.Place()).From(start)
		s, _ := owner.(S)
		fn(s, in, func(v O, err error) { deliver(petri.Place[petri.Result[O]](done).Token(resultOf(v, err))) })
	}
	return h
}

func handlerOf[I, O any](t petri.Task[I, O]) Handler {
	return Handler{start: string(t.Start), in: colourName[I](), out: colourName[petri.Result[O]]()}
}

// colourName returns the name of a colour as in petri.PlaceInfo.Type.
func colourName[T any]() string {
	if reflect.TypeFor[T]() == reflect.TypeFor[petri.Unit]() {
		return "unit"
	}
	return reflect.TypeFor[T]().String()
}

// resultOf is the result of a function that has returned.
func resultOf[O any](v O, err error) petri.Result[O] {
	if err != nil {
		return petri.Result[O]{Outcome: petri.Failed, Value: v, Reason: err.Error()}
	}
	return petri.Result[O]{Outcome: petri.Succeeded, Value: v}
}

// call calls fn and delivers exactly one result, even if fn panics or calls runtime.Goexit.
func call[S, I, O any](ctx context.Context, owner S, in I, fn func(context.Context, S, I) (O, error),
	deliver func(petri.Result[O])) {
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
	v, err := fn(ctx, owner, in)
	res = resultOf(v, err)
}

// task is one task of the net. Only the loop uses it.
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

// findHandler returns the index of the handler of a start place, or -1. A handler of exactly this
// place comes before a handler of every instance.
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

// workers are the goroutines of tasks.
type workers struct {
	all    sync.WaitGroup
	ctx    func() (context.Context, context.CancelFunc) // derives a context from that of the run
	cancel context.CancelFunc
	begun  bool
}

func (c *workers) init() {
	ctx, cancel := context.WithCancel(context.Background())
	c.cancel = cancel
	c.ctx = func() (context.Context, context.CancelFunc) { return context.WithCancel(ctx) }
}

// startTask starts a goroutine, unless the handler needs none. endTasks waits for it.
func (r *Runner) startTask(t *task, start petri.Token) {
	if t.handler.begin != nil {
		t.handler.begin(r.cfg.Owner, start, t.done, r.in.deliver)
		return
	}
	ctx, cancel := r.workers.ctx()
	t.cancel = cancel
	r.workers.begun = true
	r.workers.all.Go(func() {
		defer cancel()
		t.handler.work(ctx, r.cfg.Owner, start, t.done, r.in.deliver)
	})
}

// stop cancels the latest start of the task. Its goroutine still delivers a result.
func (t *task) stop() {
	if t.cancel != nil {
		t.cancel()
	}
}

// endTasks cancels every task and waits for their goroutines, for at most Config.Grace.
func (r *Runner) endTasks() error {
	r.workers.cancel()
	if !r.workers.begun {
		return nil
	}
	returned := make(chan struct{})
	go func() { // ends with the last goroutine that it waits for
		defer close(returned)
		r.workers.all.Wait()
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

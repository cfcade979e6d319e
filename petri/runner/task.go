package runner

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/voicegw/voicegw/petri"
)

// ErrStuck means that a task did not return, or an output was not stored, within Config.Grace of
// the end of the run.
var ErrStuck = errors.New("the run did not end in time")

// Handler does the work of a task. Handle makes it.
type Handler struct {
	start   string
	in, out string // colours of the start and done places
	// begin begins the work on the loop, and returns what does it elsewhere; nil: deliver is called without it.
	begin func(owner any, start petri.Token, done string, deliver func(petri.Token)) work
	async bool // the net cannot cancel it
}

// work does the work of one start of a task and delivers its result.
type work func(ctx context.Context, deliver func(petri.Token))

// Handle returns a Handler that calls fn for each start of the task t. fn receives the value put at
// t.Start and runs in a goroutine that has nothing else to do meanwhile. ctx is cancelled when the net
// cancels the task or the run ends; fn must then return soon. Of several tasks that start at once, one that blocks
// without a call of ctx.Done holds up the others for half a millisecond.
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
	h.begin = func(owner any, start petri.Token, done string, _ func(petri.Token)) work {
		s, _ := owner.(S)
		in, _ := petri.Place[I](start.Place()).From(start)
		return func(ctx context.Context, deliver func(petri.Token)) {
			call(ctx, func() (O, error) { return fn(ctx, s, in) }, petri.Place[petri.Result[O]](done), deliver)
		}
	}
	return h
}

// HandleAsync returns a Handler for work that something else does: the loop calls fn for each start of the task. fn
// must not block or panic, and must see to it that done is called exactly once, from any goroutine, with the value or
// an error. Outside of Out, done may call Out, so its caller holds no lock that Out needs. If fn returns a function,
// that one does the work instead, in a goroutine of the run, and done is not called. When the net cancels the task,
// neither function learns it.
func HandleAsync[S, I, O any](t petri.Task[I, O],
	fn func(owner S, in I, done func(O, error)) func() (O, error)) Handler {
	h := handlerOf(t)
	h.async = true
	h.begin = func(owner any, start petri.Token, done string, deliver func(petri.Token)) work {
		in, _ := petri.Place[I](start.Place()).From(start)
		s, _ := owner.(S)
		place := petri.Place[petri.Result[O]](done)
		do := fn(s, in, func(v O, err error) { deliver(place.Token(resultOf(v, err))) })
		if do == nil {
			return nil
		}
		return func(ctx context.Context, deliver func(petri.Token)) { call(ctx, do, place, deliver) }
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
func call[O any](ctx context.Context, fn func() (O, error), to petri.Place[petri.Result[O]],
	deliver func(petri.Token)) {
	res := petri.Result[O]{Outcome: petri.Failed, Reason: "its goroutine exited"}
	defer func() {
		if v := recover(); v != nil {
			res.Reason = fmt.Sprintf("panic: %v", v)
		}
		if ctx.Err() != nil {
			res = petri.Result[O]{Outcome: petri.Cancelled, Reason: res.Reason}
		}
		deliver(to.Token(res))
	}()
	v, err := fn()
	res = resultOf(v, err)
}

// task is one task of the net. Only the loop uses it.
type task struct {
	name    string
	done    string
	handler Handler
	latest  *taskContext // of the latest start; nil: there was none
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

// stop cancels the latest start of the task. Its goroutine still delivers a result.
func (t *task) stop() {
	if t.latest != nil {
		t.latest.cancel()
	}
}

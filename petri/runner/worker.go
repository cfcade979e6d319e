package runner

import (
	"context"
	"fmt"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/voicegw/voicegw/petri"
)

// workers are the goroutines of tasks.
type workers struct {
	all    sync.WaitGroup
	ctx    context.Context // of the run
	cancel context.CancelFunc
	begun  bool
}

func (c *workers) init() { c.ctx, c.cancel = context.WithCancel(context.Background()) }

// worker is a goroutine that does the work of tasks. When it has delivered a result, it takes the steps of the loop
// that follow, if nobody else does. Of the tasks that start in these steps it does one itself, so that a net whose
// tasks follow one another needs a single worker.
type worker struct {
	r    *Runner
	next job // without work: there is none
}

// job is one start of a task.
type job struct {
	work   work
	ctx    context.Context
	cancel context.CancelFunc
}

// startTask gives the work of a task to a worker.
func (r *Runner) startTask(t *task, start petri.Token) {
	j := job{work: t.handler.begin(r.cfg.Owner, start, t.done, r.async), ctx: context.Background()}
	if j.work == nil {
		return
	}
	if !t.handler.async {
		j.ctx, j.cancel = context.WithCancel(r.workers.ctx)
		t.cancel = j.cancel
	}
	if w := r.loop.worker; w != nil && w.next.work == nil {
		w.next = j
		return
	}
	r.hire(j)
}

// hire starts a worker. endTasks waits for it.
func (r *Runner) hire(j job) {
	r.workers.begun = true
	r.workers.all.Go(func() { (&worker{r: r}).run(j) })
}

// run does a job, and those that follow.
func (w *worker) run(j job) {
	defer func() { // the function of a task may have called runtime.Goexit
		if w.next.work != nil {
			w.r.workers.all.Go(func() { (&worker{r: w.r}).run(w.next) })
		}
	}()
	widen(0)
	for deliver := w.deliver; j.work != nil; {
		j.do(deliver)
		j, w.next = w.next, job{}
	}
}

// widen makes the stack of a new goroutine as large as the loop needs. Later, below the frames of a task, that takes
// longer than all else that a goroutine does for a short task.
//
//go:noinline
func widen(i int) byte {
	var frame [6 << 10]byte
	frame[i] = 1
	return frame[len(frame)-1-i]
}

func (j job) do(deliver func(petri.Token)) {
	if j.cancel != nil {
		defer j.cancel()
	}
	j.work(j.ctx, deliver)
}

// deliver delivers a result, and takes the steps that follow.
func (w *worker) deliver(t petri.Token) {
	if w.r.in.deliver(t) {
		w.r.visit(w)
	}
}

// visit takes steps of the loop, which the caller has got from the inbox. w is nil if the caller is no worker.
func (r *Runner) visit(w *worker) {
	for n := 1; ; n++ {
		r.loop.worker = w
		r.cycle()
		r.loop.worker = nil
		if !r.in.leave(n == guestMax) {
			return
		}
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

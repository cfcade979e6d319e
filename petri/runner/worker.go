package runner

import (
	"context"
	"fmt"
	"time"

	"go.uber.org/zap"

	"github.com/voicegw/voicegw/petri"
)

// worker is a goroutine that does the work of tasks. When it has delivered a result, it takes the steps of the loop
// that follow, if nobody else does. Of the tasks that start in these steps it does one itself, so that a net whose
// tasks follow one another needs a single worker.
type worker struct {
	r    *Runner
	next job // without work: there is none
}

// job is one start of a task.
type job struct {
	work work
	ctx  *taskContext // nil: the net cannot cancel it
}

// startTask gives the work of a task to a worker.
func (r *Runner) startTask(t *task, start petri.Token) {
	j := job{work: t.handler.begin(r.cfg.Owner, start, t.done, r.async)}
	if j.work == nil {
		return
	}
	if !t.handler.async {
		j.ctx = &taskContext{all: &r.workers}
		t.latest = j.ctx
	}
	w := r.loop.worker
	if w != nil && w.next.work == nil {
		w.next = j
		return
	}
	r.workers.add(j, w != nil)
}

// run does one job after another.
func (w *worker) run() {
	c := &w.r.workers
	j, ok := c.take(true)
	if !ok {
		return
	}
	ended := false
	defer func() { // the function of a task may have called runtime.Goexit
		if !ended {
			w.replace()
		}
	}()
	widen(0)
	for deliver := w.deliver; ok; {
		j.do(deliver)
		if j, w.next = w.next, (job{}); j.work == nil {
			j, ok = c.take(false)
		}
	}
	ended = true
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
	if j.ctx == nil {
		j.work(context.Background(), deliver)
		return
	}
	defer j.ctx.cancel()
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
	idle := r.workers.wait()
	if idle == nil {
		return nil
	}
	grace := time.NewTimer(r.cfg.Grace)
	defer grace.Stop()
	select {
	case <-idle:
		return nil
	case <-grace.C:
		r.cfg.Logger.Error("task goroutine does not return", zap.String("run", r.cfg.Name))
		return fmt.Errorf("runner: run %s: %w: a task did not return within %v of its cancellation",
			r.cfg.Name, ErrStuck, r.cfg.Grace)
	}
}

package runner

import (
	"context"
	"slices"
	"sync"
	"time"
)

// workers are the goroutines of tasks, and the starts of tasks for which none has time yet.
//
// To wake a processor for a goroutine takes longer than many a task. So the starts that follow from the result of a
// task wait for its worker, which does them one after the other, as long as each is short: when a task asks for
// ctx.Done, or the row waits for helpAfter, another worker comes. That one sees to it that the next one comes, too,
// until each start has a worker.
type workers struct {
	r      *Runner
	ctx    context.Context // of the run
	cancel context.CancelFunc

	mu     sync.Mutex
	row    []job
	n      int           // goroutines
	coming bool          // a worker has been hired, and has not taken a job yet
	watch  *time.Timer   // calls help; nil: no start has waited yet
	idle   chan struct{} // closed when n is 0; nil: nobody waits for that
}

// helpAfter is how long starts wait for a worker that is busy. Shorter times wake a processor more often.
const helpAfter = 500 * time.Microsecond

func (c *workers) init(r *Runner) {
	c.r = r
	c.ctx, c.cancel = context.WithCancel(context.Background())
}

// add puts a job into the row. If soon is set, a worker comes to take it when it has done its own job.
func (c *workers) add(j job, soon bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.row = append(c.row, j)
	switch {
	case c.coming || soon && len(c.row) > 1:
	case !soon:
		c.hire()
	case c.watch == nil:
		c.watch = time.AfterFunc(helpAfter, c.help)
	default:
		c.watch.Reset(helpAfter)
	}
}

// hire starts a worker. endTasks waits for it. The caller holds mu.
func (c *workers) hire() {
	c.coming = true
	c.n++
	go (&worker{r: c.r}).run()
}

// help hires a worker if jobs wait.
func (c *workers) help() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.helpNow()
}

// helpNow is help for a caller that holds mu.
func (c *workers) helpNow() {
	if len(c.row) > 0 && !c.coming {
		c.hire()
	}
}

// take returns the oldest job. It returns false if no job waits; the worker then ends.
func (c *workers) take(hired bool) (j job, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	ok = len(c.row) > 0
	if ok {
		j = c.row[0]
		c.row = slices.Delete(c.row, 0, 1)
	}
	if hired {
		c.coming = false
		c.helpNow()
	}
	if !ok {
		c.leave()
	}
	return j, ok
}

// leave ends a worker. The caller holds mu.
func (c *workers) leave() {
	c.n--
	if c.n == 0 && c.idle != nil {
		close(c.idle)
	}
}

// replace hires another worker in place of this one, which ends.
func (w *worker) replace() {
	c := &w.r.workers
	c.mu.Lock()
	defer c.mu.Unlock()
	if w.next.work != nil {
		c.row = append(c.row, w.next)
	}
	c.helpNow()
	c.leave()
}

// wait returns a channel that is closed when no worker is left; nil: none is. No job is added any more.
func (c *workers) wait() <-chan struct{} {
	c.help()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.watch != nil {
		c.watch.Stop()
	}
	if c.n > 0 {
		c.idle = make(chan struct{})
	}
	return c.idle
}

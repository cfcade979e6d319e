package runner

import (
	"context"
	"sync"
	"time"
)

// taskContext is the context of one start of a task. Most tasks of a net are over before they ask for anything of it,
// so it makes what context.WithCancel does only then. A task that asks for Done may be about to wait: the starts of
// other tasks that wait for its worker then get another one.
type taskContext struct {
	all *workers

	mu     sync.Mutex
	made   context.Context
	stop   context.CancelFunc
	called bool // cancel was called
}

// Deadline reports that a task has no deadline.
func (*taskContext) Deadline() (time.Time, bool) { return time.Time{}, false }

// Done returns a channel that is closed when the net cancels the task, the run ends, or the task has returned.
func (c *taskContext) Done() <-chan struct{} {
	done := c.make().Done()
	c.all.help()
	return done
}

// Err returns why Done is closed.
func (c *taskContext) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.called {
		return context.Canceled
	}
	return c.all.ctx.Err()
}

// Value finds what package context keeps of c.
func (c *taskContext) Value(key any) any { return c.make().Value(key) }

// make makes the context that has what a task asks for.
func (c *taskContext) make() context.Context {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.made == nil {
		c.made, c.stop = context.WithCancel(c.all.ctx)
		if c.called {
			c.stop()
		}
	}
	return c.made
}

// cancel cancels the task.
func (c *taskContext) cancel() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.called = true
	if c.stop != nil {
		c.stop()
	}
}

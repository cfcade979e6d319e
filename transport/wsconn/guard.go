package wsconn

import (
	"context"
	"sync"
)

// guard interrupts an operation when its context is done. It registers once per context, not once
// per operation, so a loop that passes the same context each time allocates nothing.
type guard struct {
	interrupt func() // makes the operation in progress return soon

	mu     sync.Mutex
	active bool
	done   <-chan struct{} // of the registered context
	stop   func() bool     // unregisters it
}

// begin starts an operation. Unless it fails, end must follow.
func (g *guard) begin(ctx context.Context) error {
	g.mu.Lock()
	if done := ctx.Done(); done != g.done {
		g.watch(ctx, done)
	}
	g.active = true
	g.mu.Unlock()
	if err := ctx.Err(); err != nil {
		g.end()
		return err
	}
	return nil
}

// watch registers with another context; the caller holds mu. The callback of a context that is done
// after its operation sees that the context is no longer registered, or that no operation is
// active.
func (g *guard) watch(ctx context.Context, done <-chan struct{}) {
	if g.stop != nil {
		g.stop()
	}
	g.done, g.stop = done, nil
	if done == nil {
		return
	}
	g.stop = context.AfterFunc(ctx, func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		if g.active && g.done == done {
			g.interrupt()
		}
	})
}

// end ends the operation.
func (g *guard) end() {
	g.mu.Lock()
	g.active = false
	g.mu.Unlock()
}

// release unregisters the context.
func (g *guard) release() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.stop != nil {
		g.stop()
	}
	g.done, g.stop = nil, nil
}

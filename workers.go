package voicegw

import (
	"fmt"
	"sync"

	"go.uber.org/zap"
)

// workers are the goroutines of a call besides run and the net's loop. A worker that panics ends
// its own call and no other.
type workers struct {
	log  *zap.Logger
	fail func(error) // ends the call

	running sync.WaitGroup
}

// start runs fn in a goroutine. task says in logs and errors what it does.
func (w *workers) start(task string, fn func()) {
	w.running.Go(func() {
		defer func() {
			if v := recover(); v != nil {
				w.log.Error("a goroutine of the call panicked", zap.String("task", task), zap.Any("panic", v),
					zap.Stack("stack"))
				w.fail(fmt.Errorf("%s: panic: %v", task, v))
			}
		}()
		fn()
	})
}

// wait waits for all of them.
func (w *workers) wait() { w.running.Wait() }

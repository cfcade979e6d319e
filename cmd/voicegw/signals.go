package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"sync"
	"syscall"
)

// signalled is why a context is done: a signal came.
type signalled struct{ os.Signal }

// Error names the signal.
func (s signalled) Error() string { return s.String() }

// signalOf is the signal that ended a context, nil if it was something else.
func signalOf(ctx context.Context) os.Signal {
	var s signalled
	if errors.As(context.Cause(ctx), &s) {
		return s.Signal
	}
	return nil
}

// untilSignalled is a context that is done at the first SIGINT or SIGTERM, which is its cause. The second one ends the
// process at once with an exit code, whatever it does. stop takes the signals back and waits for the goroutine.
func untilSignalled(ctx context.Context, stderr io.Writer, code int) (_ context.Context, stop func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	over := make(chan struct{})
	var wait sync.WaitGroup
	wait.Go(func() {
		defer cancel(nil)
		for n := 0; ; n++ {
			select {
			case s := <-signals:
				if n > 0 {
					say(stderr, "voicegw: ended at once by a second signal\n")
					os.Exit(code)
				}
				cancel(signalled{s})
				say(stderr, fmt.Sprintf("voicegw: %v: ending; a second signal ends at once\n", s))
			case <-over:
				return
			}
		}
	})
	return ctx, func() {
		signal.Stop(signals)
		close(over)
		wait.Wait()
	}
}

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

// signalled is the cause of a context that a signal ended.
type signalled struct{ os.Signal }

// Error returns the name of the signal.
func (s signalled) Error() string { return s.String() }

// signalOf returns the signal that ended a context, or nil.
func signalOf(ctx context.Context) os.Signal {
	var s signalled
	if errors.As(context.Cause(ctx), &s) {
		return s.Signal
	}
	return nil
}

// untilSignalled returns a context that the first SIGINT or SIGTERM ends, as its cause. The second
// one ends the process at once with an exit code. stop gives the signals back and waits for the
// goroutine.
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
					say(stderr, "voicegw: a second signal ended the process at once\n")
					os.Exit(code)
				}
				cancel(signalled{s})
				say(stderr, fmt.Sprintf("voicegw: %v: ending; a second signal ends the process at once\n", s))
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

package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"sync"
	"syscall"
)

// untilSignalled is a context that is done at the first SIGINT or SIGTERM. The second one ends the process at once,
// whatever it does. stop takes the signals back and waits for the goroutine.
func untilSignalled(ctx context.Context, stderr io.Writer) (_ context.Context, stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	over := make(chan struct{})
	var wait sync.WaitGroup
	wait.Go(func() {
		defer cancel()
		for n := 0; ; n++ {
			select {
			case s := <-signals:
				if n > 0 {
					fmt.Fprintln(stderr, "voicegw: ended at once by a second signal")
					os.Exit(exitFailed)
				}
				fmt.Fprintf(stderr, "voicegw: %v: ending; a second signal ends at once\n", s)
				cancel()
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

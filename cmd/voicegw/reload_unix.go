//go:build unix

package main

import (
	"os"
	"os/signal"
	"syscall"
)

// hangups returns the SIGHUPs of the process, by which service managers ask for a reload. stop gives
// them back.
func hangups() (signals <-chan os.Signal, stop func()) {
	c := make(chan os.Signal, 1) // several that wait are one
	signal.Notify(c, syscall.SIGHUP)
	return c, func() { signal.Stop(c) }
}

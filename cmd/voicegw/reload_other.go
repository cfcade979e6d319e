//go:build !unix

package main

import "os"

// hangups returns no signal: this system has no SIGHUP.
func hangups() (signals <-chan os.Signal, stop func()) { return nil, func() {} }

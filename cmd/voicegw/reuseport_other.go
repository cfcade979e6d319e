//go:build !unix || solaris || aix

package main

import (
	"errors"
	"syscall"
)

// canReusePort reports whether two processes can listen on one address on this system.
const canReusePort = false

func reusePort(string, string, syscall.RawConn) error { return errors.ErrUnsupported }

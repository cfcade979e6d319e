//go:build !unix || solaris || aix

package main

import (
	"errors"
	"syscall"
)

// canReusePort says that two processes cannot listen on one address here.
const canReusePort = false

func reusePort(string, string, syscall.RawConn) error { return errors.ErrUnsupported }

//go:build unix && !solaris && !aix

package main

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// canReusePort reports whether two processes can listen on one address on this system.
const canReusePort = true

// reusePort lets another process listen on the same address (SO_REUSEPORT).
func reusePort(_, _ string, c syscall.RawConn) error {
	var failed error
	err := c.Control(func(fd uintptr) {
		failed = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_REUSEPORT, 1)
	})
	if err != nil {
		return err
	}
	return failed
}

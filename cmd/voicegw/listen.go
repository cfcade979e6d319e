package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"

	"github.com/voicegw/voicegw/settings"
)

// listen listens on an address, or on the socket of a service manager (LISTEN_FDS, systemd's socket
// activation). shared reports whether other processes may listen there too.
func listen(s *settings.Settings) (l net.Listener, shared bool, err error) {
	if l, err = inherited(os.Getenv, os.Getpid()); l != nil || err != nil {
		return l, true, err
	}
	var c net.ListenConfig
	if s.ReusePort {
		c.Control = reusePort
	}
	if l, err = c.Listen(context.Background(), "tcp", s.Listen); err != nil {
		return nil, false, listenError(s.Listen, err)
	}
	return l, s.ReusePort, nil
}

// firstInherited is the number of the first file from a service manager (sd_listen_fds(3)).
const firstInherited = 3

// inherited returns the socket of the service manager, nil if there is none.
func inherited(getenv func(string) string, pid int) (net.Listener, error) {
	if getenv("LISTEN_PID") != strconv.Itoa(pid) {
		return nil, nil
	}
	if n := getenv("LISTEN_FDS"); n != "1" {
		return nil, usagef("LISTEN_FDS is %q; want 1: one socket to listen on", n)
	}
	f := os.NewFile(firstInherited, "LISTEN_FDS")
	if f == nil {
		return nil, errors.New("take over the socket of LISTEN_FDS: it is not open")
	}
	defer f.Close() // the listener has its own
	l, err := net.FileListener(f)
	if err != nil {
		return nil, fmt.Errorf("take over the socket of LISTEN_FDS: %w", err)
	}
	return l, nil
}

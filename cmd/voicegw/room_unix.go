//go:build linux || darwin

package main

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// freeBytes returns the room that a user has in the file system of a directory.
func freeBytes(dir string) (uint64, error) {
	var s unix.Statfs_t
	err := unix.Statfs(dir, &s)
	return s.Bavail * uint64(s.Bsize), err
}

// descriptorsMax returns how many files the process may open.
func descriptorsMax() (uint64, error) {
	var l syscall.Rlimit
	err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &l)
	return uint64(l.Cur), err
}

//go:build unix

package jetstream

import (
	"fmt"
	"os"
	"syscall"
)

// lock keeps other processes out of a directory.
func lock(file string) (unlock func(), err error) {
	f, err := os.OpenFile(file, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("jetstream: %w", err)
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		_ = f.Close()
		return nil, fmt.Errorf("jetstream: another process uses the directory of %s: %w", file, err)
	}
	return func() { _ = f.Close() }, nil
}

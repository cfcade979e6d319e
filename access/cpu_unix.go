//go:build unix

package access

import (
	"syscall"
	"time"
)

// processTime returns the processor time that this process has used, 0 if it is not known.
func processTime() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

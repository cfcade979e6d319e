//go:build unix

package smt

import (
	"os/exec"
	"syscall"
)

// group gives a command a process group of its own, which ends as one.
func group(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}

// killGroup ends what a program has left behind. There is nothing to do if
// nothing is left.
func killGroup(pid int) { _ = syscall.Kill(-pid, syscall.SIGKILL) }

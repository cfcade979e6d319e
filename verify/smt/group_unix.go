//go:build unix

package smt

import (
	"os/exec"
	"syscall"
)

// group puts a command into a process group of its own, which is killed as a whole.
func group(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}

// killGroup kills what a program has left behind. It does nothing if nothing is left.
func killGroup(pid int) { _ = syscall.Kill(-pid, syscall.SIGKILL) }

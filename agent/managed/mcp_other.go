//go:build !unix

package managed

import "os/exec"

// ownGroup does nothing where processes have no groups.
func ownGroup(*exec.Cmd) {}

// killGroup kills a process.
func killGroup(cmd *exec.Cmd) { _ = cmd.Process.Kill() }

//go:build !unix

package smt

import "os/exec"

// group does nothing: without process groups, only the program itself is killed.
func group(*exec.Cmd) {}

func killGroup(int) {}

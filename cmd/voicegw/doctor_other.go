//go:build !linux

package main

// systemClock does not know how to ask this system.
func (f *checkResults) systemClock() {
	f.add("clock", statusUnknown, "compare it with another", "there is no server to compare it with")
}

package main

import (
	"golang.org/x/sys/unix"
)

// systemClock asks the kernel whether a time service keeps the clock (adjtimex(2)).
func (f *checkResults) systemClock() {
	const do = "run a time service such as chrony"
	state, err := unix.Adjtimex(&unix.Timex{})
	switch {
	case err != nil:
		f.add("clock", statusUnknown, do, "the kernel does not say whether it is synchronized: %v", err)
	case state == unix.TIME_ERROR:
		f.add("clock", statusUnknown, do, "no time service keeps it, as far as the kernel knows")
	default:
		f.add("clock", statusOK, "", "a time service keeps it")
	}
}

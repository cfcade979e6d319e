// Package phonetest is the other side of package mediastream, and of package asterisk, for tests: a telephone exchange
// that opens a stream to a door and speaks a carrier's dialect, with a caller's telephone behind it that has a playout
// clock, and a network between that delays and jitters. It can misbehave.
//
// A [Phone] is one call. What it heard is in [Phone.Heard], on the clock of its playout.
package phonetest

// Package transport is the vocabulary between a call and its far end, whatever protocol that speaks.
//
// A [Peer] is the far end after it said hello. It gives [Event] values (audio, acknowledgements, mute, hang-up) and
// takes audio frames and [Message] values (turns, transcripts, clear, marks). A call ends with a [Reason].
// [AckCounter] turns acknowledgements into frames of a playout budget. The package has no I/O, no goroutine and no
// clock: transport/ws is the first door that speaks it.
package transport

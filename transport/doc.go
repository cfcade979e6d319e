// Package transport is the vocabulary between a call and its far end, whatever protocol the far end
// speaks.
//
// A [Peer] is the far end after its hello. It delivers [Event] values (audio, acknowledgements,
// mute, hang-up) and takes audio frames and [Message] values (turns, transcripts, clear, marks). A
// call ends with a [Reason]. [AckCounter] turns acknowledgements into frames of a playout budget.
// The package has no I/O, no goroutine and no clock. The packages below it are the endpoints, one
// protocol each; transport/ws speaks this vocabulary most directly.
package transport

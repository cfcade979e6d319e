// Package phone is what the endpoints of telephone carriers share: a [Peer] over a WebSocket whose
// far end has a playout clock of its own and reports its progress with marks. A [Protocol] encodes
// and decodes the messages of one wire format: packages mediastream and asterisk implement it.
//
// Package wsconn bounds every wait and every message of the WebSocket. [Playout] turns returned
// marks into acknowledgements. A [Codec] is a telephone codec: G.711 or linear PCM.
//
// A Peer reads in one goroutine of its own, which Close ends; it writes in the goroutine of its
// caller. An audio frame allocates nothing in this package in either direction; the WebSocket
// library has its own allocations.
package phone

// Package phone is what the doors of telephone carriers share: a [Peer] over a WebSocket whose far end has a playout
// clock of its own and says by marks how far it got, whatever words it uses for that. The words are a [Protocol]:
// packages mediastream and asterisk have them.
//
// A [Socket] is a WebSocket with a limit on every wait and every message. [Playout] turns marks that come back into
// acknowledgements. A [Codec] is a telephone's coding of sound: G.711 and linear PCM.
//
// A Peer reads in one goroutine of its own, which Close ends; it writes in its caller's. An audio frame allocates
// nothing here in either direction; the WebSocket library has its own allocations.
package phone

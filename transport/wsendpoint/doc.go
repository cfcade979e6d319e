// Package wsendpoint is what the endpoints for foreign WebSocket clients share: everything but the
// messages of their protocols.
//
// A protocol is a [Codec], which turns messages of the far end into events and the gateway's
// messages into the protocol's, and a few facts about it, a [Protocol]. [New] makes an [Endpoint]
// of them: an http.Handler that checks the request, takes a line, upgrades, greets and runs the
// call. Each call is a [Peer], a transport.Peer with bounded reads and writes. The Peer
// acknowledges playout for far ends that do not, by a clock: see Config.PlayoutDelay.
//
// Besides the goroutines of net/http and the WebSocket library, a call has one goroutine that
// reads, and one that paces audio where the protocol cannot take back sent audio.
// Endpoint.ServeHTTP starts both and waits for them.
package wsendpoint

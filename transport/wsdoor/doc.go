// Package wsdoor is what the doors for other people's WebSocket clients share: everything but their words.
//
// A protocol is a [Codec], which turns messages of the far end into events and ours into messages, and a few facts
// about it, a [Protocol]. [New] makes a [Door] of them, an http.Handler that checks who asks, takes a line, upgrades,
// greets and runs the call. Each call is a [Peer], a transport.Peer whose reads and writes are bounded, and which
// acknowledges playout for far ends that do not: see [Playout].
//
// Besides what net/http and the WebSocket library start, a call has one goroutine that reads, and one that paces audio
// where the protocol cannot take back what was sent. Door.ServeHTTP starts both and waits for them.
package wsdoor

// Package ws is the WebSocket endpoint of docs/protocol.md: binary frames are 16-bit PCM, text
// frames are JSON events.
//
// [Accept] upgrades a request, reads the hello and returns a [Peer]. [Dial] is the other side: it
// sends the hello, waits for ready and returns a [Client], for the command line, for bridges and
// for tests. Neither side starts a goroutine of its own: deadlines on the socket bound reads and
// writes.
package ws

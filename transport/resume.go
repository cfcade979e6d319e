package transport

import "time"

// HandleLenMax bounds the handle of a call, in bytes.
const HandleLenMax = 64

// Resume is what a far end says in its hello about a call that can go on over another connection.
// The zero value is a far end whose call ends with its connection.
type Resume struct {
	Able   bool   // the far end can go on with the call that it begins
	Handle string // of the call that it goes on with, from Resumable; "" begins a new call

	// With a handle: what the far end has played of the last reply that was announced to it. It has
	// dropped the rest.
	Generation uint64
	PlayedMS   int64
	// With a handle: how many messages it has received since the call's first ready, without ready,
	// audio, net and net_graph.
	Received uint64
}

// Resumable says in ready how a far end goes on with its call when the connection breaks. The zero
// value says that it cannot.
type Resumable struct {
	Handle   string        // an unguessable name of the call, a secret
	Within   time.Duration // how long the call waits for the far end
	Received uint64        // when the call goes on: how many events the gateway has got since the first hello
}

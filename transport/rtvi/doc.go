// Package rtvi is a door for clients of RTVI, the protocol of Pipecat's client libraries, over WebSocket: frames of
// Pipecat's protobuf schema, RTVI messages as JSON inside.
//
//	door, err := rtvi.New(rtvi.Config{Lines: gateway})
//	...
//	mux.Handle("GET /v1/rtvi", door)
//
// Pipecat's client does not drop what it has got when it is interrupted, so audio is paced here: no more than Lead is
// ahead of what was heard. docs/rtvi.md says what of the protocol is kept.
package rtvi

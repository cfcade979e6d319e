// Package rtvi is an endpoint for clients of RTVI, the protocol of Pipecat's client libraries, over
// WebSocket: frames of Pipecat's protobuf schema, with RTVI messages as JSON inside.
//
//	endpoint, err := rtvi.New(rtvi.Config{Lines: gateway})
//	...
//	mux.Handle("GET /v1/rtvi", endpoint)
//
// Pipecat's client does not drop received audio when it is interrupted, so the endpoint paces
// audio: it sends at most Lead ahead of what was played. docs/rtvi.md lists what the endpoint
// supports.
package rtvi

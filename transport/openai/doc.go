// Package openai is a door for clients of OpenAI's Realtime API over WebSocket: they change only their base URL, and
// get a call of this gateway. It speaks what a voice conversation with server turn detection needs, in the form of the
// general release (session.type "realtime"), not of the beta before it.
//
//	door, err := openai.New(openai.Config{Lines: gateway})
//	...
//	mux.Handle("GET /v1/realtime", door)
//
// A real server cancels a response for good when it hears the caller. A cough does not interrupt here: the response is
// cancelled all the same, and the rest of the reply is another response. docs/openai.md says what of the protocol is
// kept.
package openai

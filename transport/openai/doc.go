// Package openai is an endpoint for clients of OpenAI's Realtime API over WebSocket: they change
// only their base URL, and get a call of this gateway. It implements voice conversations, with the
// gateway's turn detection or the client's own, in the form of the general release (session.type
// "realtime"), and with the names of the beta for clients that ask for them.
//
//	endpoint, err := openai.New(openai.Config{Lines: gateway})
//	...
//	mux.Handle("GET /v1/realtime", endpoint)
//
// A real server cancels a response for good when it hears the caller. Here a cough does not
// interrupt the reply: the endpoint cancels the response all the same, and sends the rest of the
// reply as another response. docs/openai.md lists what the endpoint supports.
package openai

// Package gemini is an endpoint for clients of Google's Gemini Live API: they change only their
// base URL, and get a call of this gateway instead of a connection to the model.
//
//	endpoint, err := gemini.New(gemini.Config{Lines: gateway})
//	...
//	if gemini.Serves(r.URL.Path) { // before http.ServeMux, which would redirect the clients' double slashes
//		endpoint.ServeHTTP(w, r)
//	}
//
// The client's key is the token of the call: see Hello.Token. It is not sent on. docs/gemini.md
// lists what the endpoint supports.
package gemini

// Package gemini is a door for clients of Google's Gemini Live API: they change only their base URL, and get a call of
// this gateway in place of the model.
//
//	door, err := gemini.New(gemini.Config{Lines: gateway})
//	...
//	if gemini.Serves(r.URL.Path) { // before http.ServeMux, which would redirect the clients' double slashes
//		door.ServeHTTP(w, r)
//	}
//
// The client's key is the token of the call: see Hello.Token. It goes nowhere else. docs/gemini.md says what of the
// protocol is kept.
package gemini

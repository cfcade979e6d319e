// Package httpapi serves workflows over HTTP: a run as one request, a run as a stream of events, and A2A for other
// agents.
//
//	s, err := httpapi.New(httpapi.Config{Engine: engine, Runtime: rt, Authorize: authorize})
//	for _, path := range httpapi.Paths() {
//		mux.Handle(path, s)
//	}
//
// A run is a message to a session of package managed, and the client may go away: the run goes on, and a later request
// reads what became of it. Streams are read from the journal as the reader takes them, so a slow reader costs nothing
// and misses nothing.
package httpapi

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
//
// A2A is a2a-go's server with an executor of ours. ADK's executor, adka2a, runs an agent with ADK's runner and a
// session.Service, so it would need both in front of the sessions of package managed, which is more code than the
// executor, and it does less: its Cancel interrupts nothing of a run that waits for an answer, it takes an answer only
// as the data of a function response and not as text, and its artifact has the events of all agents in place of the
// answer of the workflow. Clients see no difference: ADK's remote agent calls such a workflow.
package httpapi

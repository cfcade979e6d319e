// Package adkagent runs nets of package agent as agents of ADK. ADK's runner, its session, memory and
// artifact services, its plugins, callbacks and tools, its REST server and A2A take them like any other
// agent.
//
// To move an agent of ADK over, call New instead of llmagent.New, with the same configuration:
//
//	a, err := adkagent.New(llmagent.Config{Name: "host", Model: m, Tools: tools}, adkagent.Options{})
//	r, err := runner.New(runner.Config{AppName: "shop", Agent: a, SessionService: adkagent.Sessions(svc)})
//	for event, err := range r.Run(ctx, user, session, message, agent.RunConfig{}) { ... }
//	err = a.Close()
//
// The main types are Agent, Options, Source and Key. New makes one net of an agent and of those of its
// sub-agents that New made; any other agent of ADK becomes a guest of the net. Wrap runs a program of
// one's own. An Agent keeps one running net for each session that is in use, and ends it some time after
// its last turn.
//
// A turn hands each event to the runner and goes on only when the runner has stored it. So the next request
// to a model has every event before it, and a failed store fails the turn. What goes wrong in a turn is an
// event with an error code and a fault: see agent.Faults. Sessions lets the errors of a session service
// carry faults, too.
package adkagent

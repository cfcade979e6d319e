// Package managed runs agents as durable sessions. A session lives in a journal: it survives crashes
// and deploys, can wait days for a person or a client, and emits one stream of numbered events.
//
//	rt, err := managed.New(managed.Config{Journal: engine, Models: resolver})
//	agent, err := rt.CreateAgent(ctx, owner, managed.Definition{Name: "desk", Model: managed.ModelRef{ID: "parrot"}})
//	s, err := rt.StartSession(ctx, owner, managed.SessionRequest{Agent: agent.ID})
//	accepted, err := rt.Send(ctx, owner, s.ID, managed.Once{}, managed.Text("Hello"))
//	for ev, err := range rt.Events(ctx, owner, s.ID, 1, true) { ... }
//
// Every input is stored before the session sees it, and every event before anybody reads it. A request
// to a model and a call of a tool are effects: their start is stored before they begin, their result
// before anything depends on it. After a crash the session goes on where its journal ends. It repeats a
// request to a model. It repeats a call of a tool, with the same key, if the tool is idempotent or its policy
// says "retry". It repeats no other call: the model learns that the outcome is unknown.
//
// An agent may have tools of MCP servers, which run as processes or behind URLs. A session connects to them
// when a turn begins and closes them when it leaves memory. A turn goes on without a server that cannot be
// reached. Config says which commands and addresses an agent may name.
//
// The net of package life controls each session. An agent.Program answers its turns.
// Package managed/api serves all of this over HTTP.
package managed

// Package agent builds agents as nets: a model that is asked, tools that it calls, other agents that
// it hands over to, and a session that keeps what was said. The net decides what happens next; the
// handlers of its tasks do the work.
//
//	prog, err := agent.New(agent.Config{Agents: []agent.Agent{{
//		Name: "host", Instruction: "You take orders.", Model: llm, Tools: []agent.Tool{menu},
//	}}})
//	s, err := agent.Start(prog)
//	err = s.Run(ctx, &agent.Turn{ID: "t1", Message: genai.NewContentFromText("Hello", "user"), Emit: keep})
//	err = s.Close()
//
// An agent asks one model, or several branches: a Race in tiers, a Quorum, an Optimistic draft with a
// fallback, or a Batch. These are part of the net, too, and proved with it; see their examples.
//
// The main types are Config, Program, Session and Turn. New makes a Program of stock subnets, each a
// function over the typed places of Ports. Agent.Parts replaces any of them by name. Prove proves what
// every Program must keep. Start runs a Program for one session, and Session.Run runs one turn of it:
// everything between a message of the user and the answer.
//
// A turn stores each event before anything depends on it. Session.Run hands every event to Turn.Emit,
// in order. The next request to the model is built, and a tool is called, only after Emit has returned
// for all events before it. An event that cannot be stored ends the turn.
package agent

// Package calls lets calls use agents that run as managed sessions. An agent can be a tool of a call, and can do the
// work that follows a call. Agents that run a workflow can, too.
//
//	err := calls.Join(&cfg, calls.Config{
//		Runtime: func() *managed.Runtime { return rt },
//		Tools:   []calls.Tool{{Tool: voicegw.Tool{Name: "orders", Description: "knows all orders"}, Agent: "orders"}},
//		After:   &calls.After{Agent: "clerk", Transcripts: true},
//	})
//	gw, err := voicegw.New(cfg)
//
// A call has one session with each agent that it asks. Its sessions stay when it is over; their metadata name the
// call (CallKey).
package calls

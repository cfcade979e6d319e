// Package exec runs proved workflows as managed sessions.
//
//	e, err := exec.New(exec.Config{Tools: tools, Functions: functions})
//	w, findings := workflow.Load("digest.yaml", text, e.Registry())
//	c, findings := workflow.Compile(w)
//	report, err := workflow.Verify(ctx, c)
//	err = e.Add(c, report) // refuses what is not accepted, and what nothing here can do
//	d, err := e.Definition("digest")
//	rt, err := managed.New(managed.Config{Programs: e.Programs(), Shared: []managed.Definition{d}, ...})
//
// An Engine has workflows; each is a program of package managed, and a message to a session of it is one run.
// A run is durable: every request to a model, and every call of a tool or a function, is an effect of the
// session. A process that goes on after a crash finds the results of those that have ended, so a node of a
// workflow that is done is not run again.
//
// The same results in the same order and at the same times give the same events, byte for byte but for ids and times.
// Agents that work side by side may be done in another order in the next run. For the same first message and the same
// answers, each agent is nevertheless asked the same and answers the same, and the state and the answer of the run are
// the same.
//
// The net of the workflow decides what runs when. What a leaf does is here: Function, managed.Tool and Hooks
// are what a file can name.
package exec

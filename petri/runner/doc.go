// Package runner runs a petri.Machine in a goroutine, with a clock, an inbox, tasks and an event
// store.
//
//	run, err := runner.Start(prog, runner.Config{
//		Name:  "call 17",
//		Out:   func(t petri.Token) { ... },
//		Store: event.NewRing(4096),
//		Tasks: []runner.Handler{runner.Handle(lookup, func(ctx context.Context, q Query) (Answer, error) { ... })},
//	})
//	err = run.Inject(edge.Token(Start)) // from any goroutine
//	err = run.Close()
//
// One goroutine at a time, the loop, owns the machine, and one timer wakes it: the goroutine of the run, or, while
// that waits, the one that delivers the result of a task. Inject stamps each token with
// the time since the start of the run when it queues the token; stamps never decrease. A timer of
// the net fires at its due time, however late the process is. So what the net does depends on the
// stamps alone. Lateness only delays the outputs, and Stats measures it.
//
// The loop appends events to the Store before it hands over the outputs of these events. A durable
// output waits until its events are stored. Outputs to one destination keep their order. If the
// Store fails, or takes too long, the waiting outputs are discarded and Config.StoreFailed decides
// whether the run goes on.
//
// A panic in an action, in Out or in the Store ends its own run and no other. Err returns it.
package runner

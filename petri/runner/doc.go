// Package runner puts a petri.Machine into a goroutine, with a clock, an inbox,
// tasks and a record.
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
// One goroutine, the loop, owns the machine, and one timer wakes it. An
// injection is stamped when it is queued, relative to the start of the run and
// never decreasing; a timer of the net fires at its due time however late the
// process is. So what the net does depends on the stamps alone, and lateness
// only delays what the world sees of it: see Stats.
//
// Events are appended to the Store before what they put out is handed over. A
// durable output waits until its events are stored; outputs to one destination
// keep their order. A store that fails, or takes too long, fails that wait: the
// output is never handed over, and Config.StoreFailed decides what becomes of
// the run.
//
// A panic in an action, in Out or in the Store ends its own run and no other:
// Err says why.
package runner

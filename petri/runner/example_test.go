package runner_test

import (
	"context"
	"fmt"

	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/petri/event"
	"github.com/voicegw/voicegw/petri/runner"
)

// The net counts coins and opens at the third.
func Example() {
	const (
		coin  = petri.Place[petri.Unit]("coin")
		box   = petri.Place[petri.Unit]("box")
		opens = petri.Place[petri.Unit]("opens")
	)
	prog, err := petri.Compile(&petri.Net{
		Name: "turnstile",
		Env:  []petri.Env{{Place: coin}},
		Out:  []petri.Output{{Place: opens}},
		Transitions: []petri.Transition{
			{Name: "keep", In: petri.Arcs{coin}, Out: petri.And(box)},
			{Name: "open", In: petri.Arcs{box.Exactly(3)}, Out: petri.And(opens)},
		},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	ring := event.NewRing(64)
	run, err := runner.Start(prog, runner.Config{Store: ring, Out: func(t petri.Token) { fmt.Println("out:", t) }})
	if err != nil {
		fmt.Println(err)
		return
	}
	for range 3 {
		if err := run.InjectWait(context.Background(), coin.Token(petri.Unit{})); err != nil {
			fmt.Println(err)
		}
	}
	fmt.Println("closed:", run.Close())
	fmt.Println("firings:", run.Stats().Fired, "of", len(ring.Events(nil)), "events")
	// Output:
	// out: opens
	// closed: <nil>
	// firings: 4 of 8 events
}

// A task is slow work beside the net. Its result comes back as a token.
func ExampleHandle() {
	const (
		asked = petri.Place[string]("asked")
		start = petri.Place[string]("start")
		busy  = petri.Place[petri.Unit]("busy")
		done  = petri.Place[petri.Result[int]]("done")
		said  = petri.Place[petri.Result[int]]("said")
	)
	length := petri.Task[string, int]{Start: start, InFlight: busy, Done: done}
	prog, err := petri.Compile(&petri.Net{
		Name:  "lengths",
		Env:   []petri.Env{{Place: asked, Capacity: 4}},
		Out:   []petri.Output{{Place: said}},
		Tasks: []petri.AnyTask{length},
		Transitions: []petri.Transition{
			{Name: "begin", In: petri.Arcs{asked}, Inhibit: petri.Arcs{busy}, Out: petri.And(start, busy),
				Action: func(f *petri.Firing) { start.Put(f, asked.Get(f)) }},
			{Name: "finish", In: petri.Arcs{done, busy}, Out: petri.And(said)},
		},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	answered := make(chan struct{})
	run, err := runner.Start(prog, runner.Config{
		Tasks: []runner.Handler{
			runner.Handle(length, func(ctx context.Context, s string) (int, error) { return len(s), nil }),
		},
		Out: func(t petri.Token) {
			res, _ := said.From(t)
			fmt.Println(res.Outcome, res.Value)
			close(answered)
		},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	_ = run.Inject(asked.Token("firing"))
	<-answered
	fmt.Println("closed:", run.Close())
	// Output:
	// succeeded 6
	// closed: <nil>
}

package runner

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/voicegw/voicegw/petri"
)

// The nets of this file are those of libpetri's benchmarks: work that completes in another
// goroutine.

const (
	goIn  petri.Place[petri.Unit] = "go"
	ended petri.Place[petri.Unit] = "ended"
)

type unitTask = petri.Task[petri.Unit, petri.Unit]

func taskNo(i int) unitTask {
	return unitTask{
		Start:    petri.Place[petri.Unit](fmt.Sprintf("start_%d", i)),
		InFlight: petri.Place[petri.Unit](fmt.Sprintf("in_flight_%d", i)),
		Done:     petri.Place[petri.Result[petri.Unit]](fmt.Sprintf("done_%d", i)),
	}
}

// asyncChain is work pieces of work in a row, then sync synchronous firings in a row, then the end.
// Each piece of work takes 2 firings, of which one is shared with the next.
func asyncChain(work, sync int) *petri.Net {
	n := &petri.Net{Name: "async_chain", Env: []petri.Env{{Place: goIn}}, Out: []petri.Output{{Place: ended}}}
	before := petri.Arcs{goIn}
	for i := range work {
		t := taskNo(i)
		n.Tasks = append(n.Tasks, t)
		n.Transitions = append(n.Transitions, petri.Transition{Name: fmt.Sprintf("begin_%d", i), In: before,
			Out: petri.And(t.Start, t.InFlight)})
		before = petri.Arcs{t.Done, t.InFlight}
	}
	for i := range sync {
		p := petri.Place[petri.Unit](fmt.Sprintf("p_%d", i))
		n.Transitions = append(n.Transitions, petri.Transition{Name: fmt.Sprintf("step_%d", i), In: before,
			Out: petri.And(p)})
		before = petri.Arcs{p}
	}
	n.Transitions = append(n.Transitions, petri.Transition{Name: "end", In: before, Out: petri.And(ended)})
	return n
}

// asyncFanout is a fork to n pieces of work and a join of all.
func asyncFanout(n int) *petri.Net {
	const joined petri.Place[petri.Unit] = "joined"
	net := &petri.Net{Name: "async_fanout", Env: []petri.Env{{Place: goIn}}, Out: []petri.Output{{Place: ended}}}
	var fork petri.Arcs
	for i := range n {
		t := taskNo(i)
		net.Tasks = append(net.Tasks, t)
		fork = append(fork, t.Start, t.InFlight)
		net.Transitions = append(net.Transitions, petri.Transition{Name: fmt.Sprintf("collect_%d", i),
			In: petri.Arcs{t.Done, t.InFlight}, Out: petri.And(joined)})
	}
	net.Transitions = append(net.Transitions,
		petri.Transition{Name: "fork", In: petri.Arcs{goIn}, Out: petri.And(fork...)},
		petri.Transition{Name: "join", In: petri.Arcs{joined.Exactly(n)}, Out: petri.And(ended)})
	return net
}

// laps runs a net b.N times from go to ended and reports the cost of a firing.
func laps(tb testing.TB, net *petri.Net, tasks int, times int) time.Duration {
	tb.Helper()
	end := make(chan struct{}, 1)
	cfg := Config{Out: func(petri.Token) { end <- struct{}{} }}
	for i := range tasks {
		cfg.Tasks = append(cfg.Tasks, Handle(taskNo(i), func(context.Context, petri.Unit) (petri.Unit, error) {
			return petri.Unit{}, nil
		}))
	}
	r, err := Start(compile(tb, net), cfg)
	if err != nil {
		tb.Fatal(err)
	}
	began := time.Now()
	for range times {
		if err := r.Inject(goIn.Token(petri.Unit{})); err != nil {
			tb.Fatal(err)
		}
		<-end
	}
	took := time.Since(began)
	fired := r.Stats().Fired
	if err := r.Close(); err != nil {
		tb.Fatal(err)
	}
	if want := uint64(times * len(net.Transitions)); fired != want {
		tb.Fatalf("%d firings, want %d", fired, want)
	}
	return took / time.Duration(fired)
}

func benchLaps(b *testing.B, net func() *petri.Net, tasks int) {
	b.ReportAllocs()
	b.ReportMetric(float64(laps(b, net(), tasks, b.N)), "ns/firing")
}

func BenchmarkAsyncChain(b *testing.B) {
	for _, n := range []int{10, 50, 100} {
		b.Run(fmt.Sprintf("async-chain-%d", n), func(b *testing.B) {
			benchLaps(b, func() *petri.Net { return asyncChain(n, 0) }, n)
		})
	}
}

func BenchmarkMixedChain(b *testing.B) {
	for _, n := range []int{10, 50, 100} {
		b.Run(fmt.Sprintf("mixed-chain-%d", n), func(b *testing.B) {
			benchLaps(b, func() *petri.Net { return asyncChain(2, n-2) }, 2)
		})
	}
}

func BenchmarkAsyncFanout(b *testing.B) {
	for _, n := range []int{10, 100} {
		b.Run(fmt.Sprintf("fanout-async-%d", n), func(b *testing.B) {
			benchLaps(b, func() *petri.Net { return asyncFanout(n) }, n)
		})
	}
}

// TestWorkIsNotSuperlinear checks that ten times as much concurrent work does not make a firing
// more expensive. The bound is wide, because other processes share the machine; libpetri's cost
// grows by a factor of 3 to 4.
func TestWorkIsNotSuperlinear(t *testing.T) {
	best := func(n, times int) time.Duration {
		least := time.Hour
		for range 5 {
			least = min(least, laps(t, asyncFanout(n), n, times))
		}
		return least
	}
	few, many := best(10, 300), best(100, 30)
	t.Logf("a firing costs %v with 10 pieces of work at once, %v with 100", few, many)
	if many > 3*few {
		t.Errorf("a firing costs %v with 100 pieces of work at once, %v with 10", many, few)
	}
}

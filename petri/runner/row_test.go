package runner

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/voicegw/voicegw/petri"
)

// rowNet is a piece of work, then n pieces side by side, then the end.
func rowNet(n int) *petri.Net {
	net := asyncFanout(n + 1)
	fork, first := &net.Transitions[n+1], taskNo(n)
	out := petri.Arcs{first.Start, first.InFlight}
	rest := petri.Arcs{}
	for i := range n {
		rest = append(rest, taskNo(i).Start, taskNo(i).InFlight)
	}
	fork.Out = petri.And(out...)
	net.Transitions[n].Out = petri.And(rest...)
	net.Transitions[n+2].In = petri.Arcs{petri.Place[petri.Unit]("joined").Exactly(n)}
	return net
}

const rowMax = 5 // pieces of work side by side

// row runs a rowNet whose pieces side by side do work. It returns when each began, by number, and what they ran in.
func row(t *testing.T, work func(ctx context.Context, i int)) (began []time.Duration, names map[string]bool) {
	t.Helper()
	var mu sync.Mutex
	began, names = make([]time.Duration, rowMax), map[string]bool{}
	start, end := time.Now(), make(chan struct{})
	cfg := Config{Out: func(petri.Token) { close(end) }}
	for i := range rowMax + 1 {
		cfg.Tasks = append(cfg.Tasks, Handle(taskNo(i), func(ctx context.Context, _ petri.Unit) (petri.Unit, error) {
			if i == rowMax {
				synctest.Wait() // the loop waits, so that this goroutine takes the steps that follow
				return petri.Unit{}, nil
			}
			mu.Lock()
			began[i] = time.Since(start)
			names[goroutine()] = true
			mu.Unlock()
			work(ctx, i)
			return petri.Unit{}, nil
		}))
	}
	r := mustStart(t, rowNet(rowMax), cfg)
	mustInject(t, r, goIn.Token(petri.Unit{}))
	<-end
	mustClose(t, r)
	return began, names
}

// meet returns a function that returns when rowMax goroutines have called it.
func meet() func() {
	var all sync.WaitGroup
	all.Add(rowMax)
	return func() {
		all.Done()
		all.Wait()
	}
}

// TestRow checks that tasks side by side are done by one goroutine while they are short, and at once by many when
// they may wait.
func TestRow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		short := func(context.Context, int) { time.Sleep(helpAfter / (2 * rowMax)) }
		if _, names := row(t, short); len(names) != 1 {
			t.Errorf("%d goroutines did short tasks", len(names))
		}
		together := meet()
		for i, at := range first(row(t, func(ctx context.Context, _ int) { ctx.Done(); together() })) {
			if at != 0 {
				t.Errorf("task %d began after %v, although those before it have asked for Done", i, at)
			}
		}
		together = meet()
		for i, at := range first(row(t, func(context.Context, int) { together() })) {
			if at > helpAfter {
				t.Errorf("task %d began after %v; tasks wait for %v at most", i, at, helpAfter)
			}
		}
		began, _ := row(t, func(context.Context, int) { runtime.Goexit() })
		for i, at := range began {
			if at != 0 {
				t.Errorf("task %d began after %v, although the goroutine of the task before it had ended", i, at)
			}
		}
	})
}

func first[A, B any](a A, _ B) A { return a }

// TestRowAtTheEnd ends a run while tasks wait for their worker: they begin, cancelled, and the run waits for them.
func TestRowAtTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		cancelled, release := 0, make(chan struct{})
		cfg := Config{}
		for i := range rowMax + 1 {
			cfg.Tasks = append(cfg.Tasks, Handle(taskNo(i), func(ctx context.Context, _ petri.Unit) (petri.Unit, error) {
				if i == rowMax {
					time.Sleep(time.Second) // the loop waits
					return petri.Unit{}, nil
				}
				<-release
				mu.Lock()
				defer mu.Unlock()
				if errors.Is(ctx.Err(), context.Canceled) {
					cancelled++
				}
				return petri.Unit{}, nil
			}))
		}
		r := mustStart(t, rowNet(rowMax), cfg)
		mustInject(t, r, goIn.Token(petri.Unit{}))
		time.Sleep(time.Second + helpAfter/2)
		if n := queued(r); n != rowMax-1 {
			t.Errorf("%d tasks wait for a worker, want %d", n, rowMax-1)
		}
		r.Stop()
		synctest.Wait()
		if n := queued(r); n != 0 {
			t.Errorf("%d tasks still wait for a worker", n)
		}
		close(release)
		mustClose(t, r)
		if cancelled != rowMax {
			t.Errorf("%d of %d tasks were done, cancelled", cancelled, rowMax)
		}
	})
}

// queued is how many jobs wait.
func queued(r *Runner) int {
	r.workers.mu.Lock()
	defer r.workers.mu.Unlock()
	return len(r.workers.row)
}

// TestContextOfTheReturned checks that the context of a task ends when the task has returned.
func TestContextOfTheReturned(t *testing.T) {
	var ctx context.Context
	end := make(chan struct{})
	r := mustStart(t, asyncChain(1, 0), Config{Out: func(petri.Token) { close(end) }, Tasks: []Handler{Handle(taskNo(0),
		func(c context.Context, _ petri.Unit) (petri.Unit, error) {
			ctx = c
			return petri.Unit{}, c.Err()
		})}})
	mustInject(t, r, goIn.Token(petri.Unit{}))
	<-end
	<-ctx.Done()
	if err := r.Err(); err != nil {
		t.Error(err)
	}
	mustClose(t, r)
}

// TestTaskContext checks that a context of a task is one of package context, whenever it is asked for what.
func TestTaskContext(t *testing.T) {
	type key struct{}
	for _, early := range []bool{false, true} { // whether Done is asked for before cancel
		t.Run(fmt.Sprint("early=", early), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := &Runner{}
				r.workers.init(r)
				c := &taskContext{all: &r.workers}
				if _, ok := c.Deadline(); ok || c.Err() != nil {
					t.Error("a new context has ended, or ends")
				}
				var derived context.Context
				stop := func() {}
				if early {
					derived, stop = context.WithTimeout(context.WithValue(c, key{}, 7), time.Minute)
					select {
					case <-c.Done():
						t.Error("Done is closed")
					default:
					}
				}
				defer stop()
				c.cancel()
				if !early {
					derived = context.WithValue(c, key{}, 7)
				}
				<-derived.Done()
				<-c.Done()
				if c.Err() != context.Canceled || derived.Err() != context.Canceled || context.Cause(c) != context.Canceled {
					t.Errorf("%v, %v, %v", c.Err(), derived.Err(), context.Cause(c))
				}
				if derived.Value(key{}) != 7 || c.Value(key{}) != nil {
					t.Error("a value is lost")
				}
				other := &taskContext{all: &r.workers}
				r.workers.cancel()
				<-other.Done()
				if other.Err() != context.Canceled {
					t.Errorf("when the run ends: %v", other.Err())
				}
			})
		})
	}
}

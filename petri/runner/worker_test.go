package runner

import (
	"bytes"
	"context"
	"errors"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/voicegw/voicegw/petri"
)

// goroutine is the name of the goroutine that calls it.
func goroutine() string {
	var buf [64]byte
	name, _, _ := bytes.Cut(buf[:runtime.Stack(buf[:], false)], []byte(" ["))
	return string(name)
}

// chained runs a chain of four tasks, one after the other, and returns the goroutines that did them.
func chained(t *testing.T, work func()) map[string]bool {
	t.Helper()
	names := map[string]bool{}
	cfg, end := Config{}, make(chan struct{})
	cfg.Out = func(petri.Token) { close(end) }
	for i := range 4 {
		cfg.Tasks = append(cfg.Tasks, Handle(taskNo(i), func(context.Context, petri.Unit) (petri.Unit, error) {
			synctest.Wait() // the loop waits
			names[goroutine()] = true
			work()
			return petri.Unit{}, nil
		}))
	}
	r := mustStart(t, asyncChain(4, 0), cfg)
	if err := r.Inject(goIn.Token(petri.Unit{})); err != nil {
		t.Fatal(err)
	}
	<-end
	mustClose(t, r)
	return names
}

// TestWorker checks that one goroutine does tasks that follow one another, and that the tasks are done, too,
// when each one ends its goroutine.
func TestWorker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		if names := chained(t, func() {}); len(names) != 1 {
			t.Errorf("%d goroutines did four tasks in a row", len(names))
		}
		if names := chained(t, runtime.Goexit); len(names) != 4 {
			t.Errorf("%d goroutines did four tasks that end their goroutine", len(names))
		}
	})
}

// asking starts a desk for two whose work the test does. It returns the functions that end the work.
func asking(t *testing.T, cfg Config) (r *Runner, first, second func(string, error)) {
	t.Helper()
	orders := make(chan func(string, error), 2)
	cfg.Tasks = []Handler{HandleAsync(lookup(), func(_ any, _ int, done func(string, error)) func() (string, error) {
		orders <- done
		return nil
	})}
	r = mustStart(t, desk(t, "a", "b"), cfg)
	mustInject(t, r, query.Token(1))
	mustInject(t, r, query.Token(2))
	synctest.Wait()
	return r, <-orders, <-orders
}

// TestGuest checks that whoever delivers a result takes the steps that follow, and that a timer that falls due
// meanwhile fires.
func TestGuest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var w world
		var by string
		r, first, _ := asking(t, Config{Store: &w, Lateness: time.Minute, Out: func(petri.Token) {
			by = goroutine()
			time.Sleep(11 * time.Second) // the other one times out after 10 s
		}})
		if first("one", nil); by != goroutine() {
			t.Errorf("%s handed over the reply, not %s", by, goroutine())
		}
		synctest.Wait()
		if trace := w.trace(r.prog); !strings.Contains(trace, "time_out") {
			t.Errorf("the timer did not fire:\n%s", trace)
		}
		mustClose(t, r)
	})
}

// TestGuestArms checks that a guest arms the timer for what its steps have enabled, be it a worker or another goroutine
// that delivers a result: afterwards nobody else looks at the time.
func TestGuestArms(t *testing.T) {
	for _, c := range []struct {
		name string
		task Handler
	}{
		{"worker", Handle(taskNo(0), func(context.Context, petri.Unit) (u petri.Unit, err error) {
			synctest.Wait() // the loop waits
			return u, nil
		})},
		{"other", HandleAsync(taskNo(0), func(_ any, u petri.Unit, done func(petri.Unit, error)) func() (petri.Unit, error) {
			time.AfterFunc(time.Second, func() { done(u, nil) })
			return nil
		})},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				net, end := asyncChain(1, 0), make(chan struct{})
				net.Transitions[len(net.Transitions)-1].When = petri.After(10 * time.Second)
				r := mustStart(t, net, Config{Tasks: []Handler{c.task}, Out: func(petri.Token) { close(end) }})
				mustInject(t, r, goIn.Token(petri.Unit{}))
				select {
				case <-end:
				case <-time.After(time.Minute):
					t.Error("a transition that a guest enabled has not fired when it was due")
				}
				mustClose(t, r)
			})
		})
	}
}

// TestGuestAtTheEnd ends runs while a guest has the loop: the guest goes on, and the run ends as it should.
func TestGuestAtTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, first, second := asking(t, Config{Out: func(petri.Token) { panic("out") }})
		first("one", nil)
		second("two", nil)
		<-r.Done()
		var p *PanicError
		if !errors.As(r.Err(), &p) {
			t.Errorf("the run ended with %v", r.Err())
		}
		var stopped *Runner
		stopped, first, second = asking(t, Config{Out: func(petri.Token) { stopped.Stop() }})
		first("one", nil)
		second("two", nil)
		<-stopped.Done()
		if err := stopped.Err(); err != nil {
			t.Error(err)
		}
	})
}

// TestGuestLeaves checks that a guest leaves although there is always more to do, and that the goroutine of the run
// goes on at once, not when a timer is due.
func TestGuestLeaves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const most = 3 * guestMax
		var first func(string, error)
		var r *Runner
		outs, own, end := 0, 0, make(chan struct{})
		me := goroutine()
		cfg := Config{Out: func(petri.Token) {
			if outs++; goroutine() == me {
				own++
			}
			if outs == most {
				close(end)
			} else if err := r.Inject(query.Token(2)); err != nil {
				t.Error(err)
			}
		}, Tasks: []Handler{HandleAsync(lookup(), func(_ any, _ int, done func(string, error)) func() (string, error) {
			if first != nil {
				done("again", nil) // at once
			} else {
				first = done
			}
			return nil
		})}}
		r = mustStart(t, desk(t, "a"), cfg)
		mustInject(t, r, query.Token(1))
		synctest.Wait()
		began := time.Now()
		first("one", nil)
		<-end
		if late := time.Since(began); late > 0 {
			t.Errorf("the rest was done after %v", late)
		}
		if own == 0 || own > guestMax {
			t.Errorf("the guest handed over %d of %d replies", own, outs)
		}
		mustClose(t, r)
	})
}

// TestAsyncWork checks that work which HandleAsync returns is done outside of the loop, and that a panic is its
// failure.
func TestAsyncWork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var w world
		r := mustStart(t, desk(t, "a", "b"), Config{Out: w.Out, Tasks: []Handler{HandleAsync(lookup(),
			func(_ any, n int, _ func(string, error)) func() (string, error) {
				return func() (string, error) {
					if n == 2 {
						panic("no")
					}
					time.Sleep(time.Second)
					return "one", nil
				}
			})}})
		mustInject(t, r, query.Token(1))
		mustInject(t, r, query.Token(2)) // it need not wait for the first one
		time.Sleep(time.Minute)
		synctest.Wait()
		var got []string
		for _, token := range w.tokens {
			res, _ := reply.From(token)
			got = append(got, res.Value+res.Reason)
		}
		if s := strings.Join(got, ", "); s != "panic: no, one" {
			t.Error(s)
		}
		mustClose(t, r)
	})
}

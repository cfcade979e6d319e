package runner

import (
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/voicegw/voicegw/petri"
)

// disk is a store whose events are safe when the test says so.
type disk struct {
	mu     sync.Mutex
	last   uint64
	stored uint64
	notify func()
}

func (d *disk) Append(events []petri.Event) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.last = events[len(events)-1].Seq
}

func (d *disk) Stored() uint64 {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.stored
}

func (d *disk) Notify(fn func()) { d.notify = fn }

// sync makes the events up to n safe. 0 means all.
func (d *disk) sync(n uint64) {
	d.mu.Lock()
	d.stored = n
	if n == 0 {
		d.stored = d.last
	}
	d.mu.Unlock()
	d.notify()
}

func places(w *world) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	var s []string
	for _, t := range w.tokens {
		s = append(s, t.Place())
	}
	return strings.Join(s, " ")
}

func TestDurableWaitsAndIsNotOvertaken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var w world
		var d disk
		r := mustStart(t, relay(true), Config{Out: w.Out, Store: &d})
		mustInject(t, r, ping.Token(petri.Unit{})) // events 2, 3
		mustInject(t, r, in.Token(1))              // events 4, 5
		mustInject(t, r, ping.Token(petri.Unit{})) // events 6, 7
		mustInject(t, r, in.Token(2))              // events 8, 9
		for _, step := range []struct {
			sync uint64
			want string
		}{{1, "pong"}, {4, "pong"}, {5, "pong out pong"}, {8, "pong out pong"}, {9, "pong out pong out"}} {
			d.sync(step.sync)
			synctest.Wait()
			if got := places(&w); got != step.want {
				t.Errorf("with %d stored: %s, want %s", step.sync, got, step.want)
			}
		}
		mustClose(t, r)
		if got := w.heard(); !slices.Equal(got, []int{1, 2}) {
			t.Errorf("heard %v", got)
		}
	})
}

func TestDestinationsAreIndependent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var w world
		var d disk
		r := mustStart(t, relay(true), Config{Out: w.Out, Store: &d, Destinations: map[string]string{"out": "model"}})
		mustInject(t, r, in.Token(1))
		mustInject(t, r, ping.Token(petri.Unit{}))
		if got := places(&w); got != "pong" {
			t.Errorf("before: %s", got)
		}
		d.sync(0)
		synctest.Wait()
		if got := places(&w); got != "pong out" {
			t.Errorf("after: %s", got)
		}
		mustClose(t, r)
	})
}

func TestWithoutStoreNothingWaits(t *testing.T) {
	var w world
	r := mustStart(t, relay(true), Config{Out: w.Out})
	mustInject(t, r, in.Token(1))
	if got := w.heard(); len(got) != 1 {
		t.Errorf("heard %v", got)
	}
	mustClose(t, r)
}

func TestTooManyPending(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var d disk
		r := mustStart(t, relay(true), Config{Store: &d, Pending: 2})
		for range 3 {
			_ = r.Inject(in.Token(1))
		}
		<-r.Done()
		if !errors.Is(r.Err(), ErrPending) {
			t.Errorf("got %v", r.Err())
		}
	})
}

func TestEndWaitsForTheStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var w world
		var d disk
		r := mustStart(t, relay(true), Config{Out: w.Out, Store: &d})
		mustInject(t, r, in.Token(1))
		mustInject(t, r, stop.Token(petri.Unit{}))
		ended := make(chan error)
		go func() { ended <- r.Close() }()
		time.Sleep(time.Second)
		select {
		case <-r.Done():
			t.Error("ended before its output was stored")
		default:
		}
		d.sync(0)
		if err := <-ended; err != nil || len(w.heard()) != 1 {
			t.Errorf("%v, heard %v", err, w.heard())
		}
	})
}

func TestEndDoesNotWaitForEver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var d disk
		r := mustStart(t, relay(true), Config{Store: &d, Grace: 2 * time.Second})
		mustInject(t, r, in.Token(1))
		if err := r.Close(); !errors.Is(err, ErrStuck) || r.in.elapsed() != 2*time.Second {
			t.Errorf("%v at %v", err, r.in.elapsed())
		}
	})
}

// TestHanded: the runner tells when a row of outputs is over: those of a step that need not wait, and
// those that had to.
func TestHanded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var rows strings.Builder
		var d disk
		r := mustStart(t, relay(true), Config{Store: &d, Out: func(t petri.Token) { rows.WriteString(t.Place() + " ") },
			Handed: func() { rows.WriteString("| ") }})
		mustInject(t, r, ping.Token(petri.Unit{}))
		synctest.Wait()
		mustInject(t, r, in.Token(1))
		mustInject(t, r, ping.Token(petri.Unit{}))
		synctest.Wait()
		d.sync(0)
		synctest.Wait()
		mustClose(t, r)
		if got, want := rows.String(), "pong | out pong | "; got != want {
			t.Errorf("handed over: %q, want %q", got, want)
		}
	})
}

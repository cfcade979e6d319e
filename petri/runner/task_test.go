package runner

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/voicegw/voicegw/petri"
)

const (
	query    = petri.Place[int]("query")
	begin    = petri.Place[int]("begin")
	inFlight = petri.Place[petri.Unit]("in_flight")
	done     = petri.Place[petri.Result[string]]("done")
	free     = petri.Place[petri.Unit]("free")
	draining = petri.Place[petri.Unit]("draining")
	reply    = petri.Place[petri.Result[string]]("reply")
)

func lookup() petri.Task[int, string] {
	return petri.Task[int, string]{Start: begin, InFlight: inFlight, Done: done}
}

// slot is one slot: free, running, draining, free.
func slot(name string) *petri.Net {
	return &petri.Net{
		Name: name, Ports: []petri.AnyPlace{query, reply}, Tasks: []petri.AnyTask{lookup()},
		Init: []petri.Token{free.Token(petri.Unit{})},
		Transitions: []petri.Transition{
			{Name: "begin", In: petri.Arcs{query, free}, Out: petri.And(begin, inFlight), Action: func(f *petri.Firing) {
				begin.Put(f, query.Get(f))
			}},
			{Name: "finish", In: petri.Arcs{done, inFlight}, Out: petri.And(reply, free)},
			{Name: "time_out", In: petri.Arcs{inFlight}, Out: petri.And(draining), When: petri.After(10 * time.Second)},
			{Name: "drain", In: petri.Arcs{done, draining}, Out: petri.And(reply, free)},
		},
	}
}

// desk is one or more workers behind one queue.
func desk(t testing.TB, workers ...string) *petri.Net {
	t.Helper()
	var parts []*petri.Net
	for _, w := range workers {
		parts = append(parts, slot(w))
	}
	n, err := petri.Compose("desk", parts...)
	if err != nil {
		t.Fatal(err)
	}
	n.Env = []petri.Env{{Place: query, Capacity: 8}}
	n.Out = []petri.Output{{Place: reply}}
	return n
}

func TestTaskOutcomes(t *testing.T) {
	fn := func(ctx context.Context, n int) (string, error) {
		switch n {
		case 0:
			return "fine", nil
		case 1:
			return "", errors.New("no such row")
		case 2:
			panic("index out of range")
		case 3:
			runtime.Goexit()
		case 4:
			<-ctx.Done()
			return "too late", nil
		}
		time.Sleep(time.Hour) // after a cancellation too
		return "much too late", nil
	}
	for n, want := range []struct {
		outcome petri.Outcome
		reason  string
		at      time.Duration
	}{
		{petri.Succeeded, "", 0},
		{petri.Failed, "no such row", 0},
		{petri.Failed, "panic: index out of range", 0},
		{petri.Failed, "its goroutine exited", 0},
		{petri.Cancelled, "", 10 * time.Second},
		{petri.Cancelled, "", time.Hour},
	} {
		synctest.Test(t, func(t *testing.T) {
			var w world
			r := mustStart(t, desk(t, "a"), Config{Out: w.Out, Store: &w, Tasks: []Handler{Handle(lookup(), fn)}})
			mustInject(t, r, query.Token(n))
			time.Sleep(want.at)
			synctest.Wait()
			mustClose(t, r)
			if len(w.tokens) != 1 {
				t.Fatalf("%d: %d results", n, len(w.tokens))
			}
			res, _ := reply.From(w.tokens[0])
			if res.Outcome != want.outcome || res.Reason != want.reason || w.events[len(w.events)-1].At != want.at {
				t.Errorf("%d: %+v, events\n%swant %+v", n, res, w.trace(r.prog), want)
			}
			if n == 0 && res.Value != "fine" {
				t.Errorf("value %q", res.Value)
			}
			if got := strings.Contains(w.trace(r.prog), "cancelled a/in_flight"); got != (want.outcome == petri.Cancelled) {
				t.Errorf("%d: events\n%s", n, w.trace(r.prog))
			}
			if r.Marking()[r.prog.Places()[r.prog.Place("a/free")].Slot] != 1 {
				t.Errorf("%d: the slot is not free again", n)
			}
		})
	}
}

// TestTaskSlots checks that as many tasks run at a time as there are slots.
func TestTaskSlots(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var w world
		var now, most atomic.Int32
		fn := func(context.Context, int) (string, error) {
			most.Store(max(most.Load(), now.Add(1)))
			time.Sleep(time.Second)
			now.Add(-1)
			return "", nil
		}
		r := mustStart(t, desk(t, "a", "b", "c"), Config{Out: w.Out, Tasks: []Handler{Handle(lookup(), fn)}})
		for i := range 7 {
			mustInject(t, r, query.Token(i))
		}
		time.Sleep(3 * time.Second)
		synctest.Wait()
		mustClose(t, r)
		if len(w.tokens) != 7 || most.Load() != 3 {
			t.Errorf("%d results in 3 s, at most %d at a time", len(w.tokens), most.Load())
		}
	})
}

func TestEndCancelsTasks(t *testing.T) {
	cancelled := make(chan struct{})
	r := mustStart(t, desk(t, "a"), Config{Tasks: []Handler{
		Handle(lookup(), func(ctx context.Context, _ int) (string, error) {
			<-ctx.Done()
			close(cancelled)
			return "", ctx.Err()
		})}})
	mustInject(t, r, query.Token(0))
	mustClose(t, r)
	<-cancelled
}

func TestTaskThatDoesNotReturn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := mustStart(t, desk(t, "a"), Config{Grace: time.Second, Tasks: []Handler{
			Handle(lookup(), func(context.Context, int) (string, error) {
				time.Sleep(time.Minute)
				return "", nil
			})}})
		mustInject(t, r, query.Token(0))
		if err := r.Close(); !errors.Is(err, ErrStuck) || r.in.elapsed() != time.Second {
			t.Errorf("%v at %v", err, r.in.elapsed())
		}
		time.Sleep(time.Hour) // let it end, so that the bubble can
	})
}

// TestResultWithoutRoom checks that a net that frees its slot before the goroutine has returned can
// get a result for which it has no room.
func TestResultWithoutRoom(t *testing.T) {
	n := &petri.Net{
		Name: "hasty", Env: []petri.Env{{Place: query, Capacity: 8}}, Tasks: []petri.AnyTask{lookup()},
		Transitions: []petri.Transition{
			{Name: "give_up", In: petri.Arcs{inFlight}, Read: petri.Arcs{query}, Priority: 1},
			{Name: "begin", In: petri.Arcs{query}, Inhibit: petri.Arcs{inFlight}, Out: petri.And(begin, inFlight),
				Action: func(f *petri.Firing) { begin.Put(f, query.Get(f)) }},
			{Name: "finish", In: petri.Arcs{done, inFlight}, When: petri.After(time.Hour)},
		},
	}
	r := mustStart(t, n, Config{Tasks: []Handler{
		Handle(lookup(), func(context.Context, int) (string, error) { return "", nil })}})
	_ = r.Inject(query.Token(1))
	_ = r.Inject(query.Token(2))
	<-r.Done()
	if !errors.Is(r.Err(), ErrResult) || !errors.Is(r.Err(), petri.ErrFull) {
		t.Errorf("got %v", r.Err())
	}
}

func TestHandlersFitTheNet(t *testing.T) {
	fine := Handle(lookup(), func(context.Context, int) (string, error) { return "", nil })
	exact := lookup()
	exact.Start = "b/begin"
	for _, c := range []struct {
		name  string
		tasks []Handler
		want  string
	}{
		{"one for all", []Handler{fine}, ""},
		{"one for each", []Handler{fine, Handle(exact, func(context.Context, int) (string, error) { return "", nil })}, ""},
		{"none", nil, `task "a/begin" of net "desk" has no handler; add runner.Handle to Config.Tasks`},
		{"too many", []Handler{fine, Handle(petri.Task[int, string]{Start: "x"}, func(context.Context, int) (string, error) {
			return "", nil
		})}, `there is a handler for task "x", which net "desk" does not have`},
		{"colours", []Handler{Handle(petri.Task[int, int]{Start: begin}, func(context.Context, int) (int, error) {
			return 0, nil
		})},
			`the handler of task "a/begin" turns int into petri.Result[int]; the net declares int and petri.Result[string]`},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, err := Start(compile(t, desk(t, "a", "b")), Config{Tasks: c.tasks})
			if c.want == "" && err == nil {
				mustClose(t, r)
				return
			}
			if c.want == "" || err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

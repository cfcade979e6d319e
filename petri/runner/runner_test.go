package runner

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/petri/event"
)

// world collects what a run does.
type world struct {
	mu     sync.Mutex
	tokens []petri.Token
	events []petri.Event
	notes  []event.Note
}

func (w *world) Out(t petri.Token) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.tokens = append(w.tokens, t)
}

func (w *world) Append(events []petri.Event) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.events = append(w.events, events...)
}

func (w *world) Stored() uint64 { return ^uint64(0) }

func (w *world) Note(n event.Note) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.notes = append(w.notes, n)
}

// heard returns the values that came out at out, in order.
func (w *world) heard() []int {
	w.mu.Lock()
	defer w.mu.Unlock()
	var vs []int
	for _, t := range w.tokens {
		if v, ok := out.From(t); ok {
			vs = append(vs, v)
		}
	}
	return vs
}

// trace returns the events as text.
func (w *world) trace(p *petri.Program) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	var b strings.Builder
	for _, e := range w.events {
		b.WriteString(p.Describe(e) + "\n")
	}
	return b.String()
}

func mustStart(t testing.TB, n *petri.Net, cfg Config) *Runner {
	t.Helper()
	r, err := Start(compile(t, n), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Stop)
	return r
}

func mustInject(t testing.TB, r *Runner, tok petri.Token) {
	t.Helper()
	if err := r.InjectWait(context.Background(), tok); err != nil {
		t.Fatal(err)
	}
}

func mustClose(t testing.TB, r *Runner) {
	t.Helper()
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestTimerFiresAtItsDueTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var w world
		r := mustStart(t, watchdog(), Config{Out: w.Out, Store: &w})
		time.Sleep(time.Second)
		mustInject(t, r, ping.Token(petri.Unit{}))
		time.Sleep(time.Second)
		mustClose(t, r)
		want := "0s started\n1s injected ping\n1s fired begin\n1.3s fired fire\n"
		if got := w.trace(r.prog); got != want {
			t.Errorf("events:\n%swant:\n%s", got, want)
		}
		if s := r.Stats(); s.LatenessMax != 0 || s.Outputs != 1 || s.Lateness[0] != 1 {
			t.Errorf("lateness %v of %d outputs", s.LatenessMax, s.Outputs)
		}
	})
}

func TestStampsNeverDecrease(t *testing.T) {
	var w world
	r := mustStart(t, relay(false), Config{Store: &w, Inbox: maxInbox})
	var senders sync.WaitGroup
	for range 8 {
		senders.Go(func() {
			for range 500 {
				if err := r.InjectWait(context.Background(), ping.Token(petri.Unit{})); err != nil {
					t.Error(err)
				}
			}
		})
	}
	senders.Wait()
	mustClose(t, r)
	if !slices.IsSortedFunc(w.events, func(a, b petri.Event) int { return int(a.At - b.At) }) {
		t.Error("events are not in the order of time")
	}
	if s := r.Stats(); s.Injected != 4000 || s.Fired != 4000 || s.Events != 8001 {
		t.Errorf("%+v", s)
	}
}

func TestInjectErrors(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := watchdog()
		n.Env[0].Capacity = 1
		core, logs := observer.New(zap.ErrorLevel)
		r := mustStart(t, n, Config{Logger: zap.New(core)})
		ctx := context.Background()
		for _, c := range []struct {
			name  string
			token petri.Token
			want  error
		}{
			{"first", ping.Token(petri.Unit{}), nil},
			{"waits for the first", ping.Token(petri.Unit{}), nil},
			{"no room", ping.Token(petri.Unit{}), petri.ErrFull},
			{"inner place", waiting.Token(petri.Unit{}), petri.ErrPlace},
			{"output place", pong.Token(petri.Unit{}), petri.ErrPlace},
			{"unknown place", petri.Place[int]("elsewhere").Token(1), petri.ErrPlace},
		} {
			err := r.InjectWait(ctx, c.token)
			if !errors.Is(err, c.want) || (err == nil) != (c.want == nil) {
				t.Errorf("%s: %v, want %v", c.name, err, c.want)
			}
			var ie *petri.InjectError
			if err != nil && !errors.As(err, &ie) {
				t.Errorf("%s: %T is no InjectError", c.name, err)
			}
		}
		if err := r.Inject(waiting.Token(petri.Unit{})); !errors.Is(err, petri.ErrPlace) {
			t.Errorf("inject at an inner place: %v", err)
		}
		if s := r.Stats(); s.Refused != 1 {
			t.Errorf("%d refused, want 1", s.Refused)
		}
		mustClose(t, r)
		if err := r.Inject(ping.Token(petri.Unit{})); !errors.Is(err, ErrClosed) {
			t.Errorf("inject after the end: %v", err)
		}
		if err := r.InjectWait(ctx, ping.Token(petri.Unit{})); !errors.Is(err, ErrClosed) {
			t.Errorf("inject after the end: %v", err)
		}
		if logs.Len() != 0 {
			t.Errorf("logged %v", logs.All())
		}
	})
}

func TestWrongColourIsLogged(t *testing.T) {
	core, logs := observer.New(zap.ErrorLevel)
	r := mustStart(t, relay(false), Config{Logger: zap.New(core)})
	err := r.InjectWait(context.Background(), petri.Place[string]("in").Token("one"))
	if !errors.Is(err, petri.ErrColour) {
		t.Errorf("got %v", err)
	}
	mustClose(t, r)
	if logs.Len() != 1 {
		t.Errorf("logged %v", logs.All())
	}
}

func TestInboxFull(t *testing.T) {
	entered, leave := make(chan struct{}), make(chan struct{})
	r := mustStart(t, relay(false), Config{Inbox: 2, Out: func(petri.Token) {
		entered <- struct{}{}
		<-leave
	}})
	one := ping.Token(petri.Unit{})
	for i, want := range []error{nil, nil, nil, ErrInboxFull} {
		if err := r.Inject(one); err != want {
			t.Fatalf("injection %d: %v, want %v", i, err, want)
		}
		if i == 0 {
			<-entered // the loop is in Out, so the following injections stay queued
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := r.InjectWait(ctx, one); !errors.Is(err, ErrInboxFull) {
		t.Errorf("got %v", err)
	}
	close(leave)
	<-entered
	<-entered
	mustClose(t, r)
	if s := r.Stats(); s.InboxFull != 2 || s.Fired != 3 {
		t.Errorf("%+v", s)
	}
}

func TestInjectWaitGivesUpWithItsContext(t *testing.T) {
	entered, leave := make(chan struct{}, 2), make(chan struct{})
	r := mustStart(t, relay(false), Config{Out: func(petri.Token) {
		entered <- struct{}{}
		<-leave
	}})
	if err := r.Inject(ping.Token(petri.Unit{})); err != nil {
		t.Fatal(err)
	}
	<-entered
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := r.InjectWait(ctx, ping.Token(petri.Unit{})); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	close(leave)
	mustClose(t, r)
	if s := r.Stats(); s.Fired != 2 {
		t.Errorf("%d firings; the token was queued and must enter", s.Fired)
	}
}

func TestFinalPlaceEndsTheRun(t *testing.T) {
	var w world
	r := mustStart(t, relay(false), Config{Store: &w})
	mustInject(t, r, stop.Token(petri.Unit{}))
	<-r.Done()
	if r.Err() != nil {
		t.Error(r.Err())
	}
	if err := r.Inject(ping.Token(petri.Unit{})); err != ErrClosed {
		t.Errorf("inject after the end: %v", err)
	}
	if got := w.events[len(w.events)-1].Kind; got != petri.Ended {
		t.Errorf("last event %v", got)
	}
}

func TestQueuedBehindTheEnd(t *testing.T) {
	entered, leave := make(chan struct{}, 1), make(chan struct{})
	r := mustStart(t, relay(false), Config{Out: func(petri.Token) {
		entered <- struct{}{}
		<-leave
	}})
	_ = r.Inject(ping.Token(petri.Unit{}))
	<-entered
	_ = r.Inject(stop.Token(petri.Unit{}))
	answer := make(chan error, 1)
	go func() { answer <- r.InjectWait(context.Background(), ping.Token(petri.Unit{})) }()
	close(leave)
	if err := <-answer; err != nil && !errors.Is(err, petri.ErrEnded) && !errors.Is(err, ErrClosed) {
		t.Errorf("got %v", err)
	}
	<-r.Done()
}

func TestMarkingBesideTheLoop(t *testing.T) {
	r := mustStart(t, watchdog(), Config{})
	slot := r.prog.Places()[r.prog.Place("waiting")].Slot
	if got := r.Marking()[slot]; got != 0 {
		t.Errorf("%d waiting at the start", got)
	}
	mustInject(t, r, ping.Token(petri.Unit{}))
	if got := r.Marking()[slot]; got != 1 {
		t.Errorf("%d waiting after a ping", got)
	}
	mustClose(t, r)
	if got := r.Marking()[slot]; got != 1 {
		t.Errorf("%d waiting after the end", got)
	}
}

// TestMarkingWithin: a run that hangs in its Out is reported, and nobody waits for it longer than asked.
func TestMarkingWithin(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		entered, leave := make(chan struct{}), make(chan struct{})
		r := mustStart(t, relay(false), Config{Out: func(petri.Token) {
			entered <- struct{}{}
			<-leave
		}})
		time.Sleep(time.Hour) // idle, which is not stalled
		if _, err := r.MarkingWithin(time.Second); err != nil {
			t.Errorf("idle: %v", err)
		}
		if err := r.Inject(ping.Token(petri.Unit{})); err != nil {
			t.Fatal(err)
		}
		<-entered
		if _, err := r.MarkingWithin(time.Second); err != nil {
			t.Errorf("at once: %v", err)
		}
		time.Sleep(2 * time.Second)
		_, err := r.MarkingWithin(time.Second)
		if !errors.Is(err, ErrStalled) || !strings.Contains(err.Error(), "2s") {
			t.Errorf("after two seconds: %v", err)
		}
		r.own.Lock() // as if the machine did not come to rest
		began := time.Now()
		if _, err := r.MarkingWithin(3 * time.Second); !errors.Is(err, ErrStalled) || time.Since(began) > 3*time.Second {
			t.Errorf("%v after %v", err, time.Since(began))
		}
		r.own.Unlock()
		close(leave)
		synctest.Wait()
		if _, err := r.MarkingWithin(time.Second); err != nil {
			t.Errorf("when it goes on: %v", err)
		}
		mustClose(t, r)
		time.Sleep(time.Hour)
		if _, err := r.MarkingWithin(time.Second); err != nil {
			t.Errorf("after the end: %v", err)
		}
	})
}

func TestLateness(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var w world
		core, logs := observer.New(zap.WarnLevel)
		slow, measured := time.Duration(0), []time.Duration(nil)
		r := mustStart(t, relay(false), Config{Store: &w, Lateness: 20 * time.Millisecond, Logger: zap.New(core),
			Out: func(petri.Token) { time.Sleep(slow) }, Measure: func(d time.Duration) { measured = append(measured, d) }})
		for _, d := range []time.Duration{1, 30, 80, 40, 20} {
			slow = d * time.Millisecond
			mustInject(t, r, ping.Token(petri.Unit{}))
		}
		mustClose(t, r)
		s := r.Stats()
		if s.LatenessMax != 80*time.Millisecond || s.Late != 1 || s.Outputs != 5 {
			t.Errorf("%+v", s)
		}
		const ms = time.Millisecond
		if want := []time.Duration{ms, 30 * ms, 80 * ms, 40 * ms, 20 * ms}; !slices.Equal(measured, want) {
			t.Errorf("measured %v, want %v", measured, want)
		}
		if s.Lateness[10] != 1 || s.Lateness[15] != 2 || s.Lateness[16] != 1 || s.Lateness[17] != 1 {
			t.Errorf("buckets %v", s.Lateness)
		}
		want := []event.Note{
			{After: 5, At: 31 * time.Millisecond, Kind: event.Late, Value: 30 * time.Millisecond},
			{After: 11, At: 171 * time.Millisecond, Kind: event.OnTime, Value: 80 * time.Millisecond},
		}
		if !slices.Equal(w.notes, want) || logs.Len() != 2 {
			t.Errorf("notes %+v, want %+v; %d logged", w.notes, want, logs.Len())
		}
	})
}

func TestInjectAllocatesNothing(t *testing.T) {
	r := mustStart(t, relay(false), Config{Store: event.NewRing(64)})
	ctx, tok := context.Background(), ping.Token(petri.Unit{})
	n := testing.AllocsPerRun(1000, func() {
		if err := r.Inject(tok); err != nil {
			t.Fatal(err)
		}
		if err := r.InjectWait(ctx, tok); err != nil {
			t.Fatal(err)
		}
	})
	if n != 0 {
		t.Errorf("%v allocations", n)
	}
	mustClose(t, r)
}

func TestStartRefuses(t *testing.T) {
	intervals := watchdog()
	intervals.Transitions[1].When = petri.Between(1, 2)
	broken := relay(false)
	broken.Init = []petri.Token{in.Token(1)}
	broken.Transitions[0].Action = func(f *petri.Firing) { panic("no such luck") }
	for _, c := range []struct {
		name string
		net  *petri.Net
		cfg  Config
		want string
	}{
		{"inbox", relay(false), Config{Inbox: -1}, "runner: start relay: Inbox is -1; it must be 1 to 65536"},
		{"pending", relay(false), Config{Pending: 1 << 17}, "runner: start relay: Pending is 131072; it must be 1 to 65536"},
		{"lateness", relay(false), Config{Lateness: -1}, "runner: start relay: Lateness is -1ns; it cannot be negative"},
		{"grace", relay(false), Config{Name: "a", Grace: -1}, "runner: start a: Grace is -1ns; it cannot be negative"},
		{"store wait", relay(false), Config{StoreWait: -1}, "runner: start relay: StoreWait is -1ns; it cannot be negative"},
		{"destination", relay(false), Config{Destinations: map[string]string{"in": "peer"}},
			`runner: start relay: Destinations names "in", which is not an output place of net "relay"`},
		{"intervals", intervals, Config{}, `transition "fire" waits for [1ns,2ns]`},
		{"start", broken, Config{}, "runner: start relay: panic: no such luck"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := Start(compile(t, c.net), c.cfg)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %s", err, c.want)
			}
		})
	}
	if _, err := Start(nil, Config{Name: "a"}); err == nil {
		t.Error("nil program started")
	}
}

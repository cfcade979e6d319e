package runner

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/voicegw/voicegw/petri"
)

// fragile passes on numbers. A negative number breaks its action.
func fragile() *petri.Net {
	n := relay(false)
	n.Transitions[0].Action = func(f *petri.Firing) {
		v := in.Get(f)
		if v < 0 {
			panic(fmt.Sprintf("cannot pass %d", v))
		}
		out.Put(f, v)
	}
	return n
}

func TestPanicEndsItsOwnRunOnly(t *testing.T) {
	var w, w2 world
	r := mustStart(t, fragile(), Config{Name: "broken", Out: w.Out, Store: &w})
	other := mustStart(t, fragile(), Config{Out: w2.Out})
	mustInject(t, r, in.Token(1))
	err := r.InjectWait(context.Background(), in.Token(-1))
	if !errors.Is(err, ErrClosed) || !errors.Is(err, petri.ErrFaulted) {
		t.Errorf("the sender heard %v", err)
	}
	<-r.Done()
	var p *PanicError
	if !errors.As(r.Err(), &p) || !strings.HasPrefix(r.Err().Error(), "runner: run broken: panic: cannot pass -1") {
		t.Errorf("the run ended with %v", r.Err())
	}
	if !strings.Contains(string(p.Stack), "fragile") {
		t.Errorf("the stack does not name the action:\n%s", p.Stack)
	}
	kinds := ""
	for i, e := range w.events {
		kinds += e.Kind.String() + " "
		if e.Seq != uint64(i+1) {
			t.Errorf("event %d has number %d", i+1, e.Seq)
		}
	}
	if kinds != "started injected fired injected faulted " {
		t.Errorf("events %s", kinds)
	}
	mustInject(t, other, in.Token(2))
	if got := w2.heard(); len(got) != 1 {
		t.Errorf("the other run put out %v", got)
	}
	mustClose(t, other)
}

func TestFaultOfTheNet(t *testing.T) {
	n := watchdog()
	n.Transitions[0].Inhibit = nil // a second token exceeds the capacity
	r := mustStart(t, n, Config{})
	mustInject(t, r, ping.Token(petri.Unit{}))
	_ = r.InjectWait(context.Background(), ping.Token(petri.Unit{}))
	<-r.Done()
	var f *petri.Fault
	if !errors.As(r.Err(), &f) || f.Transition != "begin" || f.Place != "waiting" {
		t.Errorf("got %v", r.Err())
	}
}

// brittle is a store that panics at its second call.
type brittle struct{ n int }

func (b *brittle) Append([]petri.Event) {
	if b.n++; b.n >= 2 {
		panic("disk on fire")
	}
}

func (b *brittle) Stored() uint64 { return 0 }

func TestPanicOfOutAndStore(t *testing.T) {
	for name, cfg := range map[string]Config{
		"out":   {Out: func(petri.Token) { panic("broken") }},
		"store": {Store: &brittle{}},
	} {
		t.Run(name, func(t *testing.T) {
			r := mustStart(t, relay(false), cfg)
			_ = r.InjectWait(context.Background(), in.Token(1))
			_ = r.InjectWait(context.Background(), in.Token(1))
			<-r.Done()
			var p *PanicError
			if !errors.As(r.Err(), &p) {
				t.Errorf("got %v", r.Err())
			}
		})
	}
}

// TestDefiniteEnd runs injections, stops and closes in every order. Each run ends, each sender gets
// an answer, and every answered injection was passed on.
func TestDefiniteEnd(t *testing.T) {
	for i := range 1000 {
		rnd := rand.New(rand.NewPCG(19, uint64(i)))
		var passed, taken, acknowledged atomic.Int64
		r := mustStart(t, relay(false), Config{Inbox: 1 + rnd.IntN(8), Out: func(petri.Token) { passed.Add(1) }})
		acts := []func(){
			func() {
				if r.Inject(ping.Token(petri.Unit{})) == nil {
					taken.Add(1)
				}
			},
			func() {
				switch err := r.InjectWait(context.Background(), ping.Token(petri.Unit{})); {
				case err == nil:
					acknowledged.Add(1)
				case !errors.Is(err, ErrClosed) && !errors.Is(err, ErrInboxFull) && !errors.Is(err, petri.ErrFull):
					t.Error(err)
				}
			},
			func() { _ = r.Close() },
			func() { r.Stop() },
			func() { _ = r.Marking() },
		}
		var all sync.WaitGroup
		for range 2 + rnd.IntN(8) {
			act := acts[rnd.IntN(len(acts))]
			all.Go(act)
		}
		all.Wait()
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
		if got := passed.Load(); got != taken.Load()+acknowledged.Load() {
			t.Fatalf("interleaving %d: %d passed on; %d injected and %d acknowledged", i, got, taken.Load(), acknowledged.Load())
		}
	}
}

func TestStopFromOut(t *testing.T) {
	var r *Runner
	started := make(chan struct{})
	r = mustStart(t, relay(false), Config{Out: func(petri.Token) {
		<-started
		r.Stop()
	}})
	close(started)
	_ = r.InjectWait(context.Background(), in.Token(1))
	<-r.Done()
	if r.Err() != nil {
		t.Error(r.Err())
	}
}

package runner

import (
	"errors"
	"runtime"
	"testing"
	"time"

	"github.com/voicegw/voicegw/petri"
)

func TestRegistry(t *testing.T) {
	g, p := NewRegistry(2), compile(t, relay(false))
	a, err := g.Start(p, Config{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err = g.Start(p, Config{Inbox: -1}); err == nil {
		t.Error("started with a wrong configuration")
	}
	if _, err = g.Start(p, Config{}); err != nil {
		t.Fatal(err)
	}
	if _, err = g.Start(p, Config{}); !errors.Is(err, ErrRegistryFull) {
		t.Errorf("third of two: %v", err)
	}
	mustInject(t, a, stop.Token(petri.Unit{}))
	<-a.Done()
	for g.Len() != 1 {
		runtime.Gosched()
	}
	if err := g.Close(); err != nil {
		t.Error(err)
	}
	for g.Len() != 0 {
		runtime.Gosched()
	}
	if _, err = g.Start(p, Config{}); !errors.Is(err, ErrRegistryClosed) {
		t.Errorf("started in a closed registry: %v", err)
	}
}

type owner struct{ run *Runner }

// TestOwnedRunsEndWithTheirOwners starts 10,000 runs in rounds (the race
// detector follows 8,128 goroutines at a time) and drops their owners.
func TestOwnedRunsEndWithTheirOwners(t *testing.T) {
	g, p := NewRegistry(0), compile(t, watchdog())
	for range 5 {
		for _, r := range dropOwners(t, g, p, 2000) {
			collect(t, r)
		}
	}
	if err := g.Close(); err != nil {
		t.Error(err)
	}
}

// dropOwners starts runs, lets their timers run, and returns them without their
// owners.
func dropOwners(t *testing.T, g *Registry, p *petri.Program, n int) []*Runner {
	var runs []*Runner
	var owners []*owner
	for range n {
		o := &owner{}
		r, err := Own(g, o, p, Config{})
		if err != nil {
			t.Fatal(err)
		}
		o.run = r
		if err := r.Inject(ping.Token(petri.Unit{})); err != nil {
			t.Fatal(err)
		}
		owners, runs = append(owners, o), append(runs, r)
	}
	runtime.GC()
	for _, r := range runs {
		select {
		case <-r.Done():
			t.Fatal("a run ended while its owner was reachable")
		default:
		}
	}
	runtime.KeepAlive(owners)
	return runs
}

// collect waits until a run has ended because its owner is gone.
func collect(t *testing.T, r *Runner) {
	for range 1000 {
		select {
		case <-r.Done():
			if r.Err() != nil {
				t.Fatal(r.Err())
			}
			return
		case <-time.After(20 * time.Millisecond):
			runtime.GC()
		}
	}
	t.Fatal("a run outlives its owner")
}

func TestOwnNeedsAnOwner(t *testing.T) {
	if _, err := Own[owner](NewRegistry(0), nil, compile(t, relay(false)), Config{}); err == nil {
		t.Error("nil owner accepted")
	}
}

package adkagent

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	adk "google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/model"
	"google.golang.org/adk/v2/tool"
	"google.golang.org/genai"

	"github.com/voicegw/voicegw/agent"
	"github.com/voicegw/voicegw/agent/provider"
)

func hello() *genai.Content { return genai.NewContentFromText("hello", genai.RoleUser) }

// TestIdle checks, in virtual time, that a net ends when its session has been idle, and that the session goes on.
func TestIdle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := mustNew(t, waiter(t, provider.Parrot{}), Options{Idle: time.Minute})
		w := newWorld(t, a)
		for range 3 {
			w.must("hello", `host "hello"`)
			time.Sleep(59 * time.Second)
			w.must("hello", `host "hello"`)
			time.Sleep(59 * time.Second)
			if n := a.Running(); n != 1 {
				t.Errorf("%d nets run before the time is over", n)
			}
			time.Sleep(2 * time.Second)
			synctest.Wait()
			if n := a.Running(); n != 0 {
				t.Errorf("%d nets run after it", n)
			}
		}
		_ = a.Close()
	})
}

// blocker is a model that answers when it is let go.
func blocker() (m says, entered chan struct{}, release chan struct{}) {
	entered, release = make(chan struct{}, 8), make(chan struct{})
	return func(ctx context.Context, yield func(*model.LLMResponse, error) bool) {
		entered <- struct{}{}
		select {
		case <-release:
			yield(&model.LLMResponse{Content: genai.NewContentFromText("Done.", genai.RoleModel)}, nil)
		case <-ctx.Done():
			yield(nil, ctx.Err())
		}
	}, entered, release
}

// TestMaxNets fills the registry: an idle net makes room, a busy one does not.
func TestMaxNets(t *testing.T) {
	m, entered, release := blocker()
	a := mustNew(t, waiter(t, m), Options{MaxNets: 2})
	w := newWorld(t, a)
	var turns sync.WaitGroup
	for i := range 2 {
		turns.Go(func() {
			if _, err := w.run(t.Context(), hello(), fmt.Sprint("busy", i)); err != nil {
				t.Error(err)
			}
		})
	}
	<-entered
	<-entered
	got, err := w.run(t.Context(), hello(), "third")
	if err != nil || len(got) != 1 || got[0] != "host ! too_many_sessions" {
		t.Errorf("%q, %v", got, err)
	}
	close(release)
	turns.Wait()
	for i := range 5 {
		got, err := w.run(t.Context(), hello(), fmt.Sprint("s", i))
		if err != nil || len(got) != 1 || got[0] != `host "Done."` || a.Running() > 2 {
			t.Errorf("%q, %v; %d nets run", got, err, a.Running())
		}
	}
}

// TestClose closes the agent and single sessions while turns run.
func TestClose(t *testing.T) {
	for name, stop := range map[string]func(a *Agent){
		"agent":   func(a *Agent) { _ = a.Close() },
		"session": func(a *Agent) { a.CloseSession(Key{app, user, sid}) },
	} {
		t.Run(name, func(t *testing.T) {
			m, entered, release := blocker()
			a := mustNew(t, waiter(t, m), Options{})
			w := newWorld(t, a)
			var turn sync.WaitGroup
			turn.Go(func() {
				if _, err := w.say("hello"); !errors.Is(err, agent.ErrClosed) {
					t.Errorf("the turn ends with %v", err)
				}
			})
			<-entered
			stop(a)
			turn.Wait()
			close(release)
			got, err := w.say("again")
			if name == "agent" && !errors.Is(err, ErrClosed) || name == "session" && (err != nil || got[0] != `host "Done."`) {
				t.Errorf("the next turn: %q, %v", got, err)
			}
		})
	}
}

// TestCloseWhileWaiting closes a session while one turn runs and another waits. A later turn still waits for the
// one that waited: a session never has two turns at a time.
func TestCloseWhileWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, entered, release := blocker()
		a := mustNew(t, waiter(t, m), Options{})
		w := newWorld(t, a)
		var turns sync.WaitGroup
		turn := func(want error) {
			turns.Go(func() {
				if _, err := w.say("hello"); !errors.Is(err, want) {
					t.Errorf("the turn ends with %v, not %v", err, want)
				}
			})
			synctest.Wait()
		}
		turn(agent.ErrClosed)
		turn(nil)
		a.CloseSession(Key{app, user, sid})
		turn(nil)
		if n := len(entered); n != 2 {
			t.Errorf("%d turns have asked their models, not 2", n)
		}
		close(release)
		turns.Wait()
		if n := a.Running(); n != 1 {
			t.Errorf("%d nets run", n)
		}
		_ = a.Close()
	})
}

// TestWaiterGivesUp lets a turn wait for the one before until its context ends.
func TestWaiterGivesUp(t *testing.T) {
	m, entered, release := blocker()
	w := newWorld(t, mustNew(t, waiter(t, m), Options{}))
	var turn sync.WaitGroup
	turn.Go(func() {
		if _, err := w.say("hello"); err != nil {
			t.Error(err)
		}
	})
	<-entered
	ctx, cancel := context.WithCancel(t.Context())
	turn.Go(func() {
		if _, err := w.run(ctx, hello(), sid); !errors.Is(err, context.Canceled) {
			t.Errorf("the turn that waits ends with %v", err)
		}
	})
	cancel()
	close(release)
	turn.Wait()
}

// until waits until a condition that depends on the garbage collector holds.
func until(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for range 500 {
		if ok() {
			return
		}
		runtime.GC()
		pause()
	}
	t.Errorf("%s did not happen", what)
}

// TestOwner ends a net when its owner is garbage, and not before.
func TestOwner(t *testing.T) {
	type connection struct{ key Key }
	a := mustNew(t, waiter(t, provider.Parrot{}), Options{})
	w := newWorld(t, a)
	w.must("hello", `host "hello"`)
	owner := &connection{Key{app, user, sid}}
	OwnedBy(a, owner.key, owner)
	for range 3 {
		runtime.GC()
	}
	if n := a.Running(); n != 1 {
		t.Errorf("%d nets run while there is an owner", n)
	}
	runtime.KeepAlive(owner)
	owner = nil
	until(t, "the end of the net", func() bool { return a.Running() == 0 })
	w.must("hello", `host "hello"`)
}

// TestForgotten ends the nets of an agent that nobody has closed.
func TestForgotten(t *testing.T) {
	var n *nets
	func() {
		a, err := New(waiter(t, provider.Parrot{}), Options{})
		if err != nil {
			t.Fatal(err)
		}
		n = a.core.nets
		r := newWorldOf(t, a)
		r.must("hello", `host "hello"`)
	}()
	until(t, "the end of the nets", func() bool { return n.running() == 0 })
}

// TestManySessions runs many sessions at the same time, with few nets.
func TestManySessions(t *testing.T) {
	s := script(calls(monday(), monday()), text("Soup."))
	s.Repeat = true
	a := mustNew(t, waiter(t, s), Options{MaxNets: 4})
	w := newWorld(t, a)
	var all sync.WaitGroup
	for i := range 4 {
		all.Go(func() {
			for k := range 25 {
				got, err := w.run(t.Context(), hello(), fmt.Sprintf("s%d-%d", i, k%7))
				if err != nil || len(got) != 3 {
					t.Errorf("%q, %v", got, err)
				}
			}
		})
	}
	all.Wait()
}

// TestSource plays the same sessions twice: the events of each branch are the same, byte for byte and in their order,
// in one branch and in two, with tools at the same time, a net that is replaced, and a session that a service names.
func TestSource(t *testing.T) {
	play := func(seed string) (bytes []string) {
		src := NewSource(seed, time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC))
		leaf := func(name string) adk.Agent {
			s := script(calls(monday(), call("id"), call("id")), text("Soup of "+name), text("Bye of "+name))
			s.Repeat = true
			return mustNew(t, withTools(waiterNamed(t, name, s), fn(t, "id", func(ctx adk.Context, _ struct{}) (map[string]any,
				error) {
				return map[string]any{"id": newID(ctx)}, nil
			})), Options{Source: src})
		}
		for _, root := range []adk.Agent{leaf("host"), parallel(t, leaf("one"), leaf("two")), sequence2(t, leaf("one"),
			leaf("two"))} {
			w := newWorld(t, root)
			created := createSession(t, w.svc, src.Context(t.Context()))
			for _, msg := range []string{"go", "again"} {
				for ev, err := range w.r.Run(src.Context(t.Context()), user, created, genai.NewContentFromText(msg, genai.RoleUser),
					adk.RunConfig{StreamingMode: adk.StreamingModeSSE}) {
					if err != nil {
						t.Fatal(err)
					}
					if !ev.Partial {
						bytes = append(bytes, ev.Branch+asJSON(ev))
					}
				}
				if own, ok := root.(*Agent); ok {
					own.CloseSession(Key{app, user, created})
				}
			}
			bytes = append(bytes, branches(eventsIn(t, w.svc, created))...)
		}
		return branchSorted(bytes)
	}
	first := play("a")
	for range 5 {
		same(t, play("a"), first)
	}
	if other := play("b"); other[0] == first[0] {
		t.Error("another seed makes the same events")
	}
	if len(first) < 30 {
		t.Errorf("%d events", len(first))
	}
}

func withTools(c llmConfig, more ...tool.Tool) llmConfig {
	c.Tools = append(c.Tools, more...)
	return c
}

package adkagent

import (
	"fmt"
	"runtime"
	"testing"

	adk "google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/agent/llmagent"
	"google.golang.org/adk/v2/session"
	"google.golang.org/genai"
)

// benchTurn runs one turn of a session of its own with two tool calls: two requests to the model.
func benchTurn(tb testing.TB, w *world, id string) {
	n := 0
	for ev, err := range w.r.Run(tb.Context(), user, id, genai.NewContentFromText("what is there?", genai.RoleUser),
		adk.RunConfig{}) {
		if err != nil {
			tb.Fatal(err)
		}
		if ev.Content != nil {
			n++
		}
	}
	if n != 3 {
		tb.Fatalf("%d events", n)
	}
}

func benchWorld(tb testing.TB, ours bool) *world {
	s := script(calls(monday(), monday()), text("Soup."))
	s.Repeat = true
	if ours {
		return newWorld(tb, mustNew(tb, waiter(tb, s), Options{MaxNets: 4}))
	}
	a, err := llmagent.New(waiter(tb, s))
	if err != nil {
		tb.Fatal(err)
	}
	return newWorld(tb, a)
}

// benchTurns runs turns in sessions of length turns each.
func benchTurns(tb testing.TB, w *world, n, length int) {
	for i := range n {
		benchTurn(tb, w, sid)
		if i%length == length-1 {
			if err := w.svc.Delete(tb.Context(), &session.DeleteRequest{AppName: app, UserID: user,
				SessionID: sid}); err != nil {
				tb.Fatal(err)
			}
		}
	}
}

// BenchmarkTurn is a turn with two tool calls, of ADK's own agent and of ours: as the only one of its session,
// and in sessions of twenty turns.
func BenchmarkTurn(b *testing.B) {
	for _, length := range []int{1, 20} {
		for _, c := range []struct {
			name string
			ours bool
		}{{"stock", false}, {"net", true}} {
			b.Run(fmt.Sprintf("%s-%d", c.name, length), func(b *testing.B) {
				w := benchWorld(b, c.ours)
				benchTurns(b, w, length, length)
				b.ReportAllocs()
				b.ResetTimer()
				benchTurns(b, w, b.N, length)
			})
		}
	}
}

// TestTurnAllocations compares the allocations of a turn with two tool calls with those of ADK's own agent,
// everything included: the runner, the session service, the tools and the model.
func TestTurnAllocations(t *testing.T) {
	for _, c := range []struct {
		length int
		most   float64
	}{{1, 0.65}, {20, 0.5}} {
		count := func(ours bool) float64 {
			w := benchWorld(t, ours)
			benchTurns(t, w, c.length, c.length)
			return testing.AllocsPerRun(5, func() { benchTurns(t, w, 2*c.length, c.length) }) / float64(2*c.length)
		}
		stock, net := count(false), count(true)
		t.Logf("a turn in sessions of %d turns: %.0f allocations, ADK's own agent %.0f, ratio %.2f", c.length, net, stock,
			net/stock)
		if net > c.most*stock {
			t.Errorf("a turn in sessions of %d turns has %.0f allocations, of ADK's own agent %.0f; want at most %v of them",
				c.length, net, stock, c.most)
		}
	}
}

// TestIdleMemory keeps the nets of a thousand sessions that have had a turn.
func TestIdleMemory(t *testing.T) {
	const sessions, most = 1000, 50 << 20
	s := script(text("Hello."))
	s.Repeat = true
	a := mustNew(t, waiter(t, s), Options{})
	w := newWorld(t, a)
	heap := func() int64 {
		var m runtime.MemStats
		for range 2 {
			runtime.GC()
		}
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc + m.StackInuse)
	}
	before := heap()
	for i := range sessions {
		if _, err := w.run(t.Context(), genai.NewContentFromText("hello", genai.RoleUser), fmt.Sprint(i)); err != nil {
			t.Fatal(err)
		}
	}
	used := heap() - before
	t.Logf("%d idle sessions use %.1f MB, with their histories", sessions, float64(used)/1e6)
	if n := a.Running(); n != sessions || used > most {
		t.Errorf("%d nets use %d bytes; want %d nets and at most %d bytes", n, used, sessions, most)
	}
}

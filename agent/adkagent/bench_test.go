package adkagent

import (
	"runtime"
	"testing"
	"time"

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

// turns runs turns, each in a new session that is deleted, so that histories do not grow.
func benchTurns(tb testing.TB, w *world, n int) {
	for range n {
		benchTurn(tb, w, sid)
		if err := w.svc.Delete(tb.Context(), &session.DeleteRequest{AppName: app, UserID: user, SessionID: sid}); err != nil {
			tb.Fatal(err)
		}
	}
}

// BenchmarkTurn is a turn with two tool calls, of ADK's own agent and of ours.
func BenchmarkTurn(b *testing.B) {
	for _, c := range []struct {
		name string
		ours bool
	}{{"stock", false}, {"net", true}} {
		b.Run(c.name, func(b *testing.B) {
			w := benchWorld(b, c.ours)
			benchTurns(b, w, 1)
			b.ReportAllocs()
			b.ResetTimer()
			benchTurns(b, w, b.N)
		})
	}
}

var _ = runtime.GC
var _ = time.Now

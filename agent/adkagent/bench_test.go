package adkagent

import (
	"fmt"
	"iter"
	"runtime"
	"testing"

	adk "google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/agent/llmagent"
	"google.golang.org/adk/v2/model"
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

// The agents that are compared: ADK's own, ours, and one without orchestration.
const (
	stock    = "stock"
	netAgent = "net"
	bare     = "bare"
)

func benchWorld(tb testing.TB, which string) *world {
	s := script(calls(monday(), monday()), text("Soup."))
	s.Repeat = true
	var a adk.Agent
	var err error
	switch which {
	case netAgent:
		a = mustNew(tb, waiter(tb, s), Options{MaxNets: 4})
	case stock:
		a, err = llmagent.New(waiter(tb, s))
	case bare:
		a, err = adk.New(adk.Config{Name: "host", Run: bareRun(waiter(tb, s))})
	}
	if err != nil {
		tb.Fatal(err)
	}
	return newWorld(tb, a)
}

// bareRun does what every agent must do for this turn, and nothing else: it asks the model, runs the two
// calls one after the other, and asks again. What another agent costs more is its orchestration.
func bareRun(c llmagent.Config) func(adk.InvocationContext) iter.Seq2[*session.Event, error] {
	return func(ic adk.InvocationContext) iter.Seq2[*session.Event, error] {
		return func(yield func(*session.Event, error) bool) {
			req := &model.LLMRequest{Model: c.Model.Name(), Config: &genai.GenerateContentConfig{}}
			for range 2 {
				req.Contents = req.Contents[:0]
				for e := range ic.Session().Events().All() {
					req.Contents = append(req.Contents, e.Content)
				}
				for r, err := range c.Model.GenerateContent(ic, req, false) {
					if err != nil {
						yield(nil, err)
						return
					}
					said := session.NewEvent(ic, ic.InvocationID())
					said.Author, said.LLMResponse = "host", *r
					if !yield(said, nil) {
						return
					}
					if !bareCalls(ic, c.Tools[0].(functionTool), said.Content, yield) {
						return
					}
				}
			}
		}
	}
}

// bareCalls runs the calls of a response, if there are any, and yields their results.
func bareCalls(ic adk.InvocationContext, f functionTool, c *genai.Content,
	yield func(*session.Event, error) bool) bool {
	results := session.NewEvent(ic, ic.InvocationID())
	results.Author, results.Content = "host", &genai.Content{Role: genai.RoleUser}
	for _, p := range c.Parts {
		if p.FunctionCall == nil {
			continue
		}
		r, err := f.Run(adk.NewToolContext(ic, p.FunctionCall.ID, &results.Actions, nil), p.FunctionCall.Args)
		if err != nil {
			return yield(nil, err)
		}
		results.Content.Parts = append(results.Content.Parts, &genai.Part{FunctionResponse: &genai.FunctionResponse{
			ID: p.FunctionCall.ID, Name: p.FunctionCall.Name, Response: r}})
	}
	return len(results.Content.Parts) == 0 || yield(results, nil)
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

// BenchmarkTurn is a turn with two tool calls: as the only one of its session, and in sessions of twenty
// turns. The cost of orchestration is that of stock or net without that of bare.
func BenchmarkTurn(b *testing.B) {
	for _, length := range []int{1, 20} {
		for _, which := range []string{bare, stock, netAgent} {
			b.Run(fmt.Sprintf("%s-%d", which, length), func(b *testing.B) {
				w := benchWorld(b, which)
				benchTurns(b, w, length, length)
				b.ReportAllocs()
				b.ResetTimer()
				benchTurns(b, w, b.N, length)
			})
		}
	}
}

// TestTurnAllocations compares the allocations of orchestration for a turn with two tool calls with those
// of ADK's own agent: what a turn allocates beyond the runner, the session service, the tools and the
// model. They are at most half.
func TestTurnAllocations(t *testing.T) {
	for _, length := range []int{1, 20} {
		count := func(which string) float64 {
			w := benchWorld(t, which)
			benchTurns(t, w, length, length)
			return testing.AllocsPerRun(5, func() { benchTurns(t, w, 2*length, length) }) / float64(2*length)
		}
		without, theirs, ours := count(bare), count(stock), count(netAgent)
		ratio := (ours - without) / (theirs - without)
		t.Logf("sessions of %d turns: %.0f allocations a turn, ADK's own agent %.0f, without orchestration %.0f: %.2f",
			length, ours, theirs, without, ratio)
		if without >= ours || ratio > 0.5 {
			t.Errorf("in sessions of %d turns orchestration allocates %.2f of what ADK's own agent does; want at most half",
				length, ratio)
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

package exec

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/adk/v2/model"

	"github.com/voicegw/voicegw/agent/managed"
	"github.com/voicegw/voicegw/agent/provider"
	"github.com/voicegw/voicegw/journal/journaltest"
)

const story = `
name: w
agents:
  - {name: a, type: llm, model: mind, instruction: "a at {current_datetime}", tools: [look], output_key: heard}
  - {name: once, type: code, function: once, input_keys: ["heard", "n?"], output_key: n}
  - {name: again, type: code, function: again, input_keys: [heard], output_key: m}
  - {name: hits, type: code, function: hits, input_keys: ["app:hits?"], output_key: "app:hits"}
  - {name: sum, type: expr, expression: n, input_keys: [n], output_key: s}
  - {name: tell, type: llm, model: mind, instruction: "{n} {m} {s} {app:hits}"}
  - {name: both, type: parallel, sub_agents: [once, again, hits]}
orchestration: {type: sequential, agents: [a, both, sum, tell]}
`

// play runs the story twice, on a runtime whose commits fail from one on, and starts again when they do. It returns
// the words of all agents, and how often functions ran.
func play(t *testing.T, at int) (words string, ran map[string]int, died bool) {
	var mu sync.Mutex
	ran = map[string]int{}
	count := func(name string) (any, error) {
		mu.Lock()
		defer mu.Unlock()
		ran[name]++
		return name, nil
	}
	c := tools()
	now := time.Date(2026, 11, 24, 12, 0, 0, 0, time.UTC)
	c.Now = func() time.Time { mu.Lock(); defer mu.Unlock(); now = now.Add(time.Hour); return now }
	c.Functions["once"] = Function{Call: func(_ context.Context, in map[string]any) (any, error) { return count("once") }}
	c.Functions["again"] = Function{Idempotent: true,
		Call: func(context.Context, map[string]any) (any, error) { return count("again") }}
	c.Functions["hits"] = Function{Idempotent: true, Call: func(_ context.Context, in map[string]any) (any, error) {
		n, _ := in["app:hits"].(float64)
		return n + 1, nil
	}}
	h := newHouse(t, story, c, func(r *model.LLMRequest) provider.ScriptTurn {
		if strings.HasPrefix(orders(r), "a at") && !strings.Contains(text(r.Contents[len(r.Contents)-1]), "result look") {
			return calls(provider.ScriptCall{Name: "look", Args: map[string]any{"x": 1}})
		}
		return echo(r)
	})
	h.e.cfg.Store = NewJournalStore(h.journal)
	engine := h.journal.(*journaltest.Memory)
	var n atomic.Int64
	var dead atomic.Bool
	engine.Before = func(string, uint64, int) error {
		if n.Add(1) == int64(at) {
			dead.Store(true)
		}
		if dead.Load() {
			return errors.New("the process is dead")
		}
		return nil
	}
	revive := func() {
		if !dead.Load() {
			return
		}
		died = true
		_ = h.rt.Close(context.Background())
		dead.Store(false)
		h.open()
		if _, err := h.rt.Recover(t.Context()); err != nil {
			t.Error(err)
		}
		synctest.Wait()
	}
	for _, m := range []string{"one", "two"} {
		for range 3 {
			_, err := h.rt.Send(t.Context(), ada, h.session, managed.Once{Key: m}, managed.Text(m))
			synctest.Wait()
			revive()
			if err == nil {
				break
			}
		}
	}
	var list []*managed.Event
	for ev, err := range h.rt.Events(t.Context(), ada, h.session, 0, false) {
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, ev)
	}
	h.close()
	return said(list), ran, died
}

// byAgent are the words of agents, each with its own in order.
func byAgent(words string) string {
	all := map[string][]string{}
	for _, line := range strings.Split(words, "\n") {
		name, text, _ := strings.Cut(line, ": ")
		all[name] = append(all[name], text)
	}
	return fmt.Sprint(all)
}

// TestCrash kills a run at every commit. Whoever goes on tells the same story: what was done is not done again, and
// what nobody knows of is not repeated without permission.
func TestCrash(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		want, _, _ := play(t, 0)
		if !strings.Contains(want, "tell: once again [\"n\",\"once\"] 1") || !strings.Contains(want, "[\"n\",\"once\"] 2") ||
			!strings.Contains(want, "a: a at 2026-11-24T13:00:00Z") || !strings.Contains(want, "a: a at 2026-11-24T14:00:00Z") {
			t.Fatalf("the story is\n%s", want)
		}
		crashes, unknown := 0, 0
		for at := 1; ; at++ {
			got, ran, died := play(t, at)
			if !died {
				break
			}
			crashes++
			if ran["once"] > 2 {
				t.Errorf("commit %d: a function that may run once per run ran %d times in two runs", at, ran["once"])
			}
			if strings.Contains(got, "outcome_unknown") { // the process died while the function ran
				unknown++
				continue
			}
			if byAgent(got) != byAgent(want) && !later(got) {
				t.Errorf("commit %d: the story is\n%s\nwant\n%s", at, got, want)
			}
		}
		// Between the start and the end of the function that may not be repeated, the two branches beside it store
		// up to four records of theirs each, in any order, in both runs.
		if most := 2 * (2*4 + 1); crashes < 40 || unknown == 0 || unknown > most {
			t.Errorf("%d crashes, %d with an unknown outcome", crashes, unknown)
		}
	})
}

// later reports whether a run began again later, because its beginning was not stored.
func later(words string) bool { return strings.Contains(words, "T15:00:00Z") }

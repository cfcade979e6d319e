package agent

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/adk/v2/model"
)

// after is a branch that answers after a time, or fails if what is "".
func after(name string, wait time.Duration, what string) Branch {
	return Branch{Name: name, Do: func(ctx context.Context, _ *Request) (*model.LLMResponse, error) {
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		if what == "" {
			return nil, errors.New(name + " is down")
		}
		return words(what), nil
	}}
}

// stubborn is a branch that answers after a time, whatever its context says.
func stubborn(name string, wait time.Duration, what string) Branch {
	return Branch{Name: name, Do: func(context.Context, *Request) (*model.LLMResponse, error) {
		time.Sleep(wait)
		return words(what), nil
	}}
}

// said joins what attempts answered.
func said(list []*Attempt) string {
	var parts []string
	for _, a := range list {
		if a.Fault != nil {
			parts = append(parts, string(a.Fault.Code))
		} else {
			parts = append(parts, a.Out.Content.Parts[0].Text)
		}
	}
	return strings.Join(parts, " ")
}

func join(list []*Attempt) *model.LLMResponse { return words(said(list)) }

// twice is a batch of two equal jobs.
func twice(do Branch) Batch {
	return Batch{Workers: 2, Max: 2, Do: do,
		Split: func(r *Request) []*model.LLMRequest { return []*model.LLMRequest{r.Request, r.Request} },
		Merge: func(c *Collected) *model.LLMResponse { return join(c.Results) },
		Show: func(c *Collected) *model.LLMResponse {
			return words(fmt.Sprintf("%d of %d", len(c.Results), c.Expected))
		}}
}

// strategies are small ones of every kind.
func strategies() map[string]Strategy {
	a, b, c := after("a", 0, "A"), after("b", 0, "B"), after("c", 0, "C")
	return map[string]Strategy{
		"race":       Race{Tiers: [][]Branch{{a, b}}},
		"tiers":      Race{Patience: time.Second, Tiers: [][]Branch{{a}, {b}}},
		"quorum":     Quorum{K: 2, Branches: []Branch{a, b, c}, Merge: join},
		"optimistic": Optimistic{Draft: a, Check: b, Fallback: c, Patience: time.Second},
		"batch":      twice(a),
	}
}

func strategic(st Strategy) Config {
	return Config{Limits: Limits{Reasks: 1, ToolSlots: 1, MaxCalls: 1}, Agents: []Agent{{Name: "host", Strategy: st}}}
}

// ask runs one turn of an agent with a strategy and returns what is heard.
func ask(t *testing.T, k *talk, how How) string {
	t.Helper()
	k.lines = nil
	end, err := k.say(t.Context(), "go")
	if end == nil || end.How != how || (err == nil) != (how == Answered || how == Failed) {
		t.Errorf("the turn ended with %+v, %v; want %s", end, err, how)
	}
	return strings.Join(k.lines[1:], "; ")
}

// TestStrategies plays every strategy in virtual time: what is heard, and after how long.
func TestStrategies(t *testing.T) {
	const s = time.Second
	a, b, down := after("a", s, "A"), after("b", 2*s, "B"), after("c", s, "")
	tiers := func(list ...[]Branch) Race { return Race{Patience: 3 * s, Tiers: list} }
	quorum := func(list ...Branch) Quorum { return Quorum{K: 2, Branches: list, Merge: join} }
	optimistic := func(draft, check, fallback Branch) Optimistic {
		return Optimistic{Draft: draft, Check: check, Fallback: fallback, Patience: 3 * s}
	}
	for _, c := range []struct {
		name string
		st   Strategy
		want string
		how  How
		took time.Duration
	}{
		{"the faster wins", tiers([]Branch{b, a}), `host answer "A"`, Answered, s},
		{"one that fails only loses", tiers([]Branch{down, b}), `host answer "B"`, Answered, 2 * s},
		{"a tier in time", tiers([]Branch{b}, []Branch{a}), `host answer "B"`, Answered, 2 * s},
		{"a tier too late", tiers([]Branch{after("x", 9*s, "X")}, []Branch{a}), `host answer "A"`, Answered, 4 * s},
		{"a tier that fails", tiers([]Branch{down}, []Branch{a}), `host answer "A"`, Answered, 2 * s},
		{"the first tier after all", tiers([]Branch{after("x", 4*s, "X")}, []Branch{b}), `host answer "X"`, Answered, 4 * s},
		{"all fail", tiers([]Branch{down}, []Branch{after("d", s, "")}), `host answer ! model_failed`, Failed, 2 * s},
		{"too slow", tiers([]Branch{after("x", time.Hour, "X")}), `host answer ! model_timed_out`, Failed, 120 * s},

		{"the second of three", quorum(a, after("x", 9*s, "X"), b), `host answer "A B"`, Answered, 2 * s},
		{"one of three fails", quorum(down, b, a), `host answer "A B"`, Answered, 2 * s},
		{"no quorum", quorum(a, down, after("d", s, "")), `host answer ! model_failed`, Failed, s},

		{"confirmed", optimistic(a, after("x", s, "fine"), b), `host partial "A"; host answer "A"`, Answered, 2 * s},
		{"rejected", optimistic(a, down, b), `host partial "A"; host answer "B"`, Answered, 4 * s},
		{"not checked in time", optimistic(a, after("x", 9*s, "fine"), b), `host partial "A"; host answer "B"`,
			Answered, 6 * s},
		{"no draft", optimistic(down, after("x", s, "fine"), b), `host answer "B"`, Answered, 3 * s},
		{"no fallback", optimistic(a, after("x", s, ""), down), `host partial "A"; host answer ! model_failed`,
			Failed, 3 * s},

		{"collected", twice(a), `host partial "1 of 2"; host partial "2 of 2"; host answer "A A"`, Answered, s},
		{"jobs fail", twice(down), `host partial "1 of 2"; host partial "2 of 2"; host answer "model_failed model_failed"`,
			Answered, s},
		{"too many jobs", Batch{Workers: 1, Max: 1, Do: a, Split: twice(a).Split, Merge: twice(a).Merge},
			`host answer ! prompt_failed`, Failed, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				k := start(t, newProgram(t, Config{Agents: []Agent{{Name: "host", Strategy: c.st}}}))
				for range 2 { // the second turn is like the first
					began := time.Now()
					if got := ask(t, k, c.how); got != c.want {
						t.Errorf("%s\nwant\n%s", got, c.want)
					}
					if took := time.Since(began); took != c.took {
						t.Errorf("it took %v, want %v", took, c.took)
					}
				}
				k.close()
			})
		})
	}
}

// TestLateResult checks that a loser which ignores its cancellation has no effect, neither on its turn
// nor on the next one, whose request to that branch waits for it.
func TestLateResult(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := start(t, newProgram(t, Config{Agents: []Agent{{Name: "host", Strategy: Race{Tiers: [][]Branch{{
			stubborn("slow", 3*time.Second, "slow"), after("fast", time.Second, "fast")}}}}}}))
		for range 2 {
			if got := ask(t, k, Answered); got != `host answer "fast"` {
				t.Error(got)
			}
		}
		heard := len(k.lines)
		time.Sleep(time.Minute)
		if len(k.lines) != heard {
			t.Errorf("after the end came %q", k.lines[heard:])
		}
		k.close()
	})
}

// TestLosersAreCancelled checks that the context of each loser ends at the instant of the decision, and
// that stopping the turn ends all of them.
func TestLosersAreCancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var cancelled atomic.Int32
		loser := func(name string) Branch {
			return Branch{Name: name, Do: func(ctx context.Context, _ *Request) (*model.LLMResponse, error) {
				<-ctx.Done()
				cancelled.Add(1)
				return words("late"), nil
			}}
		}
		quorum := Quorum{K: 2, Merge: join, Branches: []Branch{after("a", time.Second, "A"), loser("x"),
			after("b", 2*time.Second, "B"), loser("y")}}
		k := start(t, newProgram(t, Config{Agents: []Agent{{Name: "host", Strategy: quorum}}}))
		began := time.Now()
		if got := ask(t, k, Answered); got != `host answer "A B"` {
			t.Error(got)
		}
		synctest.Wait()
		if n := cancelled.Load(); n != 2 || time.Since(began) != 2*time.Second {
			t.Errorf("%d losers cancelled after %v", n, time.Since(began))
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		if end, _ := k.say(ctx, "go"); end.How != Stopped {
			t.Errorf("a turn that is stopped: %+v", end)
		}
		synctest.Wait()
		if n := cancelled.Load(); n != 4 {
			t.Errorf("%d losers cancelled after the second turn", n)
		}
		k.close()
	})
}

func TestStrategyRefused(t *testing.T) {
	a := after("a", 0, "A")
	for _, c := range []struct {
		st   Strategy
		want string
	}{
		{Race{}, "Race.Tiers is empty"}, {Race{Tiers: [][]Branch{{a}, {}}}, "an empty tier"},
		{Race{Tiers: [][]Branch{{a}, {after("b", 0, "")}}}, "Race.Patience is 0s"},
		{Race{Tiers: [][]Branch{{a, a}}}, `the name "a" of a branch`},
		{Race{Tiers: [][]Branch{{{Name: "a"}}}}, "either Model or Do"},
		{Race{Tiers: [][]Branch{{{Name: "a b", Do: a.Do}}}}, `the name "a b"`},
		{Quorum{K: 2, Branches: []Branch{a}, Merge: join}, "Quorum.K is 2"},
		{Quorum{K: 1, Branches: []Branch{a}}, "Merge is nil"},
		{Optimistic{Draft: a, Check: a, Fallback: a}, "Optimistic.Patience is 0s"},
		{Batch{Workers: 1, Max: 1, Do: a}, "Batch.Split or Batch.Merge"},
		{Batch{Workers: 17, Max: 1, Do: a, Split: twice(a).Split, Merge: twice(a).Merge}, "Batch.Workers is 17"},
		{Race{Tiers: [][]Branch{make([]Branch, 17)}}, "has 17 branches; it may have 16"},
	} {
		_, err := New(Config{Agents: []Agent{{Name: "host", Strategy: c.st}}})
		if err == nil || !strings.Contains(err.Error(), `agent "host"`) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v; want %s", c.st, err, c.want)
		}
	}
	both := Agent{Name: "host", Model: slowModel{}, Strategy: Race{Tiers: [][]Branch{{a}}}}
	if _, err := New(Config{Agents: []Agent{both}}); err == nil || !strings.Contains(err.Error(), "give one of them") {
		t.Errorf("a model and a strategy: %v", err)
	}
}

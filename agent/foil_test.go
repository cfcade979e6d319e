package agent_test

import (
	"context"
	"errors"
	"iter"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	adk "google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/agent/workflowagent"
	"google.golang.org/adk/v2/agent/workflowagents/loopagent"
	"google.golang.org/adk/v2/agent/workflowagents/parallelagent"
	"google.golang.org/adk/v2/agent/workflowagents/sequentialagent"
	"google.golang.org/adk/v2/model"
	adkrunner "google.golang.org/adk/v2/runner"
	"google.golang.org/adk/v2/session"
	"google.golang.org/adk/v2/workflow"
	"google.golang.org/genai"

	"github.com/voicegw/voicegw/agent"
	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/verify"
	"github.com/voicegw/voicegw/verify/verifytest"
)

// The tests TestStock... hold what the stock agents of ADK v2.2.0 do, in real time. A red one means that
// ADK has changed. Beside each stands what a net does with the same work, in virtual time.

// work is what a branch does: it waits, and then says its name or fails.
type work struct {
	name      string
	wait      time.Duration
	fails     bool
	cancelled *atomic.Int32
	runs      *atomic.Int32
	end       func(adk.InvocationContext, *session.Event) // nil or how the stock agent tries to end the others
}

func job(name string, wait time.Duration) work {
	return work{name: name, wait: wait, cancelled: &atomic.Int32{}, runs: &atomic.Int32{}}
}

func failing(name string, wait time.Duration) work {
	w := job(name, wait)
	w.fails = true
	return w
}

var errDown = errors.New("down")

func (w work) do(ctx context.Context) error {
	w.runs.Add(1)
	select {
	case <-time.After(w.wait):
	case <-ctx.Done():
		w.cancelled.Add(1)
		return ctx.Err()
	}
	if w.fails {
		return errDown
	}
	return nil
}

// branch is the work as a branch of a net.
func (w work) branch() agent.Branch {
	return agent.Branch{Name: w.name, Do: func(ctx context.Context, _ *agent.Request) (*model.LLMResponse, error) {
		return reply(w.name), w.do(ctx)
	}}
}

// stock is the work as an agent of ADK.
func (w work) stock(t *testing.T) adk.Agent {
	return stockAgent(t, w.name, func(ctx adk.InvocationContext) iter.Seq2[*session.Event, error] {
		return func(yield func(*session.Event, error) bool) {
			if err := w.do(ctx); err != nil {
				yield(nil, err)
				return
			}
			ev := session.NewEvent(ctx, ctx.InvocationID())
			ev.Content = genai.NewContentFromText(w.name, genai.RoleModel)
			if w.end != nil {
				w.end(ctx, ev)
			}
			yield(ev, nil)
		}
	})
}

func stockAgent(t *testing.T, name string, run func(adk.InvocationContext) iter.Seq2[*session.Event, error]) adk.Agent {
	t.Helper()
	return must(t)(adk.New(adk.Config{Name: name, Run: run}))
}

func must(t *testing.T) func(adk.Agent, error) adk.Agent {
	return func(a adk.Agent, err error) adk.Agent {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
}

func parallel(t *testing.T, list ...work) adk.Agent {
	c := adk.Config{Name: "parallel"}
	for _, w := range list {
		c.SubAgents = append(c.SubAgents, w.stock(t))
	}
	return must(t)(parallelagent.New(parallelagent.Config{AgentConfig: c}))
}

// runStock runs one turn of a stock agent. It returns what the session keeps of it, the errors, and how
// long it took.
func runStock(t *testing.T, a adk.Agent) (kept []string, errs []error, took time.Duration) {
	t.Helper()
	r, err := adkrunner.New(adkrunner.Config{AppName: "foil", Agent: a, SessionService: session.InMemoryService(),
		AutoCreateSession: true})
	if err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	for ev, err := range r.Run(t.Context(), "user", "session", genai.NewContentFromText("go", "user"), adk.RunConfig{}) {
		switch {
		case err != nil:
			errs = append(errs, err)
		case ev.Content != nil:
			kept = append(kept, ev.Content.Parts[0].Text)
		}
	}
	return kept, errs, time.Since(began)
}

// runNet runs one turn of an agent with a strategy, until ctx ends. It returns the answer, how the turn
// ended, and how long it took.
func runNet(t *testing.T, ctx context.Context, st agent.Strategy) (answer string, how agent.How, took time.Duration) {
	t.Helper()
	prog, err := agent.New(agent.Config{Agents: []agent.Agent{{Name: "host", Strategy: st}}})
	if err != nil {
		t.Fatal(err)
	}
	s, err := agent.Start(prog, agent.Options{})
	if err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	end, _ := s.Run(ctx, &agent.Turn{ID: "t", Message: genai.NewContentFromText("go", "user"),
		Emit: func(ev *session.Event, kind agent.EventKind) error {
			if kind == agent.Answer && ev.Content != nil {
				answer += textOf(ev.Content)
			}
			return nil
		}})
	took = time.Since(began)
	synctest.Wait()
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	return answer, end.How, took
}

const ms = time.Millisecond

// Foil A: a parallel agent has no first winner.
func TestStockParallelTakesAll(t *testing.T) {
	t.Parallel()
	fast, slow := job("fast", 20*ms), job("slow", 200*ms)
	kept, errs, took := runStock(t, parallel(t, fast, slow))
	if strings.Join(kept, " ") != "fast slow" || errs != nil || slow.cancelled.Load() != 0 || took < 190*ms {
		t.Errorf("kept %q, errors %v, %d cancelled, after %v", kept, errs, slow.cancelled.Load(), took)
	}
}

func TestRaceTakesFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fast, slow := job("fast", 20*ms), job("slow", 200*ms)
		answer, how, took := runNet(t, t.Context(), agent.Race{Tiers: [][]agent.Branch{{slow.branch(), fast.branch()}}})
		if answer != "fast" || how != agent.Answered || slow.cancelled.Load() != 1 || took != 20*ms {
			t.Errorf("%q %s, %d cancelled, after %v", answer, how, slow.cancelled.Load(), took)
		}
	})
}

// Foil A2: what an agent does to end the others does not.
func TestStockEscalationEndsNothing(t *testing.T) {
	t.Parallel()
	first, sibling := job("first", 10*ms), job("sibling", 150*ms)
	first.end = func(ctx adk.InvocationContext, ev *session.Event) {
		ev.Actions.Escalate = true
		ctx.EndInvocation()
	}
	kept, errs, took := runStock(t, parallel(t, first, sibling))
	if strings.Join(kept, " ") != "first sibling" || errs != nil || sibling.cancelled.Load() != 0 || took < 140*ms {
		t.Errorf("kept %q, errors %v, %d cancelled, after %v", kept, errs, sibling.cancelled.Load(), took)
	}
}

func TestStopEndsAllBranches(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, bargeIn := context.WithTimeout(t.Context(), 5*ms)
		defer bargeIn()
		first, sibling := job("first", 10*ms), job("sibling", 150*ms)
		answer, how, took := runNet(t, ctx, agent.Race{Tiers: [][]agent.Branch{{first.branch(), sibling.branch()}}})
		cancelled := first.cancelled.Load() + sibling.cancelled.Load()
		if answer != "" || how != agent.Stopped || cancelled != 2 || took != 5*ms {
			t.Errorf("%q %s, %d cancelled, after %v", answer, how, cancelled, took)
		}
	})
}

// Foil B: there is no quorum. Whoever wants two of three waits for all.
func TestStockHasNoQuorum(t *testing.T) {
	t.Parallel()
	seen := 0
	aggregator := stockAgent(t, "aggregator", func(ctx adk.InvocationContext) iter.Seq2[*session.Event, error] {
		seen = ctx.Session().Events().Len()
		return func(func(*session.Event, error) bool) {}
	})
	three := parallel(t, job("a", 10*ms), job("b", 30*ms), job("c", 250*ms))
	a := must(t)(sequentialagent.New(sequentialagent.Config{AgentConfig: adk.Config{Name: "sequence",
		SubAgents: []adk.Agent{three, aggregator}}}))
	_, errs, took := runStock(t, a)
	if seen != 4 || errs != nil || took < 240*ms {
		t.Errorf("the aggregator sees %d events after %v, errors %v", seen, took, errs)
	}
}

func TestQuorumTakesTwo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b, c := job("a", 10*ms), job("b", 30*ms), job("c", 250*ms)
		answer, how, took := runNet(t, t.Context(), agent.Quorum{K: 2, Branches: []agent.Branch{a.branch(), b.branch(),
			c.branch()}, Merge: func(list []*agent.Attempt) *model.LLMResponse {
			return reply(textOf(list[0].Out.Content) + textOf(list[1].Out.Content))
		}})
		if answer != "ab" || how != agent.Answered || c.cancelled.Load() != 1 || took != 30*ms {
			t.Errorf("%q %s, %d cancelled, after %v", answer, how, c.cancelled.Load(), took)
		}
	})
}

// Foil C: a branch that fails takes the others with it.
func TestStockErrorKillsAll(t *testing.T) {
	t.Parallel()
	cheap, slow := failing("cheap", 10*ms), job("slow", 10*time.Second)
	kept, errs, _ := runStock(t, parallel(t, cheap, slow))
	if kept != nil || len(errs) != 1 || !errors.Is(errs[0], errDown) || slow.cancelled.Load() != 1 {
		t.Errorf("kept %q, errors %v, %d cancelled", kept, errs, slow.cancelled.Load())
	}
}

func TestFallbackCommits(t *testing.T) {
	cheap, slow := failing("cheap", 10*ms), job("slow", 200*ms)
	for _, st := range []agent.Strategy{
		agent.Race{Tiers: [][]agent.Branch{{cheap.branch(), slow.branch()}}},
		agent.Race{Patience: time.Second, Tiers: [][]agent.Branch{{cheap.branch()}, {slow.branch()}}},
		agent.Optimistic{Draft: cheap.branch(), Check: answer("check", ""), Fallback: slow.branch(), Patience: time.Second},
	} {
		synctest.Test(t, func(t *testing.T) {
			answer, how, _ := runNet(t, t.Context(), st)
			if answer != "slow" || how != agent.Answered || slow.cancelled.Load() != 0 {
				t.Errorf("%T: %q %s, %d cancelled", st, answer, how, slow.cancelled.Load())
			}
		})
	}
}

// Foil C2: a loop goes on after an error.
func TestStockLoopIgnoresErrors(t *testing.T) {
	t.Parallel()
	w := failing("sub", 0)
	a := must(t)(loopagent.New(loopagent.Config{MaxIterations: 3, AgentConfig: adk.Config{Name: "loop",
		SubAgents: []adk.Agent{w.stock(t)}}}))
	_, errs, _ := runStock(t, a)
	if w.runs.Load() != 3 || len(errs) != 3 {
		t.Errorf("it runs %d times, errors %v", w.runs.Load(), errs)
	}
}

func TestErrorEndsLoop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := failing("sub", 0)
		_, how, _ := runNet(t, t.Context(), agent.Race{Tiers: [][]agent.Branch{{w.branch()}}})
		if how != agent.Failed || w.runs.Load() != 1 {
			t.Errorf("%s after %d requests", how, w.runs.Load())
		}
	})
}

// Foil W: a graph may not lead two ways to one node, nor back, and its join waits for all.
func TestStockGraphs(t *testing.T) {
	t.Parallel()
	node := func(name string, wait time.Duration) workflow.Node {
		return workflow.NewFunctionNode(name, func(ctx adk.Context, _ any) (string, error) {
			return name, job(name, wait).do(ctx)
		}, workflow.NodeConfig{})
	}
	a, b, c := node("a", 10*ms), node("b", 200*ms), node("c", 0)
	graph := func(join workflow.Node) []workflow.Edge {
		return workflow.Concat(workflow.Chain(workflow.Start, a, join), workflow.Chain(workflow.Start, b, join))
	}
	_, err := workflowagent.New(workflowagent.Config{Name: "w", Edges: graph(c)})
	if !errors.Is(err, workflow.ErrUnsupportedFanIn) {
		t.Errorf("fan-in: %v", err)
	}
	_, err = workflowagent.New(workflowagent.Config{Name: "w", Edges: workflow.Chain(workflow.Start, a, c, a)})
	if !errors.Is(err, workflow.ErrUnconditionalCycle) {
		t.Errorf("cycle: %v", err)
	}
	join := must(t)(workflowagent.New(workflowagent.Config{Name: "w", Edges: graph(workflow.NewJoinNode("join"))}))
	if _, errs, took := runStock(t, join); errs != nil || took < 190*ms {
		t.Errorf("the join comes after %v, errors %v", took, errs)
	}
}

// TestGraphsAsNets compiles and proves the graphs that foil W refuses: two ways to one node, and back,
// as often as a budget says.
func TestGraphsAsNets(t *testing.T) {
	const (
		start  petri.Place[petri.Unit] = "start"
		a      petri.Place[petri.Unit] = "a"
		b      petri.Place[petri.Unit] = "b"
		c      petri.Place[petri.Unit] = "c"
		budget petri.Place[petri.Unit] = "budget"
		done   petri.Place[petri.Unit] = "done"
	)
	step := func(name string, from, to petri.Arcs) petri.Transition {
		return petri.Transition{Name: name, In: from, Out: petri.And(to...), When: petri.Anytime()}
	}
	unit := petri.Unit{}
	prog, err := petri.Compile(&petri.Net{
		Name: "graph",
		Init: []petri.Token{start.Token(unit), budget.Token(unit), budget.Token(unit)},
		Transitions: []petri.Transition{
			step("fork", petri.Arcs{start}, petri.Arcs{a, b}),
			step("a_to_c", petri.Arcs{a}, petri.Arcs{c}), step("b_to_c", petri.Arcs{b}, petri.Arcs{c}),
			step("back", petri.Arcs{c, budget}, petri.Arcs{a}), step("finish", petri.Arcs{c}, petri.Arcs{done}),
		},
		Sinks: []petri.AnyPlace{done, budget},
	})
	if err != nil {
		t.Fatal(err)
	}
	verifytest.Prove(t, prog, verify.Config{}, verify.DeadlockFree(), verify.Bounded("done", 2), verify.Bounded("c", 2))
}

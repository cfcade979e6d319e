package exec

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	adkagent "google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/agent/workflowagent"
	"google.golang.org/adk/v2/runner"
	"google.golang.org/adk/v2/session"
	adkworkflow "google.golang.org/adk/v2/workflow"
	"google.golang.org/genai"

	"github.com/voicegw/voicegw/agent"
	"github.com/voicegw/voicegw/agent/workflow"
)

// nodesMax is how many nodes the graph of the benchmark has: a chain of diamonds of five, ten of them.
const nodesMax = 50

// edgesOf are the nodes before a node: 5k -> 5k+1, 5k+2, 5k+3 -> 5k+4 -> 5k+5.
func edgesOf(i int) []int {
	switch {
	case i == 0:
		return nil
	case i%5 == 0:
		return []int{i - 1}
	case i%5 == 4:
		return []int{i - 3, i - 2, i - 1}
	}
	return []int{i - i%5}
}

// instant is a Worker whose leaves are done at once.
type instant struct{}

func (instant) Do(_ context.Context, _ *agent.Session, j *workflow.Job) (*workflow.Result, error) {
	return &workflow.Result{Output: j.Agent.Name}, nil
}

// newSession makes a session of ADK, in memory.
func newSession(b testing.TB, all session.Service, id string) session.Session {
	r, err := all.Create(context.Background(), &session.CreateRequest{AppName: "bench", UserID: "u", SessionID: id})
	if err != nil {
		b.Fatal(err)
	}
	return r.Session
}

// ours runs the graph as a net, without a journal. Its events go to a session in memory, as ADK's do. What it
// returns counts the events of a run.
func ours(b testing.TB) func() int {
	var agents, nodes []string
	for i := range nodesMax {
		agents = append(agents, fmt.Sprintf("  - {name: n%d, type: code, function: f, output_key: k%d}\n", i, i))
		var deps []string
		for _, d := range edgesOf(i) {
			deps = append(deps, fmt.Sprint("n", d))
		}
		nodes = append(nodes, fmt.Sprintf("    - {agent: n%d, depends_on: [%s]}\n", i, strings.Join(deps, ", ")))
	}
	w, found := workflow.Load("dag.yaml", []byte("name: w\nagents:\n"+strings.Join(agents, "")+
		"orchestration:\n  type: dag\n  nodes:\n"+strings.Join(nodes, "")), workflow.Registry{})
	if len(found) > 0 {
		b.Fatal(found)
	}
	c, found := workflow.Compile(w)
	if len(found) > 0 {
		b.Fatal(found)
	}
	prog := c.Program(instant{})
	sessions, runs := session.InMemoryService(), 0
	return func() int {
		runs++
		to, events := newSession(b, sessions, fmt.Sprint("s", runs)), 0
		s, err := agent.Start(prog, agent.Options{})
		if err != nil {
			b.Fatal(err)
		}
		end, err := s.Run(context.Background(), &agent.Turn{ID: "t", Message: genai.NewContentFromText("go", "user"),
			Anywhere: true, Emit: func(ev *session.Event, _ agent.EventKind) error {
				events++
				return sessions.AppendEvent(context.Background(), to, ev)
			}})
		if err != nil || end.How != agent.Answered {
			b.Fatal(end, err)
		}
		_ = s.Close()
		return events
	}
}

// theirs runs the graph with ADK's own package workflow, in memory. Each node writes a key of the state, as ours do.
// What it returns counts the events of a run.
func theirs(b testing.TB) func() int {
	nodes := make([]adkworkflow.Node, nodesMax)
	edges := adkworkflow.NewEdgeBuilder()
	for i := range nodes {
		name := fmt.Sprint("n", i)
		key := fmt.Sprint("k", i)
		nodes[i] = adkworkflow.NewFunctionNode(name, func(ctx adkagent.Context, _ any) (*session.Event, error) {
			ev := session.NewEvent(ctx, ctx.InvocationID())
			ev.Output, ev.Actions.StateDelta[key] = name, name
			return ev, nil
		}, adkworkflow.NodeConfig{})
		switch deps := edgesOf(i); len(deps) {
		case 0:
			edges.Add(adkworkflow.Start, nodes[i])
		case 1:
			edges.Add(nodes[deps[0]], nodes[i])
		default:
			join := adkworkflow.NewJoinNode(fmt.Sprint("join", i))
			for _, d := range deps {
				edges.Add(nodes[d], join)
			}
			edges.Add(join, nodes[i])
		}
	}
	a, err := workflowagent.New(workflowagent.Config{Name: "w", Edges: edges.Build()})
	if err != nil {
		b.Fatal(err)
	}
	sessions := session.InMemoryService()
	r, err := runner.New(runner.Config{AppName: "bench", Agent: a, SessionService: sessions, AutoCreateSession: true})
	if err != nil {
		b.Fatal(err)
	}
	n := 0
	return func() int {
		n++
		events := 0
		for ev, err := range r.Run(context.Background(), "u", fmt.Sprint("s", n), genai.NewContentFromText("go", "user"),
			adkagent.RunConfig{}) {
			if err != nil {
				b.Fatal(ev, err)
			}
			events++
		}
		return events
	}
}

// TestDag checks that all sides of BenchmarkDag store an event for each node. ADK stores one more for each
// join. The net stores the message of the user, too; ADK's runner does so without returning it.
func TestDag(t *testing.T) {
	if n := bareDag(t)(); n != nodesMax+1 {
		t.Errorf("without orchestration there are %d events of %d nodes and a message", n, nodesMax)
	}
	if n := ours(t)(); n != nodesMax+1 {
		t.Errorf("the net stores %d events of %d nodes and a message", n, nodesMax)
	}
	if n := theirs(t)(); n != nodesMax+joins() {
		t.Errorf("ADK stores %d events of %d nodes and %d joins", n, nodesMax, joins())
	}
}

// joins is how many nodes of the graph have several before them.
func joins() int {
	n := 0
	for i := range nodesMax {
		if len(edgesOf(i)) > 1 {
			n++
		}
	}
	return n
}

// bareDag does what every run of the graph must do, and nothing else: it stores the message, runs the nodes in
// order, and stores an event for each. What a run costs more is its orchestration.
func bareDag(b testing.TB) func() int {
	ctx := context.Background()
	sessions, runs := session.InMemoryService(), 0
	return func() int {
		runs++
		to, events := newSession(b, sessions, fmt.Sprint("s", runs)), 0
		add := func(author string, content *genai.Content, delta map[string]any) {
			ev := session.NewEvent(ctx, "t")
			ev.Author, ev.Content, ev.Actions.StateDelta = author, content, delta
			if err := sessions.AppendEvent(ctx, to, ev); err != nil {
				b.Fatal(err)
			}
			events++
		}
		add("user", genai.NewContentFromText("go", "user"), nil)
		for i := range nodesMax {
			name := fmt.Sprint("n", i)
			add(name, nil, map[string]any{fmt.Sprint("k", i): name})
		}
		return events
	}
}

// BenchmarkDag runs a dag of 50 nodes that are done at once: without orchestration (bare), as a net, and with
// ADK's own package workflow.
func BenchmarkDag(b *testing.B) {
	for name, run := range map[string]func() int{"bare": bareDag(b), "net": ours(b), "adk": theirs(b)} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				run()
			}
		})
	}
}

// BenchmarkDagRatio runs the graph of BenchmarkDag in turn as a net, with ADK's own package workflow and without
// orchestration. Its figures are of the best row of each kind, which other work has disturbed the least: what a run
// takes, and what the net takes of ADK's time, in all and without that of bare.
func BenchmarkDagRatio(b *testing.B) {
	const row = 20 // runs of one kind in a row, on a heap without garbage of the others
	kinds := []string{"net", "adk", "bare"}
	elapsed, cpu := map[string]time.Duration{}, map[string]time.Duration{}
	runs := map[string]func() int{"net": ours(b), "adk": theirs(b), "bare": bareDag(b)}
	for b.Loop() {
		for _, kind := range kinds {
			runtime.GC()
			began, used := time.Now(), processorTime(b)
			for range row {
				runs[kind]()
			}
			elapsed[kind] = least(elapsed[kind], time.Since(began)/row)
			cpu[kind] = least(cpu[kind], (processorTime(b)-used)/row)
		}
	}
	for what, t := range map[string]map[string]time.Duration{"elapsed": elapsed, "cpu": cpu} {
		for _, kind := range kinds {
			b.ReportMetric(float64(t[kind].Microseconds()), kind+"-"+what+"-us")
		}
		b.ReportMetric(float64(t["net"])/float64(t["adk"]), what+"-net/adk")
		b.ReportMetric(float64(t["net"]-t["bare"])/float64(t["adk"]-t["bare"]), what+"-orchestration/adk")
	}
}

// least returns the smaller time. If a is 0, nothing was measured before, and b is it.
func least(a, b time.Duration) time.Duration {
	if a == 0 {
		return b
	}
	return min(a, b)
}

// processorTime is what the process has used.
func processorTime(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

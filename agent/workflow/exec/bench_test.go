package exec

import (
	"context"
	"fmt"
	"strings"
	"testing"

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
			Emit: func(ev *session.Event, _ agent.EventKind) error {
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

// TestDag checks that both sides of BenchmarkDag store an event for each node. ADK stores one more for each
// join. The net stores the message of the user, too; ADK's runner does so without returning it.
func TestDag(t *testing.T) {
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

// BenchmarkDag runs a dag of 50 nodes that are done at once. The last figure is how much of the time of ADK's own
// package workflow ours takes for the same graph in the same run.
func BenchmarkDag(b *testing.B) {
	us, them := ours(b), theirs(b)
	us()
	them()
	var mine, other testing.BenchmarkResult
	b.Run("net", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			us()
		}
		mine = testing.BenchmarkResult{N: b.N, T: b.Elapsed()}
	})
	b.Run("adk", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			them()
		}
		other = testing.BenchmarkResult{N: b.N, T: b.Elapsed()}
		if mine.N > 0 {
			b.ReportMetric(float64(mine.NsPerOp())/float64(other.NsPerOp()), "net/adk")
		}
	})
}

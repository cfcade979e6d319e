package workflow

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"google.golang.org/adk/v2/session"
	"google.golang.org/genai"

	"github.com/voicegw/voicegw/agent"
	"github.com/voicegw/voicegw/verify"
)

// scripted is a Worker that does what a function says and notes what it was asked.
type scripted struct {
	do func(j *Job, nth int) (*Result, error)

	mu    sync.Mutex
	asked []string
	nth   map[string]int
}

func (s *scripted) Do(_ context.Context, _ *agent.Session, j *Job) (*Result, error) {
	s.mu.Lock()
	if s.nth == nil {
		s.nth = map[string]int{}
	}
	nth := s.nth[j.Path]
	s.nth[j.Path]++
	s.asked = append(s.asked, j.Agent.Name)
	s.mu.Unlock()
	return s.do(j, nth)
}

// run runs one turn of a workflow and returns its answer and the names of the leaves in the order in
// which their events were stored.
func run(t *testing.T, text string, w *scripted) (answer string, authors []string, end *agent.End, err error) {
	t.Helper()
	c := compiled(t, text)
	if r, err := Verify(context.Background(), c); err != nil || !r.Proved() {
		t.Fatalf("%v %v", r.Findings, err)
	}
	s, err := agent.Start(c.Program(w), agent.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	end, err = s.Run(context.Background(), &agent.Turn{ID: "t", Message: genai.NewContentFromText("hello", "user"),
		Emit: func(ev *session.Event, kind agent.EventKind) error {
			switch kind {
			case agent.Answer:
				answer = ev.Content.Parts[0].Text
			case agent.Step:
				authors = append(authors, ev.Author)
			}
			return nil
		}})
	return answer, authors, end, err
}

func say(text string) (*Result, error) { return &Result{Output: text}, nil }

func value(j *Job, key string) string {
	v, _ := j.Visit.Flow.State.Get(key)
	return fmt.Sprint(v)
}

// TestRuns runs one workflow of each kind.
func TestRuns(t *testing.T) {
	leaf := func(names ...string) string {
		text := "name: w\nagents:\n"
		for _, n := range names {
			text += fmt.Sprintf("  - {name: %s, type: llm, model: m, instruction: i, output_key: k_%s, "+
				"tools: [exit_loop]}\n", n, n)
		}
		return text
	}
	plain := func(names ...string) string { return strings.ReplaceAll(leaf(names...), ", tools: [exit_loop]", "") }
	echo := func(j *Job, nth int) (*Result, error) { return say(fmt.Sprint(j.Agent.Name, nth)) }
	for _, c := range []struct {
		name, text     string
		do             func(j *Job, nth int) (*Result, error)
		answer, stored string
	}{
		{"sequential", plain("a", "b") + "orchestration: {type: sequential, agents: [a, b, a]}", echo, "a0", "a b a"},
		{"loop to its limit", plain("a", "b") + "orchestration: {type: loop, agents: [a, b], max_iterations: 3}", echo, "b2",
			"a b a b a b"},
		{"loop to an exit", leaf("a", "b") + "orchestration: {type: loop, agents: [a, b], max_iterations: 5}",
			func(j *Job, nth int) (*Result, error) {
				return &Result{Output: fmt.Sprint(j.Agent.Name, nth), Exit: j.Agent.Name == "a" && nth == 1}, nil
			}, "a1", "a b a"},
		{"router", plain("r", "a", "b") + "orchestration: {type: llm_routed, router: r, agents: [a, b], max_hops: 5}",
			func(j *Job, nth int) (*Result, error) {
				if j.Agent.Name == "r" && nth < 2 {
					return &Result{Route: []string{"b", "a"}[nth]}, nil
				}
				return say(j.Agent.Name)
			}, "r", "r b r a r"},
		{"ping-pong", plain("r", "a") + "orchestration: {type: llm_routed, router: r, agents: [a], max_hops: 2}",
			func(j *Job, nth int) (*Result, error) { return &Result{Output: j.Agent.Name, Route: "a"}, nil }, "a", "r a r a"},
		{"routes of a dag", plain("a", "b", "c") + "orchestration: {type: dag, nodes: [{agent: a}, {agent: b, " +
			"depends_on: [a], " +
			"when: {a: x}}, {agent: c, depends_on: [a, b], when: {a: default}, join: any}]}",
			func(j *Job, nth int) (*Result, error) {
				return say(map[string]string{"a": " x\n"}[j.Agent.Name] + j.Agent.Name)
			},
			"c", "a c"},
	} {
		t.Run(c.name, func(t *testing.T) {
			answer, stored, end, err := run(t, c.text, &scripted{do: c.do})
			if err != nil || end.How != agent.Answered || answer != c.answer || strings.Join(stored, " ") != c.stored {
				t.Errorf("answer %q, stored %v, end %v, %v", answer, stored, end, err)
			}
		})
	}
}

// TestDiamond wants a node to start when its own dependencies are done, and its state to be that of its
// own past.
func TestDiamond(t *testing.T) {
	text, err := os.ReadFile("testdata/good/diamond.yaml")
	if err != nil {
		t.Fatal(err)
	}
	signed := make(chan struct{})
	w := &scripted{do: func(j *Job, _ int) (*Result, error) {
		switch j.Agent.Name {
		case "slow":
			<-signed
		case "sign":
			defer close(signed)
			if got := value(j, "w"); got != "<nil>" {
				return nil, fmt.Errorf("sign sees %s, which slow writes", got)
			}
		case "merge":
			return say(value(j, "g") + "+" + value(j, "w"))
		}
		return say(j.Agent.Name)
	}}
	if answer, _, _, err := run(t, string(text), w); err != nil || answer != "sign+slow" {
		t.Errorf("answer %q, %v", answer, err)
	}
}

// TestTools calls tools and agents, within the budget.
func TestTools(t *testing.T) {
	const text = "name: w\nagents:\n" +
		"  - {name: a, type: llm, model: m, instruction: i, tools: [condition], agent_tools: [b], max_steps: 3, " +
		"output_key: x}\n" +
		"  - {name: b, type: llm, model: m, instruction: i, output_key: y}\n" +
		"orchestration: {type: react, agent: a, planner: builtin}\n"
	call := func(names ...string) *Result {
		r := &Result{}
		for _, n := range names {
			r.Calls = append(r.Calls, &genai.FunctionCall{Name: n})
		}
		return r
	}
	w := &scripted{do: func(j *Job, nth int) (*Result, error) {
		switch {
		case j.Calls != nil:
			return &Result{Results: []any{"true"}}, nil
		case j.Agent.Name == "b":
			return say(fmt.Sprint("b", nth))
		case len(j.Visit.Steps) == 0:
			return call("b", "condition", "b"), nil
		}
		return say(fmt.Sprint(j.Visit.Steps[0].Results, value(j, "y")))
	}}
	answer, stored, _, err := run(t, text, w)
	if want := "[b0 true b1]b1"; err != nil || answer != want || strings.Join(stored, " ") != "b b a" {
		t.Errorf("answer %q, want %q; stored %v; %v", answer, want, stored, err)
	}
	endless := &scripted{do: func(j *Job, _ int) (*Result, error) {
		if j.Calls != nil {
			return nil, fmt.Errorf("no")
		}
		return call("condition"), nil
	}}
	_, _, end, _ := run(t, text, endless)
	if n := len(endless.asked); end.How != agent.Failed || end.Fault.Code != agent.BudgetSpent || n != 6 {
		t.Errorf("%v after %d jobs", end, n)
	}
}

// TestFailure retries, and then ends the run; nothing else runs after it.
func TestFailure(t *testing.T) {
	const text = "name: w\nagents:\n  - {name: a, type: code, function: f, output_key: x, " +
		"retry: {attempts: 3, delay: 1ms}}\n" +
		"  - {name: b, type: code, function: f, output_key: y}\norchestration: {type: sequential, agents: [a, b]}\n"
	w := &scripted{do: func(j *Job, nth int) (*Result, error) {
		if nth < 2 && j.Agent.Name == "a" {
			return nil, fmt.Errorf("try %d", nth)
		}
		return say(j.Agent.Name)
	}}
	if answer, _, _, err := run(t, text, w); err != nil || answer != "b" ||
		!slices.Equal(w.asked, []string{"a", "a", "a", "b"}) {
		t.Errorf("answer %q, asked %v, %v", answer, w.asked, err)
	}
	w = &scripted{do: func(*Job, int) (*Result, error) { return nil, fmt.Errorf("never") }}
	_, stored, end, err := run(t, text, w)
	if end.How != agent.Failed || end.Fault.Agent != "w/a" || len(stored) > 0 || len(w.asked) != 3 {
		t.Errorf("end %v, stored %v, asked %v, %v", end, stored, w.asked, err)
	}
	router := strings.ReplaceAll("name: w\nagents:\n  - {name: r, LLM}\n  - {name: a, LLM}\norchestration: "+
		"{type: llm_routed, router: r, agents: [a]}\n", "LLM", "type: llm, model: m, instruction: i")
	w = &scripted{do: func(*Job, int) (*Result, error) { return &Result{Route: "nobody"}, nil }}
	if _, _, end, _ := run(t, router, w); end.Fault == nil || end.Fault.Code != agent.UnknownAgent {
		t.Errorf("an unknown target ends as %v", end)
	}
}

// TestExitTwice proves a loop as a whole in which two leaves of one round may exit.
func TestExitTwice(t *testing.T) {
	const llm = "type: llm, model: m, instruction: i, tools: [exit_loop], max_steps: 1"
	c := compiled(t, "name: w\nagents:\n  - {name: a, "+llm+"}\n  - {name: b, "+llm+"}\n"+
		"  - {name: s, type: sequential, sub_agents: [a, b]}\norchestration: {type: loop, agents: [s], max_iterations: 2}\n")
	r, err := agent.Prove(context.Background(), c.Program(nil), verify.Config{Max: 100_000})
	if err != nil || r.Outcome() != verify.Proved {
		t.Errorf("%v\n%v", err, r)
	}
}

// TestTimes wants the waits of the file in the net.
func TestTimes(t *testing.T) {
	c := compiled(t, "name: w\nagents:\n  - {name: a, type: code, function: f, output_key: x, timeout: 7s, "+
		"retry: {attempts: 2, delay: 3s}}\norchestration: {type: sequential, agents: [a]}\n")
	waits := map[string]string{}
	for _, tr := range c.prog.Transitions() {
		waits[tr.Name] = tr.When.String()
	}
	for name, want := range map[string]string{"w/a/work_times_out": "after 7s", "w/a/try_again": "after 3s",
		"w/a/work_refused": "after 5s"} {
		if waits[name] != want {
			t.Errorf("%s fires %s, want %s", name, waits[name], want)
		}
	}
}

// TestWidest runs as many agents at once as a workflow may have: the chain of firings that starts them all
// stays within the machine's limit.
func TestWidest(t *testing.T) {
	text, list := "name: w\nagents:\n", ""
	for i := range agentsMax - 1 {
		text += fmt.Sprintf("  - {name: a%d, type: code, function: f, output_key: k%d}\n", i, i)
		list += fmt.Sprintf("a%d, ", i)
	}
	w := &scripted{do: func(j *Job, _ int) (*Result, error) { return say(j.Agent.Name) }}
	text += "orchestration: {type: parallel, agents: [" + list + "]}\n"
	if answer, stored, _, err := run(t, text, w); err != nil || answer != "a248" || len(stored) != agentsMax-1 {
		t.Errorf("answer %q of %d, %v", answer, len(stored), err)
	}
}

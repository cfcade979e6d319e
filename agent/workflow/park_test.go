package workflow

import (
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/adk/v2/session"
	"google.golang.org/genai"

	"github.com/voicegw/voicegw/agent"
	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/verify"
	"github.com/voicegw/voicegw/verify/claim"
)

// remembering is a Worker that does each job once, in whichever turn: it gives again what it has given, as a
// journal does. A job that it leaves to the client has its answer in answers, by path and number.
type remembering struct {
	do      func(j *Job, nth int) (*Result, error)
	answers map[string]any

	mu   sync.Mutex
	done map[string]func() (*Result, error)
	nth  map[string]int // in this turn
	ran  []string       // jobs that were done, in order
	wait []string       // jobs of this turn that wait
}

func (w *remembering) Do(_ context.Context, _ *agent.Session, j *Job) (*Result, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	kind := j.Path
	if j.Calls != nil {
		kind += "!"
	}
	nth := w.nth[kind]
	w.nth[kind]++
	key := fmt.Sprint(kind, nth)
	if known := w.done[key]; known != nil {
		return known()
	}
	r, err := w.do(j, nth)
	if err == nil && r.Deferred {
		if _, ok := w.answers[key]; !ok {
			w.wait = append(w.wait, key)
			return r, nil
		}
		r = &Result{Output: w.answers[key], Results: []any{w.answers[key]}}
	}
	w.ran = append(w.ran, key)
	w.done[key] = func() (*Result, error) { return r, err }
	return r, err
}

// turns runs a workflow in turns: behind each that parks, the next answers of rounds are there. It returns what
// waited behind each turn, and the answer.
func (w *remembering) turns(t *testing.T, c *Compiled, rounds ...map[string]any) (waited []string, answer string) {
	t.Helper()
	s, err := agent.Start(c.Program(w), agent.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	w.done, w.answers = map[string]func() (*Result, error){}, map[string]any{}
	for i := 0; ; i++ {
		w.nth, w.wait = map[string]int{}, nil
		end, err := s.Run(t.Context(), &agent.Turn{ID: "t", Message: genai.NewContentFromText("hello", "user"),
			Emit: func(ev *session.Event, kind agent.EventKind) error {
				if kind == agent.Answer {
					answer = ev.Content.Parts[0].Text
				}
				return nil
			}})
		if err != nil {
			t.Fatalf("turn %d: %v", i, err)
		}
		if end.How != agent.Parked {
			if end.How != agent.Answered || i != len(rounds) {
				t.Errorf("turn %d of %d ends as %s", i, len(rounds), end.How)
			}
			break
		}
		slices.Sort(w.wait)
		waited = append(waited, strings.Join(w.wait, " "))
		if i == len(rounds) {
			t.Errorf("the last turn waits for %v", w.wait)
			break
		}
		maps.Copy(w.answers, rounds[i])
	}
	for _, key := range w.ran {
		if n := len(slices.DeleteFunc(slices.Clone(w.ran), func(o string) bool { return o != key })); n != 1 {
			t.Errorf("%s is done %d times", key, n)
		}
	}
	return waited, answer
}

// leaves are code agents with keys, as YAML.
func leaves(names ...string) string {
	text := "name: w\nagents:\n"
	for _, n := range names {
		text += fmt.Sprintf("  - {name: %s, type: code, function: f, output_key: k_%s}\n", n, n)
	}
	return text
}

const parkLLM = "type: llm, model: m, instruction: i"

// TestParks parks leaves of each kind of block, and goes on with answers in any order.
func TestParks(t *testing.T) {
	say := func(names ...string) func(j *Job, nth int) (*Result, error) { // those wait
		return func(j *Job, nth int) (*Result, error) {
			if slices.Contains(names, j.Agent.Name) {
				return &Result{Deferred: true}, nil
			}
			return &Result{Output: fmt.Sprint(j.Agent.Name, nth, j.Visit.Flow.Output)}, nil
		}
	}
	call := func(names ...string) *Result {
		r := &Result{}
		for _, n := range names {
			r.Calls = append(r.Calls, &genai.FunctionCall{Name: n})
		}
		return r
	}
	dag := leaves("a", "b", "c", "d") + "orchestration: {type: dag, nodes: [{agent: a}, {agent: b}, {agent: c, " +
		"depends_on: [b]}, {agent: d, depends_on: [a, c]}]}"
	asking := "name: w\nagents:\n  - {name: a, " + parkLLM + ", tools: [condition], agent_tools: [b], output_key: x}\n" +
		"  - {name: b, " + parkLLM + ", tools: [condition], output_key: y}\norchestration: {type: react, agent: a}\n"
	for _, c := range []struct {
		name, text string
		do         func(j *Job, nth int) (*Result, error)
		rounds     []map[string]any
		waited     string // by turn
		ran        string // in the first turn
		answer     string
	}{
		{"sequential", leaves("a", "b", "c") + "orchestration: {type: sequential, agents: [a, b, c]}", say("b"),
			[]map[string]any{{"w/b0": "B"}}, "w/b0", "w/a0", "c0B"},
		{"parallel", leaves("a", "b", "c") + "orchestration: {type: parallel, agents: [a, b, c]}", say("a", "c"),
			[]map[string]any{{"w/c0": "C"}, {"w/a0": "A"}}, "w/a0 w/c0; w/a0", "w/b0", "C"},
		{"both at once", leaves("a", "b", "c") + "orchestration: {type: parallel, agents: [a, b, c]}", say("a", "c"),
			[]map[string]any{{"w/c0": "C", "w/a0": "A"}}, "w/a0 w/c0", "w/b0", "C"},
		{"the other branch goes on", dag, say("a"), []map[string]any{{"w/a0": "A"}}, "w/a0", "w/b0 w/c0", "d0c0b0 <nil>"},
		{"an answer for nothing", dag, say("a"), []map[string]any{{}, {"w/a0": "A"}}, "w/a0; w/a0", "w/b0 w/c0",
			"d0c0b0 <nil>"},
		{"one after the other", dag, say("b", "c"), []map[string]any{{"w/b0": "B"}, {"w/c0": "C"}}, "w/b0; w/c0", "w/a0",
			"d0C"},
		{"loop", leaves("a", "b") + "orchestration: {type: loop, agents: [a, b], max_iterations: 2}", say("b"),
			[]map[string]any{{"w/b0": "B0"}, {"w/b1": "B1"}}, "w/b0; w/b1", "w/a0", "B1"},
		{"router", strings.ReplaceAll("name: w\nagents:\n  - {name: r, LLM}\n  - {name: a, LLM}\n"+
			"orchestration: {type: llm_routed, router: r, agents: [a], max_hops: 3}\n", "LLM", parkLLM),
			func(j *Job, nth int) (*Result, error) {
				if j.Agent.Name == "a" {
					return &Result{Deferred: true}, nil
				}
				return &Result{Output: fmt.Sprint("r", nth, j.Visit.Flow.Output), Route: []string{"a", ""}[nth]}, nil
			}, []map[string]any{{"w/a0": "A"}}, "w/a0", "w/r0", "r1A"},
		{"agent as a tool", asking, func(j *Job, nth int) (*Result, error) {
			switch {
			case j.Calls != nil:
				return &Result{Deferred: true}, nil
			case len(j.Visit.Steps) == 0 && j.Agent.Name == "a":
				return call("b", "condition"), nil
			case len(j.Visit.Steps) == 0:
				return call("condition"), nil
			}
			return &Result{Output: fmt.Sprint(j.Agent.Name, j.Visit.Steps[0].Results)}, nil
		}, []map[string]any{{"w/a!0": "one"}, {"w/a/b!0": "two"}}, "w/a!0; w/a/b!0", "w/a0", "a[b[two] one]"},
		{"a retry before", leaves("z", "b") + "  - {name: a, type: code, function: f, output_key: k, retry: " +
			"{attempts: 2, delay: 1ms}}\norchestration: {type: parallel, agents: [a, b]}",
			func(j *Job, nth int) (*Result, error) {
				switch {
				case j.Agent.Name == "b":
					return &Result{Output: "b"}, nil
				case nth == 0:
					return nil, fmt.Errorf("once")
				}
				return &Result{Deferred: true}, nil
			}, []map[string]any{{"w/a1": "A"}}, "w/a1", "w/a0 w/b0", "b"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := &remembering{}
			first := -1
			w.do = func(j *Job, nth int) (*Result, error) {
				r, err := c.do(j, nth)
				if len(w.answers) > 0 && first < 0 {
					first = len(w.ran)
				}
				return r, err
			}
			p := compiled(t, strings.ReplaceAll(c.text, "  - {name: z, type: code, function: f, output_key: k_z}\n", ""))
			if r, err := Verify(t.Context(), p); err != nil || !r.Proved() {
				t.Fatalf("%v %v", r.Findings, err)
			}
			waited, answer := w.turns(t, p, c.rounds...)
			ran := slices.Clone(w.ran[:first])
			slices.Sort(ran)
			if got := strings.Join(waited, "; "); got != c.waited || answer != c.answer || strings.Join(ran, " ") != c.ran {
				t.Errorf("waited %q, want %q; ran %v first, want %s; answer %q, want %q", got, c.waited, ran, c.ran, answer,
					c.answer)
			}
		})
	}
}

// TestParkOutlivesTimeout: a leaf that is parked does not take too long, while another one does.
func TestParkOutlivesTimeout(t *testing.T) {
	text := strings.ReplaceAll(leaves("a", "b"), "f, output_key: k_a", "f, output_key: k_a, timeout: 1s") +
		"orchestration: {type: parallel, agents: [a, b]}"
	m := compiled(t, text).prog.Start()
	p := &stepper{t: t, m: m, open: map[string]*Job{}}
	p.inject(agent.UserIn.Token(&agent.Turn{ID: "t"}))
	p.answer("w/a", &Result{Deferred: true})
	p.now += 2 * time.Second
	p.settle()
	if p.end != nil {
		t.Fatalf("the turn ends as %s", p.end.How)
	}
	p.answer("w/b", &Result{Output: "B"})
	if p.end == nil || p.end.How != agent.Parked {
		t.Errorf("the turn ends as %v", p.end)
	}
}

// stepper runs a net step by step, with a clock of its own.
type stepper struct {
	t      *testing.T
	m      *petri.Machine
	now    time.Duration
	open   map[string]*Job // by path
	end    *agent.End
	events strings.Builder
}

func (p *stepper) inject(tok petri.Token) {
	p.t.Helper()
	if err := p.m.Inject(p.now, tok); err != nil {
		p.t.Fatal(err)
	}
	p.settle()
}

func (p *stepper) settle() {
	ready := p.m.Advance(p.now)
	for _, e := range ready.Events {
		fmt.Fprintln(&p.events, e)
	}
	var writes int
	for _, tok := range ready.Out {
		switch v := tok.Value().(type) {
		case *Job:
			p.open[strings.TrimSuffix(tok.Place(), ".start")] = v
		case *agent.Write:
			writes++
		case *agent.End:
			p.end = v
		}
	}
	if writes > 0 {
		p.inject(petri.Place[petri.Result[petri.Unit]]("append_done").Token(petri.Result[petri.Unit]{}))
	}
}

// answer ends the work of a leaf.
func (p *stepper) answer(path string, r *Result) {
	p.t.Helper()
	place := strings.ReplaceAll(path, "/", ".") + ".ask"
	if p.open[place] == nil {
		p.t.Fatalf("%s does not work; %v do", path, slices.Collect(maps.Keys(p.open)))
	}
	delete(p.open, place)
	p.inject(petri.Place[petri.Result[*Result]](place + ".done").Token(petri.Result[*Result]{Value: r}))
}

// TestParkBytes parks and goes on a hundred times: the events of the net are the same each time.
func TestParkBytes(t *testing.T) {
	text, err := os.ReadFile("testdata/good/diamond.yaml")
	if err != nil {
		t.Fatal(err)
	}
	c := compiled(t, string(text))
	first := ""
	for i := range 100 {
		p := &stepper{t: t, m: c.prog.Start(), open: map[string]*Job{}}
		for turn := range 2 {
			p.end = nil
			p.inject(agent.UserIn.Token(&agent.Turn{ID: "t"}))
			for len(p.open) > 0 {
				place := slices.Sorted(maps.Keys(p.open))[0]
				path := strings.ReplaceAll(strings.TrimSuffix(place, ".ask"), ".", "/")
				p.now++
				p.answer(path, &Result{Output: path, Deferred: turn == 0 && strings.HasSuffix(path, "slow")})
			}
			if want := []agent.How{agent.Parked, agent.Answered}[turn]; p.end == nil || p.end.How != want {
				t.Fatalf("turn %d ends as %v", turn, p.end)
			}
		}
		if first == "" {
			first = p.events.String()
		}
		if got := p.events.String(); got != first || len(got) < 1000 {
			t.Fatalf("run %d differs, or says nothing:\n%s", i, got)
		}
	}
}

// TestParkWaits proves of whole nets that a run does not park while two leaves work, and refutes it of a net that
// does not look at one of them.
func TestParkWaits(t *testing.T) {
	c := compiled(t, leaves("a", "b")+"orchestration: {type: parallel, agents: [a, b]}")
	early := verify.EachMove(claim.Move{Name: "parks last", Doc: "a run parks behind its last leaf",
		On:   []string{".run/park_run"}, // one leaf may be done, and the other park, behind one event that is stored
		From: fmt.Sprintf(`!("w.a.works" && "w.b.works") || %q`, agent.Writing)})
	outcome := func(c *Compiled) verify.Outcome {
		p := c.Program(nil)
		p.Properties = append(p.Properties, early)
		r, err := agent.Prove(t.Context(), p, verify.Config{Max: 100_000})
		if err != nil {
			t.Fatal(err)
		}
		return r.Outcome()
	}
	if got := outcome(c); got != verify.Proved {
		t.Errorf("the claim is %s", got)
	}
	all := workPlaces(c.root)
	for i := range all {
		n, err := compose("w", c.root.whole(), keyPlaces(c.root), slices.Delete(slices.Clone(all), i, i+1))
		if err != nil {
			t.Fatal(err)
		}
		mutant := *c
		mutant.Net = n
		if mutant.prog, err = petri.Compile(n); err != nil {
			t.Fatal(err)
		}
		if err := mutant.parksLast(); err == nil || !strings.Contains(err.Error(), petri.ArcPlace(all[i]).String()) {
			t.Errorf("the check says %v", err)
		}
		if got := outcome(&mutant); got != verify.Refuted {
			t.Errorf("without %v the claim is %s", petri.ArcPlace(all[i]), got)
		}
	}
}

// TestExitBesideCalls: a model may call exit_loop together with other tools.
func TestExitBesideCalls(t *testing.T) {
	const text = "name: w\nagents:\n  - {name: a, " + parkLLM + ", tools: [exit_loop, condition], output_key: x}\n" +
		"orchestration: {type: loop, agents: [a], max_iterations: 5}\n"
	w := &scripted{do: func(j *Job, nth int) (*Result, error) {
		switch {
		case j.Calls != nil:
			return &Result{Results: []any{"true"}}, nil
		case len(j.Visit.Steps) == 0:
			return &Result{Calls: []*genai.FunctionCall{{Name: "condition"}}, Exit: nth >= 2}, nil
		}
		return &Result{Output: fmt.Sprint("x", nth)}, nil
	}}
	if answer, stored, _, err := run(t, text, w); err != nil || answer != "x5" || len(stored) != 2 {
		t.Errorf("answer %q, stored %v, %v", answer, stored, err)
	}
}

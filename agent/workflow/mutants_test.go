package workflow

import (
	"context"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/verify/mutate"
)

// survivors are changes of an encoding that the proof does not notice, each with its reason. The key is
// the end of the mutant's name.
func survivors() map[string]string {
	const (
		order  = "another transition comes first wherever both may fire"
		worker = "the net of Worker is tested in package patterns"
		ends   = "the only last node ends the dag at once"
	)
	return map[string]string{
		"work/deliver": worker, "work/forget": worker, "tools/deliver": worker, "tools/forget": worker,
		"_times_out: without read 0":       "the leaf is busy whenever work is in flight",
		"_refused: without read 0":         "the leaf is busy whenever a job waits",
		"_refused: without inhibitor 0":    "no job waits while work is in flight",
		"/fail: without input 0":           "with attempts left, a run that fails too soon is sound",
		"/fail: without input 1":           "what is left is discarded at the end",
		"/fail: without inhibitor 0":       order,
		"/exhaust: without inhibitor 0":    order,
		"/go_back: without inhibitor 0":    order,
		"/next1: without inhibitor 0":      order,
		"/again: without inhibitor 0":      order,
		"/end: without inhibitor 0":        order,
		"/end: without inhibitor 1":        order,
		"/end1: without inhibitor 0":       order,
		"/end2: without inhibitor 0":       order,
		"/retry: without read 0":           "the leaf was asked whenever there is a result",
		"/ask: without reset 0":            "without tools a leaf is asked once",
		"tickets/discard: without reset 0": ends,
		"diamond/discard: without reset 2": ends,
	}
}

// TestMutants changes the net of each kind of block in one place at a time. The proof must refuse each
// change, except those with a reason.
func TestMutants(t *testing.T) {
	total, killed, used := 0, 0, map[string]bool{}
	for _, file := range []string{"desk", "tickets", "diamond", "exchange"} {
		text, err := os.ReadFile("testdata/good/" + file + ".yaml")
		if err != nil {
			t.Fatal(err)
		}
		shapes := map[string]bool{}
		for _, b := range compiled(t, string(text)).blocks {
			if s := b.shape(); s != "" && shapes[s] {
				continue
			} else {
				shapes[s] = true
			}
			p := newProver(context.Background(), compiled(t, string(text)))
			p.max = 10_000
			n, k := mutants(t, p, b, used)
			total, killed = total+n, killed+k
		}
	}
	t.Logf("%d of %d mutants are killed", killed, total)
	for name := range survivors() {
		if !used[name] && os.Getenv("WORKFLOW_MUTANTS") != "" {
			t.Errorf("the survivor %s is killed, or is not there", name)
		}
	}
}

// mutants tries the mutants of one block.
func mutants(t *testing.T, p *prover, b *block, used map[string]bool) (total, killed int) {
	var nets []*petri.Net
	var kids []*summary
	for _, k := range b.kids {
		nets = append(nets, k.asTask())
		s, err := p.block(k)
		if err != nil {
			t.Fatal(err)
		}
		kids = append(kids, s)
	}
	open := b.netOf(nets)
	every := 25 // a sample
	if os.Getenv("WORKFLOW_MUTANTS") != "" {
		every = 1
	}
	for i, m := range mutate.Mutants(open) {
		if i%every != 0 {
			continue
		}
		if ofKid(b, m.Name) || m.Time { // exploration ignores time: TestTimes
			continue
		}
		prog, err := b.closed(m.Net)
		if err != nil {
			continue // Compile refuses it
		}
		total++
		if noticed(t, p, b, kids, prog) {
			killed++
			continue
		}
		excused := false
		for name := range survivors() {
			if strings.Contains(m.Name, name) {
				excused, used[name] = true, true
			}
		}
		if !excused {
			t.Errorf("%s: nothing notices %s", b.path, m.Name)
		}
	}
	return total, killed
}

// ofKid reports whether a mutant changes a kid, which stands for a block of its own here.
func ofKid(b *block, name string) bool {
	for _, k := range b.kids {
		if strings.Contains(name, "/"+k.name+"/") || strings.HasPrefix(name, k.name+"/") {
			return true
		}
	}
	return false
}

// noticed reports whether the proof refuses a net of the block.
func noticed(t *testing.T, p *prover, b *block, kids []*summary, prog *petri.Program) bool {
	quiet := *p
	quiet.found, quiet.terse = &findings{}, true
	var proof Proof
	if _, err := quiet.decide(b, kids, prog, &proof); err != nil {
		t.Fatal(err)
	}
	return !proof.Proved
}

// TestCountMax changes nets so that they go wrong in their third round, hop or attempt only: each further one leaves a
// mark, which the end clears. The proof must notice it, and would not with a lower bound.
func TestCountMax(t *testing.T) {
	const mark petri.Place[petri.Unit] = "mark"
	ends := regexp.MustCompile("^(end|leave|answer|go_on|discard)")
	c := compiled(t, `name: w
agents:
  - {name: a, type: code, function: f, output_key: k, retry: {attempts: 9}}
  - {name: l, type: loop, max_iterations: 9, sub_agents: [a]}
  - {name: r, type: llm, model: m, instruction: x}
  - {name: x, type: code, function: f, output_key: y}
  - {name: h, type: llm_routed, router: r, sub_agents: [x], max_hops: 9}
orchestration: {type: sequential, agents: [l, h]}
`)
	for path, further := range map[string]string{"w/l": "again", "w/h": "return1", "w/l/a": "try_again"} {
		b := c.at(path)
		for most := 2; most <= countMax+1; most++ {
			p := newProver(t.Context(), c)
			var nets []*petri.Net
			var kids []*summary
			for _, k := range b.kids {
				s, err := p.block(k)
				if err != nil {
					t.Fatal(err)
				}
				nets, kids = append(nets, k.asTask()), append(kids, s)
			}
			short := b.counting(most)
			open := short.netOf(nets)
			open.Caps = append(open.Caps, petri.Cap{Place: mark, Max: 1})
			for i := range open.Transitions {
				switch one := &open.Transitions[i]; {
				case one.Name == further:
					one.Out = petri.And(append(one.Out.Arcs(), mark)...)
				case ends.MatchString(one.Name) && (one.Name != "answer" || !b.agent.leaf()):
					one.Reset = append(slices.Clip(one.Reset), mark)
				}
			}
			prog, err := short.closed(open)
			if err != nil {
				t.Fatal(err)
			}
			if got, want := noticed(t, p, b, kids, prog), most >= countMax; got != want {
				t.Errorf("%s with counters up to %d: the mark is noticed: %v", path, most, got)
			}
		}
	}
}
